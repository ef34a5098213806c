"""Generated pictures for exhibits that would otherwise show photographs of others."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float64, UInt8
from torch import Tensor

from farfield.tasks import GlyphSet

SIDE: Final = 120
"""Height and width of each picture, pixels: a multiple of 2, 3 and 4."""
FINE: Final = 4
"""Points along each side of a pixel over which its gray is averaged."""
ACROSS: Final = 4
"""Glyphs along each side of the picture of them."""


def own_pictures() -> dict[str, UInt8[Tensor, "height width"]]:
    """Pictures by name: glyphs, shapes with edges of all kinds, rings that narrow outwards."""
    y, x = (np.mgrid[: SIDE * FINE, : SIDE * FINE] + 0.5) / (SIDE * FINE)
    rings = (1 + np.cos(55 * ((x - 0.5) ** 2 + (y - 0.5) ** 2) * np.pi)) / 2
    return {"glyphs": _glyphs(), "shapes": _gray(_shapes(x, y)), "rings": _gray(rings)}


def _glyphs() -> UInt8[Tensor, "height width"]:
    """The first glyphs, in rows."""
    images = torch.from_numpy(GlyphSet.glyphs().images[: ACROSS**2].copy())
    side = images.shape[-1]
    rows = images.reshape(ACROSS, ACROSS, side, side).transpose(1, 2)
    whole = rows.reshape(ACROSS * side, ACROSS * side)
    start = (len(whole) - SIDE) // 2
    return whole[start : start + SIDE, start : start + SIDE]


def _shapes(x: np.ndarray, y: np.ndarray) -> Float64[np.ndarray, "height width"]:
    """A triangle, a disc, a ring and bars before a gradient, as gray of 0…1."""
    triangle: Bool[np.ndarray, "height width"] = (
        (y > 0.2) & (y < 0.55) & (abs(x - 0.3) < (y - 0.2) / 2)
    )
    distance = np.hypot(x - 0.68, y - 0.36)
    bars = (y > 0.62) & (y < 0.86) & (np.sin(np.pi * (6 + 30 * x) * x) > 0)
    shown = 0.35 + 0.3 * x
    for part, gray in (
        (triangle, 0.95),
        (distance < 0.2, 0.05),
        (abs(distance - 0.11) < 0.03, 0.8),
        (bars, 0.1),
    ):
        shown = np.where(part, gray, shown)
    return shown


def _gray(fine: Float64[np.ndarray, "_ _"]) -> UInt8[Tensor, "height width"]:
    """Gray of 0…1, averaged over each pixel, as levels."""
    averaged = fine.reshape(SIDE, FINE, SIDE, FINE).mean((1, 3))
    return torch.from_numpy((255 * averaged).round().astype(np.uint8))
