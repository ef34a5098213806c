"""The state of a layer at the positions of another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def rescale_state(
    x: Float[Tensor, "batch *_ channel"], sizes: Sequence[int], *, space_to_depth: bool = True
) -> Float[Tensor, "batch ... window channel"]:
    """Bring a state to other sizes: at each position there, all that it may read.

    An axis that is too short is made longer by its nearest neighbors. One that is too long is cut
    into windows, whose positions stay apart: `window` counts them, row by row. A state without
    positions has one, which is that of all others.

    Args:
        x: The state, features last.
        sizes: Of the positions of the reader, e.g. `(height, width)`; empty for one without.
        space_to_depth: Whether windows are kept; else also a long axis goes by its nearest
            neighbors, whatever the sizes, as in the released code.

    Raises:
        ValueError: If the state has another number of axes or, with `space_to_depth`, one whose
            size is neither a multiple nor a divisor.

    Reference:
        lamb2022, section 10.3.2.2.
    """
    own, sizes = tuple(x.shape[1:-1]), tuple(sizes)
    if own and sizes and len(own) != len(sizes):
        raise ValueError(
            f"written must have as many axes of positions as the reader's {sizes}, got {own}"
        )
    one = (1,) * max(len(own), len(sizes))
    batch, channels = x.shape[0], x.shape[-1]
    pairs = list(zip(own or one, sizes or one, strict=True))
    if space_to_depth and any(max(pair) % min(pair) for pair in pairs):
        raise ValueError(
            f"written must have sizes that are multiples or divisors of the reader's {sizes}, got "
            f"{own}; space_to_depth=False takes any"
        )
    x = x.reshape(batch, *(own or one), channels)
    if not space_to_depth:
        return _nearest(x, sizes or one).reshape(batch, *sizes, 1, channels)
    for axis, (short, size) in enumerate(pairs, start=1):
        if short < size:
            x = x.repeat_interleave(size // short, dim=axis)
    x = _windows(x, sizes or one)
    return x.reshape(batch, *sizes, *x.shape[-2:])


def _nearest(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """By nearest neighbors, which torch rounds as for the released code."""
    if tuple(x.shape[1:-1]) == tuple(sizes):
        return x
    return F.interpolate(x.movedim(-1, 1), list(sizes), mode="nearest").movedim(1, -1)


def _windows(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Cut every axis into `sizes` windows: (batch, *sizes, window, channel)."""
    if tuple(x.shape[1:-1]) == tuple(sizes):
        return x.unsqueeze(-2)
    for axis, size in enumerate(sizes):
        x = torch.unflatten(x, 1 + 2 * axis, (size, x.shape[1 + 2 * axis] // size))
    across, within = range(1, x.ndim - 1, 2), range(2, x.ndim - 1, 2)
    number, channels = math.prod(x.shape[axis] for axis in within), x.shape[-1]
    return x.permute(0, *across, *within, x.ndim - 1).reshape(x.shape[0], *sizes, number, channels)
