"""Frames: measured numbers as curves, bars, points, cells and images; `_drawings` draws them.

Nothing here imports matplotlib, so that an exhibit that is not drawn does not load it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, final

import numpy as np
from torch import Tensor

from farfield.reports._profile._theme import WIDTH, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

Numbers = Sequence[float] | np.ndarray | Tensor
Color = int | float | str
"""Number of a model in a theme, mixture of the first two (0.0…1.0), or name of another color."""
FAINT: Final = " faint"
"""End of the name of a color between the muted color and the background, e.g. `0.25 faint`."""
Line = str | tuple[float, tuple[float, ...]]
"""Line style of matplotlib."""


LETTER: Final = 0.058
"""Width of a letter beside an image, inches."""
ROW: Final = 0.13
"""Height of a line of text beside or below an image, inches."""
GAP: Final = 0.06
"""Distance of two images, inches."""


@final
@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line through points, with an interval around each.

    Args:
        x: Values across.
        y: Values upward.
        color: Its color.
        name: Name in the legend; empty for none.
        end: Label beside the end of the line; empty for none.
        line: Line style.
        width: Line width, points.
        marker: Marker of each point; empty for none.
        low: Lower ends of the intervals; empty for none.
        high: Upper ends of the intervals.
        is_band: Whether the intervals are a band; else they are whiskers.
    """

    x: Numbers = ()
    y: Numbers = ()
    color: Color = "foreground"
    name: str = ""
    end: str = ""
    line: Line = "-"
    width: float = 1.2
    marker: str = ""
    low: Numbers = ()
    high: Numbers = ()
    is_band: bool = True


@final
@dataclass(frozen=True, kw_only=True)
class Dots:
    """Points.

    Args:
        x: Values across.
        y: Values upward.
        color: Color of all points, or of each.
        name: Name in the legend; empty for none.
        marker: Their marker.
        size: Area of a marker, square points, or of each.
        is_filled: Whether markers are filled; else they have an outline.
        edge: Color of an outline around filled markers; empty for none.
        opacity: Between 0 and 1.
    """

    x: Numbers = ()
    y: Numbers = ()
    color: Color | Sequence[Color] = "foreground"
    name: str = ""
    marker: str = "o"
    size: float | Numbers = 13.0
    is_filled: bool = True
    edge: Color = ""
    opacity: float = 1.0


@final
@dataclass(frozen=True, kw_only=True)
class Bars:
    """Horizontal bars of one color.

    Args:
        left: Left end of each bar.
        at: Height of the middle of each bar.
        length: Length of each bar.
    """

    left: Numbers
    at: Numbers
    length: float = 1.0


@final
@dataclass(frozen=True, kw_only=True)
class Cells:
    """A matrix of cells, tinted and with texts, row 0 on top; or a plane, row 0 at the bottom.

    Args:
        tints: Shares of colors in each cell, `(row, column)`, by color; the rest is background.
        texts: Text of cells, by row and column.
        muted: Columns whose texts are muted.
        framed: Cells with a frame and bold text.
        plane: Left, right, lower and upper end of a plane; `None` for a matrix.
        is_smooth: Whether colors change smoothly from cell to cell.
    """

    tints: Mapping[Color, np.ndarray]
    texts: Mapping[tuple[int, int], str] | None = None
    muted: frozenset[int] = frozenset()
    framed: frozenset[tuple[int, int]] = frozenset()
    plane: tuple[float, float, float, float] | None = None
    is_smooth: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class Boundary:
    """Lines at which heights over a plane change their sign.

    Args:
        x: Values across.
        y: Values upward.
        heights: Height at each value, `(y, x)`.
        color: Its color.
        width: Line width, points.
    """

    x: Numbers
    y: Numbers
    heights: np.ndarray
    color: Color = "foreground"
    width: float = 0.6


@final
@dataclass(frozen=True, kw_only=True)
class Label:
    """Text at a point, with a halo.

    Args:
        text: The text.
        at: The point, in data or, `inside`, in shares of the panel.
        color: Its color.
        offset: Distance from the point, points.
        inside: Whether the point is a share of the panel.
        is_bold: Whether it is bold.
    """

    text: str
    at: tuple[float, float]
    color: Color = "foreground"
    offset: tuple[float, float] = (0.0, 0.0)
    inside: bool = False
    is_bold: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class Tile:
    """One image of a grid.

    Args:
        pixels: Gray of 0…1 or of 0…255, `(height, width)`, or colors; `None` for an empty frame.
        lines: Lines of text below.
        bold: Whether each line is bold; empty for no line.
        word: Text in the middle.
        frame: Color of a strong frame; empty for a thin one.
        tinted: First tinted column, and the column after the last, in shares of the width.
    """

    pixels: np.ndarray | Tensor | None
    lines: tuple[str, ...] = ()
    bold: tuple[bool, ...] = ()
    word: str = ""
    frame: Color = ""
    tinted: tuple[float, float] | None = None


@final
@dataclass(frozen=True, kw_only=True)
class Images:
    """A grid of images with names of rows, columns and lines of text.

    Args:
        rows: Rows of images; `None` leaves a gap.
        side: Side of an image, inches.
        names: Name of each row, on its left; empty for none.
        colors: Color of each name; empty for the color of text.
        heads: Name of each column, on top; empty for none.
        lines: Name of each line of text below images, on its left; empty for none.
    """

    rows: Sequence[Sequence[Tile | None]]
    side: float
    names: Sequence[str] = ()
    colors: Sequence[Color] = ()
    heads: Sequence[str] = ()
    lines: Sequence[str] = ()

    @property
    def left(self) -> float:
        """Width of the names, inches."""
        longest = max(map(len, (*self.names, *self.lines)), default=0)
        return LETTER * longest + GAP * (longest > 0)

    @property
    def pitch(self) -> float:
        """Height of a row with its lines of text, inches."""
        lines = max(len(tile.lines) for row in self.rows for tile in row if tile is not None)
        return self.side + ROW * lines + GAP * (1 + 0.5 * (lines > 0))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, inches."""
        across = max(map(len, self.rows))
        width = self.left + across * (self.side + GAP)
        return width, ROW * bool(self.heads) + len(self.rows) * self.pitch


Mark = Curve | Dots | Bars | Cells | Boundary | Label | Images
Ticks = Mapping[float, str] | Sequence[float]


@final
@dataclass(frozen=True, kw_only=True)
class Panel:
    """Marks in one pair of axes.

    Args:
        marks: The marks, the lowest first.
        title: Its title.
        note: Text beneath the title, muted.
        x_label: Label of the axis across.
        y_label: Label of the axis upward.
        x_limits: Ends of the axis across; `None` for those of the marks.
        y_limits: Ends of the axis upward.
        x_ticks: Ticks of the axis across, with their labels if it is a mapping.
        y_ticks: Ticks of the axis upward.
        logarithmic: Axes that go by logarithms: some of `"xy"`.
        floors: Heights of dashed lines.
        ceilings: Heights of dotted lines.
        edges: Values across of upright lines.
        frame: Axes, a box without ticks, or nothing around the marks.
        is_square: Whether units of both axes have one length.
        gap: Smallest distance of two labels of ends, in units of the axis upward.
    """

    marks: tuple[Mark, ...]
    title: str = ""
    note: str = ""
    x_label: str = ""
    y_label: str = ""
    x_limits: tuple[float | None, float | None] | None = None
    y_limits: tuple[float | None, float | None] | None = None
    x_ticks: Ticks | None = None
    y_ticks: Ticks | None = None
    logarithmic: str = ""
    floors: tuple[float, ...] = ()
    ceilings: tuple[float, ...] = ()
    edges: tuple[float, ...] = ()
    frame: Literal["axes", "box", "ticks", "none"] = "axes"
    is_square: bool = False
    gap: float = 5.2


@final
@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Panels in rows, with a legend of all marks that have a name.

    Args:
        rows: Rows of panels; rows may differ in length.
        height: Height of the figure, inches, or of each row.
        width: Width of the figure, inches.
        widths: Shares of the width of each panel of a row; the same for all if `None`.
        note: Text over all panels, muted.
        legend: Marks of the legend that no panel has.
        columns: Columns of the legend.
        x_label: Label of all axes across.
        y_label: Label of all axes upward.
        shares: Axes that the panels of a row share (`"y"`), or those of a column (`"x"`).
    """

    rows: Sequence[Sequence[Panel]]
    height: float | Sequence[float]
    width: float = WIDTH
    widths: Sequence[float] | None = None
    note: str = ""
    legend: tuple[Curve | Dots, ...] = ()
    columns: int = 4
    x_label: str = ""
    y_label: str = ""
    shares: str = ""

    def __call__(self, theme: Theme) -> Picture:
        """Draw the panels."""
        from farfield.reports._exhibits._drawings import draw  # noqa: PLC0415 — loads matplotlib

        return draw(self, theme)


def in_rows(panels: Sequence[Panel], across: int) -> tuple[Sequence[Panel], ...]:
    """Split panels into rows.

    Args:
        panels: The panels.
        across: Number of panels in a row.
    """
    return tuple(panels[start : start + across] for start in range(0, len(panels), across))


def down(count: int, across: int) -> int:
    """Count the rows of panels.

    Args:
        count: Number of panels.
        across: Number of panels in a row.
    """
    return math.ceil(count / across)
