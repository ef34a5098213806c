"""States of recurrent layers: what they begin with, and what they must be, to be taken."""

from __future__ import annotations

import torch
from torch import Tensor

State = tuple[Tensor, ...]
"""Parts of a state, such as hidden state and cell; the batch is axis 1 of each."""


def first_state(
    given: State | None, like: Tensor, batch: int | None, *, parts: int, layers: int, size: int
) -> State:
    """The state to begin with: zeros, or what is given if its shapes are those of torch's layers.

    Args:
        given: What is given.
        like: Of the device and the type of the zeros.
        batch: Number of sequences; None for one without an axis for the batch.
        parts: How many tensors are a state.
        layers: Number of layers.
        size: Number of hidden units.

    Raises:
        ValueError: If it has other parts, another shape or another type.
    """
    if given is None:
        return (like.new_zeros(layers, batch or 1, size),) * parts
    shape = (layers, size) if batch is None else (layers, batch, size)
    axes = "num_layers, hidden_size" if batch is None else "num_layers, batch, hidden_size"
    got = [tuple(part.shape) for part in given]
    if got != [shape] * parts:
        raise ValueError(f"state must be {parts} × ({axes}) = {shape}, got {got}")
    check_state_dtype(given, (like,) * parts)
    return given if batch is not None else tuple(part.unsqueeze(1) for part in given)


def check_state_dtype(given: State, first: State) -> None:
    """Refuse a state of another type than one begins with, but under `torch.autocast`.

    Args:
        given: The state that is given.
        first: One of the type that it must have.

    Raises:
        ValueError: If a part is of another type.
    """
    for part, like in zip(given, first, strict=True):
        if part.dtype != like.dtype and not torch.is_autocast_enabled(like.device.type):
            raise ValueError(f"state must be of {like.dtype}, as the inputs ask, got {part.dtype}")
