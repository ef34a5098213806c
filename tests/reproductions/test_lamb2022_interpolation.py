"""Chapters 4 and 6 of lamb2022 as claims: every printed number, and the experiments behind them."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter

import pytest

from farfield.experiments import SGD
from farfield.objectives import ICT, CropAndFlip, ManifoldMixup, Mixup, Supervised
from farfield.reports import FIGURES
from farfield.reproductions import TABLES, Published
from farfield.reproductions.lamb2022 import PAPER

MIXUP = ("1a", "1b", "2", "3", "4", "5", "6", "7")
CELLS = {"1a": 20, "1b": 20, "2": 18, "3": 18, "4": 32, "5": 20, "6": 12, "7": 10}
"""Printed numbers of each table of chapter 4."""


def cells(key: str):
    return TABLES[f"lamb2022/{key}"].claims


def texts(name: str) -> list[str]:
    """All numbers of a TSV, means and spreads."""
    _, rows = PAPER.numbers(f"{name}.tsv")
    return [number for row in rows.values() for cell in row for number in cell.split(" ± ")]


def numbers_between(text: str, start: str, end: str) -> Counter[str]:
    first = text.index(start)
    return Counter(re.findall(r"\d+\.\d+", text[first : text.index(end, first)]))


@pytest.mark.parametrize(
    "name, start, end",
    [
        ("mixup-table-1a", "PreActResNet18 Test Error", "(a) CIFAR-10\n"),
        ("mixup-table-1b", "(a) CIFAR-10\n", "(b) CIFAR-100"),
        ("mixup-table-2", "Table 2. Classification errors", "Table 3. Accuracy on"),
        ("mixup-table-3", "PreActResNet18 top-1 top-5", "of 10−4"),
        ("mixup-table-4", "Table 4. Test accuracy", "Table 5. Test accuracy"),
        ("mixup-table-5", "Table 5. Test accuracy", "Table 6. Test accuracy"),
        ("mixup-table-6", "Table 6. Test accuracy", "4.5.2. Generalization"),
        ("mixup-table-7", "CIFAR-10 FGSM", "defense. If this hypothesis"),
        ("mixup-regularizers", "led to the following test errors", "(Note that the results"),
        ("singular-values", "For the largest singular value", "Therefore, weight decay"),
        (
            "ict-table-1",
            "Table 1. Error rates (%) on CIFAR-10 using CNN-13",
            "Table 2. Error rates",
        ),
        ("ict-table-2", "Table 2. Error rates (%) on SVHN", "To justify the use of a SSL"),
        ("ict-table-3", "CIFAR10\n\n4000 labeled", "Table 1 and 2. ICT method"),
    ],
)
def test_every_number_is_that_of_the_page(name: str, start: str, end: str, paper_text) -> None:
    printed = numbers_between(paper_text("lamb2022"), start, end)
    declared = Counter(text for text in texts(name) if "." in text)
    assert declared - printed == Counter()
    # What else stands there are alphas, angles and the like.
    assert sum((printed - declared).values()) <= 16


def test_numbers_of_the_text_are_those_of_the_page(paper_text) -> None:
    text = paper_text("lamb2022")
    (zeroed,) = texts("mixup-zeroed")
    assert f"this led to a {zeroed}% test error" in text
    for number in texts("neighbors"):
        assert f"{number}% (" in text
    numbers = texts("ict-ablations")
    for mean, spread in zip(numbers[::2], numbers[1::2], strict=True):
        assert re.search(rf"{mean}\s?±\s?{spread}", text)


@pytest.mark.parametrize("table", MIXUP)
def test_every_cell_of_chapter_4_is_a_claim(table: str) -> None:
    claims = cells(f"mixup-table-{table}")
    assert len(claims) == CELLS[table]
    assert all(isinstance(claim.published, Published) for claim in claims)


def test_every_cell_of_chapter_6_is_a_claim() -> None:
    assert [len(cells(f"ict-table-{n}")) for n in (1, 2, 3)] == [30, 27, 10]
    assert len(cells("ict-ablations")) == 6


def test_errors_are_errors_and_spreads_standard_deviations() -> None:
    found = {(claim.row, claim.metric): str(claim.published) for claim in cells("mixup-table-1a")}
    assert found["PreActResNet18, Manifold Mixup", "error"] == "2.95 ± 0.046 SD"
    assert found["PreActResNet18, Manifold Mixup", "nll"] == "0.137 ± 0.003 SD"
    assert found["PreActResNet18, AdaMix", "error"] == "3.52"
    found = {(claim.row, claim.column): str(claim.published) for claim in cells("ict-table-1")}
    assert found["ICT", "CIFAR-10, 4,000 labels"] == "7.29 ± 0.02 SD"
    assert {claim.metric for claim in cells("ict-table-2")} == {"error"}


def test_methods_of_other_papers_have_their_place_and_are_never_run() -> None:
    unbuilt = {claim.row for table in TABLES.values() for claim in table.claims if claim.unbuilt}
    assert {"PreActResNet18, AdaMix", "PGD training", "VAdD", "SNTG", "MT + Fast SWA"} <= unbuilt
    assert "ICT" not in unbuilt


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


def test_every_table_is_listed() -> None:
    printed = {f"mixup-table-{table}" for table in MIXUP} | {f"ict-table-{n}" for n in (1, 2, 3)}
    ours = {"spirals", "two-moons", "flattening", "mixup-narrow", "mixup-elsewhere", "ict-narrow"}
    others = {"mixup-text", "ict-ablations", "mixup-narrow-kmnist"}
    assert {f"lamb2022/{key}" for key in printed | ours | others} <= TABLES.keys()


def test_floors_and_ceilings_of_scores_of_sets() -> None:
    claims = {claim.metric: claim for claim in cells("mixup-table-1a")}
    assert claims["error"].floor == pytest.approx(0.9)
    assert math.isnan(claims["nll"].floor)
    deformed = cells("mixup-table-4")[0]
    assert deformed.experiment.unperturbed(deformed.regime) == "test"
    assert deformed.floor == pytest.approx(0.01)


def test_tables_of_a_narrow_size_can_be_run_in_full() -> None:
    for key in ("spirals", "two-moons", "flattening", "mixup-narrow", "ict-narrow"):
        assert {claim.quick for claim in cells(key)} == {1}


def test_cells_of_mechanisms_and_rules_differ_in_these_alone() -> None:
    found = cells("mechanisms-and-rules")
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


def test_the_words_of_figures_are_of_quantities_that_they_measure() -> None:
    figure = FIGURES["lamb2022/singular-values"]
    rows = {claim.row for claim in figure.table.claims}
    assert rows == set(PAPER.numbers("singular-values.tsv")[1])
    assert figure.words("manifold-mixup/core.layers.0/others") == "40.98 (section 4.3.2)"
