"""Squares in images."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def square_mask(
    center: Int[Tensor, "item _"], size: int, sides: tuple[int, int]
) -> Bool[Tensor, "item height width"]:
    """Pixels within a square, as far as it lies within the image.

    Args:
        center: Row and column of the middle of each square; of an even side, of the pixel after it.
        size: Side of the squares.
        sides: Height and width of the images.

    Reference:
        DeVries and Taylor 2017; lamb2022, section 10.4.4.
    """
    first = center - size // 2
    rows, columns = (
        _within(own, size, length) for own, length in zip(first.unbind(1), sides, strict=True)
    )
    return rows[:, :, None] & columns[:, None, :]


def _within(first: Tensor, size: int, length: int) -> Tensor:
    """True at `size` positions of `length` from `first` on, (item, length)."""
    offset = torch.arange(length, device=first.device) - first[:, None]
    return (offset >= 0) & (offset < size)
