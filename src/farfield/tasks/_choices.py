"""How a choice among candidates is scored."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems
from farfield.tasks._abstract_rules import check_outputs


def choice_score(
    outputs: Float[Tensor, "batch candidate"], problems: Problems, num_candidates: int
) -> Float[Tensor, " batch"]:
    """1 where the right candidate scores higher than every other one, 0 where not.

    A tie is wrong: a model that scores all candidates alike has not chosen the first.

    Args:
        outputs: A score for each candidate.
        problems: The problems they answer.
        num_candidates: Number of candidates of a problem.

    Raises:
        ValueError: If `outputs` is not of `(batch, num_candidates)`.
    """
    check_outputs(outputs, problems, num_candidates)
    right = outputs.gather(1, problems.target[:, None])
    return ((outputs < right).sum(dim=1) == num_candidates - 1).to(torch.float32)
