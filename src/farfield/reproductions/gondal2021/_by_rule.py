"""Goals on matrices whose last lines tell nothing: which network finds the rule on new levels.

Pictures are read by `CellEncoder`, which knows that panels are grids of 3×3 and learns nothing.
With learned convolutions, or a linear layer, in its place the network was at chance in validation
for the hundred updates that these were watched; with it above chance by then, and on sets of levels
in place of pictures sooner. More was not tried.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import (
    Architecture,
    Cosine,
    Experiment,
    Recipe,
    ScoringNetwork,
    Spec,
    Warmup,
)
from farfield.models import SRAN
from farfield.nn import CellEncoder, ContextNorm, PanelEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions.gondal2021._cores import PLACES_STD, SMALL_VIT, matrices_network
from farfield.reproductions.gondal2021._matrices import OWN_SIDE, RULE
from farfield.tasks import RAVEN, VALIDATION, ProgressiveMatrices

SIDE, MARGIN = 80, 4
"""Pixels of a panel, half as many before convolutions, and those around its grid."""
TRIPLES: Final = 3
"""Of a problem: the fewest that can be balanced, and all."""
TASK: Final = ProgressiveMatrices(
    holdout="extrapolation",
    most_triples=TRIPLES,
    distractors=False,
    balanced=True,
    training_problems=160_000,
    image_size=SIDE,
)
FILES: Final = RAVEN(image_size=SIDE)
RECIPE: Final = Recipe(
    steps=5_000,
    learning_rate=3e-3,
    batch_size=32,
    clip_norm=1.0,
    schedule=Warmup(fraction=0.05, then=Cosine()),
)
"""One epoch over the problems of our own: for our row about ten minutes of one core of a small
computer, for convolutions several times that."""
GOAL: Final = 60.0


STATISTICS: Final = 6
"""Of a cell, each with a head of its own."""
CELLS: Final = Spec(CellEncoder, margin=MARGIN)
NORM: Final = Spec(ContextNorm, eps=1e-4)
"""Statistics that no panel of a problem changes stay 0."""


def _scorer(*, columns: bool = True, heads: int = STATISTICS) -> Spec:
    """A scorer that compares the rules of lines."""
    return Spec(SRAN, hidden_size=32, rule_size=8, columns=columns, heads=heads)


OURS: Final = "SRAN of columns and heads + TCN"
CONVOLUTIONS: Final = "without cells"
BEST: Final = ScoringNetwork(scorer=_scorer(), encoder=CELLS, context=NORM)
MODELS: Final[dict[str, Architecture]] = {
    OURS: BEST,
    "without columns": dataclasses.replace(BEST, scorer=_scorer(columns=False)),
    "without heads": dataclasses.replace(BEST, scorer=_scorer(heads=1)),
    "without TCN": dataclasses.replace(BEST, context=None),
    CONVOLUTIONS: dataclasses.replace(BEST, encoder=Spec(PanelEncoder), scorer=_scorer(heads=8)),
    "ViT + TCN": dataclasses.replace(
        matrices_network(SMALL_VIT, NORM, places_std=PLACES_STD), encoder=CELLS
    ),
}
"""None sees the candidates beside each other, and so none can vote among those of the files."""
MEASURED: Final = Unpublished(
    runs=5, selection="weights of the last step", split="test problems of our own"
)


def _claim(row: str, column: str, split: str) -> Claim:
    task = FILES if column == "RAVEN" else TASK
    if row == CONVOLUTIONS:
        task = dataclasses.replace(task, image_size=OWN_SIDE)
    regime = VALIDATION if column == "val." else task.regimes[-1].name
    goal = GOAL if row == OURS and column == "test" else None
    return Claim(
        paper="gondal2021",
        table="matrices-by-rule",
        row=row,
        column=column,
        published=dataclasses.replace(MEASURED, split=split, goal=goal),
        experiment=Experiment(task=task, model=MODELS[row], recipe=RECIPE),
        rule=RULE,
        metric="accuracy",
        regime=regime,
        quick=1 / 10,
        subject="Matrices by rule",
        group="files" if column == "RAVEN" else "extrapolation",
        free=("folder",) if column == "RAVEN" else (),
        data="the RAVEN files of Zhang et al. 2019 in FARFIELD_DATA/raven"
        if column == "RAVEN"
        else None,
    )


COLUMNS: Final = {
    "val.": "validation problems of our own",
    "test": "test problems of our own, with sizes and colors beyond training",
    "RAVEN": "published test problems, after training on the published ones",
}
BY_RULE: Final = Table(
    key="gondal2021/matrices-by-rule",
    title="Goals: matrices of which the last lines and the candidates tell nothing",
    tuned=(
        "encoder, learning rate, steps and number of problems, in training and validation, with "
        "tests printed beside them"
    ),
    claims=tuple(_claim(row, column, split) for column, split in COLUMNS.items() for row in MODELS),
)
"""A network of the files is another one: the same model, trained on theirs."""
