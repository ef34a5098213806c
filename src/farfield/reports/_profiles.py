"""Extrapolation profiles: score against distance from training, ours beside the published."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from farfield.reports import _text as text
from farfield.reports._panels import DASHES, Series, along_distance, side_by_side
from farfield.reports._report import Report, Row
from farfield.reports._theme import LIGHT, Theme
from farfield.reproductions import TABLES, Published

WIDTH: Final = 7.0
"""Width of a figure over both columns of a paper, inches."""
LEGEND: Final = 0.24
"""Height of the line at the foot that says what the markers are, inches."""


def profiles(report: Report, theme: Theme = LIGHT) -> Figure:
    """The extrapolation profiles of a report, one panel for each task.

    Score against distance from training. Filled markers are our means with 95 % intervals, small
    dots single networks; open markers are the published means with their standard errors. Where
    only one distance was asked for, the models stand side by side instead.

    Args:
        report: The table with what was found.
        theme: Colours.
    """
    panels = report.subjects
    flat = all(_distances(rows) == 1 for rows in panels.values())
    across = min(len(panels), 4 if flat else 2)
    down = math.ceil(len(panels) / across)
    width = WIDTH if len(panels) > 2 or not flat else 3.4 * len(panels)
    columns = 5 if width > 5 else 3
    height = (2.3 if flat else 2.6) * down + LEGEND * math.ceil(5 / columns)
    figure = Figure(figsize=(width, height), facecolor=theme.paper, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    shared = _shared_suffix(report.rows)
    lowest = min(_lowest(rows) for rows in panels.values())
    for axes, (subject, rows) in zip(grid.flat, panels.items(), strict=False):
        _frame(axes, rows, theme, lowest)
        draw = side_by_side if _distances(rows) == 1 else along_distance
        draw(axes, _series(rows, theme, shared), theme)
        _title(axes, subject, rows, shared, theme, size=7.1 if across == 4 else 8.2)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy (%)", fontsize=7.5, color=theme.ink)
    _legend(figure, theme, columns)
    return figure


def png(figure: Figure, dpi: int = 300) -> bytes:
    """A figure as PNG; the same bytes for the same figure.

    Args:
        figure: The figure.
        dpi: Dots per inch.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """A figure as SVG, its letters as outlines; the same bytes for the same figure.

    Args:
        figure: The figure.
    """
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "farfield", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _distances(rows: Iterable[Row]) -> int:
    """How many distances the rows have."""
    return len({row.distance for row in rows})


def _shared_suffix(rows: Sequence[Row]) -> str:
    """What all rows have after their model's name, e.g. ` + TCN`; empty if they differ."""
    suffixes = {row.claim.row.partition(" + ")[2] for row in rows}
    only = suffixes.pop()
    return f" + {only}" if only and not suffixes else ""


def _lowest(rows: Sequence[Row]) -> float:
    """Where the axis of scores starts: a little below everything."""
    values = [value for row in rows for value in (*row.values, row.floor)]
    printed = [row.claim.published for row in rows]
    values += [number.mean for number in printed if isinstance(number, Published)]
    return min(value for value in values if math.isfinite(value)) - 6


def _series(rows: Sequence[Row], theme: Theme, shared: str) -> list[Series]:
    """The models of a panel: a colour for each model, a line for each variant of it."""
    by_row: dict[str, list[Row]] = {}
    for row in rows:
        by_row.setdefault(row.claim.row, []).append(row)
    variants: dict[str, list[str]] = {}
    for label in by_row:
        variants.setdefault(label.partition(" + ")[0], []).append(label)
    models = _models(rows)
    return [
        Series(
            label=label.removesuffix(shared),
            color=theme.models[models.index(label.partition(" + ")[0]) % len(theme.models)],
            dashes=DASHES[variants[label.partition(" + ")[0]].index(label) % len(DASHES)],
            rows=tuple(sorted(cells, key=lambda row: row.distance)),
        )
        for label, cells in by_row.items()
    ]


def _models(rows: Sequence[Row]) -> list[str]:
    """The models of the rows' whole tables, so that one keeps its colour in every picture."""
    whole = [
        claim.row
        for home in dict.fromkeys(row.claim.home for row in rows if row.claim.home in TABLES)
        for claim in TABLES[home].claims
    ]
    labels = [*whole, *(row.claim.row for row in rows)]
    return list(dict.fromkeys(label.partition(" + ")[0] for label in labels))


def _frame(axes: Axes, rows: Sequence[Row], theme: Theme, lowest: float) -> None:
    """Axes, and the lines of floor and ceiling."""
    axes.set_facecolor(theme.paper)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(theme.faint)
    axes.tick_params(colors=theme.faint, labelcolor=theme.ink, labelsize=7, width=0.6, length=2.5)
    scale = rows[0].claim.published.scale
    axes.set_ylim(lowest, 1.035 * scale)
    axes.set_yticks([share * scale for share in (0.25, 0.5, 0.75, 1.0) if share * scale > lowest])
    for level in {row.floor for row in rows}:
        axes.axhline(level, color=theme.faint, linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
    for level in {row.ceiling for row in rows}:
        axes.axhline(level, color=theme.faint, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def _title(
    axes: Axes, subject: str, rows: Sequence[Row], shared: str, theme: Theme, size: float
) -> None:
    """The panel's name, and beneath it what all of the panel has in common."""
    budgets = list(dict.fromkeys(text.budget(row) for row in rows if row.records))
    parts = [rows[0].claim.column] if _distances(rows) == 1 else []
    parts += [shared.removeprefix(" + ")] if shared else []
    parts += [f"{budgets[0]} of steps"] if len(budgets) == 1 else []
    axes.set_title(subject, loc="left", fontsize=size, color=theme.ink, weight="bold", pad=16)
    axes.annotate(
        ", ".join(parts), (0, 1), (0, 5), "axes fraction", textcoords="offset points",
        fontsize=0.94 * size, color=theme.faint, va="bottom",
    )  # fmt: skip


def _legend(figure: Figure, theme: Theme, columns: int) -> None:
    """What the markers are, at the foot."""
    ink, faint = theme.ink, theme.faint
    handles = [
        Line2D([], [], color=ink, marker="o", markersize=4.6, linewidth=1.3),
        Line2D([], [], color=ink, marker="o", markersize=2.3, linestyle="", alpha=0.6),
        Line2D([], [], color=ink, marker="D", markersize=4.4, linestyle="", markerfacecolor="none"),
        Line2D([], [], color=faint, linewidth=0.8, linestyle=(0, (5, 3))),
        Line2D([], [], color=faint, linewidth=0.8, linestyle=(0, (1, 2))),
    ]
    labels = ["ours, 95 % interval", "one network", "published ± SE", "floor (chance)", "ceiling"]
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False,
        fontsize=6.8, labelcolor=ink, handlelength=1.8, columnspacing=1.4, handletextpad=0.5,
    )  # fmt: skip
