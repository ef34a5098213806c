"""Colors as luma and chroma."""

from __future__ import annotations

from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

_WEIGHTS: Final = (
    (65.481, 128.553, 24.966),
    (-37.797, -74.203, 112.0),
    (112.0, -93.786, -18.214),
)
"""Of red, green and blue as fractions, for each of Y, Cb and Cr."""
_OFFSETS: Final = (16.0, 128.0, 128.0)


def rgb_to_ycbcr(
    images: Float[Tensor, "*batch 3 height width"],
) -> Float[Tensor, "*batch 3 height width"]:
    """Red, green and blue of 0…255 as Y of 16…235, Cb and Cr of 16…240, not rounded.

    It is MATLAB's `rgb2ycbcr`. Pillow's mode `YCbCr` is another, that of JPEG files, with all
    three in 0…255.

    Args:
        images: The images, channels before height and width.

    Raises:
        ValueError: If there are not three channels.

    Reference:
        ITU-R BT.601; ren2017, section 4.3, whose measures are of Y.
    """
    _check(images)
    weights, offsets = _constants(images)
    return torch.einsum("cd,...dhw->...chw", weights / 255, images) + offsets


def ycbcr_to_rgb(
    images: Float[Tensor, "*batch 3 height width"],
) -> Float[Tensor, "*batch 3 height width"]:
    """The way back from `rgb_to_ycbcr`; what no screen shows lies outside 0…255.

    Args:
        images: Y, Cb and Cr, channels before height and width.

    Raises:
        ValueError: If there are not three channels.

    Reference:
        ITU-R BT.601; ren2017, section 4.3.
    """
    _check(images)
    weights, offsets = _constants(images)
    inverse = torch.linalg.inv(weights.double()).to(images) * 255
    return torch.einsum("cd,...dhw->...chw", inverse, images - offsets)


def _constants(images: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.tensor(_WEIGHTS, dtype=torch.float64).to(images)
    return weights, torch.tensor(_OFFSETS).to(images).reshape(3, 1, 1)


def _check(images: Tensor) -> None:
    if images.ndim < 3 or images.shape[-3] != 3:
        raise ValueError(
            "images must have three channels, (*batch, 3, height, width), "
            f"got shape {tuple(images.shape)}"
        )
