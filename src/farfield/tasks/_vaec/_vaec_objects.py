"""The objects of VAEC: one green square on grey, drawn from four levels and measured again."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

DIMENSIONS: Final = ("location-x", "location-y", "size", "brightness")
"""Dimensions of objects, in the order of their levels."""
MOST_LEVELS: Final = 42
"""Levels of a dimension in the paper; more would not stay within the picture."""
GREY: Final = 128
"""Background in every channel."""
CANVAS: Final = 128
"""Side of the published picture: the unit of positions is a pixel of it."""
_WHOLE: Final = CANVAS**2
"""A whole pixel, in 128ths of its height times 128ths of its width."""
DIMMEST: Final = 102
"""Green of the lowest level."""
BRIGHTEST: Final = 255
"""Green of the highest level."""
NARROWEST: Final = 3
"""Width of the lowest level; each one wider by two."""


def level_values(num_levels: int = MOST_LEVELS) -> Int64[np.ndarray, "value feature"]:
    """Values of the levels of each dimension: center X, center Y, width, green.

    Args:
        num_levels: Levels of every dimension; the published data have 42.
    """
    level = np.arange(num_levels)
    center = int(CANVAS / 2 - num_levels / 2) + level
    green = DIMMEST + (BRIGHTEST - DIMMEST) * level // (num_levels - 1)
    return np.stack([center, center, NARROWEST + 2 * level, green], axis=1)


def draw_objects(
    levels: Int64[Tensor, "item feature"],
    *,
    num_levels: int,
    image_size: int,
    exact_width: bool,
) -> UInt8[Tensor, "item height width channel"]:
    """A picture for every row of levels.

    The square of width s covers s + 1 pixels, as the released code draws it. At another size than
    128 a picture is the published one with every pixel the mean of what it covers, so that objects
    that differ stay different.

    Args:
        levels: Levels of X, Y, size and brightness, counted from 0.
        num_levels: Levels of every dimension.
        image_size: Side of the pictures in pixels.
        exact_width: Whether a square of width s covers s pixels instead.
    """
    x, y, width, green = level_values(num_levels)[levels.numpy(), np.arange(4)].T
    pictures = np.full((len(levels), image_size, image_size, 3), GREY, np.uint8)
    rows = _covered(y, width, image_size, exact_width=exact_width)
    columns = _covered(x, width, image_size, exact_width=exact_width)
    above_grey = np.stack([0 * green, green, 0 * green], axis=1) - GREY
    for picture, row, column, color in zip(pictures, rows, columns, above_grey, strict=True):
        down, across = np.flatnonzero(row), np.flatnonzero(column)
        share = row[down, None, None] * column[across, None]
        blended = GREY + (share * color + _WHOLE // 2) // _WHOLE
        picture[down[0] : down[-1] + 1, across[0] : across[-1] + 1] = blended
    return torch.from_numpy(pictures)


def _covered(
    center: Int64[np.ndarray, " item"],
    width: Int64[np.ndarray, " item"],
    image_size: int,
    *,
    exact_width: bool,
) -> Int64[np.ndarray, "item height"]:
    """Covered part of each row of pixels of a square, in 128ths of a pixel: exact in integers."""
    first = (center - (width + 1) // 2 + exact_width) * image_size
    last = (center + (width + 1) // 2) * image_size
    pixel = np.arange(image_size) * CANVAS
    upper = np.minimum(last[:, None], pixel + CANVAS)
    return np.clip(upper - np.maximum(first[:, None], pixel), 0, None)


def measured_levels(
    pictures: UInt8[Tensor, "item height width channel"], num_levels: int
) -> Float[Tensor, "item feature"]:
    """The levels of objects, read off their pictures: the same for all up to a constant.

    Red is lacking as far as a pixel is covered, which shows width and edges; the green of the pixel
    that is covered most shows the brightness.

    Args:
        pictures: What `draw_objects` drew.
        num_levels: Levels of every dimension.
    """
    covered = (GREY - pictures[..., 0].to(torch.float32)) / GREY
    width = covered.sum(dim=(1, 2)).sqrt()
    x, y = (_first_edge(covered.sum(dim=axis) / width[:, None]) + width / 2 for axis in (1, 2))
    most, where = covered.flatten(1).max(dim=1, keepdim=True)
    green = (pictures[..., 1].flatten(1).gather(1, where) - float(GREY)) / most
    pixel = CANVAS / pictures.shape[1]
    step = (BRIGHTEST - DIMMEST) / (num_levels - 1)
    return torch.stack([x * pixel, y * pixel, width * pixel / 2, green[:, 0] / step], dim=1)


def _first_edge(covered: Float[Tensor, "item width"]) -> Float[Tensor, " item"]:
    """First edge of a square, from the covered part of each pixel of a line."""
    first = (covered > 0).to(torch.int64).argmax(dim=1, keepdim=True)
    return (first + 1 - covered.gather(1, first))[:, 0]
