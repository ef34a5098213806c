"""Orders on the machines of a cluster, of Slurm or Ray: sent as text, done there, taken back."""

from __future__ import annotations

import contextlib
import importlib
import logging
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Protocol, final
from warnings import warn

import numpy as np
import torch

from farfield.core.internal import (
    Checked,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    excerpt,
)
from farfield.execution._executors import (
    Answer,
    Outcomes,
    damage_to,
    do_orders,
    keep_freed_memory,
    or_here,
    outcomes_of,
)
from farfield.execution._job import LOGGER, ExecutionError, News, OtherThereError, WorkerError
from farfield.execution._modules import foreign, import_paths, spawn_error
from farfield.execution._order import Failed, Finished, Order
from farfield.experiments.internal import arrays_of
from farfield.records.internal import DamageWarning, write_whole

Result = tuple[list[Answer], list[DamageWarning]]
"""Result of a call: an answer for each order, and warnings for the user."""


@final
@dataclass(frozen=True, kw_only=True)
class Call:
    """Orders for one worker of a cluster, as text.

    Args:
        orders: Orders as `Order.to_json` writes them.
        paths: Folders in which the worker looks for modules of the user's, after its own path.
        engine: Words on the execution, for the records; records of networks that train as one
            program have their number.
        threads: Threads of the worker.
        on_gpu: Train on a GPU, the seeds of an experiment as one program.
        files: Where trained networks are left, one file an order; empty to send them back.
    """

    orders: tuple[str, ...]
    paths: tuple[str, ...]
    engine: str
    threads: int
    on_gpu: bool
    files: tuple[Path, ...]

    def do(
        self,
        report: Callable[[News], None],
        arrays: Mapping[str, np.ndarray[Any, Any]] | None = None,
    ) -> Result:
        """Do the orders, in the worker.

        Args:
            report: Takes the progress.
            arrays: Arrays of the user's that the orders lack, by digest.
        """
        torch.set_num_threads(self.threads)
        keep_freed_memory()
        paths, device = [*dict.fromkeys([*sys.path, *self.paths])], _device(on_gpu=self.on_gpu)
        damage = list[DamageWarning]()
        with damage_to(damage.append):
            answers = do_orders(
                self.orders, paths, device, self.engine, report, arrays=arrays, together=self.on_gpu
            )
        if self.files:
            answers = [*map(_leave, answers, self.files)]
        return answers, damage


def _device(*, on_gpu: bool) -> str:
    return "cuda" if on_gpu else "cpu"


def _leave(answer: Answer, path: Path) -> Answer:
    """Write a trained network to a file; returns the answer with its name."""
    if isinstance(answer, WorkerError) or isinstance(answer[1], Path):
        return answer
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(answer[1])
    return answer[0], path


def call_of(
    orders: Sequence[Order],
    what: str,
    cores: int,
    *,
    on_gpu: bool,
    leave: bool,
    with_arrays: bool = True,
) -> Call:
    """Make a call to do orders.

    Args:
        orders: Which ones.
        what: Words on the worker, for the records; as `Call.engine`.
        cores: Cores of the worker.
        on_gpu: Train on a GPU, the seeds of an experiment as one program.
        leave: Leave trained networks beside the checkpoints.
        with_arrays: Put the user's arrays in the text.
    """
    paths = [order.checkpoint.absolute() for order in orders if leave and order.checkpoint]
    return Call(
        orders=tuple(order.to_json(with_arrays=with_arrays) for order in orders),
        paths=tuple(import_paths(foreign(orders[0].job.experiment))),
        engine=f"{what} with {cores} core{'s' * (cores > 1)}",
        threads=cores,
        on_gpu=on_gpu,
        files=tuple(path.with_suffix(".trained") for path in paths),
    )


class Cluster(Protocol):
    """Protocol of clusters, which do orders. The result of `submit` names a call."""

    on_gpu: bool

    def room(self) -> int:
        """Find the maximum number of concurrent calls."""
        ...

    def submit(self, orders: list[Order]) -> Any:
        """Send orders of one experiment to one worker."""
        ...

    def wait(self, calls: Mapping[Any, list[Order]], report: Callable[[News], None]) -> list[Any]:
        """Wait for news; returns the calls that have ended."""
        ...

    def result(self, call: Any) -> Result | WorkerError:
        """Fetch the result of a call that has ended, or the reason for none."""
        ...

    def cancel(self, call: Any) -> None:
        """End a call that is under way."""
        ...


def run_on(
    cluster: Cluster, orders: Iterable[Order], report: Callable[[News], None]
) -> Generator[Finished | Failed, None, None]:
    """Train networks on a cluster, as `Executor.run` does.

    Args:
        cluster: Which one.
        orders: Networks to train.
        report: Takes the progress.
    """
    on_gpu = cluster.on_gpu and torch.cuda.is_available()
    return or_here(_run_on(cluster, orders, report), _device(on_gpu=on_gpu), report)


def _run_on(cluster: Cluster, orders: Iterable[Order], report: Callable[[News], None]) -> Outcomes:
    source, busy = _groups(orders, together=cluster.on_gpu), dict[Any, list[Order]]()
    try:
        while True:
            while len(busy) < cluster.room() and (group := next(source, None)) is not None:
                if reason := spawn_error(foreign(group[0].job.experiment)):
                    yield group, Failed(_jobs(group), OtherThereError(reason))
                else:
                    busy[cluster.submit(group)] = group
            if not busy:
                return
            for call in cluster.wait(busy, report):
                result, group = cluster.result(call), busy.pop(call)
                if isinstance(result, WorkerError):
                    yield group, Failed(_jobs(group), result)
                    continue
                answers, damage = result
                for warning in damage:
                    warn(warning, stacklevel=2)
                yield from outcomes_of(group, answers)
    finally:
        for call in busy:
            cluster.cancel(call)


def _groups(orders: Iterable[Order], *, together: bool) -> Iterator[list[Order]]:
    """Group orders by worker: single orders, or all seeds of an experiment."""
    if not together:
        yield from ([order] for order in orders)
        return
    for _, group in groupby(orders, key=lambda order: order.job.experiment.key):
        yield [*group]


def _jobs(orders: Sequence[Order]) -> tuple[Any, ...]:
    return tuple(order.job for order in orders)


def package(name: str) -> Any:
    """Import a package of the extra `sweep`.

    Args:
        name: Its name.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"this executor needs {name.partition('.')[0]}, which is not installed: "
            "pip install 'farfield[sweep]'"
        ) from error


PAUSE: Final = 0.5
"""Seconds between two looks at the files of jobs; Slurm itself is asked once a minute."""
TIMEOUTS: Final = 1_000_000
"""Times that a job which ran out of time is queued again; submitit asks for a number."""


@final
@dataclass(frozen=True, kw_only=True)
class Slurm(Checked):
    """Trains networks as jobs of Slurm, whose records and weights this process writes.

    All machines must see `folder` and the folder of records at the same paths. A job that is
    preempted, or runs out of time, is queued again and goes on from its checkpoint. A job that
    finished while no process waited for it is found by the next. With GPUs a job trains all seeds
    of an experiment as one program. Partition and account are taken from Slurm's own variables
    (`SBATCH_PARTITION`, `SBATCH_ACCOUNT`). Where there is no Slurm, jobs are processes of this
    machine.

    Args:
        folder: Where orders, results and logs of jobs are kept.
        cores: Cores, and threads, of a job.
        gpus: GPUs of a job.
        hours: Longest time of a job, until it is queued again.
        jobs: Most jobs in the queue at once.

    Raises:
        ValueError: If a number is not positive.
    """

    folder: Path
    cores: PositiveInt = 1
    gpus: NonNegativeInt = 0
    hours: PositiveFloat = 24.0
    jobs: PositiveInt = 100

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, as `Executor.run` does; of progress, only ends are reported.

        Raises:
            ModuleNotFoundError: If submitit, an extra, is not installed.
        """
        return run_on(_Jobs(self, package("submitit")), orders, report)


@final
class _Jobs:
    """The jobs of one run.

    Args:
        asked: Resources of a job.
        submitit: The package.
    """

    def __init__(self, asked: Slurm, submitit: Any) -> None:
        self.on_gpu = asked.gpus > 0
        self._asked, self._folder = asked, asked.folder.absolute()
        self._executor = submitit.AutoExecutor(self._folder, slurm_max_num_timeout=TIMEOUTS)
        self._executor.update_parameters(
            name="farfield", cpus_per_task=asked.cores, gpus_per_node=asked.gpus,
            timeout_min=math.ceil(60 * asked.hours),
        )  # fmt: skip
        is_slurm = self._executor.cluster == "slurm"
        self._job = submitit.SlurmJob if is_slurm else submitit.LocalJob
        self._notes = dict[Any, list[Path]]()

    def room(self) -> int:
        """Find the maximum number of queued jobs."""
        return self._asked.jobs

    def submit(self, orders: list[Order]) -> Any:
        """Queue a job, unless one that was sent before for these seeds has finished."""
        key, seeds = orders[0].job.experiment.key, [order.job.seed for order in orders]
        notes = [self._folder / f"{key}-{seed}.job" for seed in seeds]
        named = " ".join(map(str, seeds))
        sent = dict(note.read_text().split(" ", 1) for note in notes if note.is_file())
        jobs = [self._job(self._folder, job_id) for job_id in sent]
        if [*sent.values()] == [named] and jobs[0].paths.result_pickle.exists():
            (job,) = jobs
        else:
            for job in jobs:  # of a process that was killed: the new one goes on from there
                job.cancel(check=False)
            cores = self._asked.cores
            call = call_of(orders, "a Slurm job", cores, on_gpu=self.on_gpu, leave=False)
            job = self._executor.submit(_Work(), call)
            for note in notes:
                write_whole(note, f"{job.job_id} {named}".encode())
        self._notes[job] = notes
        return job

    def wait(self, calls: Mapping[Any, list[Order]], report: Callable[[News], None]) -> list[Any]:
        """Wait for the end of a job; returns the jobs that have ended."""
        del report
        while not (ended := [job for job in calls if job.done()]):
            time.sleep(PAUSE)
        return ended

    def result(self, call: Any) -> Result | WorkerError:
        """Fetch the result of a job, or the reason for none."""
        self._forget(call)
        error = call.exception()
        if error is None:
            return call.result()
        last = str(error).strip().rpartition("\n")[2]
        return WorkerError(f"the Slurm job {call.job_id} did not finish: {last}", str(error))

    def cancel(self, call: Any) -> None:
        """Take a job from the queue, or stop it; its last checkpoint is kept."""
        call.cancel(check=False)
        self._forget(call)

    def _forget(self, call: Any) -> None:
        for note in self._notes.pop(call):
            note.unlink(missing_ok=True)


@final
class _Work:
    """Work of a job, which Slurm may stop before its end and start again."""

    def __init__(self) -> None:
        self._is_stopped = False

    def __call__(self, call: Call) -> Result:
        result = call.do(lambda _: None)
        if self._is_stopped:
            sys.exit(-1)  # it met the exit that submitit had asked for, which is no result
        return result

    def checkpoint(self, call: Call) -> Any:
        """Requeue the work; submitit calls this before it stops a job."""
        self._is_stopped = True
        return package("submitit").helpers.DelayedSubmission(_Work(), call)


PATIENCE: Final = 10.0
"""Seconds in which a cluster must answer at its address."""


@final
@dataclass(frozen=True, kw_only=True)
class Ray(Checked):
    """Trains networks as tasks of a Ray cluster, whose records and weights this process writes.

    A task draws or finds its data where it runs; only the description of the experiment is sent
    and, once for the whole cluster, the user's arrays. With a GPU, or a part of one, a task
    trains all seeds of an experiment as one program. A task whose machine is lost is done again
    elsewhere. An experiment that cannot be sent is trained in this process at the end; its record
    says why.

    A connection to Ray that is there already is used and kept.

    ```py
    run(jobs, store, Ray(address="10.0.0.1:6379", cores=1))
    run(jobs, store, Ray(gpus=0.25, shared=True))
    ```

    Args:
        address: Of the cluster, as `ray.init` takes it (`"auto"` for one that runs on this
            machine); if `None`, that in `RAY_ADDRESS`, else a cluster of this machine that is
            started for the run and ends with it.
        cores: Cores, and threads, of a task.
        gpus: GPUs of a task; several tasks share one if less than 1.
        retries: Times that a task is done again when its machine or process is lost.
        shared: Whether all machines see the folder of records at the same path: checkpoints are
            kept in it, and trained networks left there. If not, a task that is lost begins anew.

    Raises:
        ValueError: If a number is negative, or there are no cores.
    """

    address: str | None = None
    cores: PositiveInt = 1
    gpus: NonNegativeFloat = 0.0
    retries: NonNegativeInt = 3
    shared: bool = False

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, as `Executor.run` does.

        Raises:
            ModuleNotFoundError: If Ray, an extra, is not installed.
            ValueError: If no cluster answers at the address.
            ExecutionError: If the cluster ends before the run.
        """
        with _connection(self.address) as ray:
            try:
                yield from run_on(_Tasks(self, ray), orders, report)
            except ray.exceptions.RayError as error:
                raise ExecutionError(
                    f"the Ray cluster has ended ({_first_line(error)}). Finished runs are kept; "
                    "the same command goes on with the rest, at the address of a cluster that runs"
                ) from error


@contextlib.contextmanager
def _connection(address: str | None) -> Iterator[Any]:
    """Context manager: Ray, connected to a cluster."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no statistics leave this machine
    ray = package("ray")
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS")
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    try:
        if host and port.isdecimal():  # ray itself would wait for minutes
            socket.create_connection((host, int(port)), PATIENCE).close()
        ray.init(
            address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False,
        )
    except OSError as error:
        raise ValueError(
            f"address must be that of a Ray cluster that runs, got {address!r}: {error}"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


@final
class _Tasks:
    """The tasks of one run on a cluster.

    Args:
        asked: Resources of a task.
        ray: The package, connected.
    """

    def __init__(self, asked: Ray, ray: Any) -> None:
        self.on_gpu = asked.gpus > 0
        self._asked, self._ray = asked, ray
        self._task = ray.remote(_do).options(
            num_cpus=asked.cores, num_gpus=asked.gpus, max_retries=asked.retries
        )
        node = ray.get_runtime_context().get_node_id()
        beside = package("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
        options = {
            "num_cpus": 0, "scheduling_strategy": beside(node, soft=False),
            "max_restarts": -1, "max_task_retries": -1,
        }  # fmt: skip
        self._queue = package("ray.util.queue").Queue(actor_options=options).actor
        self._news = self._queue.get.remote()
        self._arrays = dict[str, Any]()
        self._has_warned = False

    def room(self) -> int:
        """Allow twice the number of concurrent calls, so that no machine waits for this one."""
        there = self._ray.cluster_resources()
        at_once = int(there.get("CPU", 0) // self._asked.cores)
        if self.on_gpu:
            at_once = min(at_once, int(there.get("GPU", 0) / self._asked.gpus))
        if not at_once and not self._has_warned:
            self._has_warned = True
            LOGGER.warning(
                "no machine of the Ray cluster has %d cores and %g GPUs now; this waits for one",
                self._asked.cores, self._asked.gpus,
            )  # fmt: skip
        return 2 * max(1, at_once)

    def submit(self, orders: list[Order]) -> Any:
        """Send orders to one task."""
        if not self._asked.shared:
            orders = [replace(order, checkpoint=None) for order in orders]
        call = call_of(
            orders, "a Ray task", self._asked.cores,
            on_gpu=self.on_gpu, leave=self._asked.shared, with_arrays=False,
        )  # fmt: skip
        arrays = arrays_of(orders[0].job.experiment)
        for digest, array in arrays.items():
            if digest not in self._arrays:
                self._arrays[digest] = self._ray.put(array)
        return self._task.remote(
            call, self._queue, [*arrays], *(self._arrays[digest] for digest in arrays)
        )

    def wait(self, calls: Mapping[Any, list[Order]], report: Callable[[News], None]) -> list[Any]:
        """Wait for a report or the end of a task; returns the tasks that have ended."""
        ended, _ = self._ray.wait([self._news, *calls])
        if self._news in ended:
            ended.remove(self._news)
            key, seed, progress = self._ray.get(self._news)
            self._news = self._queue.get.remote()
            jobs = (order.job for orders in calls.values() for order in orders)
            for job in jobs:
                if (job.experiment.key, job.seed) == (key, seed):
                    report(News(job=job, progress=progress))
        return ended

    def result(self, call: Any) -> Result | WorkerError:
        """Fetch the result of a task, or the way in which it was lost."""
        try:
            return self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            kept = "; its last checkpoint is kept" if self._asked.shared else ""
            return WorkerError(f"the Ray task was lost ({_first_line(error)}){kept}")

    def cancel(self, call: Any) -> None:
        """End a task, with its process."""
        with contextlib.suppress(self._ray.exceptions.RayError):  # the cluster has ended
            self._ray.cancel(call, force=True)


def _first_line(error: Exception) -> str:
    """Format the kind of an error, and the first line of its message."""
    return f"{type(error).__name__}: {excerpt(str(error).partition(chr(10))[0])}"


def _do(call: Call, queue: Any, digests: list[str], *arrays: Any) -> Result:
    """Do a call in a task."""

    def report(news: News) -> None:
        queue.put_nowait.remote((news.job.experiment.key, news.job.seed, news.progress))

    return call.do(report, dict(zip(digests, arrays, strict=True)))
