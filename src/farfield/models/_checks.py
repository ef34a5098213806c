"""Checks of the inputs of models."""

from __future__ import annotations

from torch import Tensor


def check_sequence(z: Tensor, in_features: int) -> None:
    """Raise `ValueError` unless `z` is a non-empty sequence of the right width."""
    if z.ndim != 3 or z.shape[1] == 0:
        raise ValueError(
            f"z must be (batch, time, feature) with at least one step, got shape {tuple(z.shape)}"
        )
    if z.shape[-1] != in_features:
        raise ValueError(f"z must have in_features={in_features} features, got {z.shape[-1]}")


def check_length(z: Tensor, length: int) -> None:
    """Raise `ValueError` unless the sequence `z` is as long as the model was made for."""
    if z.shape[1] != length:
        raise ValueError(
            f"z must have the length={length} steps that the model was made for, got {z.shape[1]}"
        )


def check_one_item(index: Tensor) -> None:
    """Raise `ValueError` unless `index` shows one item a problem."""
    if index.ndim != 2 or index.shape[1] != 1:
        raise ValueError(f"index must be (batch, 1), one item a problem, got {tuple(index.shape)}")
