"""Clusters on this machine: one of Ray that loses a node and its driver, and Slurm's stand-in."""

from __future__ import annotations

import contextlib
import multiprocessing
import runpy
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import submitit
from torch import nn

from farfield.cli import _reproduce, main
from farfield.execution import (
    ExecutionError,
    Here,
    Ray,
    Slurm,
    _clusters,
    _run,
    jobs_of,
    results,
    run,
)
from farfield.execution._clusters import Call, call_of, run_on
from farfield.execution.internal import Job, News, Order, WorkerError, runs_under_way
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.nn import MLPEncoder
from farfield.records import Store
from farfield.reproductions import TABLES, Table
from farfield.tasks import GlyphSet, SameDifferent
from farfield.training.internal import Clock
from processes import wait_for
from small import tiny_experiment

CHECKOUT = Path(__file__).resolve().parents[2]
EVERY_STEP = Clock(report_seconds=-1.0, checkpoint_seconds=-1.0)
SMALL = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_log_monitor": False}
SOON = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 8,
}
"""Settings with which a node that is killed is missed soon."""


class Unlucky(nn.Module):
    """A reasoner that cannot be made."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        raise ArithmeticError(f"out of luck with {in_features} features, {num_outputs} outputs")


def inside() -> type[nn.Module]:
    class Inner(nn.Module):
        def __init__(self, in_features: int, num_outputs: int) -> None:
            super().__init__()
            self.output = nn.Linear(in_features, num_outputs)

        def forward(self, z):
            return self.output(z.mean(1))

    return Inner


def with_reasoner(cls: type[nn.Module]) -> Experiment:
    task = SameDifferent(withheld=98, max_problems=40)
    return Experiment(task=task, model=Network(reasoner=Spec(cls)), recipe=Recipe(steps=2))


def with_images() -> Experiment:
    images = np.random.default_rng(0).integers(0, 255, (6, 32, 32), dtype=np.uint8)
    task = SameDifferent(withheld=3, shapes=GlyphSet(images))
    return Experiment(task=task, model=tiny_experiment().model, recipe=Recipe(steps=2))


def slow_experiment() -> Experiment:
    """An experiment whose runs are still under way on a node when that on another begins."""
    tiny = tiny_experiment(steps=80)
    encoder = Spec(MLPEncoder, out_features=10)
    return replace(tiny, model=replace(tiny.model, encoder=encoder))


JOBS = jobs_of([slow_experiment()], range(3))


def drive(folder: Path, pipe: Connection) -> None:
    """A driver: runs `JOBS` on the cluster at the address that it is told, and notes the steps."""
    with (folder / "steps").open("w", buffering=1) as steps:

        def note(news: News) -> None:
            if news.progress:
                steps.write(f"{news.job.seed} {news.progress.step}\n")

        ray = Ray(address=pipe.recv(), shared=True)
        run(JOBS, Store(folder), ray, report=note, clock=EVERY_STEP)


@contextlib.contextmanager
def two_nodes() -> Iterator[tuple[Any, Any]]:
    """A cluster of two nodes with one core each, and the node that is not its head."""
    from ray.cluster_utils import Cluster

    head = SMALL | {"include_dashboard": False, "no_monitor": True, "_system_config": SOON}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield cluster, cluster.add_node(**SMALL)
    finally:
        cluster.shutdown()


def weights(store: Store, job: Job) -> bytes:
    return store.weights_path(job.experiment.key, job.seed).read_bytes()


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def check_interruption(store: Store) -> None:
    """An interruption ends the task, so that its core is free again."""
    import ray

    jobs = jobs_of([tiny_experiment(steps=100_000)], (7,))
    with pytest.raises(KeyboardInterrupt):
        run(jobs, store, Ray(), report=stop, clock=EVERY_STEP)
    wait_for(lambda: ray.available_resources().get("CPU") == 1)


def shorter(table: Table) -> Table:
    """A table whose networks take three steps and few problems."""
    claims = []
    for claim in table.select("esbn+tcn/*-98").claims:
        task = replace(claim.experiment.task, max_problems=40)
        experiment = replace(claim.experiment, task=task, recipe=Recipe(steps=3))
        claims.append(replace(claim, experiment=experiment))
    return replace(table, claims=tuple(claims))


def check_page(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The commands of the page leave the same networks, whatever they run on."""
    page = (CHECKOUT / "docs" / "from-a-laptop-to-a-cluster.md").read_text(encoding="utf-8")
    commands = runpy.run_path(str(CHECKOUT / "tests" / "docs" / "test_documents.py"))["commands"]
    patch.setattr(_run, "_executor_for", lambda *_: Here())  # what other tests show of processes
    patch.setitem(TABLES, "webb2021/table-9", shorter(TABLES["webb2021/table-9"]))
    for name in ("_report", "_draw_problems"):
        patch.setattr(_reproduce, name, lambda *_: None)

    def farfield(words: list[str]) -> int:
        with pytest.raises(SystemExit) as ended:
            main(words)
        return ended.value.code or 0

    patch.chdir(folder)
    lines = [words[1:] for words in commands(page) if "--records" in words]
    short = [" ".join(words).replace("--seeds 2", "--seeds 1").split() for words in lines]
    for words in short:
        if "slurm" in words:
            with pytest.MonkeyPatch.context() as killed:
                killed.setattr(_clusters._Jobs, "result", stop)
                killed.setattr(_clusters._Jobs, "cancel", lambda *_: None)
                assert farfield(words) == 130
            patch.setattr(submitit.AutoExecutor, "submit", stop)  # what finished is not sent again
        assert farfield(words) == 0
    paths = [*folder.glob("*/weights/*/0.safetensors")]
    assert {path.parents[2].name for path in paths} == {"one", "all", "ray", "slurm"}
    assert len({path.read_bytes() for path in paths}) == 1


@pytest.mark.slow
@pytest.mark.timeout(600)  # a dozen processes start, which on busy cores takes minutes
def test_a_ray_cluster_loses_a_node_and_its_driver_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    here, store, key = Store(tmp_path / "here"), Store(tmp_path / "runs"), JOBS[0].experiment.key
    pipe, end = multiprocessing.Pipe()
    # Forked, as it need not import torch again; before Ray is loaded, whose threads it would lack.
    driver = multiprocessing.get_context("fork").Process(target=drive, args=(store.folder, end))
    store.folder.mkdir(exist_ok=True)
    driver.start()
    with two_nodes() as (cluster, node):
        pipe.send(cluster.address)
        wait_for(lambda: len(runs_under_way(store.folder)) == 2, seconds=250)
        cluster.remove_node(node, allow_graceful=False)
        wait_for(lambda: store.records(key), seconds=250)
        driver.kill()
        driver.join()
        before = store.records(key)
        assert len(before) < len(JOBS)

        import ray

        ray.init(cluster.address, log_to_driver=False)
        put, news = list[Any](), list[News]()
        ship = ray.put
        monkeypatch.setattr(ray, "put", lambda value: put.append(value) or ship(value))
        monkeypatch.setattr("farfield.records._environment._processor", lambda: "the driver's")
        others = [*jobs_of([with_images()], (0, 1)), *jobs_of([with_reasoner(inside())], (0,))]
        failing = Job(experiment=with_reasoner(Unlucky), seed=0)
        why = r"1 of 6 runs did not finish: ArithmeticError: out of luck.*\(test_clusters\.py:\d+"
        try:
            with pytest.raises(ExecutionError, match=why) as caught:
                run(
                    [*JOBS, failing, *others],
                    store,
                    Ray(shared=True),
                    report=news.append,
                    clock=EVERY_STEP,
                )
            (tmp_path / "page").mkdir()
            check_page(tmp_path / "page", monkeypatch)
            check_interruption(store)
        finally:
            ray.shutdown()
    run([*JOBS, *others], here, Here())
    [note] = caught.value.__notes__
    assert "ArithmeticError" in note
    assert len(put) == 1
    assert [item.job.seed for item in news if item.found] == [one.seed for one in before]
    assert [store.find(key, one.seed) for one in before] == before
    steps = [line.split() for line in (store.folder / "steps").read_text().splitlines()]
    found = [(int(seed), int(step)) for seed, step in steps]
    found += [(item.job.seed, item.progress.step) for item in news
              if item.progress and item.job in JOBS]  # fmt: skip
    for job in JOBS:
        taken = [step for seed, step in found if seed == job.seed]
        assert taken == sorted(taken)  # from its checkpoint, not from the beginning
    for job in [*JOBS, *others]:
        assert weights(store, job) == weights(here, job)
    *elsewhere, inner = results([*JOBS, *others], store)
    assert {one.environment["engine"] for one in elsewhere} == {"a Ray task with 1 core"}
    assert "the driver's" not in {one.environment["processor"] for one in elsewhere}
    assert "is defined inside a function" in inner.environment["engine"]
    assert not list(store.folder.rglob("*.trained"))


class Alone:
    """A cluster of this process, with a GPU that is its CPU; some calls may be lost."""

    on_gpu = True

    def __init__(self, folder: Path, lost: int) -> None:
        self.folder, self.lost, self.done = folder, lost, 0

    def run(self, orders, report):
        return run_on(self, orders, report)

    def room(self) -> int:
        return 1

    def submit(self, orders: list[Order]) -> Call:
        paths = [self.folder / str(order.job.seed) for order in orders]
        orders = [replace(one, checkpoint=path) for one, path in zip(orders, paths, strict=True)]
        return call_of(orders, "a call", 1, on_gpu=True, leave=True)

    def wait(self, calls, report) -> list[Call]:
        return [*calls]

    def result(self, call: Call):
        self.done += 1
        return call.do(lambda _: None) if self.done > self.lost else WorkerError("it was lost")

    def cancel(self, call: Call) -> None:
        raise AssertionError("all calls have ended")


def test_the_seeds_of_an_experiment_are_one_call_to_a_gpu_and_one_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farfield.execution._clusters._device", lambda **_: "cpu")
    first, second = tiny_experiment(steps=2), tiny_experiment(steps=3)
    store, cluster = Store(tmp_path / "runs"), Alone(tmp_path / "left", lost=1)
    with pytest.raises(ExecutionError, match="2 of 4 runs did not finish: it was lost"):
        run(jobs_of([first, second], (0, 2)), store, cluster)
    assert cluster.done == 2
    assert store.records(first.key) == []
    engines = [record.environment["engine"] for record in store.records(second.key)]
    assert engines == ["vmap over 2 seeds"] * 2
    assert [*cluster.folder.iterdir()] == []


def test_an_address_where_nothing_answers_is_named(tmp_path: Path) -> None:
    why = r"address must be that of a Ray cluster that runs, got '127\.0\.0\.1:1': .*refused"
    with pytest.raises(ValueError, match=why):
        run(JOBS, Store(tmp_path), Ray(address="127.0.0.1:1"))


class ActorDiedError(Exception):
    """What Ray raises where the machine of an actor is lost."""


class EndedRay:
    """Ray, whose cluster ends at once."""

    exceptions = SimpleNamespace(RayError=ActorDiedError)
    addresses: ClassVar[list[str]] = []

    def is_initialized(self) -> bool:
        return False

    def init(self, address: str, **options: object) -> None:
        self.addresses.append(address)

    def get_runtime_context(self) -> object:
        raise ActorDiedError("The actor died unexpectedly.\nactor_id: 3")

    def remote(self, function: object) -> Any:
        return SimpleNamespace(options=lambda **_: function)

    def shutdown(self) -> None:
        self.addresses.append("ended")


@pytest.mark.parametrize(
    ("address", "named", "joined"),
    [(None, "", "local"), (None, "auto", "auto"), ("auto", "", "auto")],
)
def test_a_cluster_is_joined_by_its_address_alone_and_its_end_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str | None, named: str, joined: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", named)
    monkeypatch.setitem(sys.modules, "ray", EndedRay())
    monkeypatch.setattr(EndedRay, "addresses", [])
    with pytest.raises(ExecutionError, match=r"the Ray cluster has ended \(ActorDiedError: The"):
        run(JOBS, Store(tmp_path), Ray(address=address))
    assert EndedRay.addresses == [joined, "ended"]


@pytest.mark.parametrize(("executor", "name"), [(Ray(), "ray"), (Slurm(folder=Path()), "submitit")])
def test_an_extra_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: Ray | Slurm, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    why = rf"this executor needs {name}, which is not installed: pip install 'farfield\[sweep\]'"
    with pytest.raises(ModuleNotFoundError, match=why):
        run(JOBS, Store(tmp_path), executor)


class Queue:
    """Slurm's queue: numbers its jobs, which finish when they are told to."""

    cluster = "slurm"

    def __init__(self, folder: Path, **options: int) -> None:
        self.folder, self.options = folder, options
        folder.mkdir(exist_ok=True)

    def update_parameters(self, **asked: object) -> None:
        self.asked = asked

    def submit(self, work: object, call: Call) -> Queued:
        number = len([*self.folder.glob("*.queued")])
        (self.folder / f"{number}.queued").write_text(str(len(call.orders)))
        return Queued(self.folder, str(number))


class Queued:
    """A job of `Queue`."""

    def __init__(self, folder: Path, job_id: str) -> None:
        self.job_id = job_id
        self.paths = SimpleNamespace(result_pickle=folder / f"{job_id}.done")
        self.stopped = folder / f"{job_id}.stopped"

    def cancel(self, *, check: bool) -> None:
        self.stopped.touch()


QUEUE = SimpleNamespace(AutoExecutor=Queue, SlurmJob=Queued, LocalJob=None)


def sent(folder: Path, seeds: Iterable[int], *, gpus: int = 1) -> Any:
    """A process that sends the seeds of an experiment, and is killed."""
    orders = [Order(job=job) for job in jobs_of([tiny_experiment()], seeds)]
    return _clusters._Jobs(Slurm(folder=folder, gpus=gpus), QUEUE).submit(orders)


def test_a_job_of_a_killed_process_is_taken_over_or_stopped(tmp_path: Path) -> None:
    first = sent(tmp_path, range(100))
    assert first.job_id == "0"
    other = sent(tmp_path, [100])  # shares no seed with the first
    assert not first.stopped.exists()
    again = sent(tmp_path, range(3))
    assert (again.job_id, first.stopped.exists(), other.stopped.exists()) == ("2", True, False)
    again.paths.result_pickle.touch()
    assert sent(tmp_path, range(3)).job_id == "2"  # finished while nobody waited
    assert sent(tmp_path, range(4)).job_id == "3"


def test_slurm_is_asked_for_whole_minutes_and_to_queue_again_and_again(tmp_path: Path) -> None:
    jobs = _clusters._Jobs(Slurm(folder=tmp_path, hours=0.001), QUEUE)
    assert jobs._executor.asked["timeout_min"] == 1  # 0 is no limit
    assert jobs._executor.options["slurm_max_num_timeout"] > 1_000
