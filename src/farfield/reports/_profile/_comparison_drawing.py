"""Drawing of profiles beside each other, a panel for each task."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from farfield.reports._profile._axes import legend
from farfield.reports._profile._extrapolation import ExtrapolationProfile, Point
from farfield.reports._profile._panels import DOT, end_labels
from farfield.reports._profile._series import (
    DASHES,
    FEWEST,
    GOLDEN,
    MARKERS,
    Series,
    abreast,
    networks_note,
)
from farfield.reports._profile._style import in_style, label_powers
from farfield.reports._profile._theme import FLOOR, LEGEND, WIDTH, Theme
from farfield.tasks import TRAINING

HEIGHT: Final = 2.3
"""Height of a panel, inches."""
APART: Final = 1_000
"""Errors that differ by more than this factor are drawn by their logarithms."""
DODGE: Final = 0.06
"""Offset between models at one distance, in steps of the axis."""
MARKED: Final = 30
"""Most regimes whose means have a marker and whose networks are shown; of more, lines and bands."""
MARGIN: Final = 0.85
"""Height of everything around a panel, inches."""
CHARACTER, LINE = 0.07, 0.13
"""Width of a character of the labels of an axis and height of a line of them, inches."""
LONGEST: Final = 24
"""Characters of a regime's name that is upright, at most."""
BEHIND: Final = "mean alone"
"""Legend of the models of a crowded panel whose networks are not shown."""
MARK, MARK_BEHIND = 4.6, 2.8
"""Size of the marker of a mean, in front and behind, points."""
ENLARGED: Final = {"*": 1.5, "P": 1.25, "X": 1.25}
"""Factor of the size of slender markers, of which an edge would leave little."""
NAME: Final = 0.11
"""Height of a name beside a line, inches."""

Profiles = Sequence[tuple[str, ExtrapolationProfile]]
Place = tuple[float, str]
"""Position on the axis: distance and name of a regime."""


@in_style
def draw_profiles(profiles: Profiles, against: str, theme: Theme) -> Figure:
    """Return the profiles, a panel for each task.

    Args:
        profiles: Names of models with their profiles.
        against: Name of the model that always has a color.
    """
    panels: dict[str, list[tuple[str, ExtrapolationProfile]]] = {}
    for name, profile in profiles:
        panels.setdefault(profile.task, []).append((name, profile))
    names = [*dict.fromkeys(name for name, _ in profiles)]
    is_crowded = len(names) > len(theme.models)
    across = min(len(panels), 2 if is_crowded else abreast(names))
    rows = math.ceil(len(panels) / across)
    width = WIDTH if across > 1 else 0.7 * WIDTH
    height = max(HEIGHT, MARGIN + NAME * max(map(len, panels.values())))
    figure = Figure(figsize=(width, height * rows + LEGEND))
    grid = figure.subplots(rows, across, squeeze=False)
    styles, points = _styles(names, theme, against if is_crowded else None), list[Point]()
    for axes, (task, shown) in zip(grid.flat, panels.items(), strict=False):
        front = _foremost(shown, against)[: len(theme.models)] if is_crowded else names
        _panel(axes, shown, styles, front, theme, strong=against if is_crowded else None)
        points += [point for name, one in shown if name in front for point in one.points]
        _title(axes, task, shown, theme)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    most = max(len(_places(shown)) for shown in panels.values())
    marks = _marks(points, theme, is_crowded=is_crowded, is_marked=most <= MARKED)
    legend(figure, marks, columns=4 if across > 1 else 3)
    return figure


def _title(axes: Axes, task: str, shown: Profiles, theme: Theme) -> None:
    """Find the name of a task, and beneath it the networks behind its points."""
    counts = {len(point.values) for _, profile in shown for point in profile.points}
    axes.set_title(task, pad=14)
    axes.annotate(
        networks_note((min(counts), max(counts))[: len(counts)]), (0, 1), (0, 4), "axes fraction",
        textcoords="offset points", fontsize=6.8, color=theme.muted, va="bottom",
    )  # fmt: skip


def _foremost(shown: Profiles, against: str) -> list[str]:
    """Choose models with a score in the furthest regime: `against`, then the best first."""
    _, regime = [*_places(shown)][-1]
    last = {
        name: -point.mean if point.measure.lower_is_better else point.mean
        for name, profile in shown
        for point in profile.points
        if point.regime == regime and point.values
    }
    return sorted(last, key=lambda name: (name != against, -last[name]))


def _styles(names: Sequence[str], theme: Theme, strong: str | None) -> dict[str, Series]:
    """Color, line and marker of each model, the same in all panels; one model may be in ink.

    Args:
        names: Names of the models.
        strong: Name of the model in ink.
    """
    styles = {}
    if strong is not None:
        ink, (marker, *_) = theme.foreground, MARKERS
        styles[strong] = Series(label=strong, color=ink, dashes=DASHES[0], marker=marker, rows=())
    for number, name in enumerate(name for name in names if name != strong):
        again, color = divmod(number, len(theme.models))
        styles[name] = Series(
            label=name,
            color=theme.models[color],
            dashes=DASHES[again % len(DASHES)],
            marker=[*MARKERS][(number + again) % len(MARKERS)],
            rows=(),
        )
    return styles


def _panel(
    axes: Axes,
    shown: Profiles,
    styles: Mapping[str, Series],
    front: Collection[str],
    theme: Theme,
    *,
    strong: str | None,
) -> None:
    """Draw the profiles of one task, with the networks of the models in front."""
    points = [point for _, profile in shown for point in profile.points]
    places = _places(shown)
    scale = 100 if points[0].measure.percent else 1
    _limits(axes, points, scale)
    ends = []
    order = [name for name, _ in shown if name in front]
    for name, profile in shown:
        outwards = sorted(profile.points, key=lambda p: p.distance)
        spots = np.array([places[p.distance, p.regime] for p in outwards], float)
        means = scale * np.array([point.mean for point in outwards])
        style, is_marked = styles[name], len(places) <= MARKED
        ends += [(float(mean), style) for mean in means[np.isfinite(means)][-1:]]
        if name not in front:
            axes.plot(
                spots, means, marker=style.marker if is_marked else "", color=style.color,
                linestyle=style.dashes, linewidth=0.6, markeredgewidth=0, zorder=2,
                markersize=MARK_BEHIND * ENLARGED.get(style.marker, 1.0),
            )  # fmt: skip
            continue
        if is_marked:
            spots += DODGE * (order.index(name) - (len(order) - 1) / 2)
            _networks(axes, spots, outwards, style.color, scale)
        axes.plot(
            spots, means, marker=style.marker if is_marked else "", color=style.color,
            linestyle=style.dashes, linewidth=1.8 if name == strong else 1.2,
            markersize=MARK * ENLARGED.get(style.marker, 1.0),
            markeredgecolor=theme.background, markeredgewidth=0.7, zorder=5 + (name == strong),
        )  # fmt: skip
        _intervals(axes, spots, outwards, style.color, scale, is_marked=is_marked)
    _floors(axes, points, places, scale, theme)
    axes.set_xlim(-0.35, len(places) - 0.65)
    _name_places(axes, [*places])
    axes.set_xlabel(f"distance ({points[-1].unit})")
    axes.set_ylabel(f"{points[0].measure.label}{' (%)' if scale == 100 else ''}")
    low, high = axes.yaxis.get_transform().transform(axes.get_ylim())
    gap = min(NAME / (HEIGHT - MARGIN), 1 / max(len(ends), 1)) * (high - low)
    end_labels(axes, ends, gap, strong=strong)


def _limits(axes: Axes, points: Sequence[Point], scale: float) -> None:
    """Set the ends of the axis of scores, and logarithms for errors that are far apart."""
    values = [scale * value for point in points for value in (*point.values, point.floor)]
    values = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    lowest, highest = min(values), max(values)
    if points[0].measure.percent:
        axes.set_ylim(min(lowest, 96) - 4, 103)
    elif points[0].measure.lower_is_better and 0 < APART * lowest < highest:
        axes.set_yscale("log")
        label_powers(axes.yaxis)
        axes.set_ylim(lowest / 2, highest * 2)
    else:
        room = 0.08 * ((highest - lowest) or 1.0)
        axes.set_ylim(lowest - room, highest + room)


def _places(shown: Profiles) -> dict[Place, int]:
    """Number the regimes along the axis, outwards; of one distance, training first."""
    points = [point for _, profile in shown for point in profile.points]
    found = dict.fromkeys((point.distance, point.regime) for point in points)
    ordered = sorted(found, key=lambda place: place[0])
    return {place: number for number, place in enumerate(ordered)}


def _networks(
    axes: Axes, spots: np.ndarray, points: Sequence[Point], color: str, scale: float
) -> None:
    """Draw a dot for each network."""
    across = [
        spot + 0.05 * ((np.arange(len(point.values)) * GOLDEN) % 1 - 0.5)
        for spot, point in zip(spots, points, strict=True)
    ]
    values = [scale * np.asarray(point.values) for point in points]
    axes.scatter(
        np.concatenate(across), np.concatenate(values), s=DOT, color=color, alpha=0.4,
        linewidths=0, zorder=3,
    )  # fmt: skip


def _intervals(
    axes: Axes,
    spots: np.ndarray,
    points: Sequence[Point],
    color: str,
    scale: float,
    *,
    is_marked: bool,
) -> None:
    """Draw the interval of each mean as far as the axis goes, as bars or as a band."""
    several = [number for number, point in enumerate(points) if len(point.values) >= FEWEST]
    ends = np.empty((len(several), 2))
    for row, number in enumerate(several):
        values = (scale * np.asarray(points[number].values)).tolist()
        interval = points[number].measure.interval(values, scale=scale)
        ends[row] = np.clip([interval.low, interval.high], *axes.get_ylim())
    if is_marked:
        axes.vlines(spots[several], *ends.T, color=color, linewidth=1.0, zorder=4)
    else:
        axes.fill_between(spots[several], *ends.T, color=color, alpha=0.25, linewidth=0, zorder=3)


def _floors(
    axes: Axes, points: Sequence[Point], places: Mapping[Place, int], scale: float, theme: Theme
) -> None:
    """Draw a line at the score of answers that ignore the problem, in pieces where it differs."""
    levels = {places[p.distance, p.regime]: scale * p.floor for p in points}
    pieces = []
    for level, numbers in itertools.groupby(sorted(levels), levels.__getitem__):
        alike = list(numbers)
        pieces.append(((alike[0] - 0.5, level), (alike[-1] + 0.5, level)))
    axes.add_collection(
        LineCollection(pieces, color=theme.muted, linewidth=0.8, linestyle=FLOOR, zorder=1),
        autolim=False,
    )


def _name_places(axes: Axes, places: Sequence[Place]) -> None:
    """Draw as many names of regimes on the axis as fit, upright where they are too wide."""
    labels = _labels(places)
    room = axes.get_window_extent().width / axes.figure.dpi / len(places)
    wide = CHARACTER * max(len(line) for label in labels for line in label.splitlines())
    are_names = len({distance for distance, _ in places}) < len(places)
    is_upright = are_names and wide > room
    if is_upright:
        labels = [textwrap.shorten(regime, LONGEST, placeholder="…") for _, regime in places]
    fewest = (LINE if is_upright else wide) / room
    each = next(step for step in _steps() if step >= fewest)
    kept = range(0, len(places), each)
    axes.set_xticks(kept, [labels[number] for number in kept], rotation=90 if is_upright else 0)


def _steps() -> Iterator[int]:
    """Generate 1, 2, 5, 10, 20, …."""
    return (step * 10**power for power in itertools.count() for step in (1, 2, 5))


def _labels(places: Sequence[Place]) -> list[str]:
    """List the names of the regimes on the axis: their distance, where that tells them apart."""
    distances = [distance for distance, _ in places]
    alike = len(set(distances)) < len(distances)
    return [
        TRAINING if regime == TRAINING
        else textwrap.fill(regime, 9, break_long_words=False) if alike
        else f"{distance:g}"
        for distance, regime in places
    ]  # fmt: skip


def _marks(
    points: Sequence[Point], theme: Theme, *, is_crowded: bool, is_marked: bool
) -> dict[str, Line2D]:
    """Return the legend of the drawn marks."""
    ink, faint = theme.foreground, theme.muted
    most = max((len(point.values) for point in points), default=0)
    mean = "mean, 95 % interval" if most >= FEWEST else "mean"
    marks = {
        mean: Line2D(
            [], [], color=ink, marker="o" if is_marked else "", markersize=MARK, linewidth=1.2
        ),
        "one network": Line2D(
            [], [], color=ink, marker="o", markersize=2.3, linestyle="", alpha=0.6
        ),
        "floor (guessing)": Line2D([], [], color=faint, linewidth=0.8, linestyle=FLOOR),
    }
    if not is_marked:
        del marks["one network"]
    if is_crowded:
        marks[BEHIND] = Line2D(
            [],
            [],
            color=ink,
            marker="o" if is_marked else "",
            markersize=MARK_BEHIND,
            linewidth=0.6,
        )
    return marks
