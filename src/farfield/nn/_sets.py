"""What layers from set to set check of what they are given, and in which forms they take it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def check_set(x: Tensor, num_features: int, key_padding_mask: Tensor | None) -> None:
    """Raise `ValueError` unless `x` is sets of elements of a width, with a mask that fits.

    Args:
        x: The sets, `(batch, item, feature)`.
        num_features: Features of an element.
        key_padding_mask: True where there is padding, `(batch, item)`, or None.
    """
    if x.ndim != 3 or x.shape[1] == 0 or x.shape[2] != num_features:
        raise ValueError(
            f"x must be (batch, item, num_features={num_features}) with at least one element, "
            f"got shape {tuple(x.shape)}"
        )
    if key_padding_mask is not None:
        _check_mask(key_padding_mask, x.shape[:2])


def _check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    if not isinstance(mask, Tensor):
        raise ValueError(f"key_padding_mask must be a tensor, got {mask!r}")
    if mask.shape != shape or mask.dtype != torch.bool:
        raise ValueError(
            f"key_padding_mask must be bool of shape {tuple(shape)}, an element each, "
            f"got {mask.dtype} of {tuple(mask.shape)}"
        )


def of_one_set(
    layer: nn.Module, x: Tensor, key_padding_mask: Tensor | None, **options: int | None
) -> Tensor:
    """What a layer makes of a set without an axis for the batch, as torch's layers take it.

    Args:
        layer: From sets to sets.
        x: The set, `(item, feature)`.
        key_padding_mask: True where there is padding, `(item)`, or None.
        options: What else the layer is called with.
    """
    mask = None
    if key_padding_mask is not None:
        _check_mask(key_padding_mask, x.shape[:1])
        mask = key_padding_mask.unsqueeze(0)
    found: Tensor = layer(x.unsqueeze(0), mask, **options)
    return found.squeeze(0)
