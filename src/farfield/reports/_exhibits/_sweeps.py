"""Scores of trained networks with fewer iterations or functions, or after longer phases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.container import Container
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from farfield.analysis.internal import (
    recall_by_length,
    scores_by_iterations,
    scores_without_functions,
)
from farfield.core import Problems, stream
from farfield.nn import NTMLayer
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
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

CoursesSweeps = list[list[float]]
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
) -> list[tuple[Row, CoursesSweeps]]:
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
    courses: Sequence[tuple[Row, CoursesSweeps]],
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
            _draw_sweeps,
            report,
            numbers,
            courses,
            f"{name} {'removed' * (name == 'functions')}".strip(),
        ),
        findings=findings,
    )


def _place(row: Row) -> str:
    """Row and column in words, e.g. of `svhn-first1083`: `svhn (first 1,083)`."""
    column = re.sub(r"-first(\d+)$", lambda found: f" (first {int(found[1]):,})", row.claim.column)
    return f"{row.claim.row}, {column}"


@in_style
def _draw_sweeps(
    report: Report,
    numbers: Sequence[int],
    courses: Sequence[tuple[Row, CoursesSweeps]],
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


SEQUENCES: Final = 50
"""Sequences that are asked for after each length."""

CAPTION: Final = (
    "Symbols recalled of {sequences} sequences, the same after every length of the dormant phase; "
    "a line for each network. Upright: the length of training; dashed: guessing."
)

CoursesDormant = list[list[float]]
"""Recall after each length, in percent, of each network."""


@final
@dataclass(frozen=True, kw_only=True)
class DormantPhases:
    """Recall of networks of the copying task by the length of the dormant phase.

    The quantities are named `least`, `most` and, of networks with slots, `remainder`.

    Args:
        lengths: The lengths, ascending.
        trained: That of training.
    """

    lengths: tuple[int, ...]
    trained: int

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A line for each network of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        shown: list[tuple[Row, CoursesDormant]] = []
        findings: list[Finding] = []
        for row in report.run:
            looked = [_course(row, record, self, store) for record in row.records]
            courses = [course for course, _ in looked]
            shown.append((row, courses))
            findings += _findings(figure, row, self, courses, slots=looked[0][1])
        if not shown:
            return None
        return Plate(
            name="dormant-phases",
            title="Recall after every length",
            caption=CAPTION.format(sequences=SEQUENCES),
            draw=partial(_draw_dormant, shown, self, report.title),
            findings=tuple(findings),
        )


def _course(
    row: Row, record: Record, analysis: DormantPhases, store: Store
) -> tuple[list[float], int | None]:
    """Recall of one network, in percent, and its number of slots if it has any."""
    run = looked_into(row, record, store)
    place = stream(record.seed, "dormant phases")
    recalled = recall_by_length(run.network, run.task, analysis.lengths, SEQUENCES, place)
    memories = [part for part in run.network.modules() if isinstance(part, NTMLayer)]
    return [100 * share for share in recalled], len(memories[0].memory) if memories else None


def _findings(
    figure: Figure, row: Row, analysis: DormantPhases, courses: CoursesDormant, *, slots: int | None
) -> Iterator[Finding]:
    """Range of recall beyond the length of training, and among lengths of one remainder."""
    beyond = np.array(analysis.lengths) > analysis.trained
    name = row.claim.row
    for what, choose in (("least", min), ("most", max)):
        yield Finding(
            what=f"{name}: {what} recall after any length above {analysis.trained}",
            paper=figure.words(what),
            ours=text.over_counted([choose(np.array(course)[beyond]) for course in courses]),
        )
    if slots is not None:
        yield Finding(
            what=f"{name}: largest difference between lengths with one remainder by its "
            f"{slots} slots",
            paper=figure.words("remainder"),
            ours=text.over_counted(
                [spread_of_remainders(analysis.lengths, course, slots) for course in courses]
            ),
        )


def spread_of_remainders(lengths: Sequence[int], course: Sequence[float], slots: int) -> float:
    """Largest difference between lengths that leave the same remainder.

    Args:
        lengths: The lengths.
        course: What was measured after each.
        slots: What they are divided by.
    """
    groups: dict[int, list[float]] = {}
    for length, value in zip(lengths, course, strict=True):
        groups.setdefault(length % slots, []).append(value)
    return max(max(group) - min(group) for group in groups.values())


@in_style
def _draw_dormant(
    shown: Sequence[tuple[Row, CoursesDormant]], analysis: DormantPhases, title: str, theme: Theme
) -> Picture:
    """A strip for each row: recall against the length."""
    picture = Picture(figsize=(WIDTH, 0.9 + 1.0 * len(shown)))
    picture.suptitle(title, x=0.006, ha="left", fontsize=8.2, weight="bold")
    panels = picture.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (row, courses) in zip(panels, shown, strict=True):
        axes.axvline(analysis.trained, color=theme.models[0], linewidth=1.0)
        draw_floors(axes.axhline, [row], theme)
        for course in courses:
            axes.plot(analysis.lengths, course, color=theme.foreground, linewidth=1.0)
        axes.set(xlim=(analysis.lengths[0], analysis.lengths[-1]), ylim=(0, 104))
        axes.set_title(
            f"{row.claim.row}, {text.budget(row)} of steps, {text.networks(len(courses))}"
        )
    picture.supylabel(score_label(shown[0][0]))
    panels[-1].set_xlabel("length of the dormant phase (steps)")
    marks = {
        "one network": Line2D([], [], color=theme.foreground, linewidth=1.0),
        "length of training": Line2D([], [], color=theme.models[0], linewidth=1.0),
    }
    legend(picture, marks | floor_mark(theme), columns=3)
    return picture
