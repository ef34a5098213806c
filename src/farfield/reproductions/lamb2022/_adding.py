"""The adding task of chapter 8 of lamb2022, which gives no numbers for it.

Learning rate, batch and clipping are those of the released scripts, for all layers alike; none of
them was tuned.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import LinearEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _print as published
from farfield.reproductions.lamb2022._copying import NOT_TUNED
from farfield.reproductions.lamb2022._cores import PRINTED, RIVALS
from farfield.tasks import Adding

STEPS: Final = 1_000
"""Updates; the text gives none. By then the first network of each layer adds: on validation
sequences its error is at most a twentieth of the floor."""
QUICK: Final = 1 / 10

TASK: Final = Adding()
RULE: Final = VerdictRule(margin=0.001)

MORE_NUMBERS: Final = "Adding more numbers"
MORE_PLACES: Final = "Adding in longer sequences"

MEASURED: Final = Unpublished(
    runs=published.TRIALS,
    selection="weights of the last step",
    split="new sequences",
    decimals=(4, 4),
    unit="fraction",
)

ROWS: Final = {
    row: PRINTED[row]
    for row in ("RIMs (6, 4, 600)", "LSTM (600)", "NTM", "DNC", "RMC", "EntNet", "Transformers")
} | RIVALS


def _claim(row: str, core: Spec, regime: str) -> Claim:
    return Claim(
        paper="lamb2022",
        table="adding",
        row=row,
        column=regime,
        published=MEASURED,
        experiment=Experiment(
            task=TASK,
            model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=100)),
            recipe=Recipe(steps=STEPS, learning_rate=1e-3, batch_size=64, clip_norm=0.1),
        ),
        rule=RULE,
        metric=Adding.metric,
        regime=regime,
        quick=QUICK,
        subject=MORE_NUMBERS if regime.startswith("terms") else MORE_PLACES,
    )


ADDING: Final = Table(
    key="lamb2022/adding",
    title="Adding the marked numbers of longer sequences, and more of them",
    tuned=NOT_TUNED,
    claims=tuple(
        _claim(row, core, regime.name) for regime in TASK.regimes[1:] for row, core in ROWS.items()
    ),
)
"""Every layer, every test."""
