"""Shared parts of pictures: sizes, axes, titles, legends, and a color for each model."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from farfield.metrics.internal import measure_of
from farfield.reports._profile._series import distances, subtitle
from farfield.reports._profile._style import label_powers
from farfield.reports._profile._theme import CEILING, FLOOR, Theme
from farfield.reports._report._report import Row


def frame(
    axes: Axes,
    rows: Sequence[Row],
    theme: Theme,
    lowest: float,
    highest: float | None = None,
    *,
    across: bool = False,
) -> None:
    """Draw axes of scores, and the lines of floor and ceiling.

    Args:
        axes: Where to draw.
        rows: The cells of the panel.
        lowest: Where the axis starts; that of an error goes by its logarithm unless this is 0.
        highest: Where the axis of an error ends.
        across: Whether scores go across, not upward.
    """
    scale = rows[0].claim.published.scale
    limit, line = (axes.set_xlim, axes.axvline) if across else (axes.set_ylim, axes.axhline)
    is_error = measure_of(rows[0].claim.metric).lower_is_better
    by_logarithm = is_error and lowest > 0
    if by_logarithm:
        (axes.set_xscale if across else axes.set_yscale)("log")
        label_powers(axes.xaxis if across else axes.yaxis)
    if is_error:
        limit(lowest, highest)
    else:
        limit(lowest, 1.035 * scale)
        ticks = [share * scale for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
        kept = [tick for tick in ticks if tick > lowest]
        (axes.set_xticks if across else axes.set_yticks)(kept)
    apart = distances(rows) > 1
    if not apart or len({row.floor for row in rows}) == 1:
        draw_floors(line, rows, theme)
    levels = {row.ceiling for row in rows if row.ceiling > 0 or not by_logarithm}
    for level in levels if not apart or len({row.ceiling for row in rows}) == 1 else ():
        line(level, color=theme.muted, linewidth=0.8, linestyle=CEILING, zorder=1)


def draw_floors(line: Callable[..., object], rows: Iterable[Row], theme: Theme) -> None:
    """Draw the lines of answers that ignore the problem.

    Args:
        line: Draws one at a score: `axhline` of some axes, or `axvline`.
        rows: The cells of the panel.
    """
    for level in {row.floor for row in rows}:
        line(level, color=theme.muted, linewidth=0.8, linestyle=FLOOR, zorder=1)


def floor_mark(theme: Theme) -> dict[str, Line2D]:
    """Return entries of a legend for the lines of `draw_floors`."""
    return {"floor (chance)": Line2D([], [], color=theme.muted, linewidth=0.8, linestyle=FLOOR)}


def title(
    axes: Axes,
    subject: str,
    rows: Sequence[Row],
    shared: str,
    theme: Theme,
    *,
    narrow: bool = False,
    note: str = "",
) -> None:
    """Write the name of a panel, and beneath it the common settings of its cells.

    Args:
        axes: Axes of the panel.
        subject: Its name.
        rows: Its cells.
        shared: Common suffix of the rows, from `shared_suffix`.
        narrow: Whether four panels are side by side.
        note: Further words.
    """
    size, letters = (7.1, 27) if narrow else (8.2, 1_000)
    words = subtitle(rows, shared, note).replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(words, letters)
    beneath = "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")
    pad = 16 + 1.2 * 0.94 * size * max(len(lines) - 1, 0)
    axes.set_title(textwrap.fill(subject, letters, break_long_words=False), fontsize=size, pad=pad)
    axes.annotate(
        beneath, (0, 1), (0, 5), "axes fraction", textcoords="offset points",
        fontsize=0.94 * size, color=theme.muted, va="bottom",
    )  # fmt: skip


def legend(figure: Figure, handles: Mapping[str, Artist | Container], columns: int) -> None:
    """Draw the legend at the foot of a figure.

    Args:
        figure: The figure.
        handles: A mark by its meaning.
        columns: Marks in a line.
    """
    # matplotlib's stub leaves containers (of bars, of error bars) out, which a legend does draw.
    figure.legend(  # type: ignore[call-overload]
        [*handles.values()], [*handles], loc="outside lower center", ncols=columns,
    )  # fmt: skip
