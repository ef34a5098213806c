"""A module of one's own on a suite: where it fits, what it scores, and who stands beside it."""

from __future__ import annotations

import dataclasses
import io
import random
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from torch import Tensor, nn

from farfield.core.internal import UnknownNameError
from farfield.execution import Display, _processes, jobs_of
from farfield.execution.internal import News
from farfield.experiments import Choice, Spec
from farfield.experiments.internal import with_field
from farfield.models import BottleneckMLP
from farfield.objectives import EarlyStopping, Objective, Update
from farfield.records import Store
from farfield.reports import Comparison, ExtrapolationProfile
from farfield.reports.internal import Point
from farfield.reproductions import TABLES, Table
from farfield.suites import SUITES, _bench, bench, recorded
from farfield.suites._recorded import Recorded
from farfield.suites.internal import (
    Item,
    Suite,
    fitted,
    load_module,
    planned_jobs,
    record_suite,
)
from farfield.tasks._files._known_data_sets import MNIST
from farfield.tasks.internal import with_validation
from reproductions import made_up
from small import tiny_experiment

RESULTS = Path(__file__).resolve().parents[2] / "results"
WANTED = tomllib.loads((RESULTS / "wanted.toml").read_text())


class Mean(nn.Module):
    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, num_outputs)

    def forward(self, z: Tensor) -> Tensor:
        return self.linear(z.mean(1))


class Other(Mean):
    """Another module, of another name."""


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
                     "metric": "accuracy", "floor": 0.5, "values": [score, score], "seeds": [0, 1],
                     "problems": 9}
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
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks are trained in this process, which takes no time to start."""
    monkeypatch.setattr(_processes, "spawn_error", lambda _: "a test")


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


def test_a_task_without_recorded_mechanisms_shows_the_module_alone(
    tiny_suite: str, tmp_path: Path, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_bench, "recorded", lambda _: ())
    found = bench(Mean, tiny_suite, store=Store(tmp_path), seeds=[0])
    tests = [one for one in SUITES[tiny_suite].items[0].shown if one != "training"]
    assert [row["regime"] for row in found.summary.values] == tests
    assert {(row["rank"], row["models"], row["best"]) for row in found.summary.values} == {
        (1, 1, None)
    }
    assert str(found).count("none recorded") == len(tests)
    assert all(path.is_file() for path in found.write(tmp_path / "written"))


def test_values_are_chosen_on_validation_by_networks_that_are_not_compared(
    tiny_suite: str, here: None, tmp_path: Path
) -> None:
    store, rates = Store(tmp_path / "runs"), (1e-6, 0.1, 0.2)
    tried = Choice(field="recipe.learning_rate", values=rates)
    found = bench(Mean, tiny_suite, store=store, tune=(tried,))
    ((_, compared),) = found.experiments
    plain = SUITES[tiny_suite].items[0].experiment_with("reasoner", Spec(Mean))
    assert compared == with_field(plain, "recipe.learning_rate", compared.recipe.learning_rate)
    assert [record.seed for record in store.records(compared.key)] == [0, 1]
    means = {}
    for rate in rates:
        trial = with_field(plain, "recipe.learning_rate", rate)
        trial = dataclasses.replace(trial, task=with_validation(plain.task))
        records = store.records(trial.key)
        assert [record.seed for record in records] == [2, 3]
        means[rate] = sum(record.final("validation") for record in records) / 2
    assert compared.recipe.learning_rate == max(means, key=means.__getitem__)
    table = {row["recipe.learning_rate"]: row for row in found.tuning.values}
    assert {rate: row["validation"] for rate, row in table.items()} == means
    assert [rate for rate, row in table.items() if row["chosen"]] == [compared.recipe.learning_rate]
    assert "tuned on validation, with equal budgets: Mean (yours) (3 values of learning" in str(
        found
    )
    assert "seeds 2 and 3, which are not compared); the recorded mechanisms have" in str(found)
    assert "no value was tuned" in str(bench(Mean, tiny_suite, store=store))
    written = {path.name for path in found.write(tmp_path / "out")}
    assert {"tuning.csv", "summary.csv", "profile.png"} <= written


def test_a_rival_gets_the_same_budget_and_enters_beside_its_recorded_self(
    tiny_suite: str, here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = _bench.recorded(tiny_suite)
    recorded_self = msgspec.structs.replace(lines[0], name="LSTM + TCN")
    monkeypatch.setattr(_bench, "recorded", lambda _: (*lines, recorded_self))
    store = Store(tmp_path / "runs")
    options = {"tune": ("recipe.learning_rate",), "rivals": ("lstm + tcn",)}
    jobs, later, labels = planned_jobs(Other, tiny_suite, (0, 1), **options)
    assert {(job.seed, labels[job.experiment.key]) for job in jobs} == {
        (2, "tiny task"), (3, "tiny task"),
    }  # fmt: skip
    assert len(jobs) == 2 * 3 * 2
    assert len(later) == 2 * 2
    news, counts = [], []
    display = Display(jobs, labels, Console(file=io.StringIO()), 1, later)

    def report(one: News) -> None:
        news.append(one)
        display.take(one)
        counts.append(display._summary().partition(" ")[0])

    found = bench(Other, tiny_suite, store=store, report=report, **options)
    assert {count.partition("/")[2] for count in counts} == {"16"}
    assert counts[-1] == "16/16"
    shown = {display._labels[one.job.experiment.key] for one in news}
    assert shown == {"tiny task"}
    first = [one.job for one in news if one.record][: len(jobs)]
    assert {(job.experiment.key, job.seed) for job in first} == {
        (job.experiment.key, job.seed) for job in jobs
    }
    assert found.comparison.names == ("Other", "LSTM + TCN, tuned", "Solver", "Mean", "LSTM + TCN")
    mine, rival = found.choices
    assert [trial.values for trial in rival.selection.trials] == [(5e-4,), (1e-4,), (2.5e-3,)]
    assert [one.values for one in mine.selection.trials] == [
        one.values for one in rival.selection.trials
    ]
    claim = TABLES["webb2021/tiny"].claims[0]
    chosen = rival.selection.of(claim.experiment)
    scores = [record.final("withheld-98") for record in store.records(chosen.key)]
    (row,) = (
        row
        for row in found.comparison.tabular.values
        if row["model"] == "LSTM + TCN, tuned" and row["regime"] == "withheld-98"
    )
    assert row["mean"] == pytest.approx(sum(scores) / 2)
    assert "Other and LSTM + TCN, tuned (3 values" in str(found)


def test_a_chosen_experiment_is_counted_in_the_stead_of_the_planned() -> None:
    planned = tiny_experiment(steps=2)
    chosen = with_field(planned, "recipe.learning_rate", 0.1)
    first, later = jobs_of([planned], [5]), jobs_of([planned], [0, 1])
    display = Display(first, {planned.key: "tiny task"}, Console(file=io.StringIO()), 1, later)
    for job, count in (
        (first[0], "1/3"),
        (dataclasses.replace(later[0], experiment=chosen), "2/3"),
        (later[1], "3/3"),  # the planned experiment was chosen
        (dataclasses.replace(later[1], experiment=chosen), "4/4"),  # another's, and not planned
    ):
        display.take(News(job=job))
        assert display._summary().startswith(f"{count} networks done")
        assert display._labels[job.experiment.key] == "tiny task"


def test_what_cannot_be_tuned_is_refused(tiny_suite: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    for options, said in {
        ("rivals", ("Solver",)): r"rivals must be left out .* got \['Solver'\]",
        ("tune", ("recipe.steps",)): "values of recipe.steps, whose value is 2, got none",
        ("tune", ("recipe.rate",)): "unknown field 'recipe.rate'",
        ("tune", (Choice(field="task.withheld", values=(5,)),)): "another task draws other prob",
    }.items():
        with pytest.raises(ValueError, match=said):
            bench(Mean, tiny_suite, store=store, **dict([options]))
    with pytest.raises(UnknownNameError, match="did you mean 'Solver'"):
        bench(Mean, tiny_suite, store=store, tune=("recipe.learning_rate",), rivals=("Solve",))
    assert store.keys() == []


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
            has_part = hasattr(item.experiment.model, item.field_of(suite.part))
            assert has_part or suite.compares_rules, item
            assert set(item.shown) <= {regime.name for regime in item.experiment.regimes}
            rivals = [
                line for line in lines if (line.task, line.subject) == (item.name, item.subject)
            ]
            wanted = any(item.table in run["command"] for run in WANTED["run"])
            assert len(rivals) >= 2 or wanted, item
            assert {line.steps for line in rivals} <= {item.experiment.recipe.steps}


@pytest.mark.parametrize("suite", SUITES)
def test_differences_are_those_of_the_means_beside_them(suite: str) -> None:
    """Of each recorded mechanism, had it as many networks as a suite trains."""
    if not recorded(suite):
        pytest.skip("no mechanism is recorded yet")
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
    found = {(row["task"], row["regime"]) for row in others}
    shared = {(row["task"], row["regime"]) for row in rows if row["model"] != mine} & means.keys()
    assert found >= shared
    assert found
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


# --- Learning rules -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Doubled(Objective):
    """A rule of one's own."""

    def loss(self, update: Update) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Twice the loss of the task."""
        return 2 * update.task_loss(update.outputs(), update.problems).mean(), update.state


@dataclasses.dataclass(frozen=True)
class OfDomains(Doubled):
    """A rule that reads by domain."""

    @property
    def by_domain(self) -> bool:
        """True."""
        return True


def test_a_rule_trains_the_networks_of_the_recorded_rules() -> None:
    fitting, misfits = fitted(OfDomains, "domains")
    items = {item.name: (item.experiment, made) for item, made in fitting}
    if not MNIST.is_at_hand():
        assert [one.subject for one in misfits] == ["colored digits"] * 3 + ["rotated digits"] * 2
    assert len(items) + len(misfits) == len(SUITES["domains"].items)
    for cell, made in items.values():
        assert (made.task, made.model) == (cell.task, cell.model)
        assert made.objective == dataclasses.replace(cell.objective, objective=OfDomains())
        domains = len(made.task.domains)
        assert domains * made.recipe.batch_size == cell.recipe.batch_size  # ERM pools domains
    pooled, _ = fitted(Doubled(), "domains")
    assert all(made.recipe == item.experiment.recipe for item, made in pooled)


def test_a_module_fits_the_tasks_whose_networks_have_its_part(data_folder: Path) -> None:
    fitting, misfits = fitted(Spec(BottleneckMLP, hidden_sizes=(4,)), "domains")
    assert [item.subject for item, _ in fitting] == ["colored digits"] * 3 + ["rotated digits"] * 2
    assert [one.reason for one in misfits] == ["its network has no core; a learning rule fits"]
    assert all(made.objective == EarlyStopping() for _, made in fitting)


def test_a_rule_is_ranked_among_recorded_rules(
    tiny_suite: str, here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="suite must be domains for a learning rule, got 'tiny'"):
        bench(Doubled, tiny_suite, store=Store(tmp_path))
    compared = dataclasses.replace(SUITES[tiny_suite], compares_rules=True)
    monkeypatch.setitem(SUITES, tiny_suite, compared)
    found = bench(Doubled, tiny_suite, store=Store(tmp_path), seeds=[0])
    assert found.name == "Doubled"
    assert "of 3" in str(found.summary)
    (made,) = [one for _, one in found.experiments]
    assert (made.objective, made.model) == (Doubled(), compared.items[0].experiment.model)


def test_files_may_name_a_rule(tmp_path: Path) -> None:
    (tmp_path / "my_rule_of_domains.py").write_text(
        "from farfield.objectives import Objective\n\n\nclass Mine(Objective):\n    pass\n"
    )
    assert load_module(f"{tmp_path}/my_rule_of_domains.py:Mine").__name__ == "Mine"
