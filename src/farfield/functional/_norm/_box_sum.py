"""Sums over a window at every place of an axis."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def box_sum(x: Tensor, window: int, axis: int, before: int | None = None) -> Tensor:
    """The sum over `window` neighbours along an axis, with zeros beyond both ends.

    Sums of 1, 2, 4, … neighbours are made of each other and put together: as many additions as
    the window's number has binary digits, and no difference of large sums as with cumulative ones.

    Args:
        x: What is summed.
        window: Number of neighbours.
        axis: Counted from the end, -1 or -2.
        before: How many of them stand before the place itself; None is half of the others, one
            less than after it where their number is odd. `window // 2` is the adjoint of that.
    """
    first = (window - 1) // 2 if before is None else before
    ends = (0, 0) * (-axis - 1) + (first, window - 1 - first)
    sums, length = F.pad(x, ends), x.shape[axis]
    total, start, width = None, 0, 1
    while True:
        if window & width:
            part = sums.narrow(axis, start, length)
            total = part if total is None else total + part
            start += width
        if 2 * width > window:
            return x if total is None else total
        left = sums.shape[axis] - width
        sums = sums.narrow(axis, 0, left) + sums.narrow(axis, width, left)
        width *= 2


def box_product(x: Tensor, window: int, axis: int, before: int | None = None) -> Tensor:
    """The same sum as a product with a matrix of ones around its diagonal.

    More to calculate, but a compiler leaves a product alone, while it would fuse the additions into
    everything that uses their result and repeat them there.

    Args:
        x: What is summed.
        window: Number of neighbours.
        axis: Counted from the end, -1 or -2.
        before: As of `box_sum`.
    """
    place = torch.arange(x.shape[axis], device=x.device)
    behind = place.unsqueeze(0) - place.unsqueeze(1)  # column less row
    first = (window - 1) // 2 if before is None else before
    band = ((behind >= -first) & (behind < window - first)).to(x.dtype)
    return band @ x if axis == -2 else x @ band.transpose(0, 1)
