"""Goals on matrices whose last lines tell nothing: which network finds the rule on new levels."""

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
from farfield.nn import ContextNorm, PanelEncoder
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions.gondal2021._cores import PLACES_STD, SMALL_VIT, matrices_network
from farfield.reproductions.gondal2021._matrices import OWN_SIDE, RULE
from farfield.tasks import RAVEN, VALIDATION, ProgressiveMatrices

TRIPLES: Final = 3
"""Of a problem: the fewest that can be balanced, and all."""
TASK: Final = ProgressiveMatrices(
    holdout="extrapolation",
    most_triples=TRIPLES,
    distractors=False,
    balanced=True,
    training_problems=40_000,
    image_size=OWN_SIDE,
)
FILES: Final = RAVEN(image_size=OWN_SIDE)
RECIPE: Final = Recipe(
    steps=2_500,
    learning_rate=2e-3,
    batch_size=32,
    clip_norm=1.0,
    schedule=Warmup(fraction=0.05, then=Cosine()),
)
"""Two epochs over the problems of our own: about ten minutes of one core of a small computer."""
GOAL: Final = 60.0


def _network(*, columns: bool = True, heads: int = 8, normalized: bool = True) -> ScoringNetwork:
    """A network that compares the rules of lines, each candidate by itself."""
    scorer = Spec(SRAN, hidden_size=32, rule_size=8, columns=columns, heads=heads)
    context = Spec(ContextNorm) if normalized else None
    return ScoringNetwork(scorer=scorer, encoder=Spec(PanelEncoder), context=context)


OURS: Final = "SRAN of columns and heads + TCN"
MODELS: Final[dict[str, Architecture]] = {
    OURS: _network(),
    "without columns": _network(columns=False),
    "without heads": _network(heads=1),
    "without TCN": _network(normalized=False),
    "ViT + TCN": matrices_network(SMALL_VIT, Spec(ContextNorm), places_std=PLACES_STD),
}
"""None sees the candidates beside each other, and so none can vote among those of the files."""
MEASURED: Final = Unpublished(
    runs=5, selection="weights of the last step", split="test problems of our own"
)


def _claim(row: str, column: str, split: str) -> Claim:
    task = FILES if column == "RAVEN" else TASK
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
    tuned="sizes, heads and learning rate, in training and validation",
    claims=tuple(_claim(row, column, split) for column, split in COLUMNS.items() for row in MODELS),
)
"""A network of the files is another one: the same model, trained on theirs."""
