"""The score of a trained network, averaged over problems."""

from __future__ import annotations

from torch import nn

from farfield.core import Problems
from farfield.tasks import ProblemTask
from farfield.training import score_problems


def mean_score(network: nn.Module, task: ProblemTask, problems: Problems) -> float:
    """Mean over problems of the task's score, without gradients.

    Args:
        network: A trained network.
        task: Whose score.
        problems: What is answered.
    """
    scores, _ = score_problems(network, task, problems)
    return float(scores.double().mean())
