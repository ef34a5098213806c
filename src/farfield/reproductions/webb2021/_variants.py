"""Harder variants of the tasks of webb2021, where a model that answers all of those may still fail.

No paper prints a number here: the rows say where each mechanism stops. Every model is trained for
the same number of steps on few images.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN, LSTM, CoRelNet, Transformer
from farfield.nn import ContextNorm, ContextWhitening
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions.webb2021 import _print as printed
from farfield.reproductions.webb2021._tables import RULE
from farfield.tasks import (
    AllSame,
    DistributionOfN,
    IdentityRulesMiddle,
    Task,
    TintedSameDifferent,
    TripleMatchToSample,
)

STEPS: Final = 500
"""Updates, for every row and task."""

RUNS: Final = 5
"""Networks of each row."""

TASKS: Final[tuple[tuple[str, str, Task], ...]] = (
    ("all-same-6", "Are all six the same?", AllSame(num_images=6, withheld=90)),
    ("triples", "Match-to-sample with triples", TripleMatchToSample(withheld=90)),
    ("distribution-of-8", "Distribution-of-eight", DistributionOfN(row_length=8, withheld=90)),
    ("distribution-of-20", "Distribution-of-twenty", DistributionOfN(row_length=20, withheld=75)),
    ("middle", "Identity rules, missing middle", IdentityRulesMiddle(withheld=95)),
    ("tinted", "Same/different, spurious tint", TintedSameDifferent(withheld=90)),
)
"""Name, title and task of each variant."""

ROWS: Final = {
    "ESBN + whitening": (Spec(ESBN), Spec(ContextWhitening)),
    "ESBN + TCN": (Spec(ESBN), Spec(ContextNorm)),
    "CoRelNet + whitening": (Spec(CoRelNet), Spec(ContextWhitening)),
    "CoRelNet + TCN": (Spec(CoRelNet), Spec(ContextNorm)),
    "Transformer + TCN": (Spec(Transformer), Spec(ContextNorm)),
    "LSTM + TCN": (Spec(LSTM), Spec(ContextNorm)),
}
"""Reasoner and context of each row."""

MEASURED: Final = Unpublished(runs=RUNS, selection=printed.SELECTION, split=printed.SPLIT)


def _claims(group: str, title: str, task: Task, row: str) -> list[Claim]:
    """One row of one task: a claim for each of its tests, all of one experiment."""
    reasoner, context = ROWS[row]
    experiment = Experiment(
        task=task,
        model=Network(reasoner=reasoner, context=context),
        recipe=Recipe(
            steps=STEPS, learning_rate=printed.LEARNING_RATE, batch_size=printed.BATCH_SIZE
        ),
    )
    return [
        Claim(
            paper="webb2021",
            table="variants",
            row=row,
            column=regime.name,
            published=MEASURED,
            experiment=experiment,
            rule=RULE,
            metric="accuracy",
            regime=regime.name,
            quick=1 / 5,
            subject=title,
            group=group,
            free=("shapes",),
        )
        for regime in task.regimes[1:]
    ]


VARIANTS: Final = Table(
    key="webb2021/variants",
    title="Harder variants of the tasks: where each mechanism stops",
    claims=tuple(claim for variant in TASKS for row in ROWS for claim in _claims(*variant, row)),
)
"""Every variant, every row."""
