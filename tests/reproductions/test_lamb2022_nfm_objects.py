"""Chapter 10 of lamb2022 on images of several objects: printed numbers and experiments."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from farfield.core import stream
from farfield.experiments import Experiment
from farfield.reproductions import TABLES, Published
from farfield.reproductions.internal import STATEMENTS, judge_statement
from farfield.reproductions.lamb2022 import PAPER
from farfield.tasks import SortOfCLEVR

PUBLISHED = ("nfm-table-5", "nfm-table-6", "nfm-table-7", "nfm-objects-text")
CELLS = {"nfm-table-5": 20, "nfm-table-6": 4, "nfm-table-7": 18, "nfm-objects-text": 4}


def cells(key: str):
    return TABLES[f"lamb2022/{key}"].claims


def texts(*names: str) -> list[str]:
    """All numbers of some TSVs, means and spreads."""
    return [
        number
        for name in names
        for row in PAPER.numbers(f"{name}.tsv")[1].values()
        for cell in row
        for number in cell.split(" ± ")
    ]


AVERAGES: list[str] = STATEMENTS["lamb2022/nfm-average-nfm"].quote.split()[1:]
"""Last row of Table 7."""
GROUPS = ("nfm-table-5-trained-1-3", "nfm-table-5-trained-1-5")


@pytest.mark.parametrize(
    "numbers, start, end, others",
    [
        (texts(*GROUPS), "Methods Baseline NFM\nTrained", "10.4.3. Relational", "135"),
        (texts("nfm-table-6"), "Task CNN NFM(CNN)", "71\n", ""),
        ([*texts("nfm-table-7"), *AVERAGES], "Number of hold-out", "dataset in its", "112233"),
    ],
    ids=["5", "6", "7"],
)
def test_every_number_is_that_of_the_page(
    numbers: list[str], start: str, end: str, others: str, paper_text
) -> None:
    text = paper_text("lamb2022")
    first = text.index(start)
    page = Counter(re.findall(r"\d+(?:\.\d+)?", text[first : text.index(end, first)]))
    declared = Counter(numbers)
    assert declared - page == Counter()
    assert set(page - declared) <= set(others)


def test_numbers_of_the_text_are_those_of_the_page(paper_text) -> None:
    text = " ".join(paper_text("lamb2022").split())
    once, dense, (nfm,), (cnn,) = PAPER.numbers("nfm-objects-text.tsv")[1].values()
    assert f"accuracy of {once[0].replace(' ', '')} on relational questions" in text
    assert f"achieved an accuracy of {dense[0]}" in text
    assert f"{nfm} (with NFM) and {cnn} (without NFM)" in text
    assert "random guess accuracy is 50%" in text
    assert "has accuracy of ≈ 39%" in text


@pytest.mark.parametrize("table", PUBLISHED)
def test_every_cell_is_a_claim_with_the_deviation_of_three_networks(table: str) -> None:
    claims = cells(table)
    assert len(claims) == CELLS[table]
    for claim in claims:
        assert isinstance(claim.published, Published)
        is_said = table in ("nfm-table-6", "nfm-table-7")
        assert claim.published.spread_kind == ("standard deviation" if is_said else "not said")
        assert claim.published.runs_assumed is not is_said
        assert claim.published.runs == 3
        assert str(claim.published).endswith("SD" if is_said else "SD or SE")


def test_cells_are_where_they_stand() -> None:
    found = {(claim.group, claim.row, claim.column): claim for claim in cells("nfm-table-5")}
    two = found["trained-1-3", "NFM", "Two Digits"]
    assert str(two.published) == "88.36 ± 0.85 SD or SE"
    assert two.regime == "digits-2"
    assert two.experiment.task.digits == (1, 3)
    found = {(claim.row, claim.column): claim for claim in cells("nfm-table-7")}
    one = found["Relation networks", "N = 2: Non-relational qst"]
    assert str(one.published) == "43.33 ± 7.31 SD"
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


@pytest.mark.parametrize("name", ["other-numbers", "passes", "capacity", "withheld-pairs"])
def test_published_numbers_are_in_the_order_that_the_words_say(name: str) -> None:
    statement = STATEMENTS[f"lamb2022/nfm-{name}"]
    total = len(statement.comparison.contests)
    judged = judge_statement(statement, lambda _: [])
    assert judged.published == f"{total} of {total}"


def test_averages_are_those_of_the_columns_but_for_one() -> None:
    found = {
        name: judge_statement(STATEMENTS[f"lamb2022/nfm-average-{name}"], lambda _: []).published
        for name in ("cnn", "rn", "nfm")
    }
    assert found == {"cnn": "46.50", "rn": "45.61", "nfm": "50.78"}
    assert found["cnn"] in STATEMENTS["lamb2022/nfm-average-cnn"].note


def test_tables_of_a_narrow_size_have_the_same_recipe_and_can_be_run_in_full() -> None:
    for key, rows in (("nfm-digits-narrow", 4), ("nfm-clevr-narrow", 7)):
        claims = cells(key)
        assert {claim.quick for claim in claims} == {1}
        assert len({claim.experiment.recipe for claim in claims}) == 1
        assert len({claim.row for claim in claims}) == rows


def test_random_attention_is_scored_on_networks_that_are_trained_anyway() -> None:
    for key in ("nfm-digits-narrow", "nfm-clevr-narrow"):
        drawn = [claim for claim in cells(key) if claim.row == "NFM(CNN), random attention"]
        trained = {claim.experiment for claim in cells(key) if claim.row == "NFM(CNN)"}
        assert {claim.experiment for claim in drawn} == trained
        assert all(claim.regime.startswith("random-attention-") for claim in drawn)


def test_goals_beyond_are_those_of_the_first_rows() -> None:
    goals = {
        (claim.row, claim.regime, claim.group): claim.published.goal
        for claim in cells("nfm-beyond")
        if claim.published.goal is not None
    }
    assert goals == {
        ("Presence at each position", "digits-2", "digits"): 95.0,
        ("Named object", "new-images", "relational"): 90.0,
        ("Named object", "withheld-pairs-3", "relational"): 60.0,
        ("Named object", "withheld-pairs-3", "non-relational"): 60.0,
    }


@pytest.mark.parametrize("key", ["nfm-digits-narrow", "nfm-clevr-narrow", "nfm-beyond"])
def test_networks_of_our_own_can_be_built(key: str) -> None:
    for experiment in {claim.experiment for claim in cells(key)}:
        experiment.model.build(experiment.task, stream(0))
        names = {regime.name for regime in experiment.regimes}
        asked = {claim.regime for claim in cells(key) if claim.experiment == experiment}
        assert asked <= names
