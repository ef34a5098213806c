"""The claims of webb2021 against the paper's own accounts of them."""

import math

from each import each
from farfield.core import stream
from farfield.objectives import Reconstructing, Supervised
from farfield.reproductions import (
    TABLES,
    Budget,
    Published,
)
from farfield.reproductions.webb2021._experiments import BY_TASK, TRAININGS, WITHHELD
from farfield.tasks import TASKS
from farfield.tasks._rules._abstract_rules import RuleTask

FULL = [TABLES[f"webb2021/table-{number}"] for number in (9, 10, 11, 12)]
CELLS = {claim.name: claim for table in FULL for claim in table.claims}


def test_a_number_that_is_printed_twice_is_one_experiment():
    for table, training in zip((9, 10, 11, 12), TRAININGS, strict=True):
        home = TABLES[f"webb2021/table-{table}"].cells
        again = TABLES[f"webb2021/table-{table + 6}"].cells
        for name in ("esbn", "transformer"):
            for withheld in WITHHELD[: len(training.epochs)]:
                first = home[f"{name}+tcn/withheld-{withheld}"]
                second = again[f"{name}-conv/withheld-{withheld}"]
                assert first.experiment == second.experiment
                assert first.published == second.published


@each(
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
        (10, "rn/withheld-50", 50 * 313, 5e-5),
        (11, "rn+tcn/withheld-95", 800 * 12, 5e-4),
        (11, "predinet/withheld-0", 100 * 313, 5e-5),
        (12, "predinet+tcn/withheld-95", 150 * 270, 5e-4),
        (12, "mnm/withheld-95", 50 * 270, 5e-4),
        (13, "identity-rules/rn+tcn/withheld-85", 100 * 3125, 5e-4),
        (13, "distribution-of-three/rn+tcn/withheld-0", 150 * 3125, 5e-4),
        (14, "identity-rules/trn+tcn/withheld-95", 50 * 270, 5e-4),
        (18, "transformer-rand/withheld-0", 100 * 313, 5e-4),
        (19, "relational-match-to-sample/esbn-without-confidence+tcn/withheld-95", 3000, 5e-4),
        (20, "same-different/esbn-with-default-memory+tcn/withheld-98", 100, 5e-4),
    ],
)
def test_training_is_the_paper_s(table, cell, steps, learning_rate):
    recipe = TABLES[f"webb2021/table-{table}"].cells[cell].experiment.recipe
    assert (recipe.steps, recipe.learning_rate, recipe.batch_size) == (steps, learning_rate, 32)


@each("claim", CELLS)
def test_a_claim_is_about_what_its_place_says(claim):
    model, task = claim.experiment.model, claim.experiment.task
    assert model.reasoner.cls.__name__ == claim.row.removesuffix(" + TCN")
    assert (model.context is not None) == claim.row.endswith("TCN")
    assert claim.column == f"m = {task.withheld}"
    assert claim.regime in [regime.name for regime in task.regimes[1:]]
    assert claim.published.runs == 10
    learns_to_rebuild = claim.row.startswith("MNM")
    assert claim.experiment.objective == (Reconstructing() if learns_to_rebuild else Supervised())
    if not isinstance(claim.published, Published):
        assert claim.row.startswith("CoRelNet")
        return
    assert claim.published.mean + 3 * claim.published.spread >= 100 * task.chance(claim.regime) - 1


@each("claim", [table.cells[f"esbn+tcn/withheld-{m}"] for table in FULL for m in (0, 50, 85, 95)])
def test_the_task_draws_that_many_training_problems(claim):
    drawn = claim.experiment.task.draw(stream(0, "test"))["training"]
    training = BY_TASK[claim.experiment.task.name]
    column = WITHHELD.index(claim.experiment.task.withheld)
    assert len(drawn) == training.problems[column]
    steps = training.epochs[column] * math.ceil(len(drawn) / 32)
    assert claim.experiment.recipe.steps == steps


@each("table", FULL)
def test_released_options_change_the_experiment_and_nothing_else(table):
    released = TABLES[f"{table.key}-released"]
    rows = {claim.row for claim in table.claims if claim.row.endswith("+ TCN")}
    assert {claim.row for claim in released.claims} == rows - {"CoRelNet + TCN"}
    for name, claim in released.cells.items():
        text, code = table.cells[name].experiment, claim.experiment
        assert claim.published == table.cells[name].published
        assert code.recipe == text.recipe
        assert (code.task.name, code.task.withheld) == (text.task.name, text.task.withheld)
        assert dict(code.model.context.options) == {"correction": 1}
        assert dict(code.model.reasoner.options) == {
            "Transformer": {"final_norm": True},
            "NTM": {"first_read": False},
            "MNM": {"memory_trained": False},
        }.get(claim.row.removesuffix(" + TCN"), {})


def test_released_answers_and_patterns_are_those_of_the_code():
    def task(number):
        return TABLES[f"webb2021/table-{number}-released"].claims[0].experiment.task

    assert (task(9).num_outputs, task(10).num_outputs) == (2, 2)
    assert task(12).thirds
    [trn] = {
        claim.experiment.model.reasoner for claim in TABLES["webb2021/table-14-released"].claims
    }
    assert dict(trn.options) == {"order_layers": False}


def test_the_demo_is_the_hardest_regime_of_each_task():
    demo = TABLES["webb2021/demo"]
    assert len(demo.claims) == 12
    for claim in demo.claims:
        assert claim.row in ("ESBN + TCN", "Transformer + TCN", "LSTM + TCN")
        home = TABLES[claim.home]
        hardest = max(other.experiment.task.withheld for other in home.claims)
        assert claim.experiment.task.withheld == hardest


def test_the_hardest_table_has_every_model_with_and_without_tcn():
    rows = [claim.row for claim in TABLES["webb2021/hardest"].claims]
    assert len(rows) == 4 * 16
    assert len(set(rows)) == 16


def test_same_different_with_few_shapes_is_run_in_full_even_when_in_a_hurry():
    for table in FULL:
        for claim in table.claims:
            whole = claim.at(Budget.QUICK) == claim.experiment
            few = claim.experiment.task.withheld >= 85
            assert whole == (few and claim.experiment.task.name == "same-different")


def test_beyond_has_one_goal_a_task_and_the_paper_s_problems():
    beyond = TABLES["webb2021/beyond"]
    goals = [claim for claim in beyond.claims if claim.published.goal is not None]
    assert [claim.subject for claim in goals] == [table.claims[0].subject for table in FULL]
    assert {claim.row for claim in goals} == {"ESBN (conv) + whitening"}
    assert len({claim.experiment.model for claim in goals}) == 1
    hardest = {claim.experiment.task for claim in TABLES["webb2021/hardest"].claims}
    assert {claim.experiment.task for claim in beyond.claims} == hardest
    trained = [claim for claim in beyond.claims if not claim.is_by_hand]
    assert len({claim.experiment.recipe for claim in trained}) == 1


def test_every_variant_is_claimed_in_every_test_regime():
    variants = TABLES["webb2021/variants"]
    tasks = {claim.experiment.task for claim in variants.claims}
    rules = {name for name, task in TASKS.items() if issubclass(task, RuleTask)}
    assert {task.name for task in tasks} == rules - BY_TASK.keys()
    for claim in variants.claims:
        tests = [regime.name for regime in claim.experiment.task.regimes[1:]]
        same = [other for other in variants.claims if other.experiment == claim.experiment]
        assert [other.regime for other in same] == tests
