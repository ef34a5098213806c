"""Time courses: accuracy or loss on training problems against updates."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from farfield._text import fixed
from farfield.analysis import time_course
from farfield.analysis.internal import TimeCourse
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._profile._axes import (
    WIDTH,
    frame,
    legend,
    networks_note,
    series_of,
    shared_suffix,
    title,
)
from farfield.reports._profile._panels import LABEL_GAP, end_labels
from farfield.reports._profile._theme import CEILING, FLOOR, Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Claim
from farfield.tasks import TRAINING, Environment

LEVEL: Final = (0, (5, 1.5, 1, 1.5))
"""Line of the level to reach."""
GAP: Final = 0.055
"""Least distance of two labels, as a share of an axis of losses."""
LEARNED: Final = 0.05
"""Share of the way from the floor to the best score that tells a trained network from another."""

CAPTION: Final = (
    "Mean {metric} on training problems over our networks; band: ± standard error of the mean. "
    "Updates are counted on a logarithmic axis. Ring: from there on the mean stays at or {beyond} "
    "{level} (dash-dotted line), at the points recorded, four an octave. {others} Median: over the "
    "networks, each by itself."
)
IDLE: Final = (
    "There is no picture: after {steps} of the steps all networks are at chance. Findings: updates "
    "from which on the mean {metric} on training problems stays at or {beyond} {level}, at the "
    "points recorded, four an octave. {others} Median: over the networks, each by itself."
)
MEASURED: Final = (
    "Each point is measured as at test, on up to 256 training problems, the last on all."
)
SCORES: Final = "Dashed: answers that ignore the problem; dotted: the rule itself."
LOSSES: Final = "Dashed: all answers held equally likely."
ACTIONS: Final = "Dashed: actions drawn uniformly; dotted: the expert."
EPISODES: Final = (
    "Each point is the mean of the last 100 episodes of training; where every regime is scored, of "
    "new ones."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Measure:
    """Format and axis of a metric.

    Args:
        exhibit: Which metric, and which level of it.
        scale: Shown value of a score of 1: 100 for percent.
        unit: What stands behind a number, e.g. `" %"`.
    """

    exhibit: TimeCourses
    scale: float
    unit: str

    @property
    def level(self) -> str:
        """The level to reach, e.g. `95 %`."""
        return f"{self.scale * self.exhibit.level:g}{self.unit}"

    @property
    def name(self) -> str:
        """Label of the axis."""
        return f"training {self.exhibit.metric}{' (%)' if self.unit else ''}"

    def written(self, value: float) -> str:
        """A value, e.g. `98.2 %`."""
        return f"{fixed(self.scale * value, 1 if self.unit else 3)}{self.unit}"

    def updates(self, course: TimeCourse) -> str:
        """Text of the number of updates of a course."""
        level, falling = self.exhibit.level, self.exhibit.falling
        networks, last = text.networks(course.count), self.written(course.means[-1])
        if len(course.steps) == 1:
            return f"only the last point recorded: {last} ({networks})"
        settled, middle = (
            function(level, falling=falling) for function in (course.settled, course.median_settled)
        )
        mean = f"not reached: {last} after {course.steps[-1]:,}"
        each = "not reached" if middle is None else f"{middle:,g}"
        return f"{mean if settled is None else f'{settled:,}'}; median {each} ({networks})"


@final
@dataclass(frozen=True, kw_only=True)
class TimeCourses:
    """A metric of training problems against updates, and how many it takes to stay at a level.

    The quantities are named after the figure's cells.

    Args:
        level: What to reach: an accuracy in 0…1, or a loss.
        metric: `"accuracy"`, `"loss"`, or what else a run leaves of its training problems.
        falling: Whether training lowers the metric, as it does the loss.
    """

    level: float
    metric: str = "accuracy"
    falling: bool = False

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The time courses of a figure; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del store
        courses = {
            row.name: time_course(row.records, self.metric) for row in report.rows if row.records
        }
        if not courses:
            return None
        claim = report.rows[0].claim
        scored = self.metric == claim.metric
        measure = _Measure(
            exhibit=self,
            scale=claim.published.scale if scored else 1.0,
            unit=" %" if scored and claim.published.unit == "percent" else "",
        )
        shown = [row for row in report.rows if row.name in courses]
        is_idle = all(_is_at_floor(row, courses[row.name], measure) for row in shown)
        fractions = [row.judgement.fraction or 0.0 for row in shown]
        which = "" if scored else f" {self.metric}"
        below = " or below" if self.falling else ""
        return Plate(
            name="time-courses",
            title=f"Training {self.metric} against updates",
            caption=(IDLE if is_idle else CAPTION).format(
                steps=text.shares(min(fractions), max(fractions)),
                metric=self.metric,
                beyond="below" if self.falling else "above",
                level=measure.level,
                others=_others(self, claim, is_drawn=not is_idle),
            ),
            draw=None if is_idle else partial(_draw, report, courses, measure),
            findings=tuple(
                Finding(
                    what=f"{row.claim.subject}, {row.claim.row}: "
                    f"updates until the mean{which} stays "
                    f"at{below} {measure.level}",
                    paper=figure.words(row.name),
                    ours=measure.updates(courses[row.name]),
                )
                for row in shown
            ),
        )


def _others(exhibit: TimeCourses, claim: Claim, *, is_drawn: bool) -> str:
    """Last sentences of the caption: lines of reference and the origin of the points."""
    acted = isinstance(claim.experiment.task, Environment)
    measured = EPISODES if acted else MEASURED
    lines = ACTIONS if acted else LOSSES if exhibit.falling else SCORES
    return f"{lines} {measured}" if is_drawn else measured


@in_style
def _draw(
    report: Report, courses: Mapping[str, TimeCourse], measure: _Measure, theme: Theme
) -> Picture:
    """One panel for each subject."""
    panels = {
        subject: [row for row in rows if row.name in courses]
        for subject, rows in report.subjects.items()
        if any(row.name in courses for row in rows)
    }
    across = min(len(panels), 2)
    down = math.ceil(len(panels) / across)
    width = WIDTH if across > 1 else 5.2
    picture = Picture(figsize=(width, 2.6 * down + 0.3))
    grid = picture.subplots(down, across, squeeze=False)
    for axes, (subject, rows) in zip(grid.flat, panels.items(), strict=False):
        _frame(axes, rows, courses, measure, theme)
        shared = shared_suffix(rows)
        _lines(axes, rows, courses, measure, shared, theme)
        absent = [row.claim.row for row in report.subjects[subject] if row.name not in courses]
        note = networks_note([courses[row.name].count for row in rows], absent)
        if all(_is_at_floor(row, courses[row.name], measure) for row in rows):
            axes.text(
                0.5, 0.5, "untrained: all at chance", transform=axes.transAxes, ha="center",
                fontsize=9, color=theme.muted,
            )  # fmt: skip
        title(axes, subject, rows, shared, theme, note=note)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel(measure.name)
    _foot(picture, theme, measure, courses.values())
    return picture


def _frame(
    axes: Axes,
    rows: Sequence[Row],
    courses: Mapping[str, TimeCourse],
    measure: _Measure,
    theme: Theme,
) -> None:
    """Axes of scores or losses, with the level and the floor."""
    means = [measure.scale * mean for row in rows for mean in courses[row.name].means]
    if measure.exhibit.falling:
        evenly = max(map(_evenly, rows))
        axes.set_ylim(0, 1.08 * max(evenly, *means))
        axes.axhline(evenly, color=theme.muted, linewidth=0.8, linestyle=FLOOR, zorder=1)
    else:
        frame(axes, rows, theme, min(*means, *(row.floor for row in rows)) - 5)
    level = measure.scale * measure.exhibit.level
    axes.axhline(level, color=theme.muted, linewidth=0.8, linestyle=LEVEL)


def _evenly(row: Row) -> float:
    """The loss of answers that are held equally likely."""
    return -math.log(row.claim.experiment.task.chance(TRAINING))


def _is_at_floor(row: Row, course: TimeCourse, measure: _Measure) -> bool:
    """True if a course ends where it would without any training."""
    last = measure.scale * course.means[-1]
    if measure.exhibit.falling:
        return last > (1 - LEARNED) * _evenly(row)
    return last < row.floor + LEARNED * (measure.scale - row.floor)


def _lines(
    axes: Axes,
    rows: Sequence[Row],
    courses: Mapping[str, TimeCourse],
    measure: _Measure,
    shared: str,
    theme: Theme,
) -> None:
    """The courses of a panel, labelled at their ends."""
    ends = []
    for one in series_of(rows, theme, shared):
        course, falling = courses[one.rows[0].name], measure.exhibit.falling
        means = measure.scale * np.asarray(course.means)
        errors = measure.scale * np.asarray(course.standard_errors)
        axes.plot(
            course.steps, means, color=one.color, linestyle=one.dashes, linewidth=1.2,
            marker=one.marker, markevery=[-1], markersize=3.6, zorder=3,
        )  # fmt: skip
        if course.count > 1:
            low, high = means - errors, means + errors
            low, high = (
                (np.maximum(low, 0), high) if falling else (low, np.minimum(high, measure.scale))
            )
            axes.fill_between(course.steps, low, high, color=one.color, alpha=0.2, linewidth=0)
        settled = course.settled(measure.exhibit.level, falling=falling)
        if settled is not None and len(means) > 1:
            axes.plot(
                settled, means[course.steps.index(settled)], "o", markersize=4.4,
                color=one.color, markerfacecolor=theme.background, markeredgewidth=1.1, zorder=4,
            )  # fmt: skip
        idle = ", at chance" * _is_at_floor(one.rows[0], course, measure)
        ends.append((float(means[-1]), replace(one, label=one.label + idle)))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", color=theme.muted, width=0.4, length=1.5)
    axes.set_xlim(1, max(course.steps[-1] for course in courses.values()) * 1.15)
    axes.set_xlabel("training updates")
    falls, (_, top) = measure.exhibit.falling, axes.get_ylim()
    end_labels(axes, ends, GAP * top if falls else LABEL_GAP)


def _foot(
    picture: Picture, theme: Theme, measure: _Measure, courses: Collection[TimeCourse]
) -> None:
    """Legend of the marks that occur."""
    ink, faint, level = theme.foreground, theme.muted, measure.level
    floor, ceiling = (
        Line2D([], [], color=faint, linewidth=0.8, linestyle=dashes) for dashes in (FLOOR, CEILING)
    )
    falling = measure.exhibit.falling
    band = Patch(color=ink, alpha=0.2, linewidth=0)
    ring = Line2D(
        [], [], color=ink, marker="o", markersize=4.4, linestyle="", markerfacecolor="none"
    )
    settled = [
        course.settled(measure.exhibit.level, falling=falling)
        for course in courses
        if len(course.steps) > 1
    ]
    stays = f"stays {'below' if falling else 'at'} {level}"
    legend(
        picture,
        {
            "mean": Line2D([], [], color=ink, linewidth=1.2),
            **({"± standard error": band} if any(c.count > 1 for c in courses) else {}),
            **({stays: ring} if any(step is not None for step in settled) else {}),
            level: Line2D([], [], color=faint, linewidth=0.8, linestyle=LEVEL),
            **(
                {"equally likely": floor}
                if falling
                else {"floor (chance)": floor, "ceiling": ceiling}
            ),
        },
        columns=6 if picture.get_figwidth() > 6 else 3,
    )
