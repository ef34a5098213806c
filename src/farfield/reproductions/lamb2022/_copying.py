"""The copying half of Table 1 of lamb2022, and the recall of each layer.

The text gives neither the number of updates nor which places the cross-entropy is over. Its values
at T = 200 exceed ln 8, which a mean over the last ten places can and one over all places hardly:
the loss here is over the last ten, in training and in the tests. Learning rate, batch and clipping
are those of the released scripts, for all layers alike; none of them was tuned.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import LinearEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _print as published
from farfield.reproductions.lamb2022._cores import PRINTED, RIVALS
from farfield.tasks import TRAINING, Copying

STEPS: Final = 5_000
"""Updates, for every layer alike: what two cores can give every row. The text gives none."""
QUICK: Final = 1 / 5
NOT_TUNED: Final = (
    "nothing; learning rate, batch and clipping are those of the released scripts for every row"
)

TASK: Final = Copying(recalled_only=True)
RECIPE: Final = Recipe(steps=STEPS, learning_rate=1e-3, batch_size=64, clip_norm=1.0)
LOSS_RULE: Final = VerdictRule(margin=0.05, widest=0.2)
"""A difference of 0.05 nats would not matter, and an interval of ±0.2 is as wide as may be: the
floor is ln 8 = 2.08."""
RECALL_RULE: Final = VerdictRule()

COLUMNS: Final = ((TRAINING, "Train (50)"), ("dormant-200", "Test (200)"))
"""Regimes of Table 1 by its columns."""

ROWS: Final = {row: PRINTED[row] for row in published.COPYING} | RIVALS
"""Layers of the published rows, and those of no published row."""

MEASURED: Final = Unpublished(
    runs=published.TRIALS, selection="weights of the last step", split="new sequences"
)


def experiment(core: Spec, recipe: Recipe = RECIPE, task: Copying = TASK) -> Experiment:
    """The experiment of a row.

    Args:
        core: The layer.
        recipe: How it is trained.
        task: What it is trained on.
    """
    return Experiment(
        task=task,
        model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=600)),
        recipe=recipe,
    )


def _loss_claim(row: str, mean: float, regime: str, column: str) -> Claim:
    return Claim(
        paper="lamb2022",
        table="table-1-copying",
        row=row,
        column=column,
        published=Published(
            mean=mean,
            spread=None,
            spread_kind="standard error",
            runs=published.TRIALS,
            decimals=published.CROSS_ENTROPY_DECIMALS,
            unit="fraction",
            selection=published.SELECTION,
            split=published.COPYING_SPLIT,
        ),
        experiment=experiment(PRINTED[row]),
        rule=LOSS_RULE,
        metric="loss",
        regime=regime,
        quick=QUICK,
        subject="Copying, cross-entropy of the ten symbols",
    )


def _recall_claim(row: str, core: Spec, regime: str) -> Claim:
    return Claim(
        paper="lamb2022",
        table="copying",
        row=row,
        column=f"T = {int(regime.rpartition('-')[2]):,}",
        published=MEASURED,
        experiment=experiment(core),
        rule=RECALL_RULE,
        metric="accuracy",
        regime=regime,
        quick=QUICK,
        subject="Copying, symbols recalled",
    )


TABLE_1_COPYING: Final = Table(
    key="lamb2022/table-1-copying",
    title="Copying, trained after a dormant phase of 50: cross-entropy at 50 and at 200",
    steps_published=False,
    tuned=NOT_TUNED,
    claims=tuple(
        _loss_claim(row, means[number], regime, column)
        for number, (regime, column) in enumerate(COLUMNS)
        for row, means in published.COPYING.items()
    ),
)
"""The left half of Table 1."""

COPYING: Final = Table(
    key="lamb2022/copying",
    title="Copying: symbols recalled after dormant phases far longer than in training",
    tuned=NOT_TUNED,
    claims=tuple(
        _recall_claim(row, core, regime.name)
        for regime in TASK.regimes[2:]
        for row, core in ROWS.items()
    ),
)
"""The same networks, and unpublished rivals, by the share of symbols recalled."""
