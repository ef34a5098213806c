"""Drawing of profiles beside each other, a panel for each task."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from farfield.metrics import t_interval
from farfield.reports._profile._axes import LEGEND, WIDTH, abreast, legend
from farfield.reports._profile._extrapolation import ExtrapolationProfile, Point
from farfield.reports._profile._panels import (
    DASHES,
    DOT,
    FEWEST,
    GOLDEN,
    LABEL_SHARE,
    MARKERS,
    Series,
    end_labels,
)
from farfield.reports._profile._theme import FLOOR, Theme, in_style, label_powers
from farfield.tasks import TRAINING

HEIGHT: Final = 2.3
"""Height of a panel, inches."""
APART: Final = 1_000
"""Errors that differ by more than this factor are drawn by their logarithms."""
DODGE: Final = 0.06
"""Offset between models at one distance, in steps of the axis."""
BEHIND: Final = "other models"
"""Legend of the models that have no color."""

Profiles = Sequence[tuple[str, ExtrapolationProfile]]
Place = tuple[float, str]
"""A position on the axis: distance and name of a regime."""


@in_style
def draw_profiles(profiles: Profiles, against: str, theme: Theme) -> Figure:
    """The profiles, a panel for each task.

    Args:
        profiles: Names of models with their profiles.
        against: Name of the model that always has a color.
        theme: Colors.
    """
    panels: dict[str, list[tuple[str, ExtrapolationProfile]]] = {}
    for name, profile in profiles:
        panels.setdefault(profile.task, []).append((name, profile))
    names = [*dict.fromkeys(name for name, _ in profiles)]
    is_crowded = len(names) > len(theme.models)
    across = min(len(panels), 2 if is_crowded else abreast(names))
    rows = math.ceil(len(panels) / across)
    width = WIDTH if across > 1 else 0.7 * WIDTH
    figure = Figure(figsize=(width, HEIGHT * rows + LEGEND))
    grid = figure.subplots(rows, across, squeeze=False)
    for axes, (task, shown) in zip(grid.flat, panels.items(), strict=False):
        styles = _styles(_foremost(shown, against) if is_crowded else names, theme)
        _panel(axes, shown, styles, theme)
        axes.set_title(task)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    points = [point for _, profile in profiles for point in profile.points]
    legend(figure, _marks(points, theme, is_crowded=is_crowded), columns=4 if across > 1 else 3)
    return figure


def _foremost(shown: Profiles, against: str) -> list[str]:
    """The models of a crowded panel that have a color: `against`, and the best one furthest out."""
    regime = next((p.points[-1].regime for name, p in shown if name == against), None)
    last = {
        name: point
        for name, profile in shown
        for point in profile.points
        if point.regime == regime and point.values and name != against
    }
    if not last:
        return [against]
    sign = -1 if next(iter(last.values())).measure.lower_is_better else 1
    return [against, max(last, key=lambda name: sign * last[name].mean)]


def _styles(foremost: Sequence[str], theme: Theme) -> dict[str, Series]:
    """Color, line and marker of each model that has a color."""
    styles = {}
    for number, name in enumerate(foremost):
        again, color = divmod(number, len(theme.models))
        styles[name] = Series(
            label=name,
            color=theme.models[color],
            dashes=DASHES[again % len(DASHES)],
            marker=[*MARKERS][number % len(MARKERS)],
            rows=(),
        )
    return styles


def _panel(axes: Axes, shown: Profiles, styles: Mapping[str, Series], theme: Theme) -> None:
    """The profiles of one task."""
    points = [point for _, profile in shown for point in profile.points]
    places = [*dict.fromkeys((point.distance, point.regime) for point in points)]
    places.sort(key=lambda place: place[0])  # of one distance, training first
    scale = 100 if points[0].measure.percent else 1
    _limits(axes, points, scale)
    ends = []
    front = [(name, profile) for name, profile in shown if name in styles]
    for name, profile in shown:
        outwards = sorted(profile.points, key=lambda p: p.distance)
        spots = np.array([places.index((p.distance, p.regime)) for p in outwards], float)
        means = scale * np.array([point.mean for point in outwards])
        if name not in styles:
            axes.plot(spots, means, color=theme.muted, linewidth=0.6, alpha=0.55, zorder=2)
            continue
        style = styles[name]
        spots += DODGE * (front.index((name, profile)) - (len(front) - 1) / 2)
        axes.plot(
            spots, means, style.marker, color=style.color, linestyle=style.dashes, linewidth=1.2,
            markersize=4.6, markeredgecolor=theme.background, markeredgewidth=0.7, zorder=5,
        )  # fmt: skip
        for spot, point in zip(spots, outwards, strict=True):
            _networks(axes, spot, point, style.color, scale)
        finite = means[np.isfinite(means)]
        if finite.size:
            ends.append((float(finite[-1]), style))
    _floors(axes, points, places, scale, theme)
    axes.set_xlim(-0.35, len(places) - 0.65)
    axes.set_xticks(range(len(places)), _labels(places))
    axes.set_xlabel(f"distance ({points[-1].unit})")
    axes.set_ylabel(f"{points[0].measure.label}{' (%)' if scale == 100 else ''}")
    low, high = axes.yaxis.get_transform().transform(axes.get_ylim())
    end_labels(axes, ends, LABEL_SHARE * (high - low))


def _limits(axes: Axes, points: Sequence[Point], scale: float) -> None:
    """Ends of the axis of scores; one of errors goes by logarithms where they are far apart."""
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


def _networks(axes: Axes, spot: float, point: Point, color: str, scale: float) -> None:
    """A dot for each network, and the interval of their mean as far as the axis goes."""
    values = scale * np.asarray(point.values)
    beside = spot + 0.05 * ((np.arange(len(values)) * GOLDEN) % 1 - 0.5)
    axes.scatter(beside, values, s=DOT, color=color, alpha=0.4, linewidths=0, zorder=3)
    if len(values) >= FEWEST:
        interval, measure = t_interval(values.tolist()), point.measure
        ends = np.clip(
            [interval.low, interval.high], scale * measure.lowest, scale * measure.highest
        )
        axes.vlines(spot, *np.clip(ends, *axes.get_ylim()), color=color, linewidth=1.0, zorder=4)


def _floors(
    axes: Axes, points: Sequence[Point], places: Sequence[Place], scale: float, theme: Theme
) -> None:
    """A piece of line at the score of answers that ignore the problem, for each regime."""
    for level, place in {(scale * p.floor, places.index((p.distance, p.regime))) for p in points}:
        axes.plot(
            (place - 0.5, place + 0.5), (level, level), color=theme.muted, lw=0.8, ls=FLOOR,
            zorder=1, scaley=False,
        )  # fmt: skip


def _labels(places: Sequence[Place]) -> list[str]:
    """Names of the regimes on the axis: their distance, where that tells them apart."""
    distances = [distance for distance, _ in places]
    alike = len(set(distances)) < len(distances)
    return [
        TRAINING if regime == TRAINING
        else textwrap.fill(regime, 9) if alike
        else f"{distance:g}"
        for distance, regime in places
    ]  # fmt: skip


def _marks(points: Sequence[Point], theme: Theme, *, is_crowded: bool) -> dict[str, Line2D]:
    """Legend of what is drawn."""
    ink, faint = theme.foreground, theme.muted
    most = max(len(point.values) for point in points)
    mean = "mean, 95 % interval" if most >= FEWEST else "mean"
    marks = {
        mean: Line2D([], [], color=ink, marker="o", markersize=4.6, linewidth=1.2),
        "one network": Line2D(
            [], [], color=ink, marker="o", markersize=2.3, linestyle="", alpha=0.6
        ),
        "floor (guessing)": Line2D([], [], color=faint, linewidth=0.8, linestyle=FLOOR),
    }
    if is_crowded:
        marks[BEHIND] = Line2D([], [], color=faint, linewidth=0.6, alpha=0.55)
    return marks
