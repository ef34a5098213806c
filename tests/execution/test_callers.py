"""From where runs can be started: a script without a guard, a notebook, threads, a coroutine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch

from each import some
from farfield.execution import Finished, Here, Processes, Stacked, jobs_of, results, run
from farfield.execution.internal import Failed, News, Order, train_order
from farfield.records import Store
from processes import run_forked
from small import tiny_experiment

SCRIPT = """
import os, sys
from torch import nn
from farfield.execution import jobs_of, results, run
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN
from farfield.nn import MLPEncoder
from farfield.records import Store
from farfield.tasks import SameDifferent

class Mine(nn.Module):
    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(in_features, num_outputs)
    def forward(self, z):
        return self.output(z.mean(1))

open("count", "a").write("x")
os.environ["OMP_NUM_THREADS"] = "2"
os.environ.pop("MKL_NUM_THREADS", None)
NAMES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH")
before, own = sys.modules["__main__"], {name: os.environ.get(name) for name in NAMES}
task = SameDifferent(withheld=98, max_problems=40)
encoder = Spec(MLPEncoder, out_features=8)
for reasoner in (Spec(ESBN, hidden_size=8), Spec(Mine)):
    network = Network(reasoner=reasoner, encoder=encoder)
    experiment = Experiment(task=task, model=network, recipe=Recipe(steps=1))
    jobs, store = jobs_of([experiment], seeds=[0, 1]), Store("runs")
    run(jobs, store, workers=1)
    print(results(jobs, store)[1].environment["engine"])
print(sys.modules["__main__"] is before, {name: os.environ.get(name) for name in NAMES} == own)
"""


NOTEBOOK = """
import linecache, pathlib
text = pathlib.Path("script.py").read_text()
linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
exec(compile(text, "<cell>", "exec"))
"""
"""What IPython does with a cell: `__main__` has no file, and the source is known all the same."""


WAYS = [
    'import runpy; runpy.run_path("script.py", run_name="__main__")',
    'import runpy; runpy.run_module("script", run_name="__main__", alter_sys=True)',
    NOTEBOOK,
]


@pytest.mark.parametrize("way", some([NOTEBOOK], WAYS))
def test_a_script_without_a_guard_and_a_notebook_run_once_and_in_processes(
    tmp_path: Path, way: str
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    _, out, err = run_forked(f'import sys; sys.path.insert(0, "")\n{way}', folder=tmp_path)
    assert err == ""
    assert out.splitlines() == [
        "1 single-threaded processes",
        "one after another: Mine is defined in the script itself, not in a module",
        "True True",
    ]
    assert (tmp_path / "count").read_text() == "x"


@pytest.mark.thorough
def test_threads_and_a_coroutine_run_side_by_side(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([tiny_experiment()], (0, 1, 2))

    async def run_all() -> None:
        threads = [asyncio.to_thread(run, [job], store, report=news.append) for job in jobs[:2]]
        tasks = [asyncio.create_task(thread) for thread in threads]
        await asyncio.sleep(0)
        run(jobs[2:], store, workers=1, report=news.append)
        await asyncio.gather(*tasks)

    asyncio.run(run_all())
    engines = {record.environment["engine"] for record in results(jobs, store)}
    assert engines == {"1 single-threaded processes"}
    assert {item.job for item in news if item.progress is None} == set(jobs)


def test_an_executor_trains_what_it_is_given_and_needs_no_store() -> None:
    orders = [Order(job=job) for job in jobs_of([tiny_experiment()], (0, 1))]
    expected = [train_order(order) for order in orders]
    for executor in (Processes(1), Here(), Stacked("cpu")):
        runs = list[tuple]()
        for outcome in executor.run(orders, lambda news: None):
            assert not isinstance(outcome, Failed), outcome.error
            runs += zip(outcome.jobs, outcome.runs, strict=True)
        assert [job for job, _ in runs] == [order.job for order in orders]
        for (_, (record, weights)), (alone, own) in zip(runs, expected, strict=True):
            assert (record.key, record.seed, record.steps) == (alone.key, alone.seed, alone.steps)
            assert {name: tensor.shape for name, tensor in weights.items()} == {
                name: tensor.shape for name, tensor in own.items()
            }
            if not isinstance(executor, Stacked):
                assert {*record.scores} == {*alone.scores}


def test_products_of_an_order_are_those_of_its_training(monkeypatch: pytest.MonkeyPatch) -> None:
    [job] = jobs_of([tiny_experiment()], (0,))
    order = Order(job=job, matmul="tf32")
    assert Order.from_json(order.to_json(), lambda name: None, {}).matmul == "tf32"
    with pytest.raises(ValueError, match="matmul must be 'float32' on a CPU"):
        train_order(order)
    monkeypatch.setattr("farfield.execution._order.check_matmul", lambda matmul, device: None)
    seen = []
    train_order(order, report=lambda _: seen.append(torch.get_float32_matmul_precision()))
    train_order(Order(job=job), report=lambda _: seen.append(torch.get_float32_matmul_precision()))
    assert {*seen} == {"high", "highest"}
    assert seen == sorted(seen)
    assert torch.get_float32_matmul_precision() == "highest"


def test_an_executor_of_ones_own_serves_and_excludes_device_and_workers(tmp_path: Path) -> None:
    class Backwards:
        """Takes all orders first."""

        def run(self, orders, report):
            for order in [*orders][::-1]:
                yield Finished((order.job,), (train_order(order, engine="backwards"),))

    store, news, jobs = Store(tmp_path), list[News](), jobs_of([tiny_experiment()], (0, 1))
    for options in ({"device": "cuda"}, {"workers": 2}):
        with pytest.raises(ValueError, match="executor must be given without device and workers"):
            run(jobs, store, Backwards(), **options)
    run(jobs, store, Backwards(), report=news.append)
    assert [item.job for item in news] == jobs[::-1]
    assert {record.environment["engine"] for record in results(jobs, store)} == {"backwards"}
