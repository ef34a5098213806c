"""Scores of trained networks with fewer iterations or functions, or after longer phases."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from farfield.analysis.internal import (
    recall_by_length,
    scores_by_iterations,
    scores_without_functions,
)
from farfield.core import Problems, stream
from farfield.nn import NTMLayer
from farfield.records import Record
from farfield.reports._exhibits._exhibit import (
    Evidence,
    Finding,
    LookedInto,
    Plate,
    network_exhibit,
)
from farfield.reports._exhibits._frames import Curve, Drawing, Panel
from farfield.reports._profile._series import networks_note, score_label, subtitle
from farfield.reports._profile._theme import FLOOR
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row

PROBLEMS: Final = 500
"""Number of problems of a regime that are scored."""
SEQUENCES: Final = 50
"""Number of sequences that are recalled after each length."""

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
LENGTHS: Final = (
    "Symbols recalled of {sequences} sequences, the same after every length of the dormant phase; "
    "a line for each network. Upright: the length of training; dashed: guessing."
)
CHANCE: Final = Curve(color="muted", line=FLOOR, width=0.8, name="floor (chance)")
"""Legend of the score of answers that ignore the problem."""

Courses = list[list[float]]
"""Score of each network at each number."""


@network_exhibit
def iterations_at_test(evidence: Evidence, *, numbers: tuple[int, ...]) -> Plate:
    """Score Neural Interpreters with fewer iterations than in training.

    The quantity is named `half`.

    Args:
        evidence: Networks with functions.
        numbers: Numbers of iterations, ascending, that of training last.
    """

    def score(run: LookedInto, problems: Problems, _: int) -> list[float]:
        return scores_by_iterations(run.network, run.task, problems, numbers)

    courses = _courses(evidence, score)
    half = numbers.index(numbers[-1] // 2)
    findings = tuple(
        evidence.finding(
            f"{_cell(row)}: share of the score that half of the iterations keep",
            "half",
            text.over_counted([100 * course[half] / course[-1] for course in own if course[-1]]),
        )
        for row, own in courses
    )
    drawing = _sweep(evidence, numbers, courses, "iterations")
    caption = ITERATIONS.format(problems=PROBLEMS)
    return _plate("iterations", "Fewer iterations", caption, courses, drawing, findings)


@network_exhibit
def functions_removed(evidence: Evidence, *, numbers: tuple[int, ...]) -> Plate:
    """Score Neural Interpreters after some of their functions have been removed.

    The quantity is named `step`.

    Args:
        evidence: Networks with functions.
        numbers: Numbers of functions removed, ascending from 0.
    """

    def score(run: LookedInto, problems: Problems, seed: int) -> list[float]:
        source = stream(seed, "functions removed")
        return scores_without_functions(run.network, run.task, problems, numbers, source)

    courses = _courses(evidence, score)
    findings = tuple(
        evidence.finding(
            f"{_cell(row)}: score lost with each function, at most",
            "step",
            text.over_counted([100 * max(-np.diff(course)) for course in own]),
        )
        for row, own in courses
    )
    drawing = _sweep(evidence, numbers, courses, "functions removed")
    caption = FUNCTIONS.format(problems=PROBLEMS)
    return _plate("functions", "Fewer functions", caption, courses, drawing, findings)


def _courses(
    evidence: Evidence, score: Callable[[LookedInto, Problems, int], list[float]]
) -> list[tuple[Row, Courses]]:
    """Score the networks of each row."""

    def course(row: Row, record: Record) -> list[float]:
        run = evidence.looked_into(row, record)
        return score(run, run.sets[row.claim.regime][:PROBLEMS], record.seed)

    return [(row, [course(row, record) for record in row.records]) for row in evidence.run]


def _plate(
    name: str,
    title: str,
    caption: str,
    courses: Sequence[tuple[Row, Courses]],
    drawing: Drawing,
    findings: tuple[Finding, ...],
) -> Plate:
    caption += BANDS if any(len(own) > 1 for _, own in courses) else ""
    return Plate(
        name=name, title=title, caption=caption + DASHED, draw=drawing, findings=findings
    )  # fmt: skip


def _cell(row: Row) -> str:
    """Name a cell, e.g. of `svhn-first1083`: `svhn (first 1,083)`."""
    column = re.sub(r"-first(\d+)$", lambda found: f" (first {int(found[1]):,})", row.claim.column)
    return f"{row.claim.row}, {column}"


def _sweep(
    evidence: Evidence, numbers: Sequence[int], courses: Sequence[tuple[Row, Courses]], label: str
) -> Drawing:
    """Lay out a curve for each row, named by the words that other rows do not share."""
    words = [_cell(row).split(", ") for row, _ in courses]
    common = [word for word in words[0] if all(word in other for other in words)]
    common = common if len(words) > 1 else []
    curves = []
    for number, (own, (row, found)) in enumerate(zip(words, courses, strict=True)):
        scores = row.claim.published.scale * np.array(found)
        mean, error = scores.mean(0), scores.std(0, ddof=min(1, len(scores) - 1))
        error /= np.sqrt(len(scores))
        curves.append(
            Curve(
                x=numbers,
                y=mean,
                low=mean - error if len(scores) > 1 else (),
                high=mean + error if len(scores) > 1 else (),
                color=number,
                marker="o",
                name=", ".join(word for word in own if word not in common),
            )
        )
    rows, counts = [row for row, _ in courses], [len(found) for _, found in courses]
    absent = [_cell(row) for row in evidence.report.rows if not row.records]
    note = ", ".join([*common, networks_note(counts, absent)])
    band = Curve(name="± standard error", width=6, color="0.80 faint")
    return Drawing(
        rows=[
            [
                Panel(
                    marks=tuple(curves),
                    title=evidence.report.title,
                    note=subtitle(rows, "", note),
                    x_ticks=numbers,
                    y_limits=(0, None),
                    x_label=label,
                    y_label=score_label(rows[0]),
                    floors=tuple({row.floor for row in rows}),
                )
            ]
        ],
        height=3.0,
        legend=(band, CHANCE) if max(counts) > 1 else (CHANCE,),
    )


@network_exhibit
def dormant_phases(evidence: Evidence, *, lengths: tuple[int, ...], trained: int) -> Plate:
    """Measure the recall of networks of the copying task by the length of the dormant phase.

    The quantities are named `least`, `most` and, of networks with slots, `remainder`.

    Args:
        evidence: Networks of the copying task.
        lengths: Lengths, ascending.
        trained: Length of training.
    """
    panels, findings = [], list[Finding]()
    beyond = np.array(lengths) > trained
    for row in evidence.run:
        found = [_recalled(evidence, row, record, lengths) for record in row.records]
        courses, slots, name = [course for course, _ in found], found[0][1], row.claim.row
        for quantity, choose in (("least", min), ("most", max)):
            values = [choose(np.array(course)[beyond]) for course in courses]
            what = f"{name}: {quantity} recall after any length above {trained}"
            findings.append(evidence.finding(what, quantity, text.over_counted(values)))
        if slots is not None:
            values = [spread_of_remainders(lengths, course, slots) for course in courses]
            what = (
                f"{name}: largest difference between lengths with one remainder by its "
                f"{slots} slots"
            )
            findings.append(evidence.finding(what, "remainder", text.over_counted(values)))
        panels.append(
            Panel(
                marks=tuple(
                    Curve(x=lengths, y=course, width=1.0, name="one network") for course in courses
                ),
                title=f"{name}, {text.budget(row)} of steps, {text.networks(len(courses))}",
                x_limits=(lengths[0], lengths[-1]),
                y_limits=(0, 104),
                floors=(row.floor,),
                edges=(trained,),
            )
        )
    return Plate(
        name="dormant-phases",
        title="Recall after every length",
        caption=LENGTHS.format(sequences=SEQUENCES),
        draw=Drawing(
            rows=[[panel] for panel in panels],
            height=0.9 + 1.0 * len(panels),
            note=evidence.report.title,
            shares="x",
            x_label="length of the dormant phase (steps)",
            y_label=score_label(evidence.run[0]),
            legend=(Curve(color=0, width=1.0, name="length of training"), CHANCE),
        ),
        findings=tuple(findings),
    )


def _recalled(
    evidence: Evidence, row: Row, record: Record, lengths: tuple[int, ...]
) -> tuple[list[float], int | None]:
    """Measure the recall of one network, in percent, and its number of slots if it has any."""
    run = evidence.looked_into(row, record)
    source = stream(record.seed, "dormant phases")
    recalled = recall_by_length(run.network, run.task, lengths, SEQUENCES, source)
    memories = [part for part in run.network.modules() if isinstance(part, NTMLayer)]
    return [100 * share for share in recalled], len(memories[0].memory) if memories else None


def spread_of_remainders(lengths: Sequence[int], course: Sequence[float], slots: int) -> float:
    """Find the largest difference between lengths that leave the same remainder.

    Args:
        lengths: The lengths.
        course: Value after each length.
        slots: Divisor of the lengths.
    """
    groups: dict[int, list[float]] = {}
    for length, value in zip(lengths, course, strict=True):
        groups.setdefault(length % slots, []).append(value)
    return max(max(group) - min(group) for group in groups.values())
