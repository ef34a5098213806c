"""The drawing of sheets of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from torch import Tensor
from torch.nn import functional as F

from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style

BORDER: Final = 1
"""Pixels between images."""
HEAD: Final = 0.25
"""Room for the names of columns, inches."""
SIDE: Final = 1.5
"""Largest side of a sheet, inches."""
NAMES: Final = 0.075
"""Room for a character of the names of rows, inches."""
NOTE: Final = 0.2
"""Room for the note above all, inches."""
GAP: Final = 0.06
"""Between sheets, in widths of one."""


@final
@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Images of one cell.

    Args:
        row: Whose they are.
        column: After how much training.
        images: The images, fractions of 0…1.
    """

    row: str
    column: str
    images: Float[Tensor, "batch channel height width"]


@in_style
def draw_sheets(sheets: Sequence[Sheet], side: int, note: str, theme: Theme) -> Picture:
    """Sheets in lines of their rows, under the names of their columns; of one column side by side.

    Args:
        sheets: The sheets.
        side: Images along each side of a sheet.
        note: Networks and steps behind them.
        theme: Colors.
    """
    rows, columns = (
        list(dict.fromkeys(getattr(sheet, name) for sheet in sheets)) for name in ("row", "column")
    )
    if len(columns) == 1:
        note = f"{columns[0]}, {note}"
        rows, columns = [""], rows
        sheets = [Sheet(row="", column=sheet.row, images=sheet.images) for sheet in sheets]
    names = 0.1 + NAMES * max(map(len, rows))
    size = min(SIDE, (WIDTH - names) / len(columns))
    height = HEAD + NOTE + len(rows) * size
    width = names + len(columns) * size
    picture = Picture(figsize=(width, height))
    picture.set_layout_engine("none")
    top = 1 - (HEAD + NOTE) / height
    picture.text(0.05 / width, 1 - 0.04 / height, note, fontsize=6.5, color=theme.muted, va="top")
    edges = {"left": names / width, "right": 1.0, "bottom": 0.0, "top": top}
    gaps = {"wspace": GAP, "hspace": GAP}
    grid = picture.subplots(len(rows), len(columns), squeeze=False, gridspec_kw=edges | gaps)
    for axes in grid.ravel():
        axes.set_axis_off()
    for sheet in sheets:
        _draw(grid[rows.index(sheet.row)][columns.index(sheet.column)], sheet, side)
    for axes, column in zip(grid[0], columns, strict=True):
        axes.set_title(column, fontsize=7, color=theme.foreground)
    for line, row in zip(grid, rows, strict=True):
        line[0].text(
            -0.05, 0.5, row, transform=line[0].transAxes, fontsize=6.5, color=theme.foreground,
            ha="right", va="center",
        )  # fmt: skip
    return picture


def _draw(axes: Axes, sheet: Sheet, side: int) -> None:
    """A square of images."""
    images = F.pad(sheet.images[: side**2], (BORDER,) * 4, value=0.5)
    images = F.pad(images, (0, 0) * 3 + (0, side**2 - len(images)), value=0.5)
    square = (
        torch.unflatten(images, 0, (side, side)).permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1)
    )
    axes.imshow(square.squeeze(-1).numpy(), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
