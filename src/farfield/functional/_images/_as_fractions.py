"""Pixels as numbers."""

from __future__ import annotations

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def as_fractions(items: Shaped[Tensor, "*item"], dtype: torch.dtype) -> Float[Tensor, "*item"]:
    """Levels 0…255 as fractions 0…1; real items as they are.

    Args:
        items: Pixels, uint8 or floating-point.
        dtype: Type of the result.

    Raises:
        ValueError: If the items are of another integer type, whose range nobody can know.
    """
    if items.dtype == torch.uint8:
        return items.to(dtype) / 255
    if not items.is_floating_point():
        raise ValueError(
            f"items must be uint8 of 0…255 or floating-point of 0…1, got {items.dtype}"
        )
    return items.to(dtype)
