"""The right half of Table 1 of lamb2022: digits read pixel by pixel, tested at other resolutions.

The text gives no number of updates. Learning rate, batch and clipping are those of the released
scripts, for all layers alike; none of them was tuned, and no weights are chosen.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import LinearEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _print as published
from farfield.reproductions.lamb2022._copying import NOT_TUNED
from farfield.reproductions.lamb2022._cores import PRINTED
from farfield.tasks import SequentialMNIST

STEPS: Final = 75_000
"""Updates: 100 epochs. The text gives none."""
QUICK: Final = 1 / 100
"""One epoch."""

TASK: Final = SequentialMNIST(validation_images=2_000, test_images=2_000)
"""Two thousand test images, each at four resolutions: what two cores can read."""
REGIMES: Final = ("side-16", "side-19", "side-24")
RULE: Final = VerdictRule()
DATA: Final = "MNIST: in FARFIELD_DATA/mnist, or by `farfield fetch mnist`"


def experiment(core: Spec) -> Experiment:
    """The experiment of a row.

    Args:
        core: The layer.
    """
    return Experiment(
        task=TASK,
        model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=600)),
        recipe=Recipe(steps=STEPS, learning_rate=7e-4, batch_size=64, clip_norm=1.0),
    )


def _claim(row: str, mean: float, regime: str) -> Claim:
    side = regime.rpartition("-")[2]
    decimals = (2, 2) if round(mean, 1) != mean else published.ACCURACY_DECIMALS
    return Claim(
        paper="lamb2022",
        table="table-1-digits",
        row=row,
        column=f"{side} × {side}",
        published=Published(
            mean=mean,
            spread=None,
            spread_kind="standard error",
            runs=published.TRIALS,
            decimals=decimals,
            unit="percent",
            selection=published.SELECTION,
            split=published.DIGITS_SPLIT,
        ),
        experiment=experiment(PRINTED[row]),
        rule=RULE,
        metric="accuracy",
        regime=regime,
        quick=QUICK,
        subject="Sequential MNIST",
        data=DATA,
    )


TABLE_1_DIGITS: Final = Table(
    key="lamb2022/table-1-digits",
    title="Digits read pixel by pixel, trained at 14 × 14: accuracy at other resolutions",
    steps_published=False,
    tuned=NOT_TUNED,
    claims=tuple(
        _claim(row, means[number], regime)
        for number, regime in enumerate(REGIMES)
        for row, means in published.DIGITS.items()
    ),
)
"""The right half of Table 1."""
