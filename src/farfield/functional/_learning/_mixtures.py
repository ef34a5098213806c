"""Mixtures of pairs of items."""

from __future__ import annotations

import torch
from torch import Tensor


def mix(first: Tensor, second: Tensor, weight: Tensor) -> Tensor:
    """Compute the mixture `weight · first + (1 − weight) · second`.

    Args:
        first: Any tensor.
        second: One of the same shape.
        weight: Weight of the first, `()`, or one for each row.
    """
    weight = weight.to(first.dtype)
    if weight.ndim:
        weight = weight.reshape(-1, *(1,) * (first.ndim - 1))
    return torch.lerp(second, first, weight)


def mix_pairs(x: Tensor, weight: Tensor, partner: Tensor) -> Tensor:
    """Mix every problem with its partner.

    Args:
        x: `(batch, *)`.
        weight: Weight of the first, `()` or `(batch,)`.
        partner: Positions of the second, `(batch,)`.
    """
    return mix(x, x.index_select(0, partner), weight)
