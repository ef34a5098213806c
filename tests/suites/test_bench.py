"""A module of one's own on a suite: where it fits, what it scores, and who stands beside it."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from torch import Tensor, nn

from farfield.core.internal import UnknownNameError
from farfield.experiments import Spec
from farfield.records import Store
from farfield.reports import Comparison, ExtrapolationProfile
from farfield.reports.internal import Point
from farfield.reproductions import TABLES, Table
from farfield.suites import SUITES, _bench, bench, recorded
from farfield.suites._recorded import Recorded
from farfield.suites.internal import Item, Suite, load_module, record_suite
from reproductions import made_up
from small import tiny_experiment

RESULTS = Path(__file__).resolve().parents[2] / "results"


class Mean(nn.Module):
    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        return self.linear(z.mean(1))


class TooMany(nn.Module):
    def __init__(self, in_features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, 7)

    def forward(self, z: Tensor) -> Tensor:
        return self.linear(z.mean(1))


@pytest.fixture
def tiny_suite(monkeypatch: pytest.MonkeyPatch) -> str:
    """A suite of one task, with two recorded mechanisms: one solves it, one does not."""
    cell = dataclasses.replace(made_up.claim(), table="tiny", experiment=tiny_experiment(steps=2))
    table = Table(key="webb2021/tiny", title="A tiny table", claims=(cell,))
    monkeypatch.setitem(TABLES, table.key, table)
    item = Item("tiny task", table.key, cell.cell)
    monkeypatch.setitem(
        SUITES, "tiny",
        Suite(about="Tiny", part="reasoner", reads="forward(z)", seeds=2, items=(item,)),
    )  # fmt: skip
    regimes = cell.experiment.task.regimes
    lines = [
        msgspec.convert(
            {
                "subject": "tiny task", "task": item.name, "name": name, "key": name, "steps": 2,
                "seconds": 1.0,
                "regimes": [
                    {"regime": one.name, "distance": one.distance, "unit": one.unit,
                     "metric": "accuracy", "floor": 0.5, "values": [score, score], "seeds": [0, 1]}
                    for one in regimes
                ],
            },
            Recorded,
        )
        for name, score in (("Solver", 1.0), ("Mean", 0.0))
    ]  # fmt: skip
    monkeypatch.setattr(_bench, "recorded", lambda _: tuple(lines))
    return "tiny"


@pytest.fixture
def own_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The path for modules as it was, afterwards."""
    import sys

    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_module_is_trained_and_ranked_among_the_recorded(tiny_suite: str, tmp_path: Path) -> None:
    class Own(Mean):
        """Defined here, so that it is trained here."""

    news, store = [], Store(tmp_path / "runs")
    found = bench(Own, tiny_suite, store=store, report=news.append)
    assert found.misfits == ()
    assert found.comparison.names == ("Own", "Solver", "Mean")
    (row,) = found.summary.values
    assert (row["rank"], row["models"], row["best"]) == (2, 3, "Solver")
    assert row["difference"] == pytest.approx(row["mean"] - 1)
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert row["pairs"] == 2
    assert "2 of 3" in str(found)
    assert "small budget: 2 steps a network" in str(found)
    (experiment,) = (one for _, one in found.experiments)
    assert experiment.model.reasoner == Spec(Own)
    assert experiment.recipe == TABLES["webb2021/tiny"].claims[0].experiment.recipe
    logged = {one.record.seed: one.record.scores for one in news if one.record}
    assert {seed: set(scores) for seed, scores in logged.items()} == {
        record.seed: set(record.scores) for record in store.records(experiment.key)
    }
    again = []
    bench(Own, tiny_suite, store=store, report=again.append)
    assert [news.found for news in again] == [True, True]


def test_a_module_that_fits_nothing_is_told_where_and_why(tiny_suite: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(
        ValueError, match=r"got TooMany:\n  tiny task \(webb2021/tiny/.*must be \d numbers .*4, 7\)"
    ):
        bench(TooMany, tiny_suite, store=store)
    with pytest.raises(ValueError, match="got Linear: Linear needs a value for 'out_features'"):
        bench(nn.Linear, tiny_suite, store=store)
    with pytest.raises(UnknownNameError, match="relational"):
        bench(Mean, "relations", store=store)
    assert store.keys() == []


def test_every_suite_names_tasks_of_its_part_and_recorded_mechanisms() -> None:
    for name, suite in SUITES.items():
        lines = recorded(name)
        for item in suite.items:
            assert hasattr(item.experiment.model, suite.part), item
            assert set(item.shown) <= {regime.name for regime in item.experiment.regimes}
            rivals = [
                line for line in lines if (line.task, line.subject) == (item.name, item.subject)
            ]
            assert len(rivals) >= 2, item
            assert {line.steps for line in rivals} == {item.experiment.recipe.steps}


@pytest.mark.parametrize("suite", SUITES)
def test_differences_are_those_of_the_means_beside_them(suite: str) -> None:
    """Of each recorded mechanism, had it as many networks as a suite trains."""
    points: dict[tuple[str, str], tuple[Point, ...]] = {}
    for line in recorded(suite):
        place = line.name, line.subject
        points[place] = (*points.get(place, ()), *line.profile.points)
    mine, few = recorded(suite)[0].name, SUITES[suite].seeds
    cut = {
        (name, task): tuple(
            dataclasses.replace(one, values=one.values[:few], seeds=one.seeds[:few])
            if name == mine else one for one in found
        )
        for (name, task), found in points.items()
    }  # fmt: skip
    profiles = tuple(
        (name, ExtrapolationProfile(task=task, points=found)) for (name, task), found in cut.items()
    )
    rows = Comparison(profiles=profiles, against=mine).tabular.values
    means = {(row["task"], row["regime"]): row["mean"] for row in rows if row["model"] == mine}
    others = [row for row in rows if row["difference"] is not None]
    assert len(others) > len(means)
    for row in others:
        expected = row["mean"] - means[row["task"], row["regime"]]
        assert row["difference"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_the_recorded_mechanisms_are_those_of_the_results(suite: str) -> None:
    package = Path(_bench.__file__).parent / "recorded" / f"{suite}.jsonl"
    assert package.read_bytes() == record_suite(suite, RESULTS)


def test_a_class_is_taken_from_a_file(tmp_path: Path, own_imports: None) -> None:
    path = tmp_path / "mine_alone.py"
    path.write_text("from torch import nn\nclass Mine(nn.Module): pass\nother = 3\n")
    assert load_module(f"{path}:Mine").__module__ == "mine_alone"
    for words, said in {
        f"{path}:Yours": "'Yours'; it has Mine",
        f"{path}:other": "'other'; it has Mine",
        f"{tmp_path}/gone.py:Mine": "there is no file",
        "mine_alone:Mine": r"must be FILE\.py:CLASS",
        str(path): r"must be FILE\.py:CLASS",
    }.items():
        with pytest.raises(ValueError, match=said):
            load_module(words)
    broken = tmp_path / "broken_alone.py"
    broken.write_text("import nothing_such\n")
    with pytest.raises(ValueError, match="ModuleNotFoundError: No module named 'nothing_such'"):
        load_module(f"{broken}:Mine")
    taken = tmp_path / "random.py"
    taken.write_text("class Mine: pass\n")
    with pytest.raises(ValueError, match="rename the file"):
        load_module(f"{taken}:Mine")
    assert random.random() < 1
