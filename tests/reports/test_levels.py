"""Floors and ceilings are measured once and kept."""

import dataclasses
import json
import math
from functools import cache
from pathlib import Path

import pytest

from each import some
from farfield.reports import FIGURES, tabulate
from farfield.reports._report import _levels
from farfield.reports.internal import Levels
from farfield.reproductions import TABLES, Table
from reproductions import made_up

CLAIM = made_up.claim()
RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture
def drawn(monkeypatch):
    """Names of the regimes whose ceiling was measured, one after another."""
    found = []

    def ceiling(task, regime, metric):
        found.append((regime, metric))
        return 0.75

    monkeypatch.setattr(_levels, "_ceiling", ceiling)
    return found


def test_a_ceiling_is_measured_once_and_kept(tmp_path, drawn):
    assert Levels(tmp_path).of(CLAIM) == (0.5, 0.75)
    assert Levels(tmp_path).of(CLAIM) == (0.5, 0.75)
    assert drawn == [("withheld-98", "accuracy")]
    (line,) = (tmp_path / _levels.FILE).read_text().splitlines()
    assert json.loads(line) == {
        "ceiling": 0.75,
        "floor": 0.5,
        "metric": "accuracy",
        "regime": "withheld-98",
        "task": CLAIM.experiment.to_json()["task"],
    }


def test_another_task_has_levels_of_its_own(tmp_path, drawn):
    levels = Levels(tmp_path)
    for claim in (CLAIM, made_up.claim(withheld=95), made_up.claim(hidden_size=3)):
        levels.of(claim)
    assert drawn == [("withheld-98", "accuracy"), ("withheld-95", "accuracy")]
    assert len((tmp_path / _levels.FILE).read_text().splitlines()) == 2


def test_a_new_version_of_a_task_is_measured_anew(tmp_path, drawn):
    Levels(tmp_path).of(CLAIM)
    path = tmp_path / _levels.FILE
    path.write_text(path.read_text().replace('"version":1', '"version":0'))
    Levels(tmp_path).of(CLAIM)
    assert len(drawn) == 2


def test_an_unknown_floor_comes_back_as_one(tmp_path, drawn):
    loss = TABLES["lamb2022/table-1-copying"].claims[0]
    assert loss.metric == "loss"
    assert Levels(tmp_path).of(loss).floor == pytest.approx(math.log(8))
    unknown = tabulate(table_of_losses(), lambda claim: [], levels=Levels(tmp_path)).rows[0]
    again = tabulate(table_of_losses(), lambda claim: [], levels=Levels(tmp_path)).rows[0]
    assert math.isnan(unknown.floor)
    assert math.isnan(again.floor)
    assert len(drawn) == 2


def table_of_losses():
    loss = dataclasses.replace(made_up.unpublished(), metric="loss")
    return Table(key="k", title="t", claims=(loss,))


def test_what_one_folder_knows_is_kept_in_another_on_export(tmp_path, drawn):
    store, results = tmp_path / "runs", tmp_path / "results"
    store.mkdir()
    results.mkdir()
    Levels(store).of(made_up.claim(withheld=95))
    levels = Levels(store, results)
    levels.of(CLAIM)
    levels.keep(results)
    assert len((store / _levels.FILE).read_text().splitlines()) == 2
    (line,) = (results / _levels.FILE).read_text().splitlines()
    assert json.loads(line)["regime"] == CLAIM.regime
    Levels(tmp_path / "elsewhere", results).of(CLAIM)
    assert len(drawn) == 2
    assert not (tmp_path / "elsewhere").exists()


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / _levels.FILE).write_text("{}\n")
    with pytest.raises(
        ValueError, match=r"ceilings\.jsonl, line 1: no floor and ceiling: .*remove"
    ):
        Levels(tmp_path)


@cache
def claims():
    """A claim of each level that any table or figure shows."""
    tables = [*TABLES.values(), *(figure.table for figure in FIGURES.values())]
    found = [claim for table in tables for claim in table.claims]
    return {(claim.experiment.task, claim.regime, claim.metric): claim for claim in found}


SLOW = {
    "progressive-matrices",
    "vaec-translation",
    "vaec-scale",
    "bouncing-balls",
    "super-resolution",
    "atari",
    "babyai-picking",
}
"""Tasks of which a few problems take seconds to draw or to score."""


@pytest.mark.parametrize("part", some([0], range(6)))
def test_the_kept_levels_are_right(part):
    kept, fresh = Levels(RESULTS), Levels()
    quick = [claim for (task, *_), claim in claims().items() if task.name not in SLOW]
    assert len(quick) > 90
    for claim in quick[part::6]:
        assert kept.of(claim) == pytest.approx(fresh.of(claim), nan_ok=True), claim.name


def test_every_table_has_its_levels_kept(monkeypatch):
    monkeypatch.setattr(_levels, "_ceiling", None)
    kept = Levels(RESULTS)
    for claim in claims().values():
        kept.of(claim)


def test_a_level_that_is_not_known_stays_so_where_nothing_may_be_measured(tmp_path, drawn):
    levels = Levels(tmp_path, measure=False)
    assert all(math.isnan(level) for level in levels.of(CLAIM))
    assert [*tmp_path.iterdir()] == drawn == []
    known = Levels(tmp_path).of(CLAIM)
    assert Levels(tmp_path, measure=False).of(CLAIM) == known
