"""Tables 9–12 of webb2021: abstract rules, with and without temporal context normalization.

The rows of NTM, MNM, PrediNet and RN follow with their models. What the text leaves open is in
`farfield.tasks` and `farfield.models`, which follow the text; the tables named `…-released` are put
to the test with the options by which the released code differs from it.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Final, final

from torch import nn

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN, LSTM, Transformer
from farfield.nn import ContextNorm, ConvEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._verdicts import VerdictRule
from farfield.tasks import (
    DistributionOfThree,
    IdentityRules,
    RelationalMatchToSample,
    SameDifferent,
    Task,
)

RULE: Final = VerdictRule()
"""The rule of all these claims, with its defaults in percentage points."""

RUNS: Final = 10
SELECTION: Final = "weights of the last epoch, no validation"
SPLIT: Final = "test problems, whose shapes no training problem shows (m > 0)"

MODELS: Final[dict[str, type[nn.Module]]] = {
    "ESBN": ESBN,
    "Transformer": Transformer,
    "LSTM": LSTM,
}

# Appendix A.4: 5e-4 everywhere with TCN; Table 5 without.
LEARNING_RATE: Final = 5e-4
LEARNING_RATES_WITHOUT_TCN: Final = {"ESBN": 5e-5, "Transformer": 5e-4, "LSTM": 5e-4}
BATCH_SIZE: Final = 32

WITHHELD: Final = (0, 50, 85, 95, 98)
"""The columns; m = 98 exists for same/different only."""


@final
@dataclass(frozen=True, kw_only=True)
class _Source:
    """What the paper says of one task: its table, its sets and its training.

    Args:
        table: Number of the table of results.
        title: Its title.
        task: Class of the task.
        training: Training problems by column (Tables 1–4).
        epochs: Epochs by column (Table 6).
        quick: Share of the steps in the quick budget, so that the hardest regimes of all tasks
            together, ten networks each, take less than ten minutes on two cores.
        longer: Epochs by column of models that have their own (Table 8).
        cells: Mean and standard error as printed, by row and column, in percent.
    """

    table: int
    title: str
    task: type[SameDifferent | RelationalMatchToSample | DistributionOfThree | IdentityRules]
    training: tuple[int, ...]
    epochs: tuple[int, ...]
    quick: float
    longer: dict[str, tuple[int, ...]]
    cells: dict[str, tuple[tuple[float, float], ...]]


SAME_DIFFERENT: Final = _Source(
    table=9,
    title="Same/different",
    task=SameDifferent,
    training=(18_810, 4_900, 420, 40, 4),
    epochs=(50, 50, 50, 100, 100),
    quick=1.0,
    longer={},
    cells={
        "ESBN + TCN": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (100.0, 0.0)),
        "ESBN": ((50.0, 0.02), (50.0, 0.0), (50.1, 0.1), (49.8, 0.2), (50.1, 0.1)),
        "Transformer + TCN": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (72.3, 5.2)),
        "Transformer": ((100.0, 0.0), (99.9, 0.02), (95.4, 0.6), (73.7, 1.8), (56.1, 1.3)),
        "LSTM + TCN": ((100.0, 0.0), (99.97, 0.01), (96.9, 0.3), (69.4, 1.5), (54.8, 1.1)),
        "LSTM": ((88.2, 3.2), (97.0, 0.5), (85.5, 2.4), (61.8, 1.7), (56.5, 1.6)),
    },
)

# The paper prints "Transformer" twice in Table 10; the first, better row is the one with TCN, as
# its numbers in Table 16 show.
RELATIONAL_MATCH_TO_SAMPLE: Final = _Source(
    table=10,
    title="Relational match-to-sample",
    task=RelationalMatchToSample,
    training=(10_000, 10_000, 10_000, 480),
    epochs=(50, 50, 50, 200),
    quick=1 / 20,
    longer={},
    cells={
        "ESBN + TCN": ((100.0, 0.0), (100.0, 0.0), (100.0, 0.0), (95.0, 0.7)),
        "ESBN": ((86.4, 6.1), (69.4, 6.5), (50.0, 0.1), (51.0, 0.5)),
        "Transformer + TCN": ((100.0, 0.0), (99.98, 0.01), (99.1, 0.4), (79.8, 2.5)),
        "Transformer": ((99.4, 0.1), (96.8, 0.7), (86.4, 1.9), (49.9, 0.2)),
        "LSTM + TCN": ((99.99, 0.0), (99.8, 0.03), (94.9, 1.3), (60.7, 3.7)),
        "LSTM": ((99.1, 0.3), (90.2, 2.0), (80.9, 1.1), (50.2, 0.1)),
    },
)

DISTRIBUTION_OF_THREE: Final = _Source(
    table=11,
    title="Distribution-of-three",
    task=DistributionOfThree,
    training=(10_000, 10_000, 10_000, 360),
    epochs=(50, 50, 50, 150),
    quick=1 / 20,
    longer={},
    cells={
        "ESBN + TCN": ((98.7, 0.4), (99.0, 0.3), (99.5, 0.2), (99.7, 0.1)),
        "ESBN": ((99.98, 0.0), (97.4, 0.2), (92.4, 1.1), (62.0, 4.0)),
        "Transformer + TCN": ((88.7, 2.6), (95.0, 1.2), (92.7, 1.5), (32.1, 1.0)),
        "Transformer": ((62.1, 3.3), (68.6, 3.6), (72.6, 4.4), (28.0, 0.8)),
        "LSTM + TCN": ((96.0, 0.6), (94.8, 0.5), (92.9, 0.8), (34.8, 0.8)),
        "LSTM": ((91.3, 0.6), (85.3, 1.5), (71.6, 4.3), (27.5, 0.3)),
    },
)

IDENTITY_RULES: Final = _Source(
    table=12,
    title="Identity rules",
    task=IdentityRules,
    training=(10_000, 10_000, 10_000, 8_640),
    epochs=(50, 50, 50, 50),
    quick=1 / 80,
    longer={"Transformer": (100, 100, 100, 150)},
    cells={
        "ESBN + TCN": ((99.6, 0.2), (99.6, 0.1), (99.9, 0.04), (99.2, 0.4)),
        "ESBN": ((100.0, 0.0), (99.4, 0.1), (97.8, 0.2), (95.2, 0.4)),
        "Transformer + TCN": ((98.3, 0.7), (97.1, 1.0), (92.0, 1.7), (67.1, 2.4)),
        "Transformer": ((75.5, 4.1), (71.6, 5.1), (85.4, 4.6), (38.6, 2.2)),
        "LSTM + TCN": ((98.9, 0.1), (97.7, 0.3), (92.1, 0.7), (62.5, 1.1)),
        "LSTM": ((93.8, 0.5), (89.3, 0.6), (73.7, 5.7), (24.8, 0.1)),
    },
)


def _decimals(value: float) -> int:
    """Digits printed after the point: the paper prints at least one, and no zero after it."""
    return len(repr(value).partition(".")[2])


def _experiment(source: _Source, row: str, column: int) -> Experiment:
    """What tests one cell: the paper's task, network and training."""
    name, _, normalized = row.partition(" + ")
    epochs = source.longer.get(name, source.epochs)[column]
    task: Task = source.task(withheld=WITHHELD[column])
    return Experiment(
        task=task,
        model=Network(
            reasoner=Spec(MODELS[name]),
            encoder=Spec(ConvEncoder),
            context=Spec(ContextNorm) if normalized else None,
        ),
        recipe=Recipe(
            steps=epochs * math.ceil(source.training[column] / BATCH_SIZE),
            learning_rate=LEARNING_RATE if normalized else LEARNING_RATES_WITHOUT_TCN[name],
            batch_size=BATCH_SIZE,
        ),
    )


def _claim(source: _Source, row: str, column: int) -> Claim:
    mean, error = source.cells[row][column]
    return Claim(
        paper="webb2021",
        table=f"table-{source.table}",
        row=row,
        column=f"m = {WITHHELD[column]}",
        published=Published(
            mean=mean,
            spread=error,
            spread_kind="standard error",
            runs=RUNS,
            decimals=(_decimals(mean), _decimals(error)),
            unit="percent",
            selection=SELECTION,
            split=SPLIT,
        ),
        experiment=_experiment(source, row, column),
        rule=RULE,
        metric="accuracy",
        regime=f"withheld-{WITHHELD[column]}",
        quick=source.quick,
        subject=source.title,
        free=("shapes",),
    )


def _table(source: _Source) -> Table:
    return Table(
        key=f"webb2021/table-{source.table}",
        title=f"{source.title}, with and without temporal context normalization (TCN)",
        claims=tuple(
            _claim(source, row, column)
            for row, cells in source.cells.items()
            for column in range(len(cells))
        ),
    )


TABLE_9: Final = _table(SAME_DIFFERENT)
TABLE_10: Final = _table(RELATIONAL_MATCH_TO_SAMPLE)
TABLE_11: Final = _table(DISTRIBUTION_OF_THREE)
TABLE_12: Final = _table(IDENTITY_RULES)


def _released_options(claim: Claim) -> Claim:
    """The claim put to the test as the released code does it, where that differs from the text."""
    experiment = claim.experiment
    released: dict[type, dict[str, bool]] = {
        SameDifferent: {"softmax": True},
        RelationalMatchToSample: {"softmax": True},
        IdentityRules: {"thirds": True},
    }
    task: Any = experiment.task
    reasoner = experiment.model.reasoner
    if reasoner.cls is Transformer:
        reasoner = Spec(Transformer, final_norm=True)
    return dataclasses.replace(
        claim,
        table=f"{claim.table}-released",
        experiment=dataclasses.replace(
            experiment,
            task=dataclasses.replace(task, **released.get(type(task), {})),
            model=dataclasses.replace(
                experiment.model, reasoner=reasoner, context=Spec(ContextNorm, correction=1)
            ),
        ),
    )


def _released(table: Table) -> Table:
    """The cells with TCN of a table, with the released code's options."""
    return Table(
        key=f"{table.key}-released",
        title=f"{table.claims[0].subject} with TCN and the released code's options",
        claims=tuple(
            _released_options(claim) for claim in table.claims if claim.row.endswith("+ TCN")
        ),
    )


TABLE_9_RELEASED: Final = _released(TABLE_9)
TABLE_10_RELEASED: Final = _released(TABLE_10)
TABLE_11_RELEASED: Final = _released(TABLE_11)
TABLE_12_RELEASED: Final = _released(TABLE_12)

_FULL: Final = (TABLE_9, TABLE_10, TABLE_11, TABLE_12)
_HARDEST: Final = {9: 98, 10: 95, 11: 95, 12: 95}

DEMO: Final = Table(
    key="webb2021/demo",
    title="The hardest regime of each task of Tables 9–12, all models with TCN",
    claims=tuple(claim for table in _FULL for claim in table.claims),
).select(*(f"table-{number}/*+tcn/withheld-{m}" for number, m in _HARDEST.items()))
"""What `make demo` runs."""
