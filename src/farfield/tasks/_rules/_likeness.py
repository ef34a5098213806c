"""Likeness of images by their pixels: the rule by hand for showings that vary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems
from farfield.tasks._rules._variation import background

_BLUR: Final = 1.5
"""Standard deviation of the blur, pixels."""
_RADIUS: Final = 4
"""Reach of the blur, and largest shift along each axis, pixels: 9 × 9 = 81 shifts."""
_SAME: Final = 0.8
"""Correlation above which two images are taken for one; chosen on the built-in glyphs."""
_PART: Final = 144
"""Images that are compared together, about."""


def likeness(problems: Problems) -> Iterator[Float[Tensor, "batch time time"]]:
    r"""Compare every two positions by the correlation of blurred pixels, at the best of 81 shifts.

    The background of an image is the median of its border. A shifted image leaves background
    behind. Correlations are stretched so that 1 stays 1, and 0.5 divides same from different.

    Args:
        problems: Problems over gray images.

    Yields:
        Likeness for a part of the problems, at most 1.
    """
    for part in torch.split(problems.index, max(1, _PART // problems.index.shape[1])):
        rows, position = torch.unique(part, return_inverse=True)
        moved = _shifted(problems.items[rows].to(torch.float32))
        still = moved[:, moved.shape[1] // 2]
        found = torch.einsum("bisp,bjp->bijs", moved[position], still[position]).amax(dim=3)
        found = torch.maximum(found, found.transpose(1, 2))
        yield 1 - (1 - found) / (2 * (1 - _SAME))


def _shifted(
    images: Float[Tensor, "item height width"],
) -> Float[Tensor, "item candidate feature"]:
    """Blur images and shift them in every direction; every second pixel, centered, of length 1."""
    height, width = images.shape[1:]
    ink = images - background(images)[:, None, None]
    reach = torch.arange(-_RADIUS, _RADIUS + 1, device=images.device)
    bell = torch.exp(-(reach.to(images.dtype) ** 2) / (2 * _BLUR**2))
    window = torch.outer(bell, bell) / bell.sum() ** 2
    blurred = F.conv2d(F.pad(ink[:, None], (2 * _RADIUS,) * 4), window[None, None])[:, 0]
    moved = blurred.unfold(1, height, 1).unfold(2, width, 1)[..., ::2, ::2]
    pixels = moved.flatten(3).flatten(1, 2)
    return F.normalize(pixels - pixels.mean(dim=2, keepdim=True), dim=2)
