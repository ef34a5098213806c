"""Orders on the machines of a cluster: sent as text, done there, taken back here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, final
from warnings import warn

import numpy as np
import torch

from farfield.execution._allocator import keep_freed_memory
from farfield.execution._elsewhere import (
    Answer,
    Outcomes,
    damage_to,
    do_orders,
    or_here,
    outcomes_of,
)
from farfield.execution._imports import foreign, import_paths, spawn_error
from farfield.execution._job import News, OtherThereError, WorkerError
from farfield.execution._order import Failed, Finished, Order
from farfield.records import DamageWarning

Result = tuple[list[Answer], list[DamageWarning]]
"""Result of a call: an answer for each order, and warnings for the user."""


@final
@dataclass(frozen=True, kw_only=True)
class Call:
    """Orders for one worker of a cluster, as text.

    Args:
        orders: What `Order.to_json` gave.
        paths: Where modules of the user's are looked for, after the worker's own places.
        engine: What their records say of how they ran; those of networks that train as one program
            say how many these are.
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
    """A call to do orders.

    Args:
        orders: Which ones.
        what: What does them, for their records; as `Call.engine`.
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
    """Protocol of clusters, which do orders. What `submit` returns stands for a call."""

    on_gpu: bool

    def room(self) -> int:
        """Calls that may be under way at once."""
        ...

    def submit(self, orders: list[Order]) -> Any:
        """Have orders of one experiment done by one worker."""
        ...

    def wait(self, calls: Mapping[Any, list[Order]], report: Callable[[News], None]) -> list[Any]:
        """Wait for news; returns the calls that have ended."""
        ...

    def result(self, call: Any) -> Result | WorkerError:
        """Result of a call that has ended, or the reason for none."""
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
        orders: What to train.
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
    """Orders for one worker each: single ones, or all seeds of an experiment."""
    if not together:
        yield from ([order] for order in orders)
        return
    for _, group in groupby(orders, key=lambda order: order.job.experiment.key):
        yield [*group]


def _jobs(orders: Sequence[Order]) -> tuple[Any, ...]:
    return tuple(order.job for order in orders)


def package(name: str) -> Any:
    """A package of the extra `sweep`.

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
