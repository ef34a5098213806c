"""One run to do, and what is told of it meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from farfield.experiments import Experiment
from farfield.training import Progress


@final
@dataclass(frozen=True, kw_only=True)
class Job:
    """One network to train: an experiment and a seed.

    Args:
        experiment: What is run.
        seed: Number of the run.
    """

    experiment: Experiment
    seed: int


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
