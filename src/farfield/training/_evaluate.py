"""Scores of a trained network in every regime of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.records import Score
from farfield.tasks import Task
from farfield.training._batches import compact

CHUNK = 500
"""Problems scored at once: large enough to fill the products, small enough for the cache."""

Outputs = Callable[[Tensor, Tensor], Tensor]
"""From `(items, index)` to outputs."""


def problems_of_run(task: Task, seed: int) -> dict[str, Problems]:
    """The sets of problems that run `seed` trains on and is scored on, by regime.

    Args:
        task: The task.
        seed: Number of the run; every model sees the same problems under the same seed.
    """
    return task.draw(stream(seed, "problems"))


def score_problems(
    model: Outputs, task: Task, problems: Problems
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """Score and loss of every problem, without gradients and in large batches.

    Args:
        model: From `(items, index)` to outputs.
        task: Whose score and loss.
        problems: What is answered.
    """
    problems = compact(problems)
    scores, losses = [], []
    with torch.inference_mode():
        for start in range(0, len(problems), CHUNK):
            part = problems[start : start + CHUNK]
            outputs = model(part.items, part.index)
            scores.append(task.score(outputs, part))
            losses.append(task.loss(outputs, part))
    return torch.cat(scores), torch.cat(losses)


def score_regimes(
    model: Outputs, task: Task, sets: Mapping[str, Problems], step: int
) -> list[Score]:
    """Accuracy and loss in every regime.

    Args:
        model: From `(items, index)` to outputs.
        task: Whose regimes.
        sets: Problems by regime.
        step: Updates done so far, noted in the scores.
    """
    found = []
    for regime, problems in sets.items():
        scores, losses = score_problems(model, task, problems)
        for metric, values in (("accuracy", scores), ("loss", losses)):
            value = float(values.double().mean())
            count = len(problems)
            found.append(Score(step=step, regime=regime, metric=metric, value=value, count=count))
    return found


def evaluate(model: nn.Module, task: Task, *, seed: int = 0) -> dict[str, float]:
    """Mean score of a network in every regime of a task: the extrapolation profile.

    The network is used in evaluation mode and is left as it was found.

    Args:
        model: Any module from `(items, index)` to outputs, e.g. `farfield.models.Relational`.
        task: The task.
        seed: Which run's problems; a network should be scored with the split of shapes that it was
            trained with.

    Returns:
        Mean score by regime, from 0 to 1.
    """
    parameter = next(model.parameters(), torch.zeros(()))
    was_training = model.training
    model.eval()
    try:
        return {
            regime: float(
                score_problems(model, task, problems.to(parameter.device, parameter.dtype))[0]
                .double()
                .mean()
            )
            for regime, problems in problems_of_run(task, seed).items()
        }
    finally:
        model.train(was_training)
