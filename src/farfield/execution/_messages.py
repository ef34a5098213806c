"""What the parent and its worker processes say to each other: one JSON object a line."""

from __future__ import annotations

import base64
from collections.abc import Callable
from types import FunctionType
from typing import Any, final

import msgspec
import numpy as np

from farfield.execution._imports import import_class
from farfield.execution._job import Job, OtherThereError
from farfield.experiments import Experiment, arrays_of, is_ours, public_path
from farfield.training import Clock, Progress


@final
class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to do, with everything the worker needs to make the experiment again."""

    experiment: dict[str, Any]
    seed: int
    folder: str
    engine: str
    report_seconds: float
    checkpoint_seconds: float
    classes: dict[str, tuple[str, str]]
    arrays: dict[str, tuple[str, tuple[int, ...], str]]


@final
class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far the worker is, what it imports or warns of, that it is done, or why it is not."""

    step: int = 0
    steps: int = 0
    score: float = 0.0
    seconds: float = 0.0
    warning: str = ""
    diverged: tuple[tuple[int, int], ...] = ()
    importing: str | None = None
    done: bool = False
    error: str = ""
    traceback: str = ""
    is_other: bool = False

    def progress(self) -> Progress:
        """The answer as progress of a run."""
        return Progress(
            step=self.step,
            steps=self.steps,
            score=self.score,
            seconds=self.seconds,
            diverged=self.diverged,
        )


def order(job: Job, folder: str, engine: str, clock: Clock) -> Order:
    """The order for a job.

    Args:
        job: What to do.
        folder: Where the record goes.
        engine: What the record says of how it ran.
        clock: How often to report and to save.
    """
    arrays = {
        digest: (array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode())
        for digest, array in arrays_of(job.experiment).items()
    }
    classes = {
        public_path(cls): (cls.__module__, cls.__qualname__) for cls in foreign(job.experiment)
    }
    return Order(
        experiment=job.experiment.to_json(),
        seed=job.seed,
        folder=folder,
        engine=engine,
        report_seconds=clock.report_seconds,
        checkpoint_seconds=clock.checkpoint_seconds,
        classes=classes,
        arrays=arrays,
    )


def experiment_of(message: Order, announce: Callable[[str], None]) -> Experiment:
    """The experiment that an order describes.

    Args:
        message: The order.
        announce: Takes the name of a module before it is imported, and nothing after it.

    Raises:
        OtherThereError: If the experiment is not the same here, where its modules are fresh.
        WorkerError: If a module cannot be imported.
    """
    arrays = {
        digest: np.frombuffer(base64.b64decode(content), dtype=dtype).reshape(shape)
        for digest, (dtype, shape, content) in message.arrays.items()
    }
    classes = {
        path: import_class(module, name, announce)
        for path, (module, name) in message.classes.items()
    }
    try:
        return Experiment.from_json(message.experiment, classes=classes, arrays=arrays)
    except ValueError as error:
        raise OtherThereError(f"in a new process, {error}") from error


def foreign(value: object) -> list[Any]:
    """The classes and functions in an experiment that are not Farfield's.

    Args:
        value: An experiment or a part of one.
    """
    if isinstance(value, type | FunctionType):
        return [] if is_ours(value) else [value]
    found: list[Any] = []
    if isinstance(value, tuple):
        for part in value:
            found += foreign(part)
    elif hasattr(value, "__dataclass_fields__"):
        found += foreign(type(value))
        for name in value.__dataclass_fields__:
            found += foreign(getattr(value, name))
    return found
