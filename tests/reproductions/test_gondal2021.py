"""gondal2021 as claims: the numbers of print, and the experiments behind them."""

from __future__ import annotations

import pytest
import torch

from farfield.core import stream
from farfield.reproductions import TABLES, Budget
from farfield.reproductions.gondal2021 import _print as printed
from farfield.tasks import FuzzyBoolean
from farfield.training import OneNetwork

TABLE_1 = {claim.row: claim for claim in TABLES["gondal2021/table-1"].claims}


def test_table_1_is_as_printed() -> None:
    assert [str(claim.published) for claim in TABLE_1.values()] == [
        "0.9983",
        "0.9202",
        "0.9857",
        "0.9953",
    ]
    assert printed.BETWEEN_FUNCTIONS.keys() == TABLE_1.keys()
    assert {claim.metric for claim in TABLE_1.values()} == {FuzzyBoolean.metric}
    assert [claim.published.goal for claim in TABLES["gondal2021/beyond"].claims[:4]] == [
        0.9933,
        0.9152,
        0.9807,
        0.9903,
    ]


def test_functions_are_learned_for_the_epochs_of_print_and_never_those_adapted_to() -> None:
    first, *others = (claim.experiment for claim in TABLE_1.values())
    recipe, task = first.recipe, first.task
    assert recipe.steps * recipe.batch_size == 20 * task.training_points
    assert task.training_points + task.validation_points == 163_840
    learned = task.draw(stream(0, "problems"))["corners"].latent["function"][0].tolist()
    assert len(set(learned)) == 20
    for other in others:
        assert other.starts_from.experiment == first
        assert other.recipe.steps * recipe.batch_size == 3 * task.training_points
        new = other.task.draw(stream(0, "problems"))["corners"].latent["function"][0].tolist()
        assert len({*learned, *new}) == 30


@pytest.mark.parametrize(
    ("row", "moving"),
    [
        ("CLS tokens", ("tokens",)),
        ("CLS tokens + type inference", ("tokens", "typing", "signatures")),
        (
            "CLS tokens + type inference + the rest",
            ("tokens", "typing", "signatures", "codes", "lines", "heads", "encoder"),
        ),
    ],
)
def test_adaptation_moves_what_the_row_names(row: str, moving: tuple[str, ...]) -> None:
    experiment = TABLE_1[row].at(Budget.QUICK)
    before = OneNetwork(experiment.starts_from.experiment, 0).weights()[0]
    learner = OneNetwork(experiment, 0, start=before)
    start = {name: tensor.clone() for name, tensor in learner.weights()[0].items()}
    for name, tensor in start.items():
        assert name == "reader.tokens" or torch.equal(tensor, before[name]), name
    assert start["reader.tokens"].shape == (10, before["reader.tokens"].shape[1])
    learner.update(0)
    learner.update(1)
    moved = {n for n, tensor in learner.weights()[0].items() if not torch.equal(tensor, start[n])}
    for part in ("tokens", "typing", "signatures", "codes", "lines", "heads", "encoder"):
        named = {name for name in start if part in name.split(".")}
        assert bool(named & moved) == (part in moving), part
