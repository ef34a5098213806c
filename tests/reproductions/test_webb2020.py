"""The claims of webb2020 against the paper's own accounts of them."""

from __future__ import annotations

import numpy as np
import pytest

from farfield.experiments import Spec
from farfield.models import SlotwiseScorer
from farfield.models.internal import LayerNormLSTMScorer
from farfield.nn import SilhouetteEncoder
from farfield.reports import tabulate
from farfield.reproductions import TABLES, Budget, Unpublished, Verdict
from farfield.tasks import PublishedVisualAnalogies, is_at_hand

TABLE_1, TABLE_2 = TABLES["webb2020/table-1"], TABLES["webb2020/table-2"]


def test_one_network_answers_for_all_columns_of_a_row():
    keys = {}
    for claim in TABLE_1.claims:
        keys.setdefault(claim.row, set()).add(claim.experiment.key)
    assert all(len(found) == 1 for found in keys.values())
    assert len(set.union(*keys.values())) == 11


def test_columns_are_regions_and_scales():
    row = [claim for claim in TABLE_1.claims if claim.row == "Context norm."]
    assert [claim.regime for claim in row] == ["training", *(f"region-{n}" for n in range(2, 7))]
    assert [claim.column for claim in row][:2] == ["Region 1 (training)", "Region 2"]
    row = [claim for claim in TABLE_2.claims if claim.row == "No norm."]
    assert [claim.regime for claim in row] == ["training", *(f"scale-{n}" for n in range(2, 7))]


@pytest.mark.parametrize(
    "cell, steps, learning_rate",
    [
        ("context-norm", 10_000, 5e-4),
        ("layer-norm-recurrent", 500_000, 5e-4),
        ("no-norm", 500_000, 1e-4),
    ],
)
def test_training_is_the_paper_s(cell, steps, learning_rate):
    recipe = TABLE_1.cells[f"{cell}/region-6"].experiment.recipe
    assert (recipe.steps, recipe.learning_rate, recipe.batch_size) == (steps, learning_rate, 32)


def test_the_supplement_scores_the_networks_of_table_1_by_dimension():
    supplement = TABLES["webb2020/table-s1"]
    key = TABLE_1.cells["context-norm/region-6"].experiment.key
    assert {claim.experiment.key for claim in supplement.claims} == {key}
    task = supplement.claims[0].experiment.task
    assert {claim.metric.partition("/")[2] for claim in supplement.claims} == task.parts(
        task.sample("region-2", 40, np.random.default_rng(0))
    ).keys()


def test_the_quick_budget_is_a_share_of_the_steps():
    claim = TABLE_1.cells["context-norm/region-6"]
    assert claim.at(Budget.QUICK).recipe.steps == 2_000
    assert TABLE_1.cells["no-norm/region-6"].at(Budget.QUICK).recipe.steps == 2_000
    assert claim.at(Budget.QUICK).task == claim.at(Budget.PAPER).task == claim.experiment.task


def test_the_released_options_change_no_row():
    for number in (1, 2):
        table, twin = (TABLES[f"webb2020/table-{number}{end}"] for end in ("", "-released"))
        assert [c.cell for c in twin.claims] == [c.cell for c in table.claims]
        for text, code in zip(table.claims, twin.claims, strict=True):
            options = dict(code.experiment.model.scorer.options)
            assert options.pop("position_tags") is True
            assert options.pop("forget_bias") == 1.0
            assert options == dict(text.experiment.model.scorer.options)
            assert code.experiment.task == text.experiment.task
    model = TABLE_1.cells["layer-norm-recurrent/region-2"].experiment.model
    assert (model.context, model.scorer.cls) == (None, LayerNormLSTMScorer)


def test_table_3_and_its_twin_have_the_same_networks():
    claims = TABLES["webb2020/table-3"].claims
    assert {(c.experiment.recipe.steps, c.experiment.recipe.learning_rate) for c in claims} == {
        (56_250, 1e-4)
    }
    generated = TABLES["webb2020/table-3-generated"].claims
    assert all(isinstance(claim.published, Unpublished) for claim in generated)
    assert [c.experiment.model for c in generated] == [c.experiment.model for c in claims]


def test_goals_in_clutter_score_every_map_by_itself():
    goals = [claim for claim in TABLES["webb2020/clutter"].claims if claim.published.goal]
    assert [claim.experiment.task.train_on for claim in goals] == [1, 1, 6, 1, 1]
    (model,) = {claim.experiment.model for claim in goals}
    assert (model.scorer, model.encoder) == (Spec(SlotwiseScorer), Spec(SilhouetteEncoder))
    encoder = SilhouetteEncoder(goals[0].experiment.task.item_shape)
    scorer = SlotwiseScorer(encoder.out_features, 4)
    assert len(scorer.weight) == len(encoder.colors)


def test_a_claim_on_files_that_are_not_there_needs_data(monkeypatch, tmp_path):
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    report = tabulate(TABLES["webb2020/table-3"], lambda claim: [], Budget.QUICK)
    assert {row.judgement.verdict for row in report.rows} == {Verdict.NEEDS_DATA}
    assert "FARFIELD_DATA/analogies" in report.rows[0].judgement.reason


def test_files_of_both_sets_put_a_task_at_hand(tmp_path):
    task = PublishedVisualAnalogies(folder=str(tmp_path))
    assert not is_at_hand(task)
    folder = tmp_path / "analogies"
    folder.mkdir()
    (folder / "analogy_extrapolation_train_lbc_0.npz").touch()
    assert not is_at_hand(task)
    (folder / "analogy_extrapolation_test_lbc_0.npz").touch()
    assert is_at_hand(task)
    assert is_at_hand(TABLE_1.claims[0].experiment.task)
