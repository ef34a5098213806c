"""Running what is missing: in processes, here, on one program; killed, starved and taken over."""

from __future__ import annotations

import inspect
import json
import logging
import math
import os
import shutil
import signal
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from each import some
from farfield.core import Problems, Stream
from farfield.execution import (
    ExecutionError,
    Executor,
    Here,
    Processes,
    Stacked,
    jobs_of,
    results,
    run,
    vmap_error,
)
from farfield.execution.internal import Job, News, Order
from farfield.experiments import Experiment, Network, Pretrained, Recipe, SequenceNetwork, Spec
from farfield.nn import LinearRecurrentUnit
from farfield.objectives import Objective, Update
from farfield.records import Store
from farfield.records.internal import DamageWarning, read_tensors
from farfield.tasks import TRAINING, Adding, GlyphSet, SameDifferent
from farfield.training import train
from farfield.training.internal import Clock, OneNetwork, Stack
from processes import wait_for, workers
from small import small_experiment, tiny_experiment


class MeanReasoner(nn.Module):
    """A reasoner of somebody's own, importable by a worker process."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(in_features, num_outputs)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.output(z.mean(1))


class DataDependent(nn.Module):
    """A reasoner whose course depends on the numbers, so that it cannot be mapped."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(in_features, num_outputs)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.output(z.mean(1) if bool(z.sum() > 0) else z[:, 0])


def checkpointed(store: Store, experiment: Experiment) -> int:
    """The step of the checkpoint of seed 0."""
    note = json.loads(read_tensors(store.checkpoint_path(experiment.key, 0))[1])
    return note["step"]


def assert_same(store: Store, job: Job) -> None:
    """A run's weights and scores are, bit for bit, those of the network trained here alone."""
    learner = OneNetwork(job.experiment, job.seed)
    [scores], _ = train(learner, job.experiment)
    weights = store.weights(job.experiment.key, job.seed)
    for name, content in learner.weights()[0].items():
        assert torch.equal(weights[name], content), name
    record = store.find(job.experiment.key, job.seed)
    assert record is not None
    assert {*record.scores} == {*scores}


def test_processes_leave_the_records_of_networks_alone(tmp_path: Path) -> None:
    experiments = [tiny_experiment(), small_experiment(reasoner=Spec(MeanReasoner))]
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of(experiments, (0, 2))
    run(jobs, store, workers=2, report=news.append)
    for job, record in zip(jobs, results(jobs, store), strict=True):
        assert record.key == job.experiment.key
        assert record.experiment == json.loads(json.dumps(job.experiment.to_json()))
        assert record.environment["engine"] == "2 single-threaded processes"
        assert record.steps == job.experiment.recipe.steps
        assert_same(store, job)
    assert {item.job for item in news if item.progress is None} == set(jobs)
    assert not list((tmp_path / "checkpoints").rglob("*.safetensors"))


def test_a_finished_run_leaves_no_checkpoint(tmp_path: Path) -> None:
    store, [job] = Store(tmp_path), jobs_of([tiny_experiment()], (0,))
    path, seen = store.checkpoint_path(job.experiment.key, 0), list[bool]()
    clock = Clock(report_seconds=-1.0, checkpoint_seconds=-1.0)
    report = lambda news: seen.append(path.exists())  # noqa: E731
    run([job], store, Here(), report=report, clock=clock)
    assert seen == [False, True, True, True, False]
    assert not path.exists()


def test_a_worker_tells_of_a_network_that_diverged(tmp_path: Path) -> None:
    task = Adding(
        training_length=4,
        test_lengths=(5,),
        test_added=(),
        training_sequences=4,
        validation_sequences=2,
        test_sequences=2,
    )
    network = SequenceNetwork(core=Spec(LinearRecurrentUnit, hidden_size=2))
    recipe = Recipe(steps=3, learning_rate=1e30)
    experiment = Experiment(task=task, model=network, recipe=recipe)
    store, jobs = Store(tmp_path), jobs_of([experiment], (0,))
    run(jobs, store, workers=1, clock=Clock(report_seconds=-1.0))
    record = store.find(experiment.key, 0)
    assert record is not None
    assert not math.isfinite(record.final(TRAINING, task.metric))


def test_workers_hear_of_no_interruption_and_take_no_module_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spawned: None
) -> None:
    for name in ("socket", "msgspec"):  # loaded before and after a worker has the path for modules
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)")
    resource_tracker.ensure_running()  # multiprocessing starts it beside workers, from any folder
    monkeypatch.chdir(tmp_path)
    store, jobs = Store(tmp_path / "runs"), jobs_of([tiny_experiment(steps=100)], (0,))

    def interrupt() -> None:
        wait_for(lambda: workers(os.getpid()))
        os.kill(workers(os.getpid())[0], signal.SIGINT)

    def interrupt_again(news: News) -> None:
        if news.progress and news.progress.step == 1:
            interrupt()

    at_birth = threading.Thread(target=interrupt)
    at_birth.start()
    run(jobs, store, workers=1, report=interrupt_again)
    at_birth.join()
    assert_same(store, jobs[0])


def test_what_is_recorded_is_not_run_again(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([tiny_experiment()], (0, 1))
    run([jobs[0]], store, Here())
    before = store.find(jobs[0].experiment.key, 0)
    run(jobs, store, Here(), report=news.append)
    assert store.find(jobs[0].experiment.key, 0) == before
    assert [item.job.seed for item in news if item.found] == [0]


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 64])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda content: content[:-5], "it must be of", marks=pytest.mark.thorough),
        (flipped, "it is not the file that the run wrote"),
        pytest.param(
            None,
            "No such file or directory; the network is trained anew",
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["cut short", "flipped", "missing"],
)
def test_a_network_that_is_not_what_was_written_is_trained_anew_and_its_record_replaced(
    tmp_path: Path, change: Callable[[bytes], bytes] | None, said: str
) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([tiny_experiment()], (0, 1))
    run(jobs, store, Here())
    before = results(jobs, store)
    path = store.weights_path(jobs[0].experiment.key, 0)
    whole = path.read_bytes()
    path.unlink() if change is None else path.write_bytes(change(whole))
    with pytest.warns(DamageWarning, match=rf"{path}: .*{said}"):
        run(jobs, store, workers=1, report=news.append)
    assert [item.job.seed for item in news if item.found] == [1]
    assert path.read_bytes() == whole
    after = results(jobs, store)
    assert after[0].environment["engine"] == "1 single-threaded processes"
    assert after[0].scores == before[0].scores
    assert after[1] == before[1]
    aside = path.with_name("0.safetensors.damaged")
    assert aside.exists() == (change is not None)
    assert change is None or aside.read_bytes() == change(whole)


def test_a_damaged_record_is_run_anew_and_the_others_stay(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([tiny_experiment()], (0, 1))
    run(jobs, store, Here())
    before = results(jobs, store)
    with closing(sqlite3.connect(tmp_path / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE scores SET value = value + 0.125 WHERE seed = 0 AND step = 1")
    connection.close()
    with pytest.warns(DamageWarning, match="damaged record of .*, seed 0: its numbers are not as"):
        run(jobs, store, Here(), report=news.append)
    assert [item.job.seed for item in news if item.found] == [1]
    after = results(jobs, store)
    assert [record.scores for record in after] == [record.scores for record in before]
    assert after[1] == before[1]


def test_a_chain_goes_on_from_no_network_but_its_own(tmp_path: Path) -> None:
    first = tiny_experiment()
    second = replace(first, starts_from=Pretrained(experiment=first), recipe=Recipe(steps=2))
    store, jobs = Store(tmp_path), jobs_of([first, second], (0, 1))
    run(jobs, store, Here())
    expected = store.weights(second.key, 1)
    paths = [store.weights_path(first.key, seed) for seed in range(2)]
    paths[1].write_bytes(paths[0].read_bytes())
    store.weights_path(second.key, 1).unlink()
    with pytest.warns(DamageWarning) as caught:
        run(jobs[3:], store, Here())
    said = [str(warning.message) for warning in caught]
    assert [str(paths[1]) in text for text in said] == [True, False]
    found = store.weights(second.key, 1)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_damaged_checkpoint_in_a_worker_is_named_here(tmp_path: Path) -> None:
    store, [job] = Store(tmp_path), jobs_of([tiny_experiment()], (0,))
    path = store.checkpoint_path(job.experiment.key, 0)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"torn")
    with pytest.warns(DamageWarning, match=f"checkpoint {path} cannot be used"):
        run([job], store, workers=1)
    assert path.with_name("0.safetensors.damaged").read_bytes() == b"torn"
    assert not path.exists()


def test_what_a_killed_process_left_of_a_finished_run_is_swept(tmp_path: Path) -> None:
    store, [job] = Store(tmp_path), jobs_of([tiny_experiment()], (0,))
    run([job], store, Here())
    path = store.checkpoint_path(job.experiment.key, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"of a process killed between the record and its last word")
    run([job], store)
    assert not path.exists()


def test_one_experiment_named_twice_is_run_once() -> None:
    assert len(jobs_of([tiny_experiment(), tiny_experiment()], range(3))) == 3


def test_a_class_inside_a_function_runs_here_and_says_why(tmp_path: Path) -> None:
    class Inner(nn.Module):
        def __init__(self, in_features: int, num_outputs: int) -> None:
            super().__init__()
            self.output = nn.Linear(in_features, num_outputs)

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return self.output(z.mean(1))

    jobs = jobs_of([small_experiment(steps=2, evaluations=1, reasoner=Spec(Inner))], (0,))
    store = Store(tmp_path)
    run(jobs, store)
    [record] = results(jobs, store)
    assert record.environment["engine"] == ("one after another: Inner is defined inside a function")


def test_images_of_ones_own_reach_the_workers(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 255, (6, 32, 32), dtype=np.uint8)
    experiment = Experiment(
        task=SameDifferent(withheld=3, shapes=GlyphSet(images)),
        model=tiny_experiment().model,
        recipe=Recipe(steps=2),
    )
    store, jobs = Store(tmp_path), jobs_of([experiment], (0,))
    run(jobs, store, workers=1)
    assert_same(store, jobs[0])


class Unlucky(nn.Module):
    """A reasoner that cannot be made."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        raise ArithmeticError(f"out of luck with {in_features} features, {num_outputs} outputs")


class Greedy(nn.Module):
    """A reasoner that no machine has room for."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(1 << 50))


def test_want_of_memory_is_said(tmp_path: Path) -> None:
    jobs = jobs_of([small_experiment(reasoner=Spec(Greedy)), tiny_experiment()], (0,))
    with pytest.raises(ExecutionError, match="1 of 2 runs did not finish: the memory does not suf"):
        run(jobs, Store(tmp_path), Here())


def made_here() -> tuple[type[nn.Module], type[nn.Module]]:
    """Classes of a function, which no other process can import."""

    class LocallyUnlucky(Unlucky):
        """The same."""

    class TooNarrow(MeanReasoner):
        """A reasoner with a mistake in its shapes."""

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return self.output(z.mean(1)[:, 1:])

    return LocallyUnlucky, TooNarrow


LocallyUnlucky, TooNarrow = made_here()


@pytest.mark.parametrize("cls", some([LocallyUnlucky], [Unlucky, LocallyUnlucky]))
def test_a_run_that_fails_leaves_the_others(tmp_path: Path, cls: type[nn.Module]) -> None:
    bad = Experiment(
        task=SameDifferent(withheld=98),
        model=Network(reasoner=Spec(cls)),
        recipe=Recipe(steps=1),
    )
    store = Store(tmp_path)
    jobs = [Job(experiment=bad, seed=0), *jobs_of([tiny_experiment()], (0, 1))]
    line = inspect.getsourcelines(Unlucky.__init__)[1] + 2
    where = rf"\(test_execution\.py:{line} in __init__\)"
    why = rf"1 of 3 runs did not finish: ArithmeticError: out .*{where}\. Finished"
    with pytest.raises(ExecutionError, match=why) as caught:
        run(jobs, store, workers=1)
    assert isinstance(caught.value.__cause__, ArithmeticError) == (cls is LocallyUnlucky)
    assert len(store.records(tiny_experiment().key)) == 2


def test_an_error_here_is_the_cause_and_holds_no_network(tmp_path: Path) -> None:
    jobs = jobs_of([small_experiment(reasoner=Spec(TooNarrow))], (0, 1))
    why = r"cannot be multiplied.*\(test_execution\.py:\d+ in forward\)"
    with pytest.raises(ExecutionError, match=why) as caught:
        run(jobs, Store(tmp_path))
    cause = caught.value.__cause__
    assert isinstance(cause, RuntimeError)
    frames = [frame for frame, _ in traceback.walk_tb(cause.__traceback__)]
    (own,) = [frame for frame in frames if frame.f_code is TooNarrow.forward.__code__]
    assert own.f_locals == {}


def test_a_run_held_by_another_process_is_an_error(tmp_path: Path) -> None:
    store, jobs = Store(tmp_path), jobs_of([tiny_experiment()], (0,))
    with (
        store.lock(jobs[0].experiment.key, 0),
        pytest.raises(ExecutionError, match=f"process {os.getpid()} is at seed 0"),
    ):
        run(jobs, store, workers=1)
    run(jobs, store, Here())
    assert len(results(jobs, store)) == 1


def test_what_another_process_finished_meanwhile_is_not_trained_again(tmp_path: Path) -> None:
    experiment, store = tiny_experiment(), Store(tmp_path)
    [first, second] = jobs_of([experiment], (0, 1))
    news, path = list[News](), store.checkpoint_path(experiment.key, 1)

    def finish_the_second(item: News) -> None:
        news.append(item)
        if item.job == first and item.record is not None:
            run([second], Store(tmp_path), Stacked("cpu"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"left by the other process")

    run([first, second], store, Here(), report=finish_the_second)
    assert [(item.job, item.record is not None) for item in news[-2:]] == [
        (first, True),
        (second, False),
    ]
    assert {item.job for item in news[:-2]} == {first}
    assert not path.exists()
    engines = [record.environment["engine"] for record in results([first, second], store)]
    assert engines == ["one after another", "vmap over 1 seeds"]


def test_seeds_of_one_program_run_together_and_a_failure_leaves_the_others(tmp_path: Path) -> None:
    # The way of a GPU, on this machine's CPU.
    store, news = Store(tmp_path), list[News]()
    unmapped = small_experiment(steps=2, evaluations=1, reasoner=Spec(DataDependent))
    failing = small_experiment(steps=2, evaluations=1, reasoner=Spec(TooNarrow))
    experiments = [small_experiment(steps=2, evaluations=1), failing, unmapped, tiny_experiment()]
    jobs = [Job(experiment=one, seed=seed) for seed in (0, 1, 2) for one in experiments]
    good = [Job(experiment=one, seed=seed) for one in experiments[2:] for seed in (0, 1, 2)]
    both = r"4 of 12 runs (?=.*is at seed 1)(?=.*cannot be multiplied)"
    with store.lock(jobs[0].experiment.key, 1), pytest.raises(ExecutionError, match=both):
        run(jobs, store, Stacked("cpu"), report=news.append)
    engines = [record.environment["engine"] for record in results(good, store)]
    assert all("one after another: " in engine for engine in engines[:3])
    assert engines[3:] == ["vmap over 3 seeds"] * 3
    first = store.records(jobs[0].experiment.key)
    assert [record.seed for record in first] == [0, 2]
    assert {record.environment["engine"] for record in first} == {"vmap over 2 seeds"}
    assert [item.job for item in news if item.progress is None][2:] == good


def test_a_stack_writes_one_record_a_seed(tmp_path: Path) -> None:
    experiment, store = small_experiment(steps=3, evaluations=1), Store(tmp_path)
    run(jobs_of([experiment], (4, 6)), store, Stacked("cpu"))
    records = store.records(experiment.key)
    assert [record.seed for record in records] == [4, 6]
    assert {record.environment["engine"] for record in records} == {"vmap over 2 seeds"}
    stack = Stack(experiment, [4, 6])
    scores, _ = train(stack, experiment)
    for record, expected, weights in zip(records, scores, stack.weights(), strict=True):
        found = store.weights(experiment.key, record.seed)
        assert {*record.scores} == {*expected}
        assert all(torch.equal(found[name], weights[name]) for name in weights)
    assert scores[0] != scores[1]


def test_a_module_that_cannot_be_mapped_gives_the_reason() -> None:
    assert vmap_error(small_experiment(), "cpu") is None
    reason = vmap_error(small_experiment(reasoner=Spec(DataDependent)), "cpu")
    assert reason is not None
    assert "data-dependent" in reason


@dataclass(frozen=True, kw_only=True)
class Wavering(Objective):
    """The task's loss, more or less."""

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> dict[str, torch.Tensor]:
        return {"share": torch.rand((), generator=stream.torch(), dtype=torch.float64)}

    def loss(self, update: Update) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        loss = update.task_loss(update.outputs(), update.problems).mean()
        return update.draws["share"] * loss, {}


def test_an_objective_that_draws_draws_for_each_seed_by_itself() -> None:
    drawing = replace(small_experiment(), objective=Wavering())
    assert vmap_error(drawing, "cpu") is None
    together = Stack(drawing, (0, 3), dtype=torch.float64)
    together.update(0)
    for position, seed in enumerate((0, 3)):
        alone = OneNetwork(drawing, seed, dtype=torch.float64)
        alone.update(0)
        for name, tensor in alone.weights()[0].items():
            found = together.weights()[position][name]
            torch.testing.assert_close(found, tensor, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "cuda:99"}, "torch finds no such GPU"),
        ({"device": "banana"}, "must be 'cpu' or 'cuda', got 'banana'"),
        ({"device": "meta"}, "must be 'cpu' or 'cuda', got 'meta'"),
        ({"workers": 0}, "at least 1, got 0"),
        ({"matmul": "tf32"}, "matmul must be 'float32' on a CPU, which has no other, got 'tf32'"),
    ],
)
def test_what_this_machine_cannot_do_is_said(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        run(jobs_of([tiny_experiment()], (0,)), Store(tmp_path), **options)


def test_killed_at_any_moment_a_worker_leaves_what_the_next_goes_on_from(tmp_path: Path) -> None:
    experiment, store = small_experiment(steps=30, evaluations=3), Store(tmp_path)
    first, other = jobs_of([experiment], (0, 1))
    clock = Clock(report_seconds=-1.0, checkpoint_seconds=-1.0)
    begun, moments = list[int](), np.random.default_rng(0)

    def kill_after(steps: int) -> Callable[[News], None]:
        def take(news: News) -> None:
            if news.job == first and news.progress:
                shown.append(news.progress.step)
                if len(shown) == steps:
                    # While it works on the steps that follow: updates, checkpoints, scores.
                    os.kill(workers(os.getpid())[0], signal.SIGKILL)

        shown = list[int]()
        return take

    why = r"1 of {} runs did not finish: the worker process ended \(signal 9\)"
    for jobs in ([first, other], [first]):
        steps = int(moments.integers(3, 12))
        with pytest.raises(ExecutionError, match=why.format(len(jobs))):
            run(jobs, store, workers=1, report=kill_after(steps), clock=clock)
        assert [record.seed for record in store.records(experiment.key)] == [1]
        begun.append(checkpointed(store, experiment))
    assert begun == sorted(set(begun))
    run([first], store, Here(), clock=clock)
    assert_same(store, first)
    assert_same(store, other)


def test_a_worker_killed_between_two_runs_is_named_and_the_others_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, jobs, to_json = Store(tmp_path), jobs_of([tiny_experiment()], (0, 1, 2)), Order.to_json

    def kill_before(order: Order) -> str:
        if order.job == jobs[1]:
            os.kill(workers(os.getpid())[0], signal.SIGKILL)
            wait_for(lambda: not workers(os.getpid()))
            time.sleep(0.5)  # until its pool knows
        return to_json(order)

    monkeypatch.setattr(Order, "to_json", kill_before)
    why = r"1 of 3 runs did not finish: the worker process ended \(signal 9\)"
    with pytest.raises(ExecutionError, match=why):
        run(jobs, store, workers=1)
    assert [record.seed for record in store.records(jobs[0].experiment.key)] == [0, 2]


def test_a_folder_that_vanishes_meanwhile_is_said_and_not_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    jobs = jobs_of([tiny_experiment()], (0,))
    with pytest.raises(ExecutionError, match=r"the folder of records .* has vanished"):
        run(jobs, store, workers=1, report=lambda news: shutil.rmtree(tmp_path / "runs"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"jobs": 3}, "jobs must be an Iterable, got 3"),
        ({"store": "runs"}, "store must be a Store, got 'runs'"),
        ({"executor": "processes"}, "executor must be an Executor or None, got 'processes'"),
        ({"workers": "x"}, "workers must be an int or None, got 'x'"),
    ],
)
def test_arguments_of_a_run_are_named(tmp_path: Path, changed: dict, message: str) -> None:
    arguments = {"jobs": jobs_of([tiny_experiment()], [0]), "store": Store(tmp_path), **changed}
    with pytest.raises(ValueError, match=message):
        run(**arguments)


@pytest.mark.parametrize("executor", [Here(), Processes(1)], ids=["here", "in a worker"])
def test_a_run_says_so_and_its_record_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, executor: Executor
) -> None:
    recipe = Recipe(steps=4, learning_rate=1e38)
    fine = tiny_experiment()
    lost = replace(fine, recipe=recipe)
    store, jobs = Store(tmp_path), jobs_of([fine, lost], [0])
    with caplog.at_level(logging.WARNING, "farfield"):
        run(jobs, store, executor)
    first, second = results(jobs, store)
    assert first.diverged() is None
    step = second.diverged()
    assert step is not None
    assert caplog.messages == [
        f"seed 0 of experiment {lost.key}: the loss is not finite since step {step}"
    ]
    assert [store.find(lost.key, 0).diverged()] == [step]  # type: ignore[union-attr]
