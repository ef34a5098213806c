"""Closed random outlines: their corners, the pixels of an outline, and pictures of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from farfield.tasks._points._points import ANGLES, unit_vectors
from farfield.tasks._protocol._draws import integers

Family = Literal["curves", "stars"]
"""Family of outlines: curves with random detail, or stars with eight points and straight edges."""
Corners = Int64[np.ndarray, "... corner 2"]
"""Corners of outlines, −`UNIT` … `UNIT` to the right and down; the middle of their box is 0."""
Objects = Int64[np.ndarray, "... 6"]
"""Objects of pictures: the number of the outline, column and row of the middle in pixels, the
larger side in pixels, 1 for a mirrored one, and the turn in 256ths."""
SIDE: Final = 128
CONTOUR, COLUMN, ROW, SIZE, MIRRORED, TURN = range(6)
UNIT: Final = 2048
TURNS: Final = 256
"""Parts of a full turn."""
_CORNERS: Final = 64
_BETWEEN: Final = 16
"""Number of pixels that are colored along each edge, which may be the same."""
_RADIUS: Final = 1000
_CURVE: Final = (450, 150, 350)
"""Least of the eight first radii, first reach of a midpoint, and least radius of curves."""
_STAR: Final = ((800, _RADIUS), (450, 650))
"""Least and largest radius of the points of stars, and between these."""

# Pixels come from integers alone: floating-point sums could differ between machines.
DIRECTIONS: Final = np.rint(
    unit_vectors(np.arange(TURNS, dtype=np.int64) * (ANGLES // TURNS)) * 2**14
).astype(np.int64)
"""Unit vectors of each turn, in 2¹⁴ths."""


def draw_outlines(generator: np.random.Generator, count: int, family: Family) -> Corners:
    """Draw outlines around a point, which no ray from the point crosses twice.

    Args:
        generator: Source of the radii.
        count: Number of outlines.
        family: Family of outlines.
    """
    radii = _curves(generator, count) if family == "curves" else _stars(generator, count)
    starts = integers(generator, TURNS, count)[:, None]
    turns = (starts + np.arange(_CORNERS) * (TURNS // _CORNERS)) % TURNS
    return centered(radii[..., None] * DIRECTIONS[turns])


def _curves(generator: np.random.Generator, count: int) -> Int64[np.ndarray, "batch corner"]:
    """Draw eight radii, then move midpoints three times, by half as much each time."""
    first, reach, least = _CURVE
    radii = first + integers(generator, _RADIUS - first + 1, 8 * count).reshape(count, 8)
    while radii.shape[1] < _CORNERS:
        moves = integers(generator, 2 * reach + 1, radii.size).reshape(radii.shape) - reach
        middle = (radii + np.roll(radii, -1, axis=1)) // 2 + moves
        both = np.stack([radii, middle.clip(least, _RADIUS)], axis=2)
        radii, reach = both.reshape(count, -1), reach // 2
    return radii


def _stars(generator: np.random.Generator, count: int) -> Int64[np.ndarray, "batch corner"]:
    """Draw the radii of eight points and the eight corners between, in straight lines."""
    radii = np.stack(
        [
            low + integers(generator, high - low + 1, 8 * count).reshape(count, 8)
            for low, high in _STAR
        ],
        axis=2,
    ).reshape(count, 16)
    following = np.roll(radii, -1, axis=1)
    parts = _CORNERS // 16
    steps = [((parts - k) * radii + k * following) // parts for k in range(parts)]
    return np.stack(steps, axis=2).reshape(count, _CORNERS)


def centered(corners: Int64[np.ndarray, "... corner 2"]) -> Corners:
    """Move outlines so that the middle of their box is 0, and scale its larger side to 2 `UNIT`."""
    low, high = corners.min(-2, keepdims=True), corners.max(-2, keepdims=True)
    extent = (high - low).max(-1, keepdims=True)
    return (2 * corners - low - high) * UNIT // extent


def placed(corners: Corners, objects: Objects) -> Corners:
    """Mirror and turn the outlines of objects.

    Args:
        corners: Corners of the outline of each object.
        objects: The objects.
    """
    x, y = corners[..., 0], corners[..., 1]
    x = np.where(objects[..., MIRRORED, None] == 1, -x, x)
    if not objects[..., TURN].any():
        return np.stack([x, y], axis=-1)
    across, down = np.moveaxis(DIRECTIONS[objects[..., TURN]], -1, 0)[..., None]
    turned = centered(np.stack([x * across - y * down, x * down + y * across], axis=-1))
    return np.where(objects[..., TURN, None, None] > 0, turned, np.stack([x, y], axis=-1))


def pixels(corners: Corners, objects: Objects) -> Int64[np.ndarray, "... pixel 2"]:
    """Compute column and row of the pixels of outlines, with repetitions.

    A mirrored outline has the mirrored pixels.

    Args:
        corners: Corners of the outline of each object.
        objects: The objects.
    """
    first = placed(corners, objects)
    parts = np.arange(_BETWEEN)[:, None]
    points: np.ndarray = first[..., None, :] * (_BETWEEN - parts)
    points = points + np.roll(first, -1, axis=-2)[..., None, :] * parts
    points = (
        points.reshape(*first.shape[:-2], _CORNERS * _BETWEEN, 2) * objects[..., SIZE, None, None]
    )
    divisor = 2 * UNIT * _BETWEEN
    offsets = (np.sign(points) * ((np.abs(points) + divisor // 2) // divisor)).astype(np.int64)
    return objects[..., None, [COLUMN, ROW]] + offsets


def fill(
    points: Int64[np.ndarray, "batch pixel 2"], side: int
) -> Bool[np.ndarray, "batch height width"]:
    """Mark pixels in a square picture for each row."""
    marked = np.zeros((len(points), side, side), np.bool_)
    marked[np.arange(len(points))[:, None], points[..., 1], points[..., 0]] = True
    return marked


@final
@dataclass(frozen=True, eq=False)
class OutlinePictures:
    """Draws pictures from the objects that they show.

    Args:
        corners: Corners of all outlines.
    """

    corners: Int64[np.ndarray, "item corner 2"]

    def __call__(
        self, latent: Int64[Tensor, "picture object 6"]
    ) -> Float[Tensor, "picture height width"]:
        """Draw black outlines of one pixel on white ground.

        Args:
            latent: Objects of each picture.
        """
        objects = latent.numpy()
        points = pixels(self.corners[objects[..., CONTOUR]], objects)
        marked = fill(points.reshape(len(points), points.shape[1] * points.shape[2], 2), SIDE)
        return torch.from_numpy(1 - marked.astype(np.float32))
