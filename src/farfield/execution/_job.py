"""One run to do, and the news of it meanwhile."""

from __future__ import annotations

import logging
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, final, get_args

import torch

from farfield.core import FarfieldError
from farfield.core.internal import Checked, NonNegativeInt, kind_of, lacks_memory, printable
from farfield.experiments import Experiment
from farfield.records import Record, StoreError
from farfield.records.internal import BusyError
from farfield.training.internal import Matmul, Progress

LOGGER: Final = logging.getLogger("farfield")


@final
@dataclass(frozen=True, kw_only=True)
class Job(Checked):
    """One network to train: an experiment and a seed.

    Args:
        experiment: The experiment.
        seed: Number of the run, at least 0.

    Raises:
        ValueError: If the experiment is none, or the seed no integer or negative.
    """

    experiment: Experiment
    seed: NonNegativeInt


def distinct_jobs(jobs: Iterable[Job]) -> list[Job]:
    """Remove repeated jobs: one seed of one experiment is one job, however often it is made.

    Args:
        jobs: The jobs.

    Raises:
        ValueError: If something is not a job, or the classes of an experiment were changed since
            its key was taken.
    """
    given = kind_of(tuple[Job, ...]).take("jobs", jobs)
    found = {(job.experiment.key, job.seed): job for job in given}
    for experiment in {id(job.experiment): job.experiment for job in found.values()}.values():
        experiment.check_unchanged()
    return list(found.values())


def check_machine(device: str, workers: int | None = None) -> None:
    """Raise `ValueError` for an unavailable device or an impossible number of processes.

    Args:
        device: `"cpu"` or `"cuda"`, the latter also with a number, as in `"cuda:1"`.
        workers: Number of processes; as many as there are cores if `None`.

    Raises:
        ValueError: If the device is not available, or `workers` is not positive.
    """
    kind, _, number = device.partition(":")
    if device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", device):
        raise ValueError(f"device must be 'cpu' or 'cuda', got {device!r}")
    if kind == "cuda" and torch.cuda.device_count() <= int(number or 0):
        raise ValueError(f"device is {device!r}, but torch finds no such GPU here; use 'cpu'")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")


def check_matmul(matmul: Matmul, device: str) -> None:
    """Raise `ValueError` for products that a device does not make.

    Args:
        matmul: How matrices of float32 are multiplied.
    """
    if matmul not in get_args(Matmul):
        raise ValueError(f"matmul must be 'float32' or 'tf32', got {matmul!r}")
    if matmul != "float32" and torch.device(device).type == "cpu":
        raise ValueError(f"matmul must be 'float32' on a CPU, which has no other, got {matmul!r}")


@final
@dataclass(frozen=True, kw_only=True)
class News:
    """News of a job.

    Args:
        job: Which one.
        progress: How far it is; `None` when it is finished, or was found finished.
        found: It was finished before and is not run again.
        record: Record of a run that finished now, with every metric at every step where it was
            taken: for a logger of one's own.
    """

    job: Job
    progress: Progress | None = None
    found: bool = False
    record: Record | None = None


@final
class ExecutionError(FarfieldError):
    """Some runs did not finish; finished runs are kept.

    Tracebacks of worker processes are among its notes (`__notes__`); the first error that was
    raised in this process is its cause.
    """


class WorkerError(RuntimeError):
    """A run did not finish in another process, for a reason given in words.

    Args:
        reason: The words.
        traceback: Traceback in the worker process, if there is one.
    """

    def __init__(self, reason: str, traceback: str = "") -> None:
        super().__init__(reason)
        self.traceback = traceback


@final
class OtherThereError(WorkerError):
    """An experiment differs in a worker process, so it must be run in this one."""


_LONGEST: Final = 1_000
"""Characters of an error in the reason that a run did not finish."""


def reason_of(error: BaseException) -> str:
    """Reason that a run did not finish, in a line: the error, and its file and line.

    Args:
        error: The error; the line is the last of the user's own code, if any is.
    """
    said = printable(" ".join(str(error).split()))
    if len(said) > _LONGEST:
        said = f"{said[: _LONGEST * 3 // 4]} … {said[-_LONGEST // 4 :]}"
    if isinstance(error, BusyError | StoreError | WorkerError):
        return said
    said = f"{type(error).__name__}: {said}"
    if lacks_memory(error):
        said = f"the memory does not suffice: {said}"
    frames = _frames(error)
    if not frames:
        return said
    frame, line = next((found for found in reversed(frames) if _is_own(found[0])), frames[-1])
    return f"{said} ({Path(frame.f_code.co_filename).name}:{line} in {frame.f_code.co_name})"


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """List the frames of an error and of its causes, the last frame last."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    earlier = _frames(before) if before is not None else []
    return [*earlier, *traceback.walk_tb(error.__traceback__)]


_INSTALLED: Final = tuple(
    str(Path(sysconfig.get_path(name)))
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if name in sysconfig.get_path_names()
)


def _is_own(frame: FrameType) -> bool:
    """Tell if code is the user's: neither Farfield's nor installed."""
    file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
    top = module.partition(".")[0]
    is_library = top == "farfield" or top in sys.stdlib_module_names
    return not (is_library or file.startswith(("<frozen", "<@", *_INSTALLED)))


def log_divergence(report: Callable[[News], None] | None) -> Callable[[News], None]:
    """Wrap a report of news: it also logs a warning, once, for each network that diverges.

    Args:
        report: Takes the news; `None` for nobody.
    """
    logged: set[tuple[str, int]] = set()

    def take(news: News) -> None:
        for seed, step in news.progress.diverged if news.progress else ():
            key = news.job.experiment.key
            if (key, seed) not in logged:
                logged.add((key, seed))
                LOGGER.warning(
                    "seed %d of experiment %s: the loss is not finite since step %d",
                    seed, key, step,
                )  # fmt: skip
        if report:
            report(news)

    return take
