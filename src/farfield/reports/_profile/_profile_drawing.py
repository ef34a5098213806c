"""Drawing of extrapolation profiles: score against distance, ours beside the published."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Final

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from farfield.metrics.internal import measure_of
from farfield.reports._profile._axes import frame, legend, title
from farfield.reports._profile._panels import (
    SIDE_BY_SIDE,
    along_distance,
    by_column,
    one_below_another,
    side_by_side,
)
from farfield.reports._profile._series import (
    FEWEST,
    Series,
    abreast,
    distances,
    is_by_column,
    score_label,
    series_of,
    shared_suffix,
)
from farfield.reports._profile._style import in_style
from farfield.reports._profile._theme import LEGEND, WIDTH, Theme
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Published

APART: Final = 1_000
"""Errors that differ by more than this factor are drawn by their logarithms."""
LISTED: Final = 0.72
LISTED_LINE: Final = 0.17
"""Height of a panel of models one below another: of the space around them, and of each; inches."""


@in_style
def draw_report(report: Report, theme: Theme) -> Figure:
    """Draw the profiles of a report, a panel for each task.

    Args:
        report: The table with its records.
    """
    panels = report.subjects
    flat = all(distances(rows) == 1 for rows in panels.values())
    crowded = any(distances(rows) == 1 and len(rows) > SIDE_BY_SIDE for rows in panels.values())
    sorts = {name for name, rows in panels.items() if is_by_column(rows)}
    listed = sorts | {name for name, rows in panels.items() if crowded and distances(rows) == 1}
    labels = [
        one.label
        for name in panels.keys() - listed
        for one in series_of(panels[name], theme, shared_suffix(panels[name]))
    ]
    most = 4 if flat else 2 if listed else abreast(labels)
    across = min(len(panels), most) if len(listed) < len(panels) else 1
    shown = {name: _numbered(rows) if name in listed else rows for name, rows in panels.items()}
    panels = {name: rows for name, rows in shown.items() if rows} or panels
    upright = 2.3 if flat else 2.6
    every_height = [_height(rows) if name in listed else upright for name, rows in panels.items()]
    heights = [max(every_height[n : n + across]) for n in range(0, len(panels), across)]
    width = WIDTH if len(panels) > 2 or not flat or crowded else 3.4 * len(panels)
    columns = 5 if width > 5 else 3
    ends = _ends(panels.values())
    marks = _marks(report, theme)
    if all(row.ceiling < ends[score_label(rows[0])][0] for rows in panels.values() for row in rows):
        del marks["ceiling"]
    figure = Figure(figsize=(width, sum(heights) + LEGEND * math.ceil(len(marks) / columns)))
    grid = figure.subplots(len(heights), across, squeeze=False, height_ratios=heights)
    for number, (axes, (subject, rows)) in enumerate(zip(grid.flat, panels.items(), strict=False)):
        label = score_label(rows[0])
        frame(axes, rows, theme, *ends[label], across=subject in listed)
        shared = shared_suffix(report.subjects[subject])
        series = series_of(rows, theme, shared)
        if distances(rows) == 1:
            series = [cell for one in series for cell in _cells(one)]
        if subject in listed:
            if subject in sorts:
                lines = dict.fromkeys(row.claim.column for row in rows)
                by_column(axes, series, [*lines], theme)
            else:
                one_below_another(axes, series, theme)
            if number >= len(panels) - across or len(ends) > 1:
                axes.set_xlabel(label)
        else:
            draw = side_by_side if distances(rows) == 1 else along_distance
            draw(axes, series, theme)
            beside = [*panels][number - 1] if number % across else None
            if beside is not None and beside not in listed and len(ends) == 1:
                axes.tick_params(axis="y", labelleft=False)
            else:
                axes.set_ylabel(label)
        counts = {len(row.records) for row in rows if row.records}
        note = text.networks(*counts) + " each" * (counts != {1}) if len(counts) == 1 else ""
        note = note if _numbered(rows) else "not run"
        title(axes, subject, rows, shared, theme, narrow=across == 4, note=note)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    legend(figure, marks, columns)
    return figure


def _height(rows: Sequence[Row]) -> float:
    """Return the height of a panel of lines, inches."""
    if not is_by_column(rows):
        return LISTED + LISTED_LINE * len(rows)
    columns, models = {row.claim.column for row in rows}, {row.claim.row for row in rows}
    return LISTED + LISTED_LINE * max(1.6 * len(columns), len(models))


def _ends(panels: Iterable[Sequence[Row]]) -> dict[str, tuple[float, float]]:
    """Return ends of the axis of scores, equal in all panels of one measure; by measure."""
    alike: dict[str, list[Row]] = {}
    for rows in panels:
        alike.setdefault(score_label(rows[0]), []).extend(rows)
    return {label: _reach(rows[0], _values(rows)) for label, rows in alike.items()}


def _reach(row: Row, values: Sequence[float]) -> tuple[float, float]:
    """Return ends of the axis of scores: from 0 for errors, unless the axis is logarithmic."""
    lowest, highest = min(values), max(values)
    if not measure_of(row.claim.metric).lower_is_better:
        return lowest - 0.06 * row.claim.published.scale, 1.08 * highest
    if lowest > 0 and highest > APART * lowest:
        return lowest / 2, highest * 2
    return 0.0, 1.08 * highest


def _cells(series: Series) -> list[Series]:
    """Return a series per cell, named by its column where one distance has several."""
    if len(series.rows) == 1:
        return [series]
    return [
        dataclasses.replace(series, label=f"{series.label}, {row.claim.column}", rows=(row,))
        for row in series.rows
    ]


def _numbered(rows: Sequence[Row]) -> list[Row]:
    """Return the cells that have a number, ours or published."""
    return [row for row in rows if row.records or isinstance(row.claim.published, Published)]


def _values(rows: Sequence[Row]) -> list[float]:
    """Return everything that the axis of scores must hold."""
    values = [value for row in rows for value in (*row.values, row.floor)]
    printed = [row.claim.published for row in rows]
    values += [number.mean for number in printed if isinstance(number, Published)]
    values += [goal for row in rows if (goal := _goal(row)) is not None]
    return [value for value in values if math.isfinite(value)]


def _goal(row: Row) -> float | None:
    """Return the goal of a cell; `None` without one."""
    number = row.claim.published
    return None if isinstance(number, Published) else number.goal


def _marks(report: Report, theme: Theme) -> dict[str, Line2D]:
    """Return the legend of the markers that occur."""
    ink, faint = theme.foreground, theme.muted
    marks = {
        "ours, 95 % interval": Line2D([], [], color=ink, marker="o", markersize=4.6, linewidth=1.3),
        "one network": Line2D(
            [], [], color=ink, marker="o", markersize=2.3, linestyle="", alpha=0.6
        ),
        "published ± SE": Line2D(
            [], [], color=ink, marker="o", markersize=4.4, linestyle="", markerfacecolor="none"
        ),
        "goal": Line2D(
            [], [], color=ink, marker="_", markersize=9, markeredgewidth=1.4, linestyle=""
        ),
        "diverged": Line2D([], [], color=ink, marker="x", markersize=3.6, linestyle=""),
        "floor": Line2D([], [], color=faint, linewidth=0.8, linestyle=(0, (5, 3))),
        "ceiling": Line2D([], [], color=faint, linewidth=0.8, linestyle=(0, (1, 2))),
    }
    printed = [row.claim.published for row in report.rows]
    published = [number for number in printed if isinstance(number, Published)]
    most = max((len(row.values) for row in report.rows), default=0)
    names = {
        "ours, 95 % interval": "ours, 95 % interval" if most >= FEWEST else "ours, mean",
        "published ± SE": "published ± SE" if any(n.spread is not None for n in published)
        else "published",
    }  # fmt: skip
    if most < FEWEST:
        marks["ours, 95 % interval"].set_linestyle("")
    if not published:
        del marks["published ± SE"]
    if all(_goal(row) is None for row in report.rows):
        del marks["goal"]
    if not any(row.judgement.diverged for row in report.rows):
        del marks["diverged"]
    if not most:
        del marks["ours, 95 % interval"], marks["one network"]
    return {names.get(name, name): mark for name, mark in marks.items()}
