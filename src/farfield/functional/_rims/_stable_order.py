"""Stable sorting of numbers."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def stable_order(
    x: Float[Tensor, "*batch"], *, dim: int = -1, descending: bool = False
) -> Int[Tensor, "*batch"]:
    """The indices that sort along an axis, as `torch.sort(…, stable=True)` gives them.

    ONNX knows no sort that is stable: where a network is exported, each number is compared with
    all others.

    Args:
        x: The numbers.
        dim: The axis.
        descending: Whether the largest comes first.
    """
    if not torch.compiler.is_exporting():
        return torch.sort(x, dim=dim, descending=descending, stable=True).indices
    own = x.movedim(dim, -1) if descending else -x.movedim(dim, -1)
    place = torch.arange(own.shape[-1], device=x.device)
    this, other = own.unsqueeze(-1), own.unsqueeze(-2)
    earlier = place < place.unsqueeze(-1)
    rank = ((other > this) | ((other == this) & earlier)).sum(-1)
    return rank.argsort(-1).movedim(-1, dim)
