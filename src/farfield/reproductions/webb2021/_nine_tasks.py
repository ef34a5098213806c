"""A goal beyond webb2021: one architecture and one recipe for nine rule tasks at their hardest.

The four tasks of the paper, at its hardest regimes, and five harder ones with as few training
images as one problem needs. The first row is CoRelNet on whitened embeddings; each other row drops
or replaces one part of it. All was chosen with `GlyphSet.letters()`, a table of images that shares
nothing with those that are tested on: `farfield reproduce webb2021/nine-tasks --images letters`.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import LSTM, CoRelNet, DeepSets, Transformer
from farfield.nn import ContextWhitening, RandomEncoder
from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions.webb2021 import _print as printed
from farfield.reproductions.webb2021._beyond import GOAL, MEASURED
from farfield.reproductions.webb2021._tables import RULE
from farfield.tasks import (
    AllSame,
    DistributionOfN,
    IdentityRulesMiddle,
    ProblemTask,
    TintedSameDifferent,
    TripleMatchToSample,
)

STEPS: Final = 1_000
"""Updates, for every row and task."""

TASKS: Final[tuple[tuple[str, ProblemTask], ...]] = (
    *(
        (subject.title, subject.task(withheld=printed.WITHHELD[len(subject.epochs) - 1]))
        for subject in printed.SUBJECTS
    ),
    ("Match-to-sample with triples", TripleMatchToSample(withheld=94)),
    ("Identity rules, missing middle", IdentityRulesMiddle(withheld=96)),
    ("Same/different, spurious tint", TintedSameDifferent(withheld=98)),
    ("Are all six the same?", AllSame(num_images=6, withheld=98)),
    ("Distribution-of-twenty", DistributionOfN(row_length=20, withheld=79)),
)
"""Title and task. Those of the paper are at the hardest regime of Tables 9 to 12."""

ROWS: Final = {
    "CoRelNet + whitening": Network(reasoner=Spec(CoRelNet), context=Spec(ContextWhitening)),
    "CoRelNet + TCN": Network(reasoner=Spec(CoRelNet)),
    "CoRelNet": Network(reasoner=Spec(CoRelNet), context=None),
    "CoRelNet (rand) + whitening": Network(
        reasoner=Spec(CoRelNet), encoder=Spec(RandomEncoder), context=Spec(ContextWhitening)
    ),
    "Transformer + whitening": Network(reasoner=Spec(Transformer), context=Spec(ContextWhitening)),
    "LSTM + whitening": Network(reasoner=Spec(LSTM), context=Spec(ContextWhitening)),
    "Mean + whitening": Network(reasoner=Spec(DeepSets), context=Spec(ContextWhitening)),
    "Maximum + whitening": Network(
        reasoner=Spec(DeepSets, maximum=True), context=Spec(ContextWhitening)
    ),
    "Mean + TCN": Network(reasoner=Spec(DeepSets)),
    "Maximum + TCN": Network(reasoner=Spec(DeepSets, maximum=True)),
}
"""Ours; another normalization and none; an untrained encoder; reasoners that do not compare, the
last four of one layer, pooled over positions."""


def _claim(title: str, task: ProblemTask, row: str) -> Claim:
    """One row of one task, in its farthest regime."""
    regime = task.regimes[-1].name
    return Claim(
        paper="webb2021",
        table="nine-tasks",
        row=row,
        column=regime,
        published=GOAL if row == next(iter(ROWS)) else MEASURED,
        experiment=Experiment(
            task=task,
            model=ROWS[row],
            recipe=Recipe(
                steps=STEPS, learning_rate=printed.LEARNING_RATE, batch_size=printed.BATCH_SIZE
            ),
        ),
        rule=RULE,
        metric="accuracy",
        regime=regime,
        quick=1.0,
        subject=title,
        group=task.name,
        free=("shapes",),
    )


NINE_TASKS: Final = Table(
    key="webb2021/nine-tasks",
    title=f"Nine rule tasks at their hardest after {STEPS} steps, part by part",
    tuned="parts, recipe and steps, on letters, which no test shows",
    claims=with_rows_by_hand(_claim(title, task, row) for title, task in TASKS for row in ROWS),
)
"""The goal, and what brings it."""
