"""Cost of experiments before anything is run: steps, hours and memory, from seconds of trial."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import torch

from farfield._system import peak_memory
from farfield.core import check_arguments
from farfield.experiments import Experiment
from farfield.tasks import Environment
from farfield.training import Learner, OneAgent, OneNetwork, Stack, vmap_error

WARM: Final = 2
"""Steps of a trial before its clock starts."""


@final
@dataclass(frozen=True, kw_only=True)
class Trial:
    """Seconds and memory of training, measured on a few steps.

    Args:
        seconds: Seconds a step, all networks that train together.
        networks: How many train together.
        steps: Steps that were timed.
        memory: Peak memory in bytes, of the GPU or of the whole process so far; `None` where the
            system does not say.
    """

    seconds: float
    networks: int
    steps: int
    memory: int | None

    def hours(self, networks: int, steps: int, workers: int = 1) -> float:
        """Hours of training, without scoring.

        Args:
            networks: Networks to train.
            steps: Steps of each.
            workers: Processes that share the work.
        """
        return self.seconds * steps * networks / self.networks / workers / 3600


def cost_kind(experiment: Experiment) -> tuple[object, ...]:
    """Kind of an experiment, by which its steps take their time.

    Args:
        experiment: Any; those of one kind differ in steps, regimes and contents.
    """
    task = experiment.task
    length = 0 if isinstance(task, Environment) else task.length
    return (
        type(task), length, experiment.model, experiment.objective, experiment.players,
        experiment.recipe.batch_size, experiment.recipe.optimizer,
    )  # fmt: skip


@check_arguments
def trial(
    experiment: Experiment, seeds: Sequence[int], *, device: str = "cpu", seconds: float = 1.0
) -> Trial:
    """Train an experiment for a moment, and keep nothing of it.

    On a GPU all seeds train together where they can, as `run` trains them; elsewhere one does.

    Args:
        experiment: What is tried, from drawn first weights.
        seeds: Numbers of the runs.
        device: `"cpu"` or `"cuda"`.
        seconds: When to stop, after the first steps.
    """
    fresh = dataclasses.replace(experiment, starts_from=None)
    learner: Learner
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats(device)
    if isinstance(fresh.task, Environment):
        learner = OneAgent(fresh, seeds[0])
    elif device != "cpu" and vmap_error(fresh, device) is None:
        learner = Stack(fresh, seeds, device=device)
    else:
        learner = OneNetwork(fresh, seeds[0], device=device)
    warm = min(WARM, experiment.recipe.steps - 1)
    for step in range(warm):
        learner.update(step)
    _wait(device)
    started, step = time.perf_counter(), warm
    while step < experiment.recipe.steps:
        learner.update(step)
        step += 1
        _wait(device)
        if time.perf_counter() - started > seconds:
            break
    return Trial(
        seconds=(time.perf_counter() - started) / (step - warm),
        networks=len(learner.seeds),
        steps=step - warm,
        memory=peak_memory() if device == "cpu" else torch.cuda.max_memory_allocated(device),
    )


def _wait(device: str) -> None:
    """Wait until a GPU has done what it was given."""
    if device != "cpu":
        torch.cuda.synchronize(device)
