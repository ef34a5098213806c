"""Harder variants of the tasks of webb2021, where a model that answers all of those may still fail.

No paper has numbers for these: the rows say where each mechanism stops. Every model is trained for
the same number of steps on few images.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN, LSTM, CoRelNet, Transformer
from farfield.nn import ContextWhitening, RandomEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions.webb2021 import _print as printed
from farfield.reproductions.webb2021._tables import RULE, UNPUBLISHED
from farfield.tasks import (
    AllSame,
    DistributionOfN,
    IdentityRulesMiddle,
    ProblemTask,
    TintedSameDifferent,
    TripleMatchToSample,
)

STEPS: Final = 500
"""Updates, for every row and task."""

RUNS: Final = 5
"""Networks of each row."""

TASKS: Final[tuple[tuple[str, str, ProblemTask], ...]] = (
    ("all-same-6", "Are all six the same?", AllSame(num_images=6, withheld=90)),
    ("triples", "Match-to-sample with triples", TripleMatchToSample(withheld=90)),
    ("distribution-of-8", "Distribution-of-eight", DistributionOfN(row_length=8, withheld=90)),
    ("distribution-of-20", "Distribution-of-twenty", DistributionOfN(row_length=20, withheld=75)),
    ("middle", "Identity rules, missing middle", IdentityRulesMiddle(withheld=95)),
    ("tinted", "Same/different, spurious tint", TintedSameDifferent(withheld=90)),
)
"""Name, title and task of each variant."""

ROWS: Final = {
    "ESBN + whitening": Network(reasoner=Spec(ESBN), context=Spec(ContextWhitening)),
    "ESBN (rand) + whitening": Network(
        reasoner=Spec(ESBN), encoder=Spec(RandomEncoder), context=Spec(ContextWhitening)
    ),
    "ESBN + TCN": Network(reasoner=Spec(ESBN)),
    "CoRelNet + whitening": Network(reasoner=Spec(CoRelNet), context=Spec(ContextWhitening)),
    "CoRelNet + TCN": Network(reasoner=Spec(CoRelNet)),
    "Transformer + TCN": Network(reasoner=Spec(Transformer)),
    "LSTM + TCN": Network(reasoner=Spec(LSTM)),
}
"""The network of each row: with the convolutional encoder and TCN unless it says otherwise."""

MEASURED: Final = dataclasses.replace(UNPUBLISHED, runs=RUNS)


def _claims(group: str, title: str, task: ProblemTask, row: str) -> list[Claim]:
    """One row of one task: a claim for each of its tests, all of one experiment."""
    experiment = Experiment(
        task=task,
        model=ROWS[row],
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
