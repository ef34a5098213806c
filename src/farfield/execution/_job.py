"""One run to do, and what is told of it meanwhile."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from farfield.core import NonNegativeInt, check_fields, kind_of
from farfield.experiments import Experiment
from farfield.records import BusyError, StoreError
from farfield.training import Progress

LOGGER: Final = logging.getLogger("farfield")


@final
@dataclass(frozen=True, kw_only=True)
class Job:
    """One network to train: an experiment and a seed.

    Args:
        experiment: What is run.
        seed: Number of the run, at least 0.

    Raises:
        ValueError: If the experiment is none, or the seed no integer or negative.
    """

    experiment: Experiment
    seed: NonNegativeInt

    def __post_init__(self) -> None:
        check_fields(self)


def distinct_jobs(jobs: Iterable[Job]) -> list[Job]:
    """The same jobs, each once: one seed of one experiment is one job, however often it is made.

    Args:
        jobs: What to run.

    Raises:
        ValueError: If something is no job, or the classes of an experiment were changed since its
            key was taken.
    """
    given = kind_of(tuple[Job, ...]).take("jobs", jobs)
    found = {(job.experiment.key, job.seed): job for job in given}
    for experiment in {id(job.experiment): job.experiment for job in found.values()}.values():
        experiment.check_unchanged()
    return list(found.values())


@final
@dataclass(frozen=True, kw_only=True)
class News:
    """What happened to a job.

    Args:
        job: Which one.
        progress: How far it is; `None` when it is finished, or was found finished.
        found: It was finished before and is not run again.
    """

    job: Job
    progress: Progress | None = None
    found: bool = False


@final
class ExecutionError(RuntimeError):
    """Some runs did not finish; those that did are kept."""


def reason_of(error: Exception) -> str:
    """Why a run did not finish, in a line: what went wrong, and in which line of which file.

    Args:
        error: What was raised.
    """
    if isinstance(error, BusyError | StoreError):
        return str(error)
    said = f"{type(error).__name__}: {error}"
    places = traceback.extract_tb(error.__traceback__)
    return f"{said} ({Path(places[-1].filename).name}:{places[-1].lineno})" if places else said


def log_divergence(report: Callable[[News], None] | None) -> Callable[[News], None]:
    """A report of news that also logs a warning, once, for each network that diverges.

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
