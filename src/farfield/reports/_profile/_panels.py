"""The drawing of one panel of the extrapolation profiles."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from farfield.reports._profile._series import FEWEST, GOLDEN, Series
from farfield.reports._profile._theme import CEILING, FLOOR, Theme
from farfield.reports._report._report import Row
from farfield.reproductions import Published

DOT: Final = 5.0
"""Area of the dot of one network, square points."""
BESIDE: Final = 0.045
"""Offset of the published mean from ours, in steps of the axis of distances."""
DODGE: Final = 0.1
"""Offset between models of one distance, in steps of the axis, where there is room."""
STUB: Final = 0.45
"""Position of an arrow on an axis of logarithms, as a share of the mean."""
BAND: Final = 0.6
"""Extent of all models of one column together, in lines of columns."""
ROOM: Final = 0.84
"""Largest extent of all models of one distance together, in steps of the axis."""
SIDE_BY_SIDE: Final = 4
"""Most models with names side by side; more names are one below another."""
LONGEST_LABEL: Final = 12
"""Characters in a line of a name side by side with others, at least."""
ALL_LABELS: Final = 48
"""Characters that have room side by side below a panel."""
LABEL_GAP: Final = 5.2
"""Least distance of two labels, in points of a score in percent."""
LEADER: Final = 9.0
"""Points between a line's end and its label where a thin line joins them."""
LABEL_SHARE: Final = 0.06
"""Position of an arrow on an axis of fractions, as a share of it."""


def side_by_side(axes: Axes, series: Sequence[Series], theme: Theme) -> None:
    """Draw the models of one distance, each at a separate position.

    Args:
        axes: Where to draw.
        series: The models, each with one cell.
    """
    for place, one in enumerate(series):
        (row,) = one.rows
        _networks(axes, place - 0.14, row, one, width=0.2)
        _mean(axes, place - 0.14, row, one, theme)
        _published(axes, place + 0.2, row, one, theme)
    middle, reach = (len(series) - 1) / 2, max(len(series), 3) / 2
    axes.set_xlim(middle - reach, middle + reach)
    length = max(LONGEST_LABEL, ALL_LABELS // len(series))
    names = [textwrap.fill(one.label, length, break_long_words=False) for one in series]
    axes.set_xticks(range(len(series)), names)
    axes.tick_params(axis="x", length=0, labelsize=7, pad=3)
    for label, one in zip(axes.get_xticklabels(), series, strict=True):
        label.set_color(one.color)


def one_below_another(axes: Axes, series: Sequence[Series], theme: Theme) -> None:
    """Draw the models of one distance, each in a separate line, with the score across.

    Args:
        axes: Where to draw.
        series: The models, each with one cell, from the top.
    """
    for place, one in enumerate(series):
        (row,) = one.rows
        _networks(axes, place - 0.12, row, one, width=0.2, across=True)
        _mean(axes, place - 0.12, row, one, theme, across=True)
        _published(axes, place + 0.2, row, one, theme, across=True)
    axes.set_ylim(len(series) - 0.4, -0.6)
    axes.set_yticks(range(len(series)), [one.label for one in series])
    axes.tick_params(axis="y", length=0, labelsize=7, pad=3)
    for label, one in zip(axes.get_yticklabels(), series, strict=True):
        label.set_color(one.color)


def by_column(axes: Axes, series: Sequence[Series], columns: Sequence[str], theme: Theme) -> None:
    """Draw columns that are on no common axis of distance: a line each, the models in it as marks.

    Args:
        axes: Where to draw.
        series: The models.
        columns: The columns, from the top.
    """
    apart = BAND / max(1, len(series) - 1)
    for number, one in enumerate(series):
        for row in one.rows:
            spot = columns.index(row.claim.column) + apart * (number - (len(series) - 1) / 2)
            _networks(axes, spot, row, one, width=0.0, across=True)
            _mean(axes, spot, row, one, theme, across=True)
            _published(axes, spot, row, one, theme, across=True)
    for place in range(1, len(columns)):
        axes.axhline(place - 0.5, color=theme.muted, linewidth=0.4, alpha=0.4, zorder=1)
    axes.set_ylim(len(columns) - 0.5, -0.5)
    axes.set_yticks(range(len(columns)), columns)
    axes.tick_params(axis="y", length=0, labelsize=7, pad=3)
    for number, one in enumerate(series):
        axes.annotate(
            one.marked, (1, 1), (6, -4 - 11 * number), "axes fraction", textcoords="offset points",
            color=one.color, fontsize=6.8, va="top", annotation_clip=False,
        )  # fmt: skip


def along_distance(axes: Axes, series: Sequence[Series], theme: Theme) -> None:
    """Score against distance, one line for each model, labeled at its end.

    The distances stand at even spaces: those of the papers crowd at the far end, where it matters.

    Args:
        axes: Where to draw.
        series: The models.
    """
    distances = sorted({row.distance for one in series for row in one.rows})
    places = {distance: place for place, distance in enumerate(distances)}
    ends: list[tuple[float, Series]] = []
    apart = min(DODGE, ROOM / len(series))
    if apart < DODGE:
        for place in range(1, len(distances)):
            axes.axvline(place - 0.5, color=theme.muted, linewidth=0.5, alpha=0.5, zorder=1)
    for number, one in enumerate(series):
        spots = [
            places[row.distance] + apart * (number - (len(series) - 1) / 2) for row in one.rows
        ]
        means = [row.judgement.ours.mean if row.judgement.ours else math.nan for row in one.rows]
        axes.plot(spots, means, color=one.color, linestyle=one.dashes, linewidth=1.1, zorder=3)
        for spot, row in zip(spots, one.rows, strict=True):
            _networks(axes, spot - BESIDE, row, one, width=BESIDE)
            _mean(axes, spot, row, one, theme)
            _published(axes, spot + BESIDE, row, one, theme)
        shown = [mean for mean in means if math.isfinite(mean)]
        printed = [r.claim.published for r in one.rows if isinstance(r.claim.published, Published)]
        if shown or printed:
            ends.append((shown[-1] if shown else printed[-1].mean, one))
    reach = max(0.4, apart * (len(series) - 1) / 2 + 0.15)
    axes.set_xlim(-reach, len(distances) - 1 + reach)
    rows = [row for one in series for row in one.rows]
    columns = [_column(rows, distance) for distance in distances]
    named = [column for column in columns if column]
    if len(named) == len(columns):
        axes.set_xticks(range(len(distances)), named)
    else:
        axes.set_xticks(range(len(distances)), [f"{distance:g}" for distance in distances])
        furthest = max(rows, key=lambda row: row.distance)
        axes.set_xlabel(furthest.unit)
    for levels, dashes in (({row.distance: row.floor for row in rows}, FLOOR),
                           ({row.distance: row.ceiling for row in rows}, CEILING)):  # fmt: skip
        if len(set(levels.values())) > 1:
            for distance, level in levels.items():
                span = places[distance] - 0.5, places[distance] + 0.5
                axes.plot(span, (level, level), color=theme.muted, lw=0.8, ls=dashes, zorder=1)
    low, high = axes.yaxis.get_transform().transform(axes.get_ylim())
    percent = series[0].rows[0].claim.published.unit == "percent"
    end_labels(axes, ends, LABEL_GAP if percent else LABEL_SHARE * (high - low))


def _column(rows: Sequence[Row], distance: float) -> str:
    """Format the column of a distance where its name has another number."""
    (claim, *others) = {
        row.claim.column: row.claim for row in rows if row.distance == distance
    }.values()
    numbers = re.findall(r"[\d.]+", claim.column.replace(",", ""))
    if others or claim.column == claim.regime or f"{distance:g}" in numbers:
        return ""
    return textwrap.fill(claim.column, 12, break_long_words=False)


def _networks(
    axes: Axes, place: float, row: Row, one: Series, *, width: float, across: bool = False
) -> None:
    """Draw a dot for each network, spread sideways by the golden ratio.

    One that diverged is a cross at the end of the axis of scores.
    """
    values = np.asarray(row.values)
    spots = place + width * ((np.arange(len(values)) * GOLDEN) % 1 - 0.5)
    axes.scatter(
        *_turned(spots, values, across), s=DOT, color=one.color, alpha=0.45, linewidths=0, zorder=2
    )
    for number, _ in enumerate(row.judgement.diverged):
        axes.plot(
            *_turned(place + width * ((number * GOLDEN) % 1 - 0.5), 0.02, across), "x",
            color=one.color, markersize=3.6, markeredgewidth=0.9, zorder=5,
            transform=axes.get_yaxis_transform() if across else axes.get_xaxis_transform(),
        )  # fmt: skip


def _mean(
    axes: Axes, place: float, row: Row, one: Series, theme: Theme, *, across: bool = False
) -> None:
    """Draw our mean with its interval, cut where no score can be and where the axis ends."""
    if row.judgement.ours is None:
        return
    if len(row.values) >= FEWEST:
        _interval(axes, place, row, one.color, across=across)
    axes.plot(
        *_turned(place, row.judgement.ours.mean, across), one.marker, markersize=4.6,
        color=one.color, markeredgecolor=theme.background, markeredgewidth=0.7, zorder=5,
    )  # fmt: skip


def _interval(axes: Axes, place: float, row: Row, color: str, *, across: bool) -> None:
    """Draw the interval of our mean; where it goes on beyond the axis, its end is an arrow.

    On an axis of logarithms, where it may go on for ever, the arrow is close to the mean.
    """
    if (interval := row.interval) is None:
        return
    name = (axes.get_xscale if across else axes.get_yscale)()
    ends = np.asarray([interval.low, interval.high])
    low, high = sorted(axes.get_xlim() if across else axes.get_ylim())
    shown = np.clip(ends, low, high)
    if name == "log" and ends[0] < low and row.judgement.ours is not None:
        shown[0] = max(low, STUB * row.judgement.ours.mean)
    lines = axes.hlines if across else axes.vlines
    lines(place, *shown, color=color, linewidth=1.0, zorder=4)
    for end, kept, arrow in zip(ends, shown, "<>" if across else "v^", strict=True):
        if end != kept:
            axes.plot(
                *_turned(place, kept, across), arrow, markersize=4, color=color, clip_on=False,
                markeredgewidth=0, zorder=4, gid="beyond",
            )  # fmt: skip


def _published(
    axes: Axes, place: float, row: Row, one: Series, theme: Theme, *, across: bool = False
) -> None:
    """Draw the published mean with its standard error, or a goal of our own, where there is one.

    A spread of a kind that is not said has two ends to either side, one for each reading.
    """
    number = row.claim.published
    if not isinstance(number, Published):
        if number.goal is not None:
            axes.plot(
                *_turned(place, number.goal, across), "|" if across else "_", markersize=9,
                color=one.color, markeredgewidth=1.4, zorder=4.5, gid="goal",
            )  # fmt: skip
        return
    for reading in number.readings:
        error = None if number.spread is None else reading.standard_error
        axes.errorbar(
            *_turned(place, number.mean, across), xerr=error if across else None,
            yerr=None if across else error, fmt=one.marker, markersize=4.4,
            color=one.color, markerfacecolor=theme.background, markeredgewidth=1.0, elinewidth=0.9,
            capsize=2, capthick=0.9, zorder=4.5,
        )  # fmt: skip


def _turned(place: Any, score: Any, across: bool) -> tuple[Any, Any]:
    """Return both coordinates of a mark, whose score is upward or across."""
    return (score, place) if across else (place, score)


def end_labels(
    axes: Axes,
    ends: Sequence[tuple[float, Series]],
    gap: float = LABEL_GAP,
    *,
    strong: str | None = None,
) -> None:
    """Draw the marker and name of each line beside its end, moved apart.

    A label that was moved is joined to its end.

    Args:
        axes: Where to draw.
        ends: Height of each line at its end, and the line.
        gap: Least distance of two labels, in the unit of the heights; of their logarithms, to base
            10, on an axis of logarithms.
        strong: Name that is bold.
    """
    ordered = sorted(ends, key=lambda end: end[0])
    scale = axes.yaxis.get_transform()
    *ground, top = scale.transform([*(height for height, _ in ordered), axes.get_ylim()[1]])
    heights = spread_apart(ground, gap, top)
    moved = [abs(own - other) > gap / 4 for own, other in zip(ground, heights, strict=True)]
    aside = LEADER if any(moved) else 3.0
    shown = scale.inverted().transform(heights)
    for (end, one), height, is_moved in zip(ordered, shown, moved, strict=True):
        axes.annotate(
            one.marked, (1, height), (aside, 0), ("axes fraction", "data"),
            textcoords="offset points", color=one.color, fontsize=6.8, va="center",
            annotation_clip=False, fontweight="bold" if one.label == strong else "normal",
        )  # fmt: skip
        if is_moved:
            _leader(axes, end, height, one.color)


def _leader(axes: Axes, end: float, height: float, color: str) -> None:
    """Draw a thin line from the end of a line to its label."""
    beside = offset_copy(
        axes.get_yaxis_transform(), axes.get_figure(root=True), x=LEADER, units="points"
    )
    axes.annotate(
        "", (1, end), (1, height), ("axes fraction", "data"), textcoords=beside,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "lw": 0.5, "color": color, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def spread_apart(heights: Sequence[float], gap: float, top: float = math.inf) -> list[float]:
    """Move heights as little as needed to be `gap` apart, then down below `top`.

    Args:
        heights: In ascending order.
        gap: Least distance of neighbors.
        top: Where the highest may be.
    """
    blocks: list[list[float]] = []  # of neighbors that touch: wanted height of each lowest end
    for place, height in enumerate(heights):
        blocks.append([height - place * gap])
        while len(blocks) > 1 and np.mean(blocks[-2]) >= np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    lows = [float(np.mean(block)) for block in blocks for _ in block]
    spread = [low + place * gap for place, low in enumerate(lows)]
    for place in reversed(range(len(spread))):
        spread[place] = min(spread[place], top)
        top = spread[place] - gap
    return spread
