"""Jobs: one seed of one experiment is one, however it is written and however often it is made."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from farfield.execution import Here, jobs_of, results, run
from farfield.execution.internal import Job, News, UnderWay, runs_under_way
from farfield.experiments import Spec
from farfield.records import Store
from small import small_experiment, tiny_experiment


class Mean(nn.Module):
    """A reasoner of somebody's own, with a width that can be set."""

    width = 3

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(in_features, self.width)
        self.output = nn.Linear(self.width, num_outputs)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.output(self.hidden(z.mean(1)))


@pytest.mark.parametrize(
    "seeds",
    [
        [0, 1],
        (0, 1),
        range(2),
        np.arange(2),
        torch.arange(2),
        [np.int64(0), torch.tensor(1)],
        (seed for seed in (0, 1)),
        [0, 1, 0, np.int64(1)],
    ],
    ids=["list", "tuple", "range", "array", "tensor", "scalars", "generator", "twice"],
)
def test_seeds_are_numbers_in_any_order_of_things(seeds: object, unchecked) -> None:
    jobs = jobs_of([tiny_experiment()], seeds=seeds)
    assert [job.seed for job in jobs] == [0, 1]
    assert {type(job.seed) for job in jobs} == {int}


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([0, -1], r"seeds\[1\] must be an int of at least 0, got -1"),
        ([True], r"seeds\[0\] must be an int of at least 0, got True"),
        ([1.0], r"seeds\[0\] must be an int of at least 0, got 1.0"),
        (np.zeros(1), r"seeds\[0\] must be an int of at least 0, got .*0.0"),
        (3, "seeds must be a tuple of parts, each an int of at least 0, got 3"),
        ("01", "seeds must be a tuple of parts, each an int of at least 0, got '01'"),
        (None, "seeds must be a tuple"),
    ],
)
def test_what_is_no_seed_is_refused(seeds: object, message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        jobs_of([tiny_experiment()], seeds=seeds)


def test_what_is_no_experiment_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match=r"experiments\[0\] must be an Experiment, got 3"):
        jobs_of([3], seeds=[0])
    with pytest.raises(ValueError, match="experiment must be an Experiment, got 3"):
        Job(experiment=3, seed=0)
    with pytest.raises(ValueError, match=r"jobs\[0\] must be a Job, got"):
        run([tiny_experiment()], Store.__new__(Store))


def test_a_job_asked_for_twice_is_run_once(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = [*jobs_of([tiny_experiment()], [0, 0]), *jobs_of([tiny_experiment()] * 2, [0])]
    assert len(jobs) == 2
    run(jobs, store, Here(), report=news.append)
    assert len([item for item in news if item.progress is None]) == 1
    assert len(results(jobs[:1], store)) == 1


def test_a_class_that_was_changed_is_not_run_under_its_old_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, experiment = (
        Store(tmp_path),
        small_experiment(reasoner=Spec(Mean), steps=2, evaluations=1),
    )
    jobs = jobs_of([experiment], [0])
    run(jobs, store, Here())
    monkeypatch.setattr(Mean, "width", 4)
    for ask in (lambda: run(jobs, store), lambda: jobs_of([experiment], [0])):
        with pytest.raises(ValueError, match=r"must be made again.*was changed since the key"):
            ask()
    news = list[News]()
    again = small_experiment(reasoner=Spec(Mean), steps=2, evaluations=1)
    run(jobs_of([again], [0]), store, report=news.append)
    assert [item.found for item in news if item.progress is None] == [False]
    weights = store.weights(again.key, 0)
    assert weights["reasoner.hidden.weight"].shape[0] == 4


def test_what_a_script_sets_in_a_module_is_not_trained_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "set_by_a_script.py").write_text(
        "from torch import nn\nCONFIG = {'width': 3}\n"
        "class Mine(nn.Module):\n"
        "    def __init__(self, in_features: int, num_outputs: int) -> None:\n"
        "        super().__init__()\n"
        "        self.hidden = nn.Linear(in_features, CONFIG['width'])\n"
        "        self.output = nn.Linear(CONFIG['width'], num_outputs)\n"
        "    def forward(self, z):\n"
        "        return self.output(self.hidden(z.mean(1)))\n"
    )
    module = importlib.import_module("set_by_a_script")
    store, experiment = Store(tmp_path / "runs"), small_experiment(reasoner=Spec(module.Mine))
    run(jobs_of([experiment], [0]), store, workers=1)  # in another process, under the same key
    module.CONFIG["width"] = 5
    again = small_experiment(reasoner=Spec(module.Mine))
    run(jobs_of([again], [0]), store, workers=1)
    record = store.find(again.key, 0)
    assert record is not None
    assert "Mine has changed since the description was" in record.environment["engine"]
    widths = [
        store.weights(one.key, 0)["reasoner.output.weight"].shape[1] for one in (experiment, again)
    ]
    assert widths == [3, 5]


RULES = """
from dataclasses import dataclass
from farfield.objectives import Objective
@dataclass(frozen=True)
class Mine(Objective):
    def loss(self, update):
        loss = update.task_loss(update.outputs(), update.problems)
        return 2 * loss.mean(), update.state
def inside():
    @dataclass(frozen=True)
    class Other(Mine):
        pass
    return Other()
"""


def test_an_objective_of_ones_own_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "rules_of_ones_own.py").write_text(RULES)
    module = importlib.import_module("rules_of_ones_own")
    experiments = [
        dataclasses.replace(tiny_experiment(steps=2), objective=rule)
        for rule in (module.Mine(), module.inside())
    ]
    store, jobs = Store(tmp_path / "runs"), jobs_of(experiments, [0])
    run(jobs, store, workers=1)
    first, second = (record.environment["engine"] for record in results(jobs, store))
    assert first == "1 single-threaded processes"
    assert second.startswith("one after another")  # it has no name to import it by


def test_progress_lies_in_the_folder_until_a_run_has_finished(tmp_path: Path) -> None:
    store, seen = Store(tmp_path), list[UnderWay]()
    jobs = jobs_of([tiny_experiment()], [0])

    def look(news: News) -> None:
        if news.progress is not None:
            seen.extend(runs_under_way(tmp_path))

    run(jobs, store, Here(), report=look)
    (first,) = seen
    assert (first.key, first.seed, first.step, first.steps) == (jobs[0].experiment.key, 0, 1, 4)
    assert (first.metric, first.task.partition("(")[0]) == ("accuracy", "SameDifferent")
    assert first.silent < 100
    assert runs_under_way(tmp_path) == []


def test_progress_stays_where_a_run_was_stopped(tmp_path: Path) -> None:
    def stop(news: News) -> None:
        if news.progress is not None:
            raise KeyboardInterrupt

    store, jobs = Store(tmp_path), jobs_of([tiny_experiment()], [0])
    with pytest.raises(KeyboardInterrupt):
        run(jobs, store, Here(), report=stop)
    assert [under_way.step for under_way in runs_under_way(tmp_path)] == [1]
    (tmp_path / "progress" / "cut.json").write_text('{"key": ')
    assert len(runs_under_way(tmp_path)) == 1
    run(jobs, store, Here())
    assert runs_under_way(tmp_path) == []
