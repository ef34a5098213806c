"""The claims of webb2021 against the paper's own accounts of them."""

import math

import pytest

from farfield.core import stream
from farfield.reproductions import TABLES, Budget, Table, webb2021

FULL = [TABLES[f"webb2021/table-{number}"] for number in (9, 10, 11, 12)]
CELLS = [pytest.param(claim, id=claim.name) for table in FULL for claim in table.claims]


def test_the_registry_is_complete_and_keyed_by_name():
    declared = [value for value in vars(webb2021).values() if isinstance(value, Table)]
    assert [table.key for table in declared] == list(TABLES)
    assert list(TABLES.values()) == declared


def test_every_claim_has_its_own_name_and_experiment():
    claims = [claim for table in FULL for claim in table.claims]
    assert len(claims) == 30 + 3 * 24
    assert len({claim.name for claim in claims}) == len(claims)
    assert len({claim.experiment.key for claim in claims}) == len(claims)


@pytest.mark.parametrize(
    "table, cell, steps, learning_rate",
    [
        (9, "esbn+tcn/withheld-98", 100, 5e-4),  # one batch of four, a hundred times
        (9, "lstm/withheld-0", 50 * 588, 5e-4),
        (9, "esbn/withheld-95", 100 * 2, 5e-5),
        (10, "transformer+tcn/withheld-95", 200 * 15, 5e-4),
        (10, "esbn/withheld-0", 50 * 313, 5e-5),
        (11, "lstm+tcn/withheld-95", 150 * 12, 5e-4),
        (12, "esbn+tcn/withheld-95", 50 * 270, 5e-4),
        (12, "transformer+tcn/withheld-85", 100 * 313, 5e-4),
        (12, "transformer/withheld-95", 150 * 270, 5e-4),
    ],
)
def test_training_is_the_paper_s(table, cell, steps, learning_rate):
    recipe = TABLES[f"webb2021/table-{table}"].cells[cell].experiment.recipe
    assert (recipe.steps, recipe.learning_rate, recipe.batch_size) == (steps, learning_rate, 32)


@pytest.mark.parametrize("claim", CELLS)
def test_a_claim_is_about_what_its_place_says(claim):
    model, task = claim.experiment.model, claim.experiment.task
    assert model.reasoner.cls.__name__ == claim.row.removesuffix(" + TCN")
    assert (model.context is not None) == claim.row.endswith("TCN")
    assert claim.column == f"m = {task.withheld}"
    assert claim.regime in [regime.name for regime in task.regimes[1:]]
    assert claim.published.runs == 10
    assert claim.published.mean + 3 * claim.published.spread >= 100 * task.chance(claim.regime) - 1


@pytest.mark.parametrize(
    "claim", [table.cells[f"esbn+tcn/withheld-{m}"] for table in FULL for m in (0, 50, 85, 95)]
)
def test_the_task_draws_that_many_training_problems(claim):
    drawn = claim.experiment.task.draw(stream(0, "test"))["training"]
    source = {
        "same-different": webb2021.SAME_DIFFERENT,
        "relational-match-to-sample": webb2021.RELATIONAL_MATCH_TO_SAMPLE,
        "distribution-of-three": webb2021.DISTRIBUTION_OF_THREE,
        "identity-rules": webb2021.IDENTITY_RULES,
    }[claim.experiment.task.name]
    column = webb2021.WITHHELD.index(claim.experiment.task.withheld)
    assert len(drawn) == source.training[column]
    steps = source.epochs[column] * math.ceil(len(drawn) / 32)
    assert claim.experiment.recipe.steps == steps


@pytest.mark.parametrize("table", FULL, ids=lambda table: table.key)
def test_released_options_change_the_experiment_and_nothing_else(table):
    released = TABLES[f"{table.key}-released"]
    assert list(released.cells) == [name for name in table.cells if "+tcn" in name]
    for name, claim in released.cells.items():
        text, code = table.cells[name].experiment, claim.experiment
        assert claim.published == table.cells[name].published
        assert code.recipe == text.recipe
        assert (code.task.name, code.task.withheld) == (text.task.name, text.task.withheld)
        assert dict(code.model.context.options) == {"correction": 1}
        assert dict(code.model.reasoner.options) == (
            {"final_norm": True} if claim.row.startswith("Transformer") else {}
        )


def test_released_answers_and_patterns_are_those_of_the_code():
    def task(number):
        return TABLES[f"webb2021/table-{number}-released"].claims[0].experiment.task

    assert (task(9).num_outputs, task(10).num_outputs) == (2, 2)
    assert task(12).thirds


def test_the_demo_is_the_hardest_regime_of_each_task():
    demo = TABLES["webb2021/demo"]
    assert len(demo.claims) == 12
    for claim in demo.claims:
        assert claim.row in ("ESBN + TCN", "Transformer + TCN", "LSTM + TCN")
        home = TABLES[claim.home]
        hardest = max(other.experiment.task.withheld for other in home.claims)
        assert claim.experiment.task.withheld == hardest


def test_same_different_is_run_in_full_even_when_in_a_hurry():
    for table in FULL:
        whole = [claim.at(Budget.QUICK) == claim.experiment for claim in table.claims]
        assert all(whole) if table.key == "webb2021/table-9" else not any(whole)
