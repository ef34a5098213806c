"""Tables 4 and 7 of ren2017 on Penn Treebank: normalizers in recurrent language models.

What the text leaves open is taken from the released code: embeddings of 200, windows of 20 words in
20 lanes, a loss that is summed over the words of a window, first weights within ±0.1, normalizers
whose sigma is 0.01, or 1 where the row smooths (-s, *, DN), and the weight of the penalty, which
the paper searched for each row. That of the unnormalized baseline is not known: 0.01 here.

The released code differs from the text in what `PTB_TABLE_7_RELEASED` has: recurrent networks of
200 units, windows of 30 and 60 units in all instead of twice a radius of these, a learning rate of
1 for the LSTM without normalizers, the normalized cell carried on, and a penalty in all rows of
layer normalization of the recurrent networks, also where the row is without.
"""

from __future__ import annotations

from typing import Any, Final

from farfield.experiments import SGD, Experiment, Halving, Recipe, SequenceNetwork, Spec
from farfield.functional import relu
from farfield.nn import (
    DivisiveNorm1d,
    IdentityNorm,
    ImageBatchNorm,
    LayerNorm,
    NormalizedLSTM,
    NormalizedRNN,
    PerProjection,
    WordEncoder,
)
from farfield.objectives import CarriedState, CenteredL1, Objective, Supervised
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.ren2017 import _print_text as printed
from farfield.tasks import WordText

EPOCHS: Final = 13
EPOCH: Final = 2_324
"""Updates of an epoch: 46,480 windows of 20 words in 20 lanes."""
LANES: Final = 20
LAYERS: Final = 2
BOUND: Final = 0.1
RADIUS: Final = {"LSTM": 30, "TanH RNN": 60, "ReLU RNN": 60}
SIGMA: Final = 0.01
SMOOTH: Final = 1.0
QUICK: Final = 1 / 15
"""Share of the steps in the quick budget: most of an epoch."""
ALPHA: Final[dict[str, tuple[float, float, float]]] = {
    "Baseline +L1": (0.01, 0.01, 0.01),
    "BN +L1": (0.01, 0.1, 0.0001),
    "BN*": (0.1, 0.0001, 0.1),
    "LN +L1": (0.01, 0.01, 0.01),
    "LN*": (0.001, 0.01, 0.01),
    "DN*": (0.0001, 0.01, 0.01),
}
"""Weight of the penalty, by row and core; no other row has one."""
SLIPPED: Final = 0.01
"""Weight of the penalty in every recurrent network with layer normalization, as released."""


def is_smooth(row: str) -> bool:
    """True if a row adds the square of 1 to the variance.

    Args:
        row: The row, e.g. `"LN-s"`.
    """
    return row.startswith("DN") or row.endswith(("-s", "*"))


def normalizer_of(row: str, core: str, *, released: bool) -> Spec | None:
    """The normalizer of a row, or `None` for the baseline.

    Args:
        row: The row.
        core: The column.
        released: Whether windows are as wide as in the released code.
    """
    sigma = SMOOTH if is_smooth(row) else SIGMA
    if row.startswith("DN"):
        window = RADIUS[core] if released else 2 * RADIUS[core] + 1
        return Spec(DivisiveNorm1d, window=window, sigma=sigma)
    if row.startswith("BN"):
        return Spec(ImageBatchNorm, sigma=sigma)
    if row.startswith("LN"):
        return Spec(LayerNorm, sigma=sigma, affine=not is_smooth(row))
    return Spec(IdentityNorm) if row == "Baseline +L1" else None


def core_of(row: str, core: str, *, released: bool) -> Spec:
    """Two layers of recurrent cells with the normalizers of a row.

    Args:
        row: The row.
        core: The column.
        released: Whether they are as in the released code.
    """
    normalizer = normalizer_of(row, core, released=released)
    # Layer normalization of the recurrent networks is on the sum (equation 10).
    is_apart = row.startswith("BN") or (row in ("LN", "LN +L1") and core == "LSTM")
    placement = PerProjection() if is_apart else None
    if core == "LSTM":
        return Spec(
            NormalizedLSTM,
            hidden_size=200,
            num_layers=LAYERS,
            normalizer=normalizer,
            placement=placement,
            carry_normalized=released and is_apart,
        )
    rectified: dict[str, Any] = {"nonlinearity": relu} if core == "ReLU RNN" else {}
    return Spec(
        NormalizedRNN,
        hidden_size=200 if released else 400,
        num_layers=LAYERS,
        normalizer=normalizer,
        placement=placement,
        **rectified,
    )


def rule_of(row: str, core: str, *, released: bool) -> Objective:
    """The learning rule of a row, on a state that is carried.

    Args:
        row: The row.
        core: The column.
        released: Whether penalties are as in the released code.
    """
    weight = ALPHA[row][printed.CORES.index(core)] if row in ALPHA else 0.0
    if released and row.startswith("LN") and core != "LSTM":
        weight = SLIPPED
    return CarriedState(objective=CenteredL1(weight=weight) if weight else Supervised())


def learning_rate(row: str, core: str, *, released: bool) -> float:
    """Learning rate of the first epochs.

    Args:
        row: The row.
        core: The column.
        released: Whether the LSTM without normalizers has that of the released code.
    """
    is_slow = row.startswith("Baseline") and not (released and core == "LSTM")
    return 0.1 if is_slow or (row.startswith("BN") and core == "ReLU RNN") else 1.0


def experiment(row: str, core: str, *, released: bool = False) -> Experiment:
    """A cell of the tables.

    Args:
        row: The row, e.g. `"DN*"`.
        core: The column, e.g. `"LSTM"`.
        released: Whether it is as in the released code, where that differs from the text.
    """
    return Experiment(
        task=WordText(sum_over_steps=True),
        model=SequenceNetwork(
            core=core_of(row, core, released=released),
            encoder=Spec(WordEncoder),
            core_bound=BOUND,
        ),
        objective=rule_of(row, core, released=released),
        recipe=Recipe(
            steps=EPOCHS * EPOCH,
            learning_rate=learning_rate(row, core, released=released),
            batch_size=LANES,
            clip_norm=5.0,
            optimizer=SGD(),
            schedule=Halving(after=4 / EPOCHS, every=1 / EPOCHS),
        ),
    )


def _claim(table: str, row: str, core: str, number: str, *, released: bool) -> Claim:
    """A cell."""
    return Claim(
        paper="ren2017",
        table=table,
        row=row,
        column=core,
        published=Published(
            mean=float(number),
            spread=None,
            spread_kind="standard deviation",
            runs=1,
            decimals=(len(number.partition(".")[2]), 0),
            unit="fraction",
            selection="weights of the last epoch, no validation",
            split="test text of Penn Treebank, in one pass",
            runs_assumed=True,
        ),
        experiment=experiment(row, core, released=released),
        rule=VerdictRule(),
        metric="perplexity",
        regime="test",
        quick=QUICK,
        subject="Penn Treebank",
        group=core.lower().replace(" ", "-"),
        data="Penn Treebank as words, in FARFIELD_DATA",
    )


def _table(
    key: str, title: str, rows: dict[str, tuple[str, str, str]], *, released: bool = False
) -> Table:
    """A table of perplexities, by row and core."""
    return Table(
        key=f"ren2017/{key}",
        title=title,
        claims=tuple(
            _claim(key, row, core, number, released=released)
            for row, numbers in rows.items()
            for core, number in zip(printed.CORES, numbers, strict=True)
        ),
    )


PTB_TABLE_4: Final = _table(
    "ptb-table-4", "Normalizers in language models of Penn Treebank", printed.TABLE_4
)
PTB_TABLE_7: Final = _table(
    "ptb-table-7", "Smoothing and L1 in language models of Penn Treebank", printed.TABLE_7
)
PTB_TABLE_7_RELEASED: Final = _table(
    "ptb-table-7-released",
    "Smoothing and L1 in language models of Penn Treebank, as released",
    printed.TABLE_7,
    released=True,
)
