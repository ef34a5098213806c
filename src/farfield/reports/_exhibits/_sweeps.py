"""Scores of Neural Interpreters with fewer iterations or functions than in training."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.container import Container
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch

from farfield.analysis import scores_by_iterations, scores_without_functions
from farfield.core import Problems, stream
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import (
    WIDTH,
    draw_floors,
    floor_mark,
    legend,
    networks_note,
    score_label,
    title,
)
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

PROBLEMS: Final = 500
"""Problems that are scored, the first of a regime."""

Courses = list[list[float]]
"""A score for each number, of each network."""

ITERATIONS: Final = (
    "Score on {problems} problems of each regime against the number of function iterations at "
    "test; the network was trained with as many as stand last."
)
FUNCTIONS: Final = (
    "Score on {problems} problems against the number of functions removed at test, drawn at "
    "random once for each network."
)
DASHED: Final = " Dashed: answers that ignore the problem."
BANDS: Final = " Bands: standard error over networks."


@final
@dataclass(frozen=True, kw_only=True)
class IterationsAtTest:
    """Scores of Neural Interpreters with fewer iterations than in training.

    The quantity is named `half`.

    Args:
        numbers: Numbers of iterations, ascending, that of training last.
    """

    numbers: tuple[int, ...]

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Scores against the number of iterations; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None

        def sweep(run: LookedInto, problems: Problems, _: int) -> list[float]:
            return scores_by_iterations(run.network, run.task, problems, self.numbers)

        courses = _courses(report, store, sweep)
        half = self.numbers.index(self.numbers[-1] // 2)
        findings = tuple(
            Finding(
                what=f"{_place(row)}: share of the score that half of the iterations keep",
                paper=figure.words("half"),
                ours=text.over_counted(
                    [100 * course[half] / course[-1] for course in found if course[-1]]
                ),
            )
            for row, found in courses
        )
        return _plate(
            report, "iterations", "Fewer iterations", ITERATIONS, self.numbers, courses, findings
        )


@final
@dataclass(frozen=True, kw_only=True)
class FunctionsRemoved:
    """Scores of Neural Interpreters after some of their functions have been removed.

    The quantity is named `step`.

    Args:
        numbers: Numbers of functions removed, ascending from 0.
    """

    numbers: tuple[int, ...]

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Scores against the number of functions removed; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None

        def sweep(run: LookedInto, problems: Problems, seed: int) -> list[float]:
            place = stream(seed, "functions removed")
            return scores_without_functions(run.network, run.task, problems, self.numbers, place)

        courses = _courses(report, store, sweep)
        findings = tuple(
            Finding(
                what=f"{_place(row)}: score lost with each function, at most",
                paper=figure.words("step"),
                ours=text.over_counted([100 * max(-np.diff(course)) for course in found]),
            )
            for row, found in courses
        )
        return _plate(
            report, "functions", "Fewer functions", FUNCTIONS, self.numbers, courses, findings
        )


def _courses(
    report: Report, store: Store, sweep: Callable[[LookedInto, Problems, int], list[float]]
) -> list[tuple[Row, Courses]]:
    """Scores of each row that was run, network by network."""
    found = []
    for row in report.rows:
        courses = []
        for record in row.records:
            run = looked_into(row, record, store)
            courses.append(sweep(run, run.sets[row.claim.regime][:PROBLEMS], record.seed))
        if courses:
            found.append((row, courses))
    return found


def _plate(
    report: Report,
    name: str,
    head: str,
    caption: str,
    numbers: Sequence[int],
    courses: Sequence[tuple[Row, Courses]],
    findings: tuple[Finding, ...],
) -> Plate | None:
    if not courses:
        return None
    return Plate(
        name=name,
        title=head,
        caption=caption.format(problems=PROBLEMS)
        + (BANDS if any(len(found) > 1 for _, found in courses) else "")
        + DASHED,
        draw=partial(
            _draw, report, numbers, courses, f"{name} {'removed' * (name == 'functions')}".strip()
        ),
        findings=findings,
    )


def _place(row: Row) -> str:
    """Row and column in words, e.g. of `svhn-first1083`: `svhn (first 1,083)`."""
    column = re.sub(r"-first(\d+)$", lambda found: f" (first {int(found[1]):,})", row.claim.column)
    return f"{row.claim.row}, {column}"


@in_style
def _draw(
    report: Report,
    numbers: Sequence[int],
    courses: Sequence[tuple[Row, Courses]],
    label: str,
    theme: Theme,
) -> Picture:
    """A line for each row, named at the foot by what others do not share."""
    picture = Picture(figsize=(WIDTH, 3.0))
    axes, rows = picture.subplots(), [row for row, _ in courses]
    draw_floors(axes.axhline, rows, theme)
    words = [_place(row).split(", ") for row in rows]
    common = [word for word in words[0] if all(word in others for others in words)]
    common = common if len(words) > 1 else []
    marks: dict[str, Artist | Container] = {}
    for number, (own, (row, found)) in enumerate(zip(words, courses, strict=True)):
        color = theme.models[number % len(theme.models)]
        scores = row.claim.published.scale * np.array(found)
        mean = scores.mean(0)
        name = ", ".join(word for word in own if word not in common)
        (marks[name],) = axes.plot(
            numbers, mean, color=color, marker="o", markersize=3, linewidth=1.3
        )
        if len(scores) > 1:
            error = scores.std(0, ddof=1) / np.sqrt(len(scores))
            axes.fill_between(numbers, mean - error, mean + error, color=color, alpha=0.2, lw=0)
    counts = [len(found) for _, found in courses]
    if max(counts) > 1:
        marks["± standard error"] = Patch(color=theme.foreground, alpha=0.2, linewidth=0)
    absent = [_place(row) for row in report.rows if row not in rows]
    note = ", ".join([*common, networks_note(counts, absent)])
    title(axes, report.title, rows, "", theme, note=note)
    axes.set_xticks(numbers)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(label)
    axes.set_ylabel(score_label(rows[0]))
    legend(picture, marks | floor_mark(theme), columns=4)
    return picture
