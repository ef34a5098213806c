"""Scalars and segments of axes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F


def scalar_like(number: float | Tensor, like: Tensor) -> Tensor:
    """Convert a number to a tensor without axes, of the type and on the device of another.

    A number of Python's is written there and not copied from the processor's memory: a GPU would
    be waited for, and a recorded program (CUDA graph) may hold no such copy.

    Args:
        number: The number.
        like: The other tensor.
    """
    if isinstance(number, Tensor):
        return number.to(like.device, like.dtype)
    return torch.full((), number, dtype=like.dtype, device=like.device)


Segments = Sequence[Sequence[int]]
"""Time steps that form one context each, e.g. `((0, 1), (2, 3), (4, 5))`."""


def check_segments(
    length: int | None, segments: Segments | None, correction: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Check that segments cover `length` time steps exactly once; return them as tuples.

    Args:
        length: Number of time steps of a problem. None is the number that the segments name.
        segments: Time steps that form one context each. None is one context of all time steps.
        correction: Subtracted from the number of time steps in the variance.

    Raises:
        ValueError: If the segments are no sequences, a time step is missing, repeated or outside, a
            segment is empty or has no more than `correction` time steps, or `correction` is below
            0.
    """
    if correction < 0:
        raise ValueError(f"correction must be at least 0, got {correction}")
    groups = (tuple(range(length or 0)),) if segments is None else _groups(segments)
    named = sorted(position for group in groups for position in group)
    if length is None:
        length = len(named)
    if named != list(range(length)):
        raise ValueError(
            f"segments must name each of the time steps 0…{length - 1} exactly once, got {groups}"
        )
    shortest = min([len(group) for group in groups]) if groups else 0
    if shortest == 0:
        raise ValueError(f"segments must each hold at least one time step, got {groups}")
    if shortest <= correction:
        raise ValueError(
            f"correction={correction} divides by zero in a segment of {shortest} time step(s); "
            "use correction=0 or longer segments"
        )
    return groups


def _groups(segments: Segments) -> tuple[tuple[int, ...], ...]:
    try:
        return tuple(tuple(segment) for segment in segments)
    except TypeError:
        raise ValueError(
            "segments must be a sequence of sequences of time steps, e.g. ((0, 1), (2, 3)), "
            f"got {segments!r}"
        ) from None


def without_padding(z: Tensor, padding_mask: Tensor) -> Tensor:
    """Set padding to zero in the embeddings.

    Args:
        z: Embeddings, `(*batch, time, feature)`.
        padding_mask: True at time steps that hold padding, `(*batch, time)`.

    Raises:
        ValueError: If the mask is not of bool or of another shape.
    """
    is_tensor = isinstance(padding_mask, Tensor)
    if not is_tensor or padding_mask.dtype != torch.bool or padding_mask.shape != z.shape[:-1]:
        got = f"{padding_mask.dtype} of {tuple(padding_mask.shape)}" if is_tensor else padding_mask
        raise ValueError(
            f"padding_mask must be bool of shape {tuple(z.shape[:-1])}, per time step, got {got}"
        )
    return z.masked_fill(padding_mask.unsqueeze(-1), 0.0)


def segment_moments(
    z: Tensor,
    groups: tuple[tuple[int, ...], ...],
    correction: int,
    padding_mask: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute mean and variance of each segment, by sums over a membership matrix.

    Args:
        z: Embeddings, `(*batch, time, feature)`, with zeros for padding.
        groups: The segments, as `check_segments` gives them.
        correction: Subtracted from the number of time steps in the variance.
        padding_mask: True at time steps that hold padding, or None.

    Returns:
        Mean and variance, `(*batch, segment, feature)`, and the segment of each time step.
    """
    which = torch.zeros(z.shape[-2], dtype=torch.int64, device=z.device)
    for number, group in enumerate(groups):
        which[list(group)] = number
    members = F.one_hot(which, len(groups)).T.to(z.dtype)
    if padding_mask is not None:
        members = members * ~padding_mask.unsqueeze(-2)
    sizes = members.sum(-1, keepdim=True)
    with torch.autocast(z.device.type, enabled=False):  # which would sum in half the digits
        mean = (members @ z) / sizes.clamp_min(1)
        squares = members @ (z - mean[..., which, :]).square()
    return mean, squares / (sizes - correction).clamp_min(1), which
