"""Loss and score of answers, and the outputs of a certain answer."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems
from farfield.metrics import correct


def answer_loss(
    outputs: Float[Tensor, "batch candidate"], problems: Problems, num_outputs: int
) -> Float[Tensor, " batch"]:
    """Cross-entropy: of one logit (positive: 1), or of a logit for each answer.

    Args:
        outputs: Logits.
        problems: The problems they answer.
        num_outputs: Number of logits of a problem.

    Raises:
        ValueError: If `outputs` is not of `(batch, num_outputs)`.
    """
    check_outputs(outputs, problems, num_outputs)
    if num_outputs == 1:
        wanted = problems.target.to(outputs.dtype)
        return F.binary_cross_entropy_with_logits(outputs[:, 0], wanted, reduction="none")
    return F.cross_entropy(outputs, problems.target, reduction="none")


def answer_score(
    outputs: Float[Tensor, "batch candidate"], problems: Problems, num_outputs: int
) -> Float[Tensor, " batch"]:
    """1 where the answer is right, 0 where it is wrong, a tie or not a number.

    Args:
        outputs: Logits.
        problems: The problems they answer.
        num_outputs: Number of logits of a problem.

    Raises:
        ValueError: If `outputs` is not of `(batch, num_outputs)`.
    """
    check_outputs(outputs, problems, num_outputs)
    return correct(outputs, problems.target).to(torch.float32)


def check_outputs(outputs: Tensor, problems: Problems, num_outputs: int) -> None:
    """Raise `ValueError` if `outputs` is not of `(batch, num_outputs)`."""
    if tuple(outputs.shape) != (len(problems), num_outputs):
        raise ValueError(
            f"outputs must be of (batch, outputs) = ({len(problems)}, {num_outputs}), "
            f"got shape {tuple(outputs.shape)}"
        )


def binary_outputs(
    answer: Bool[Tensor, " batch"], num_outputs: int
) -> Float[Tensor, "batch candidate"]:
    """The outputs of a model that is sure of a yes (1) or no (0)."""
    logit = answer.to(torch.float32)[:, None] * 2 - 1
    return logit if num_outputs == 1 else torch.cat([-logit, logit], dim=1)


def target_outputs(problems: Problems, num_outputs: int) -> Float[Tensor, "batch candidate"]:
    """The outputs of a model that is sure of the published answers: 1 for them, −1 else."""
    return F.one_hot(problems.target, num_outputs).to(torch.float32) * 2 - 1
