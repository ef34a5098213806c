"""Drawing of panels, exact on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final

import einops
import numpy as np
import torch
from jaxtyping import Bool, Int64, UInt8
from torch import Tensor

from farfield.tasks._files._panel_archive import PANEL_SIZE

NUM_LEVELS: Final = 10
"""Levels of everything but the position of shapes."""
NUM_CELLS: Final = 9
"""Cells of the grid on which shapes stand: their positions."""
NUM_LINES: Final = 4
"""Lines of a panel, at most."""
CELL_FIELDS: Final = 4
"""Of each cell: number of shapes (0 where it is empty), type, size, color."""
LINE_FIELDS: Final = 2
"""Of each line: type counted from 1 (0 where there is none), color."""
PANEL_FIELDS: Final = NUM_CELLS * CELL_FIELDS + NUM_LINES * LINE_FIELDS
MARGIN: Final = 8
CELL: Final = 48
WHITE: Final = 255
_DARKER: Final = 23
"""From one color to the next, grey levels: 207 (light) to 0 (black)."""
_LINE_WIDTH: Final = 3
_DIRECTION: Final = 1000
"""Length of the vector along a line, rounded to integers."""

Grid = Int64[np.ndarray, "height width"]
Inside = Bool[np.ndarray, "height width"]


def _ring(x: Grid, y: Grid, side: int) -> Inside:
    squares = x * x + y * y
    return (squares <= side * side) & (4 * squares >= side * side)


def _crescent(x: Grid, y: Grid, side: int) -> Inside:
    bite = (2 * x - side) ** 2 + 4 * y * y
    return (x * x + y * y <= side * side) & (bite >= 3 * side * side)


def _corner(x: Grid, y: Grid, side: int) -> Inside:
    return (np.maximum(abs(x), abs(y)) <= side) & ((3 * x <= -side) | (3 * y >= side))


SHAPES: Final[dict[str, Callable[[Grid, Grid, int], Inside]]] = {
    "triangle": lambda x, y, side: (abs(y) <= side) & (2 * abs(x) <= y + side + 2),
    "diamond": lambda x, y, side: abs(x) + abs(y) <= side,
    "square": lambda x, y, side: 8 * np.maximum(abs(x), abs(y)) <= 7 * side,
    "circle": lambda x, y, side: x * x + y * y <= side * side,
    "ring": _ring,
    "crescent": _crescent,
    "corner": _corner,
    "plus": lambda x, y, side: (
        (np.maximum(abs(x), abs(y)) <= side) & (3 * np.minimum(abs(x), abs(y)) <= side)
    ),
    "saltire": lambda x, y, side: (
        (np.maximum(abs(x), abs(y)) <= side) & (2 * abs(abs(x) - abs(y)) <= side)
    ),
    "hourglass": lambda x, y, side: (abs(y) <= side) & (abs(x) <= abs(y)),
}
"""Test of points in a shape: half pixels right of and below its center, and its side in pixels."""


def shape_side(size: int) -> int:
    """Width of a shape that stands alone in its cell, pixels of the published panel."""
    return 16 + 3 * size


def _centers(number: int) -> list[tuple[int, int]]:
    """Centers of the shapes of a cell, in half pixels from its left and upper edge."""
    if number == 1:
        return [(CELL, CELL)]
    return [(12 + 24 * (place % 4), 16 + 32 * (place // 4)) for place in range(number)]


@cache
def stamps(step: int) -> UInt8[np.ndarray, "item height width"]:
    """Every content of a cell, 1 where it is inked: empty, then by number, type and size."""
    y, x = 2 * np.mgrid[0:CELL:step, 0:CELL:step] + 1
    drawn = [np.zeros(x.shape, bool)]
    for number in range(1, NUM_LEVELS + 1):
        for inside in SHAPES.values():
            for size in range(NUM_LEVELS):
                side = shape_side(size) if number == 1 else 8 + size // 3
                parts = [inside(x - right, y - down, side) for right, down in _centers(number)]
                drawn.append(np.logical_or.reduce(parts))
    return np.stack(drawn).astype(np.uint8)


@cache
def _lines(step: int) -> Bool[np.ndarray, "item height width"]:
    """Lines through the center in ten directions, 18° apart, from the horizontal upwards."""
    y, x = 2 * np.mgrid[0:PANEL_SIZE:step, 0:PANEL_SIZE:step] - PANEL_SIZE
    angles = [math.pi * number / NUM_LEVELS for number in range(NUM_LEVELS)]
    along = [(round(_DIRECTION * math.cos(a)), round(_DIRECTION * math.sin(a))) for a in angles]
    reach = PANEL_SIZE - 2 * MARGIN
    within = x * x + y * y <= reach * reach
    return np.stack([within & (abs(a * y + b * x) <= _DIRECTION * _LINE_WIDTH) for a, b in along])


def greys(colors: np.ndarray) -> np.ndarray:
    return (_DARKER * (NUM_LEVELS - 1 - colors)).astype(np.uint8)


def draw_panels(
    panels: UInt8[Tensor, "item feature"], image_size: int
) -> UInt8[Tensor, "item height width"]:
    """A grey picture, black 0 to white 255, of each panel; lines lie over shapes.

    Args:
        panels: What each shows: `CELL_FIELDS` numbers of each cell of the 3×3 grid, in reading
            order, and `LINE_FIELDS` of each line, in the order in which they are drawn.
        image_size: Width and height in pixels; 80 keeps every second pixel of 160 in each
            direction, the first included.
    """
    step = PANEL_SIZE // image_size
    rows = panels.numpy().astype(np.int64)
    cells = rows[:, : NUM_CELLS * CELL_FIELDS].reshape(-1, NUM_CELLS, CELL_FIELDS)
    number, kind, size, color = np.moveaxis(cells, 2, 0)
    content = ((number - 1) * NUM_LEVELS + kind) * NUM_LEVELS + size + 1
    ink = stamps(step)[np.where(number > 0, content, 0)]
    ink *= (WHITE - greys(color))[:, :, None, None]
    pictures = np.full((len(rows), image_size, image_size), WHITE, np.uint8)
    grid = slice(MARGIN // step, (MARGIN + 3 * CELL) // step)
    pattern = "item (row column) height width -> item (row height) (column width)"
    pictures[:, grid, grid] -= einops.rearrange(ink, pattern, row=3)
    lines = rows[:, NUM_CELLS * CELL_FIELDS :].reshape(-1, NUM_LINES, LINE_FIELDS)
    for kind, color in np.moveaxis(lines, 1, 0).transpose(0, 2, 1):
        (shown,) = np.nonzero(kind)
        inked = _lines(step)[kind[shown] - 1]
        pictures[shown] = np.where(inked, greys(color[shown])[:, None, None], pictures[shown])
    return torch.from_numpy(pictures)
