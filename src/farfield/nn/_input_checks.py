"""Checks of inputs: width and type must be those of the weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def check_input_size(shape: tuple[int, ...], input_size: int) -> None:
    """Raise `ValueError` for inputs of another width.

    Args:
        shape: Of the inputs, the features last.
        input_size: How many there must be.

    Raises:
        ValueError: If there are others.
    """
    if shape[-1] != input_size:
        raise ValueError(f"input must have input_size={input_size} features, got {shape[-1]}")


def check_dtype(x: Tensor, module: nn.Module, *, name: str = "x") -> None:
    """Raise an error for inputs of another type than the weights, except under `torch.autocast`.

    A replica of `torch.nn.DataParallel` has no parameters, so there torch refuses in its words.

    Args:
        x: The inputs.
        module: What has the weights.
        name: Of the argument.

    Raises:
        ValueError: If they are of another type.
    """
    if torch.compiler.is_compiling():  # which cannot look for the first of the weights
        return
    weight = next(module.parameters(), None)
    if weight is None or x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type):
        return
    raise ValueError(f"{name} must be of {weight.dtype}, as the weights are, got {x.dtype}")
