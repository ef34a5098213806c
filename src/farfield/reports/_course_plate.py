"""Time courses: training accuracy against updates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from farfield.analysis import TimeCourse, time_course
from farfield.reports import _text as text
from farfield.reports._axes import WIDTH, frame, legend, series_of, shared_suffix, title
from farfield.reports._panels import end_labels
from farfield.reports._plates import Finding, Plate
from farfield.reports._report import Report, Row
from farfield.reports._theme import Theme
from farfield.reproductions import Figure, TimeCourses

LEVEL: Final = (0, (5, 1.5, 1, 1.5))
"""Line of the level to reach."""

CAPTION: Final = (
    "Mean accuracy on training problems over our networks; band: ± standard error of the mean. "
    "Updates are counted on a logarithmic axis. Ring: from there on the mean stays at or above "
    "{level:g} % (dash-dotted line), at the points recorded, four an octave. Dashed: answers that "
    "ignore the problem; dotted: the rule itself. Each point is measured on up to 256 training "
    "problems, the last on all."
)


def course_plate(figure: Figure, analysis: TimeCourses, report: Report) -> Plate | None:
    """The time courses of a figure; `None` where nothing has been run.

    Args:
        figure: What the paper says.
        analysis: Which level is asked for.
        report: The figure's cells with what was found.
    """
    courses = {row.name: time_course(row.records) for row in report.rows if row.records}
    if not courses:
        return None
    return Plate(
        name="time-courses",
        title="Training accuracy against updates",
        caption=CAPTION.format(level=100 * analysis.level),
        draw=partial(_draw, report, courses, analysis.level),
        findings=tuple(
            Finding(
                what=f"{row.claim.subject}, {row.claim.row}: updates until the mean stays at "
                f"{100 * analysis.level:g} %",
                paper=figure.words(row.name),
                ours=_updates(courses[row.name], analysis.level),
            )
            for row in report.rows
            if row.name in courses
        ),
    )


def _updates(course: TimeCourse, level: float) -> str:
    """How many updates a course takes, in words."""
    settled, networks = course.settled(level), text.networks(course.count)
    if len(course.steps) == 1:
        return f"only the last point recorded: {100 * course.means[0]:.1f} % ({networks})"
    if settled is None:
        last = f"{100 * course.means[-1]:.1f} % after {course.steps[-1]:,}"
        return f"not reached: {last} ({networks})"
    return f"{settled:,} ({networks})"


def _draw(report: Report, courses: Mapping[str, TimeCourse], level: float, theme: Theme) -> Picture:
    """One panel for each subject."""
    panels = {
        subject: [row for row in rows if row.name in courses]
        for subject, rows in report.subjects.items()
        if any(row.name in courses for row in rows)
    }
    across = min(len(panels), 2)
    down = math.ceil(len(panels) / across)
    width = WIDTH if across > 1 else 5.2
    picture = Picture(
        figsize=(width, 2.6 * down + 0.3), facecolor=theme.paper, layout="constrained"
    )
    grid = picture.subplots(down, across, squeeze=False)
    for axes, (subject, rows) in zip(grid.flat, panels.items(), strict=False):
        scale = rows[0].claim.published.scale
        lows = [scale * min(courses[row.name].means) for row in rows]
        frame(axes, rows, theme, min(*lows, *(row.floor for row in rows)) - 5)
        axes.axhline(level * scale, color=theme.faint, linewidth=0.8, linestyle=LEVEL)
        shared = shared_suffix(rows)
        _lines(axes, rows, courses, level, shared, theme)
        counts = [courses[row.name].count for row in rows]
        note = f"{text.networks(min(counts), max(counts))} each"
        title(axes, subject, rows, shared, theme, size=8.2, note=note)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("training accuracy (%)", fontsize=7.5, color=theme.ink)
    _foot(picture, theme, level)
    return picture


def _lines(
    axes: Axes,
    rows: Sequence[Row],
    courses: Mapping[str, TimeCourse],
    level: float,
    shared: str,
    theme: Theme,
) -> None:
    """The courses of a panel, labelled at their ends."""
    ends = []
    for one in series_of(rows, theme, shared):
        course, scale = courses[one.rows[0].name], one.rows[0].claim.published.scale
        means = scale * np.asarray(course.means)
        errors = scale * np.asarray(course.standard_errors)
        marker = "o" if len(means) == 1 else ""
        axes.plot(
            course.steps, means, color=one.color, linestyle=one.dashes, linewidth=1.2,
            marker=marker, markersize=3, zorder=3,
        )  # fmt: skip
        if course.count > 1:
            low, high = means - errors, np.minimum(means + errors, scale)
            axes.fill_between(course.steps, low, high, color=one.color, alpha=0.2, linewidth=0)
        settled = course.settled(level)
        if settled is not None and len(means) > 1:
            axes.plot(
                settled, means[course.steps.index(settled)], "o", markersize=4.4,
                color=one.color, markerfacecolor=theme.paper, markeredgewidth=1.1, zorder=4,
            )  # fmt: skip
        ends.append((float(means[-1]), one))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", color=theme.faint, width=0.4, length=1.5)
    axes.set_xlim(1, max(course.steps[-1] for course in courses.values()) * 1.15)
    axes.set_xlabel("training updates", fontsize=7.5, color=theme.ink)
    end_labels(axes, ends)


def _foot(picture: Picture, theme: Theme, level: float) -> None:
    """What the marks are."""
    ink, faint = theme.ink, theme.faint
    legend(
        picture,
        {
            "mean": Line2D([], [], color=ink, linewidth=1.2),
            "± standard error": Patch(color=ink, alpha=0.2, linewidth=0),
            f"stays at {100 * level:g} %": Line2D(
                [], [], color=ink, marker="o", markersize=4.4, linestyle="", markerfacecolor="none"
            ),
            f"{100 * level:g} %": Line2D([], [], color=faint, linewidth=0.8, linestyle=LEVEL),
            "floor (chance)": Line2D([], [], color=faint, linewidth=0.8, linestyle=(0, (5, 3))),
            "ceiling": Line2D([], [], color=faint, linewidth=0.8, linestyle=(0, (1, 2))),
        },
        theme,
        columns=6 if picture.get_figwidth() > 6 else 3,
    )
