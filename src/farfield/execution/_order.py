"""Orders for executors, and the outcomes that they return."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

import msgspec
import numpy as np
import torch

from farfield._watch import unwatched
from farfield.core.internal import from_line, to_line
from farfield.execution._job import Job, News, OtherThereError, check_matmul
from farfield.execution._modules import foreign, import_class, packages_of
from farfield.experiments import Experiment
from farfield.experiments.internal import arrays_of, public_path
from farfield.records import Record, environment
from farfield.records.internal import from_tensors, pack_tensors, to_tensors, unpack_tensors
from farfield.tasks import Environment
from farfield.training import train
from farfield.training.internal import (
    Clock,
    Inputs,
    Learner,
    Matmul,
    OneAgent,
    OneNetwork,
    Progress,
    Stack,
)

Run = tuple[Record, Mapping[str, Any]]
"""Numbers of a finished run, and the state of its trained network."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An order as JSON, with everything that makes the experiment again elsewhere."""

    experiment: dict[str, Any]
    seed: int
    start: bytes | None
    checkpoint: str | None
    clock: Clock
    matmul: Matmul
    classes: dict[str, tuple[str, str]]
    arrays: dict[str, tuple[str, tuple[int, ...], bytes]]


@final
@dataclass(frozen=True, kw_only=True)
class Order:
    """One network to train, with all that it needs, without a folder of records.

    Args:
        job: Which network.
        start: State of the trained network that it starts from; `None` where it starts from none.
        checkpoint: File that holds its state between sittings; `None` to keep none.
        clock: How often to report and to save.
        matmul: How a GPU multiplies matrices of float32.
    """

    job: Job
    start: Mapping[str, Any] | None = None
    checkpoint: Path | None = None
    clock: Clock = field(default_factory=Clock)
    matmul: Matmul = "float32"

    def to_json(self, *, with_arrays: bool = True) -> str:
        """Write the order in one line, for another process or machine.

        Args:
            with_arrays: Put the user's arrays in it; else `from_json` must be given them.
        """
        experiment = self.job.experiment
        return to_line(
            _Line(
                experiment=experiment.to_json(),
                seed=self.job.seed,
                start=None if self.start is None else state_to_bytes(self.start),
                checkpoint=None if self.checkpoint is None else str(self.checkpoint.absolute()),
                clock=self.clock,
                matmul=self.matmul,
                classes={
                    public_path(cls): (cls.__module__, cls.__qualname__)
                    for cls in foreign(experiment)
                },
                arrays={
                    digest: (a.dtype.str, a.shape, a.tobytes())
                    for digest, a in arrays_of(experiment).items()
                    if with_arrays
                },
            )
        )

    @classmethod
    def from_json(
        cls,
        text: str,
        announce: Callable[[str], None],
        arrays: Mapping[str, np.ndarray[Any, Any]],
    ) -> Order:
        """Read the order that a line describes.

        Args:
            text: Line that `to_json` wrote.
            announce: Takes the name of a module before it is imported, and nothing after it.
            arrays: Arrays that the line lacks, by digest.

        Raises:
            OtherThereError: If the experiment is not the same here, where its modules are fresh.
            WorkerError: If a module cannot be imported.
        """
        line = from_line(text, _Line)
        arrays = {**arrays} | {
            digest: np.frombuffer(content, dtype=dtype).reshape(shape)
            for digest, (dtype, shape, content) in line.arrays.items()
        }
        classes = {
            path: import_class(module, name, announce)
            for path, (module, name) in line.classes.items()
        }
        try:
            experiment = Experiment.from_json(line.experiment, classes=classes, arrays=arrays)
        except ValueError as error:
            raise OtherThereError(f"in a new process, {error}") from error
        return cls(
            job=Job(experiment=experiment, seed=line.seed),
            start=None if line.start is None else state_from_bytes(line.start),
            checkpoint=None if line.checkpoint is None else Path(line.checkpoint),
            clock=line.clock,
            matmul=line.matmul,
        )


@final
@dataclass(frozen=True)
class Finished:
    """Networks that were trained together.

    Args:
        jobs: Which ones.
        runs: Their records and weights, in the same order.
    """

    jobs: tuple[Job, ...]
    runs: tuple[Run, ...]


@final
@dataclass(frozen=True)
class Failed:
    """Networks that were not trained.

    Args:
        jobs: Which ones.
        error: Why.
    """

    jobs: tuple[Job, ...]
    error: BaseException


@runtime_checkable
class Executor(Protocol):
    """Protocol of executors, which train networks and return records without writing them."""

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, and yield each when it has finished.

        Args:
            orders: Networks to train, the seeds of an experiment in succession. Each is locked
                against other processes from the moment it is taken, so take it when it can start.
            report: Takes the progress, in this thread.
        """
        ...


def train_order(
    order: Order,
    *,
    device: str = "cpu",
    engine: str = "one after another",
    report: Callable[[Progress], None] | None = None,
) -> Run:
    """Train one network by itself.

    Args:
        order: Which one.
        device: Where it is.
        engine: Words on the execution, for the record.
        report: Shown how far it is.
    """
    job = order.job

    def make() -> Learner:
        if isinstance(job.experiment.task, Environment):
            return OneAgent(job.experiment, job.seed, start=order.start)
        return OneNetwork(job.experiment, job.seed, device=device, start=order.start)

    [run] = _train(make, order, device, engine, report)
    return run


def train_together(
    orders: list[Order], *, device: str, report: Callable[[Progress], None] | None = None
) -> list[Run]:
    """Train the networks of several seeds of one experiment as one program.

    Args:
        orders: Which ones; the checkpoint and the clock are those of the first.
        report: Shown how far they are.
    """
    seeds, starts = [order.job.seed for order in orders], [order.start for order in orders]
    make = partial(Stack, orders[0].job.experiment, seeds, device=device, starts=starts)
    return _train(make, orders[0], device, f"vmap over {len(orders)} seeds", report)


def _train(
    make: Callable[[], Learner],
    order: Order,
    device: str,
    engine: str,
    report: Callable[[Progress], None] | None,
) -> list[Run]:
    """Train, and make one record per seed."""
    experiment = order.job.experiment
    check_matmul(order.matmul, device)
    with Inputs(experiment, order.checkpoint) as inputs:
        learner = make()
        scores, seconds = train(
            learner,
            experiment,
            checkpoint=order.checkpoint,
            report=report and _unwatched(report),
            clock=order.clock,
            matmul=order.matmul,
            inputs=inputs,
        )
    where = environment(device=str(torch.device(device)), engine=engine, matmul=order.matmul)
    where |= inputs.described()
    if packages := packages_of(experiment):
        where["packages"] = packages
    records = [
        Record(
            key=experiment.key,
            experiment=experiment.to_json(),
            seed=seed,
            steps=experiment.recipe.steps,
            scores=tuple(found),
            seconds=seconds / len(learner.seeds),
            environment=where,
        )
        for seed, found in zip(learner.seeds, scores, strict=True)
    ]
    return list(zip(records, learner.weights(), strict=True))


def _unwatched(report: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """Wrap a report: its files are no inputs of the run."""

    def take(progress: Progress) -> None:
        with unwatched():
            report(progress)

    return take


def state_to_bytes(state: Mapping[str, Any]) -> bytes:
    """Pack the state of a network, for another process.

    Args:
        state: Tensors and JSON by name.
    """
    return pack_tensors(to_tensors(state))


def state_from_bytes(content: bytes) -> dict[str, Any]:
    """Unpack the state of a network from the bytes of `state_to_bytes`.

    Args:
        content: The bytes.
    """
    return from_tensors(unpack_tensors(content)[0])
