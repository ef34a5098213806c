"""Time courses: accuracy or loss on training problems against updates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from farfield._text import fixed
from farfield.analysis import time_course
from farfield.analysis.internal import TimeCourse
from farfield.reports._exhibits._exhibit import Evidence, Plate, exhibit
from farfield.reports._exhibits._frames import Curve, Dots, Drawing, Label, Mark, Panel, in_rows
from farfield.reports._profile._series import (
    Series,
    networks_note,
    series_of,
    shared_suffix,
    subtitle,
)
from farfield.reports._profile._theme import CEILING, FLOOR, LIGHT, WIDTH
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Claim
from farfield.tasks import TRAINING, Environment

LINE: Final = (0.0, (5.0, 1.5, 1.0, 1.5))
"""Line of the level to reach."""
GAP: Final = 0.055
"""Smallest distance of two labels, as a share of an axis of losses."""
RING: Final = 20
"""Area of the ring at the update from which on a course stays at the level, square points."""
LABEL_GAP: Final = 5.2
"""Smallest distance of two labels, in points of a score in percent."""
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
        metric: Name of the metric.
        reached: Level to reach.
        falling: Whether training lowers the metric.
        scale: Shown value of a score of 1: 100 for percent.
        unit: Unit behind a number, e.g. `" %"`.
    """

    metric: str
    reached: float
    falling: bool
    scale: float
    unit: str

    @property
    def level(self) -> str:
        """Level to reach, e.g. `95 %`."""
        return f"{self.scale * self.reached:g}{self.unit}"

    def settled(self, course: TimeCourse) -> int | None:
        """Find the update from which on a course stays at the level; `None` if it does not.

        Args:
            course: The course.
        """
        return course.settled(self.reached, falling=self.falling)

    def updates(self, course: TimeCourse) -> str:
        """Write the number of updates of a course.

        Args:
            course: The course.
        """
        last = f"{fixed(self.scale * course.means[-1], 1 if self.unit else 3)}{self.unit}"
        networks = text.networks(course.count)
        if len(course.steps) == 1:
            return f"only the last point recorded: {last} ({networks})"
        settled = self.settled(course)
        middle = course.median_settled(self.reached, falling=self.falling)
        mean = f"not reached: {last} after {course.steps[-1]:,}"
        each = "not reached" if middle is None else f"{middle:,g}"
        return f"{mean if settled is None else f'{settled:,}'}; median {each} ({networks})"


Courses = Mapping[str, TimeCourse]
"""Courses by cell."""


@exhibit
def time_courses(
    evidence: Evidence, *, level: float, metric: str = "accuracy", falling: bool = False
) -> Plate | None:
    """Measure a metric of training problems against updates, and the updates until a level.

    The quantities are named after the figure's cells.

    Args:
        evidence: Rows with training curves.
        level: Level to reach: an accuracy in 0…1, or a loss.
        metric: `"accuracy"`, `"loss"`, or another metric that a run records of training problems.
        falling: Whether training lowers the metric, as it does the loss.
    """
    report = evidence.report
    courses = {row.name: time_course(row.records, metric) for row in report.rows if row.records}
    if not courses:
        return None
    claim = report.rows[0].claim
    scored = metric == claim.metric
    measure = _Measure(
        metric=metric,
        reached=level,
        falling=falling,
        scale=claim.published.scale if scored else 1.0,
        unit=" %" if scored and claim.published.unit == "percent" else "",
    )
    shown = [row for row in report.rows if row.name in courses]
    is_idle = all(_is_at_floor(row, courses[row.name], measure) for row in shown)
    fractions = [row.judgement.fraction or 0.0 for row in shown]
    which, below = "" if scored else f" {metric}", " or below" if falling else ""
    return Plate(
        name="time-courses",
        title=f"Training {metric} against updates",
        caption=(IDLE if is_idle else CAPTION).format(
            steps=text.shares(min(fractions), max(fractions)),
            metric=metric,
            beyond="below" if falling else "above",
            level=measure.level,
            others=_others(claim, is_drawn=not is_idle, falling=falling),
        ),
        draw=None if is_idle else _drawing(report, courses, measure),
        findings=tuple(
            evidence.finding(
                f"{row.claim.subject}, {row.claim.row}: updates until the mean{which} stays "
                f"at{below} {measure.level}",
                row.name,
                measure.updates(courses[row.name]),
            )
            for row in shown
        ),
    )


def _others(claim: Claim, *, is_drawn: bool, falling: bool) -> str:
    """Write the last sentences of the caption: lines of reference and the origin of the points."""
    acted = isinstance(claim.experiment.task, Environment)
    measured = EPISODES if acted else MEASURED
    lines = ACTIONS if acted else LOSSES if falling else SCORES
    return f"{lines} {measured}" if is_drawn else measured


def _drawing(report: Report, courses: Courses, measure: _Measure) -> Drawing:
    """Lay out one panel for each subject."""
    run = {
        subject: [row for row in rows if row.name in courses]
        for subject, rows in report.subjects.items()
        if any(row.name in courses for row in rows)
    }
    across = min(len(run), 2)
    panels = []
    for number, (subject, rows) in enumerate(run.items()):
        absent = [row.claim.row for row in report.subjects[subject] if row.name not in courses]
        panels.append(_panel(subject, rows, absent, courses, measure, is_left=number % across == 0))
    lines = in_rows(panels, across)
    width = WIDTH if across > 1 else 5.2
    legend = _legend(measure, courses)
    return Drawing(
        rows=lines,
        height=2.6 * len(lines) + 0.3,
        width=width,
        legend=legend,
        columns=6 if width > 6 else 3,
    )  # fmt: skip


def _panel(
    subject: str,
    rows: Sequence[Row],
    absent: Sequence[str],
    courses: Courses,
    measure: _Measure,
    *,
    is_left: bool,
) -> Panel:
    """Lay out the courses of a subject, with labels at their ends."""
    shared, idle = shared_suffix(rows), measure.scale * measure.reached
    last = max(course.steps[-1] for course in courses.values()) * 1.15
    marks: list[Mark] = [
        Curve(x=(1, last), y=(idle, idle), color="muted", line=LINE, width=0.8, name=measure.level)
    ]
    for one in series_of(rows, LIGHT, shared):
        marks += _course(one, courses[one.rows[0].name], measure)
    marks.sort(key=lambda mark: isinstance(mark, Dots))
    if all(_is_at_floor(row, courses[row.name], measure) for row in rows):
        marks.append(
            Label(text="untrained: all at chance", at=(0.3, 0.5), inside=True, color="muted")
        )  # fmt: skip
    means = [measure.scale * mean for row in rows for mean in courses[row.name].means]
    floors = {row.floor for row in rows}
    if measure.falling:
        evenly = max(map(_evenly, rows))
        low, high = 0.0, 1.08 * max(evenly, *means)
        floors, ceilings, ticks = {evenly}, set[float](), None
    else:
        low, high = min(*means, *floors) - 5, 1.035 * measure.scale
        ticks = [share * measure.scale for share in (0, 0.25, 0.5, 0.75, 1)]
        ceilings = {row.ceiling for row in rows if not math.isnan(row.ceiling)}
    note = networks_note([courses[row.name].count for row in rows], absent)
    unit = " (%)" if measure.unit else ""
    return Panel(
        marks=tuple(marks),
        title=subject,
        note=subtitle(rows, shared, note),
        x_label="training updates",
        y_label=f"training {measure.metric}{unit}" * is_left,
        x_limits=(1, last),
        y_limits=(low, high),
        y_ticks=None if ticks is None else [tick for tick in ticks if tick > low],
        x_ticks={10**power: f"{10**power:,}" for power in range(math.ceil(math.log10(last)))},
        logarithmic="x",
        floors=tuple(floors),
        ceilings=tuple(ceilings),
        gap=GAP * high if measure.falling else LABEL_GAP,
    )


def _course(one: Series, course: TimeCourse, measure: _Measure) -> list[Mark]:
    """Lay out one course, with a ring from which on it stays at the level."""
    means = measure.scale * np.asarray(course.means)
    errors = measure.scale * np.asarray(course.standard_errors)
    low, high = means - errors, means + errors
    if measure.falling:
        low = np.maximum(low, 0)
    else:
        high = np.minimum(high, measure.scale)
    color = LIGHT.models.index(one.color)
    idle = ", at chance" * _is_at_floor(one.rows[0], course, measure)
    has_band = course.count > 1
    settled = measure.settled(course)
    curve = Curve(
        x=course.steps,
        y=means,
        color=color,
        line=one.dashes,
        end=one.label + idle,
        marker=one.marker if len(means) == 1 else "",
        low=low if has_band else (),
        high=high if has_band else (),
    )
    end = Dots(x=course.steps[-1:], y=means[-1:], color=color, marker=one.marker)
    if settled is None or len(means) == 1:
        return [curve, end]
    at = means[course.steps.index(settled)]
    return [curve, end, Dots(x=[settled], y=[at], color=color, size=RING, is_filled=False)]


def _evenly(row: Row) -> float:
    """Compute the loss of answers that are held equally likely."""
    return -math.log(row.claim.experiment.task.chance(TRAINING))


def _is_at_floor(row: Row, course: TimeCourse, measure: _Measure) -> bool:
    """Look whether a course ends where it would without any training."""
    last = measure.scale * course.means[-1]
    if measure.falling:
        return last > (1 - LEARNED) * _evenly(row)
    return last < row.floor + LEARNED * (measure.scale - row.floor)


def _legend(measure: _Measure, courses: Courses) -> tuple[Curve | Dots, ...]:
    """Explain the marks that occur."""
    several = [course for course in courses.values() if len(course.steps) > 1]
    legend: list[Curve | Dots] = [Curve(name="mean")]
    if any(course.count > 1 for course in courses.values()):
        legend.append(Curve(color="0.80 faint", width=6, name="± standard error"))
    if any(measure.settled(course) is not None for course in several):
        stays = f"stays {'below' if measure.falling else 'at'} {measure.level}"
        legend.append(Dots(is_filled=False, size=RING, name=stays))
    floor = Curve(color="muted", line=FLOOR, width=0.8)
    if measure.falling:
        return (*legend, replace(floor, name="equally likely"))
    ceiling = Curve(color="muted", line=CEILING, width=0.8, name="ceiling")
    return (*legend, replace(floor, name="floor (chance)"), ceiling)
