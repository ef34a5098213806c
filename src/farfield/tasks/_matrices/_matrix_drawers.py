"""Other drawings of matrix panels: wide lines, figures moved within cells, turned figures."""

from __future__ import annotations

from typing import Final, NamedTuple

import einops
import numpy as np
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from farfield.core import Stream
from farfield.tasks._analogies._analogy_panels import (
    CELL,
    MARGIN,
    NUM_CELLS,
    NUM_LEVELS,
    shape_side,
)
from farfield.tasks._files._panel_files import PANEL_SIZE, block_means
from farfield.tasks._matrices._matrix_panels import (
    PANEL_FIELDS,
    SMALLEST_KEPT,
    cell_contents,
    draw_lines,
    new_pictures,
)
from farfield.tasks._protocol._draws import integers

_TURNS: Final = 4
"""Quarter turns of a figure, counted from none."""
_SHIFTS: Final = 9
"""Shifts of a figure within its cell: up, none or down, each to the left, none or to the right."""
_NO_SHIFT: Final = _SHIFTS // 2


class Drawing(NamedTuple):
    """A way to draw panels.

    Attributes:
        half_width: Pixels of a line at each side of its middle; 1 where lines are not wider.
        shifts: Whether each figure is moved within its cell, as far as there is room.
        turns: Whether each figure is turned by quarters.
    """

    half_width: int = 1
    shifts: bool = False
    turns: bool = False

    @property
    def distance(self) -> int:
        """Number of changes from the drawing of training."""
        return (self.half_width > 1) + self.shifts + self.turns


DRAWINGS: Final[dict[str, Drawing]] = {
    "wide-lines": Drawing(half_width=2),
    "shifted-figures": Drawing(shifts=True),
    "turned-figures": Drawing(turns=True),
    "another-drawer": Drawing(half_width=2, shifts=True, turns=True),
}
"""Drawings by the name of their regime; the last one has all changes."""


def figure_poses(
    branch: Stream, panels: tuple[int, ...], drawing: Drawing
) -> UInt8[np.ndarray, "*batch feature"]:
    """Draw a turn and a shift for each cell of panels, nine columns each.

    Args:
        branch: Stream of the set.
        panels: Numbers of panels, on as many axes.
        drawing: The drawing; a turn or a shift that it lacks is that of training.
    """
    shape = (*panels, NUM_CELLS)
    turns, shifts = np.zeros(shape, np.uint8), np.full(shape, _NO_SHIFT, np.uint8)
    if drawing.turns:
        turns[:] = integers(branch.child("turns").numpy(), _TURNS, turns.size).reshape(shape)
    if drawing.shifts:
        shifts[:] = integers(branch.child("shifts").numpy(), _SHIFTS, shifts.size).reshape(shape)
    return np.concatenate([turns, shifts], axis=-1)


def draw_otherwise(
    panels: UInt8[Tensor, "item feature"], image_size: int, *, half_width: int
) -> UInt8[Tensor, "item height width"]:
    """Draw a gray picture of each panel; lines lie over shapes.

    Args:
        panels: Descriptions as for `draw_matrix_panels`, then the columns of `figure_poses`.
        image_size: Width and height in pixels, reduced as by `draw_matrix_panels`.
        half_width: Pixels of a line at each side of its middle.
    """
    if image_size < SMALLEST_KEPT:
        kept = draw_otherwise(panels, SMALLEST_KEPT, half_width=half_width).numpy()
        return torch.from_numpy(block_means(kept, SMALLEST_KEPT // image_size))
    step = PANEL_SIZE // image_size
    rows = panels.numpy().astype(np.int64)
    pictures = new_pictures(len(rows), image_size)
    grid = slice(MARGIN // step, (MARGIN + 3 * CELL) // step)
    pictures[:, grid, grid] = _posed_grid(rows, step)
    draw_lines(pictures, rows[:, :PANEL_FIELDS], step, half_width=half_width)
    return torch.from_numpy(pictures)


def _posed_grid(
    rows: Int64[np.ndarray, "item feature"], step: int
) -> UInt8[np.ndarray, "item height width"]:
    """Draw the nine cells of each panel, turned and moved."""
    turns, shifts = np.split(rows[:, PANEL_FIELDS:], 2, axis=1)
    cells, size = cell_contents(rows[:, :PANEL_FIELDS], step)
    for turn in range(1, _TURNS):
        chosen = turns == turn
        cells[chosen] = np.rot90(cells[chosen], turn, axes=(1, 2))
    for level in range(NUM_LEVELS):
        room = (CELL - shape_side(level)) // 2 // step
        for shift in range(_SHIFTS):
            chosen = (shifts == shift) & (size == level)
            down, across = shift // 3 - 1, shift % 3 - 1
            cells[chosen] = np.roll(cells[chosen], (down * room, across * room), axis=(1, 2))
    pattern = "item (row column) height width -> item (row height) (column width)"
    drawn: np.ndarray = einops.rearrange(cells, pattern, row=3)
    return drawn
