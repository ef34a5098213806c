"""Pictures of the panels of progressive matrices: a table of cells, and lines over them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Int64, UInt8
from torch import Tensor

from farfield.tasks._analogies._analogy_panels import (
    CELL,
    MARGIN,
    NUM_CELLS,
    NUM_LEVELS,
    WHITE,
    Grid,
    greys,
    stamps,
)
from farfield.tasks._files._panel_archive import PANEL_SIZE
from farfield.tasks._files._panel_files import block_means

NUM_KINDS: Final = 7
"""Types of shapes: the first of `SHAPES`."""
CELL_FIELDS: Final = 3
"""Of each cell: type counted from 1 (0 where it is empty), size, color."""
_REACH: Final = PANEL_SIZE // 2 - MARGIN
"""Reach of straight lines from the center of a panel, pixels."""

LINES: Final[dict[str, Callable[[Grid, Grid], Bool[np.ndarray, "height width"]]]] = {
    "horizontal": lambda x, y: (abs(y) <= 1) & (abs(x) <= _REACH),
    "vertical": lambda x, y: (abs(x) <= 1) & (abs(y) <= _REACH),
    "falling": lambda x, y: (abs(x - y) <= 1) & (abs(x + y) <= 2 * _REACH),
    "rising": lambda x, y: (abs(x + y) <= 1) & (abs(x - y) <= 2 * _REACH),
    "diamond": lambda x, y: abs(abs(x) + abs(y) - 60) <= 1,
    "circle": lambda x, y: abs(x * x + y * y - 52 * 52) <= 3 * 52,
}
"""Test of points on a line: pixels right of and below the center of the panel."""
NUM_LINES: Final = len(LINES)
SMALLEST_KEPT: Final = 80
"""Least side of a picture that shows pixels of the largest, not means of them."""
PANEL_FIELDS: Final = NUM_CELLS * CELL_FIELDS + NUM_LINES
"""The fields of each cell, in reading order; of each type of line its color counted from 1, 0
where there is none."""


@cache
def _cells(step: int) -> UInt8[np.ndarray, "item height width"]:
    """Every content of a cell: empty, then by type, size and color."""
    inked = stamps(step)[1 : 1 + NUM_KINDS * NUM_LEVELS, None]
    shades = greys(np.arange(NUM_LEVELS))[:, None, None]
    drawn = np.where(inked == 1, shades, np.uint8(WHITE)).reshape(-1, *inked.shape[2:])
    return np.concatenate([np.full_like(drawn[:1], WHITE), drawn])


@cache
def _lines(step: int) -> tuple[Int64[np.ndarray, " item"], ...]:
    """The pixels of each type of line, as places in the rows of a picture one after another."""
    y, x = np.mgrid[0:PANEL_SIZE:step, 0:PANEL_SIZE:step] - PANEL_SIZE // 2
    return tuple(np.flatnonzero(on(x, y)) for on in LINES.values())


def draw_matrix_panels(
    panels: UInt8[Tensor, "item feature"], image_size: int
) -> UInt8[Tensor, "item height width"]:
    """A grey picture, black 0 to white 255, of each panel; lines lie over shapes.

    Args:
        panels: What each shows: `CELL_FIELDS` numbers of each cell of the 3×3 grid, in reading
            order, and one of each type of line.
        image_size: Width and height in pixels; 80 keeps every second pixel of 160 in each
            direction, the first included, and 40 has the mean of each four of these: every fourth
            pixel does not tell all sizes apart.
    """
    if image_size < SMALLEST_KEPT:
        kept = draw_matrix_panels(panels, SMALLEST_KEPT).numpy()
        return torch.from_numpy(block_means(kept, SMALLEST_KEPT // image_size))
    step = PANEL_SIZE // image_size
    rows = panels.numpy().astype(np.int64)
    pictures = np.full((len(rows), image_size, image_size), WHITE, np.uint8)
    grid = slice(MARGIN // step, (MARGIN + 3 * CELL) // step)
    pictures[:, grid, grid] = _grid(rows[:, : NUM_CELLS * CELL_FIELDS], step)
    flat = pictures.reshape(len(rows), image_size * image_size)
    for color, pixels in zip(rows[:, NUM_CELLS * CELL_FIELDS :].T, _lines(step), strict=True):
        (shown,) = np.nonzero(color)
        flat[shown[:, None], pixels] = greys(color[shown] - 1)[:, None]
    return torch.from_numpy(pictures)


def _grid(
    fields: Int64[np.ndarray, "item feature"], step: int
) -> UInt8[np.ndarray, "item height width"]:
    """The nine cells of each panel, put together from the rows of pixels of the table's cells."""
    table = _cells(step)
    side = table.shape[1]
    kind, size, color = np.moveaxis(fields.reshape(-1, 3, 3, CELL_FIELDS), 3, 0)
    content = ((kind - 1) * NUM_LEVELS + size) * NUM_LEVELS + color + 1
    content = np.where(kind > 0, content, 0)
    places = content[:, :, None, :] * side + np.arange(side)[:, None]
    rows = table.reshape(-1, side).view(f"V{side}")[:, 0]
    return rows[places].view(np.uint8).reshape(len(fields), 3 * side, 3 * side)
