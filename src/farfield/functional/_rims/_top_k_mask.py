"""Mask of the largest scores."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.functional._rims._stable_order import stable_order


def top_k_mask(scores: Float[Tensor, "*batch"], k: int, dim: int = -1) -> Bool[Tensor, "*batch"]:
    """Mask of the k largest scores along an axis; of equal ones the first count as larger.

    `torch.topk` says neither which of equal scores it takes nor that it takes the same ones next
    time. No gradient flows through the choice.

    Args:
        scores: What is compared.
        k: How many are chosen.
        dim: The axis along which they compete.

    Raises:
        ValueError: If `k` is not between 1 and the number of competitors.

    Reference:
        lamb2022, section 8.2.2.
    """
    if not 1 <= k <= scores.shape[dim]:
        raise ValueError(f"k must be 1…{scores.shape[dim]}, the number of competitors, got {k}")
    first = stable_order(scores.detach(), dim=dim, descending=True).narrow(dim, 0, k)
    chosen = torch.zeros_like(scores, dtype=torch.bool)
    return chosen.scatter(dim, first, torch.ones_like(first, dtype=torch.bool))
