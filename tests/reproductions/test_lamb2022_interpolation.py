"""Chapters 4 and 6 of lamb2022 as claims: every printed number, and the experiments behind them."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest

from farfield.experiments import SGD
from farfield.objectives import (
    ICT,
    CropAndFlip,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Supervised,
    TemporalEnsembling,
)
from farfield.reproductions import TABLES
from farfield.tasks import VARIATIONS, ArrayTask
from farfield.training.internal import OneNetwork


def cells(key: str):
    return TABLES[f"lamb2022/{key}"].claims


def test_methods_of_other_papers_have_their_place_and_are_never_run() -> None:
    unbuilt = {claim.row for table in TABLES.values() for claim in table.claims if claim.unbuilt}
    assert "PreActResNet18, AdaMix" in unbuilt
    assert not {"ICT", "PGD training", "VAdD", "SNTG", "MT + Fast SWA"} & unbuilt


def test_rivals_have_the_teachers_and_schedules_of_their_papers() -> None:
    first, second = (
        {claim.cell: claim.experiment for claim in cells(key)}
        for key in ("ict-table-1", "ict-table-2")
    )
    neighbors = first["cifar10-4000/sntg/test"].objective.objective
    assert isinstance(neighbors.objective, TemporalEnsembling)
    assert isinstance(second["svhn-250/sntg/test"].objective.objective.objective, MeanTeacher)
    fast = first["cifar10-4000/mt+fast-swa/test"]
    assert isinstance(fast.objective.objective.objective, MeanTeacher)
    assert fast.recipe.steps == 3 * first["cifar10-4000/ict/test"].recipe.steps
    epoch = fast.recipe.steps // 1_200
    rates = [fast.recipe.rate(number * epoch) / 0.1 for number in (0, 105, 179, 180, 209, 210)]
    falls = [(1 + math.cos(math.pi * number / 210)) / 2 for number in (0, 105, 179, 150, 179, 150)]
    assert rates == pytest.approx(falls)


@pytest.mark.parametrize("row", ["vadd", "sntg", "mt+fast-swa"])
def test_rivals_take_a_step_in_the_published_network(row: str) -> None:
    """Four made-up images at a time."""
    given = {claim.cell: claim.experiment for claim in cells("ict-table-1")}
    source = np.random.default_rng(0)
    images, labels = source.integers(256, size=(20, 3, 32, 32), dtype=np.uint8), np.arange(20) % 10
    data = {"training": (images, labels), "test": (images[:10], labels[:10]), "unlabelled": images}
    published = given[f"cifar10-4000/{row}/test"]
    small = dataclasses.replace(
        published,
        task=ArrayTask(data),
        model=dataclasses.replace(published.model, front=None),
        recipe=dataclasses.replace(published.recipe, batch_size=4),
    )
    learner = OneNetwork(small, seed=0)
    assert learner.update(0).isfinite().all()


def test_images_are_shifted_under_every_rule_and_house_numbers_are_not_mirrored() -> None:
    for key in ("mixup-table-1a", "mixup-table-2", "ict-table-1", "ict-table-2"):
        for claim in cells(key):
            objective = claim.experiment.objective
            assert isinstance(objective, CropAndFlip)
            assert objective.padding == 2
            assert objective.flip == ("svhn" not in claim.experiment.task.data_set)
            recipe = claim.experiment.recipe
            assert recipe.optimizer == SGD(momentum=0.9, nesterov=True, weight_decay=1e-4)
            assert (recipe.learning_rate, recipe.batch_size) == (0.1, 100)


def test_rows_of_a_table_differ_in_the_rule_alone() -> None:
    rules = {
        claim.row: claim.experiment.objective.objective
        for claim in cells("mixup-table-1a")
        if claim.row.startswith("PreActResNet34")
    }
    assert rules["PreActResNet34, No Mixup"] == Supervised()
    assert rules["PreActResNet34, Input Mixup"] == Mixup(alpha=1.0)
    layers = ("input", "core.group1", "core.group2")
    assert rules["PreActResNet34, Manifold Mixup"] == ManifoldMixup(layers=layers, alpha=2.0)


def test_layers_of_table_5_are_layers_of_the_network() -> None:
    for claim in cells("mixup-table-5"):
        rule = claim.experiment.objective.objective
        numbers = [int(digit) for digit in re.findall(r"\d", claim.row)]
        named = getattr(rule, "layers", ())
        assert len(named) == len(numbers)
        assert [name.replace("input", "core.group0")[-1] for name in named] == list(
            map(str, numbers)
        )


def test_learning_rates_fall_at_a_quarter_a_half_and_three_quarters() -> None:
    residual, wide = (
        next(claim for claim in cells("mixup-table-1a") if claim.row.startswith(name)).experiment
        for name in ("PreActResNet18", "WRN")
    )
    assert [round(residual.recipe.rate(k * 1_000), 6) for k in (0, 149, 150, 300, 450)] == (
        pytest.approx([0.1, 0.1, 0.01, 0.001, 0.0001])
    )
    assert residual.recipe.steps == 600_000
    assert [round(wide.recipe.rate(k * 1_000), 6) for k in (0, 99, 100, 150)] == (
        pytest.approx([0.1, 0.1, 0.01, 0.001])
    )


def test_ict_has_the_weights_and_alphas_of_the_text() -> None:
    found = {
        claim.column: claim.experiment.objective.objective
        for claim in cells("ict-table-1")
        if claim.row == "ICT"
    }
    assert {column: (rule.weight, rule.alpha) for column, rule in found.items()} == {
        "CIFAR-10, 1,000 labels": (10.0, 0.2),
        "CIFAR-10, 2,000 labels": (100.0, 1.0),
        "CIFAR-10, 4,000 labels": (100.0, 1.0),
    }
    for rule in found.values():
        assert isinstance(rule, ICT)
        assert (rule.decay, rule.ramp, rule.scores_teacher) == (0.999, 0.25, True)


def test_deformations_and_attacks_are_regimes_of_their_own() -> None:
    found = {claim.regime for claim in cells("mixup-table-4")}
    assert len(found) == 8
    assert all(name.endswith("-test") for name in found)
    attacked = [claim for claim in cells("mixup-table-7") if not claim.unbuilt]
    assert {claim.regime.partition("-")[0] for claim in attacked} == {"fgsm"}


def test_floors_and_ceilings_of_scores_of_sets() -> None:
    claims = {claim.metric: claim for claim in cells("mixup-table-1a")}
    assert claims["error"].floor == pytest.approx(0.9)
    assert math.isnan(claims["nll"].floor)
    deformed = cells("mixup-table-4")[0]
    assert deformed.experiment.unperturbed(deformed.regime) == "test"
    assert deformed.floor == pytest.approx(0.01)


def test_cells_of_mechanisms_and_rules_differ_in_these_alone() -> None:
    found = [c for c in cells("mechanisms-and-rules") if not c.group.startswith("showings-")]
    grid = {(claim.subject, *claim.row.split(", ")): claim.experiment for claim in found}
    assert len(grid) == 6 * 6 * 5
    assert len({experiment.key for experiment in grid.values()}) == len(grid)
    assert len({experiment.recipe for experiment in grid.values()}) == 1
    assert len({experiment.model.encoder for experiment in grid.values()}) == 1
    for part, number in ((0, 6), (1, 6), (2, 5)):
        assert len({place[part] for place in grid}) == number
    for (subject, mechanism, _), experiment in grid.items():
        plain = grid[subject, mechanism, "plain"]
        assert dataclasses.replace(experiment, objective=plain.objective) == plain


def test_showings_vary_in_tests_alone() -> None:
    found = TABLES["lamb2022/mechanisms-and-rules"]
    for claim in found.select("showings-*/esbn-mixup/noise-16").claims:
        plain = next(iter(found.select(f"{claim.group[9:]}/esbn-mixup/*").claims)).experiment
        task = claim.experiment.task
        assert not any(one.font for one in task.variations)
        assert len(task.variations) == len(VARIATIONS) - 2
        task = dataclasses.replace(task, variations=())
        assert dataclasses.replace(claim.experiment, task=task) == plain
