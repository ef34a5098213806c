"""Executor of a Ray cluster: orders as tasks with retries and stated resources."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

from farfield.core import NonNegativeFloat, NonNegativeInt, PositiveInt, check_fields, excerpt
from farfield.execution._cluster import Call, Result, call_of, package, run_on
from farfield.execution._job import LOGGER, ExecutionError, News, WorkerError
from farfield.execution._order import Failed, Finished, Order
from farfield.experiments import arrays_of

PATIENCE: Final = 10.0
"""Seconds in which a cluster must answer at its address."""


@final
@dataclass(frozen=True, kw_only=True)
class Ray:
    """Trains networks as tasks of a Ray cluster, whose records and weights this process writes.

    A task draws or finds its data where it runs; what is sent is the description of the experiment
    and, once for the whole cluster, arrays of one's own. With a GPU, or a part of one, a task
    trains all seeds of an experiment as one program. A task whose machine is lost is done again
    elsewhere. What cannot be sent is trained in this process at the end; its record says why.

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

    def __post_init__(self) -> None:
        check_fields(self)

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
                    f"the Ray cluster has ended ({_first_line(error)}). What finished is kept; the "
                    "same command goes on with the rest, at the address of a cluster that runs"
                ) from error


@contextlib.contextmanager
def _connection(address: str | None) -> Iterator[Any]:
    """Ray, connected to a cluster."""
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
        asked: What a task needs.
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
        """Twice as many calls as are done at once, so that no machine waits for this one."""
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
        """Have orders done by one task."""
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
        """Result of a task, or the way in which it was lost."""
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
    """Kind of an error, and the first line of what it says."""
    return f"{type(error).__name__}: {excerpt(str(error).partition(chr(10))[0])}"


def _do(call: Call, queue: Any, digests: list[str], *arrays: Any) -> Result:
    """Do a call in a task."""

    def report(news: News) -> None:
        queue.put_nowait.remote((news.job.experiment.key, news.job.seed, news.progress))

    return call.do(report, dict(zip(digests, arrays, strict=True)))
