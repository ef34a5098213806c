"""Goals on matrices whose last lines tell nothing: which network finds the rule on new levels.

Panels are read by `FigureEncoder`, which knows that they are grids of figures with lines over them,
and says which sets of levels they show; `SetScorer` asks what sets have in common. With a
convolutional encoder SRAN was at chance in validation after a hundred steps, and was not trained
longer.
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
from farfield.models import SRAN, SetScorer
from farfield.nn import ContextNorm, FigureEncoder, PanelEncoder
from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions.gondal2021._cores import PLACES_STD, SMALL_VIT, matrices_network
from farfield.reproductions.gondal2021._matrices import OWN_SIDE, RULE
from farfield.tasks import RAVEN, VALIDATION, ProgressiveMatrices

SIDE: Final = 80
"""Pixels of a panel, half as many before convolutions."""
TRIPLES: Final = 3
"""Of a problem: the fewest that can be balanced, and all."""
TASK: Final = ProgressiveMatrices(
    holdout="extrapolation",
    most_triples=TRIPLES,
    distractors=False,
    balanced=True,
    training_problems=96_000,
    image_size=SIDE,
)
FILES: Final = RAVEN(image_size=SIDE)
RECIPE: Final = Recipe(
    steps=3_000,
    learning_rate=4e-3,
    batch_size=32,
    clip_norm=1.0,
    schedule=Warmup(fraction=0.05, then=Cosine()),
)
"""One epoch over the problems of our own."""
GOAL: Final = 60.0


FIGURES: Final = Spec(FigureEncoder)
NORM: Final = Spec(ContextNorm, eps=1e-4)
"""Features that are alike in all panels of a problem stay 0."""
SCORER: Final = Spec(SetScorer, set_sizes=(9, 100, 32, 27, 12, 32))
"""The sizes are those of the sets of `FigureEncoder`."""
RULES: Final = Spec(SRAN, hidden_size=32, rule_size=8, columns=True)

OURS: Final = "Sets of figures"
CONVOLUTIONS: Final = "SRAN on convolutions + TCN"
MODELS: Final[dict[str, Architecture]] = {
    OURS: ScoringNetwork(scorer=SCORER, encoder=FIGURES, context=None),
    "SRAN + TCN": ScoringNetwork(scorer=RULES, encoder=FIGURES, context=NORM),
    "ViT + TCN": dataclasses.replace(
        matrices_network(SMALL_VIT, NORM, places_std=PLACES_STD), encoder=FIGURES
    ),
    CONVOLUTIONS: ScoringNetwork(scorer=RULES, encoder=Spec(PanelEncoder), context=NORM),
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
        "encoder, scorer, learning rate, steps and number of problems, in training and validation, "
        "with tests printed beside them; of the encoder, that figures and lines are separated as "
        "they are drawn, seen in validation and in the test"
    ),
    claims=with_rows_by_hand(
        _claim(row, column, split) for column, split in COLUMNS.items() for row in MODELS
    ),
)
"""A network of the files is another one: the same model, trained on theirs."""
