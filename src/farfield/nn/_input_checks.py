"""Checks of inputs: width and type must agree with the weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def check_input_size(shape: tuple[int, ...], input_size: int) -> None:
    """Raise `ValueError` for inputs of another width.

    Args:
        shape: Shape of the inputs, the features last.
        input_size: Number of features that the layer reads.

    Raises:
        ValueError: If the inputs have another number of features.
    """
    if shape[-1] != input_size:
        raise ValueError(f"input must have input_size={input_size} features, got {shape[-1]}")


def check_dtype(x: Tensor, module: nn.Module, *, name: str = "x") -> None:
    """Raise an error for inputs of another type than the weights, except under `torch.autocast`.

    A replica of `torch.nn.DataParallel` has no parameters, so there torch refuses in its words.

    Args:
        x: Inputs.
        module: Module with the weights.
        name: Name of the argument.

    Raises:
        ValueError: If the inputs are of another type.
    """
    if torch.compiler.is_compiling():  # which cannot look for the first of the weights
        return
    weight = next(module.parameters(), None)
    if weight is None or x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type):
        return
    raise ValueError(f"{name} must be of {weight.dtype}, as the weights are, got {x.dtype}")
