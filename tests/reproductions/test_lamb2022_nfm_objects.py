"""Chapter 10 of lamb2022 on images of several objects: printed numbers and experiments."""

from __future__ import annotations

import numpy as np
import pytest

from farfield.core import stream
from farfield.experiments import Experiment
from farfield.reproductions import TABLES
from farfield.reproductions.internal import STATEMENTS, judge_statement
from farfield.tasks import SortOfCLEVR

PUBLISHED = ("nfm-table-5", "nfm-table-6", "nfm-table-7", "nfm-objects-text")


def cells(key: str):
    return TABLES[f"lamb2022/{key}"].claims


def test_levels_of_random_answers_are_those_of_the_page(paper_text) -> None:
    text = " ".join(paper_text("lamb2022").split())
    assert "random guess accuracy is 50%" in text
    assert "has accuracy of ≈ 39%" in text


def test_cells_are_where_they_stand() -> None:
    found = {(claim.group, claim.row, claim.column): claim for claim in cells("nfm-table-5")}
    two = found["trained-1-3", "NFM", "Two Digits"]
    assert two.regime == "digits-2"
    assert two.experiment.task.digits == (1, 3)
    found = {(claim.row, claim.column): claim for claim in cells("nfm-table-7")}
    one = found["Relation networks", "N = 2: Non-relational qst"]
    assert one.regime == "withheld-pairs-2"
    assert one.metric == "accuracy/non-relational"
    assert one.experiment.task == SortOfCLEVR(withheld_pairs=2)


def experiments() -> dict[str, Experiment]:
    return {claim.row: claim.experiment for key in PUBLISHED for claim in cells(key)}


def test_networks_are_those_of_the_text() -> None:
    """24 channels at first, two passes, five entries of four heads of 16, used eight times."""
    found = experiments()
    nfm = found["NFM"].model.build(found["NFM"].task, stream(0))
    assert len(nfm.maps.nfm.layers) == 8
    assert nfm.maps.nfm.first_reader == 0
    rules = nfm.maps.nfm.rules
    sizes = (rules.top_k, rules.key_size, rules.value_size, rules.num_heads)
    assert sizes == (5, 16, 16, 4)
    for row in ("Baseline", "CNN", "NFM(CNN)", "Relation networks", "NFM(CNN), one pass"):
        model = found[row].model.build(found[row].task, stream(0))
        maps = model.maps.networks[-1] if found[row].model.passes else model.maps
        assert [*maps.state_layers.values()] == [24, 48, 96, 192]
    doubled = found["CNN, doubled"].model.build(found["CNN, doubled"].task, stream(0))
    assert [*doubled.maps.state_layers.values()] == [48, 48, 96, 96, 192, 192, 384, 384]


def test_rows_differ_in_the_network_alone() -> None:
    recipes = {row: experiment.recipe for row, experiment in experiments().items()}
    assert recipes["CNN"].steps == 150 * 3_063
    assert recipes["NFM"].steps == 50 * 938
    assert {(r.learning_rate, r.batch_size) for r in recipes.values()} == {(1e-4, 64)}


def test_random_answers_are_as_good_as_the_text_says() -> None:
    """Each possible answer with equal probability: of two, two and six to relational questions."""
    relational = np.mean([1 / 2, 1 / 2, 1 / 6])
    assert round(100 * relational) == 39
    assert f"{100 * relational:.1f}" in STATEMENTS["lamb2022/random-relational"].missing
    chances = SortOfCLEVR().chances("new-images")
    assert np.mean([chances[kind] for kind in ("closest", "furthest", "count")]) > relational


def test_averages_are_those_of_the_columns_but_for_one() -> None:
    found = {
        name: judge_statement(STATEMENTS[f"lamb2022/nfm-average-{name}"], lambda _: []).published
        for name in ("cnn", "rn", "nfm")
    }
    assert found == {"cnn": "46.50", "rn": "45.61", "nfm": "50.78"}
    assert found["cnn"] in STATEMENTS["lamb2022/nfm-average-cnn"].note


def test_random_attention_is_scored_on_networks_that_are_trained_anyway() -> None:
    for key in ("nfm-digits-narrow", "nfm-clevr-narrow"):
        drawn = [claim for claim in cells(key) if claim.row == "NFM(CNN), random attention"]
        trained = {claim.experiment for claim in cells(key) if claim.row == "NFM(CNN)"}
        assert {claim.experiment for claim in drawn} == trained
        assert all(claim.regime.startswith("random-attention-") for claim in drawn)


@pytest.mark.parametrize("key", ["nfm-digits-narrow", "nfm-clevr-narrow", "nfm-beyond"])
def test_networks_of_our_own_can_be_built(key: str) -> None:
    for experiment in {claim.experiment for claim in cells(key)}:
        experiment.model.build(experiment.task, stream(0))
