"""Checks of the states of recurrent layers."""

from __future__ import annotations

import torch
from torch import Tensor

State = tuple[Tensor, ...]
"""Parts of a state, such as hidden state and cell; the batch is axis 1 of each."""


def checked_state(
    given: State | None, first: State, *, alone: bool, growing_axis: int | None
) -> State:
    """Return the given state, checked, or the first one where none is given.

    Args:
        given: Given state, or None.
        first: First state.
        alone: True if the input has no axis for the batch, so that a given state has none either.
        growing_axis: Axis of every part that may have any size, the same one in all; or None.

    Raises:
        ValueError: If it has other parts, another shape or another type.
    """
    if given is None:
        return first
    shapes = [part.shape[:1] + part.shape[2:] if alone else part.shape for part in first]
    if not isinstance(given, tuple | list) or not all(isinstance(part, Tensor) for part in given):
        raise ValueError(f"hx must be {_tensors(len(first))} from a call, got {given!r}")
    axis = growing_axis if growing_axis is None else growing_axis - alone
    if not _fit([part.shape for part in given], shapes, axis):
        wanted = " and ".join(_shown(shape, axis) for shape in shapes)
        got = " and ".join(str(tuple(part.shape)) for part in given)
        raise ValueError(f"hx must be the state of a call, of shape {wanted}, got {got}")
    for part, like in zip(given, first, strict=True):
        if part.dtype != like.dtype and not torch.is_autocast_enabled(like.device.type):
            raise ValueError(f"hx must be of {like.dtype}, as the inputs ask, got {part.dtype}")
    return tuple(part.unsqueeze(1) for part in given) if alone else tuple(given)


def _tensors(number: int) -> str:
    return "a tensor" if number == 1 else f"a tuple of {number} tensors"


def _fit(given: list[torch.Size], wanted: list[torch.Size], axis: int | None) -> bool:
    """Tell whether shapes are as wanted; along the axis, if any, all may have another size."""
    if axis is None or len(given) != len(wanted):
        return given == wanted
    if any(len(own) != len(other) for own, other in zip(given, wanted, strict=True)):
        return False
    size = given[0][axis]
    return given == [torch.Size((*own[:axis], size, *own[axis + 1 :])) for own in wanted]


def _shown(shape: torch.Size, axis: int | None) -> str:
    sizes = ("any" if place == axis else str(size) for place, size in enumerate(shape))
    return "(" + ", ".join(sizes) + ")"
