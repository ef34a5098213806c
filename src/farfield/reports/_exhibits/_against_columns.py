"""Scores against the number in the column's name, e.g. of samples or functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final, final

from matplotlib.artist import Artist
from matplotlib.container import Container
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from farfield.metrics import mean_and_standard_error, measure_of, welch_interval
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import (
    WIDTH,
    draw_floors,
    errors_of,
    floor_mark,
    legend,
    networks_note,
    score_label,
    states_of,
    title,
)
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Verdict

CAPTION: Final = "Score against the number of {label}{of}; dashed: answers that ignore the problem."
SEVERAL: Final = ", mean of the networks, with its 95 % interval where there are several"
ONE: Final = ", of one network each"
APART: Final = 0.06
"""Offset between rows, in steps of the axis, so that their intervals do not cover each other."""
PAIRED: Final = " Apart: whether the 95 % intervals of both means do not overlap."


@final
@dataclass(frozen=True, kw_only=True)
class AgainstColumns:
    """Scores against the number that each column begins with, and differences of pairs of rows.

    The quantity is named `difference`.

    Args:
        label: What the columns count, e.g. `"training samples"`.
        pairs: Rows that are compared, the one whose scores are reduced first.
        apart_to: A goal of our own: the first of a pair is ahead in every column, and in those up
            to this number the 95 % intervals of both do not overlap. `None` for no goal.
    """

    label: str
    pairs: tuple[tuple[str, str], ...] = ()
    apart_to: int | None = None

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A curve for each row, and how two of them differ; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del store
        run = report.run
        if not run:
            return None
        cells = {(row.claim.row, _number(row)): row for row in run}
        findings = [
            Finding(
                what=f"{first} − {second} at {number} {self.label}",
                paper=figure.words("difference"),
                ours=_difference(cells[first, number], cells[second, number]),
            )
            for first, second in self.pairs
            for number in sorted({number for _, number in cells})
            if (first, number) in cells and (second, number) in cells
        ]
        if self.apart_to is not None:
            findings += [
                _goal(pair, self.label, self.apart_to, report)
                for pair in self.pairs
                if {row for row, _ in cells} >= set(pair)
            ]
        return Plate(
            name="curve",
            title=f"Against the number of {self.label}",
            caption=CAPTION.format(
                label=self.label, of=SEVERAL if any(len(row.values) > 1 for row in run) else ONE
            )
            + (PAIRED if self.pairs else ""),
            draw=partial(_draw, report, self.label),
            findings=tuple(findings),
        )


def _goal(pair: tuple[str, str], label: str, apart_to: int, report: Report) -> Finding:
    """Finding on the goal that one row is above another everywhere."""
    first, second = (
        {_number(row): row for row in report.rows if row.claim.row == name} for name in pair
    )
    numbers = sorted(first.keys() & second.keys())
    near = [number for number in numbers if number <= apart_to]
    above = [number for number in numbers if _lead(first[number], second[number]) > 0]
    apart = [number for number in near if number in above and _apart(first[number], second[number])]
    verdict = Verdict.UNCONFIRMED if (above, apart) == (numbers, near) else Verdict.MISSED
    if any(_is_open(cells[number]) for cells in (first, second) for number in numbers):
        verdict = Verdict.UNDERPOWERED
    return Finding(
        what=f"our goal: {pair[0]} above {pair[1]} at every number of {label}, "
        f"and apart up to {apart_to}",
        paper="",
        ours=f"{verdict}: above at {len(above)} of {len(numbers)}, "
        f"apart at {len(apart)} of {len(near)}",
    )


def _is_open(row: Row) -> bool:
    return row.judgement.verdict in (Verdict.UNDERPOWERED, Verdict.NOT_RUN, Verdict.NEEDS_DATA)


def _lead(first: Row, second: Row) -> float:
    """Mean of one row less that of another; 0 where one was not run."""
    if not (first.values and second.values):
        return 0.0
    return mean_and_standard_error(first.values).mean - mean_and_standard_error(second.values).mean


def _apart(first: Row, second: Row) -> bool:
    """True if the 95 % intervals of two means do not overlap."""
    one, other = first.interval, second.interval
    if one is None or other is None:
        return False
    return one.low > other.high or other.low > one.high


def _number(row: Row) -> int:
    """The number that a column begins with."""
    return int(row.claim.column.split()[0].replace(",", ""))


def _difference(first: Row, second: Row) -> str:
    """Mean of one less that of the other, and whether their intervals are apart."""
    ours, theirs = (mean_and_standard_error(row.values) for row in (first, second))
    gap = text.signed(_lead(first, second), 1)
    if min(ours.count, theirs.count) < 2:
        return f"{gap} (too few networks for an interval)"
    claim = first.claim
    reach = claim.published.scale * measure_of(claim.metric).range
    interval = welch_interval(ours, theirs).interval.cut(-reach, reach)
    low, high = (text.signed(end, 1) for end in (interval.low, interval.high))
    return f"{gap} [{low}, {high}], {'apart' if _apart(first, second) else 'not apart'}"


@in_style
def _draw(report: Report, label: str, theme: Theme) -> Picture:
    """A line for each row."""
    picture = Picture(figsize=(WIDTH, 3.0))
    axes, rows, states = picture.subplots(), report.run, states_of(report.run)
    draw_floors(axes.axhline, rows, theme)
    numbers = sorted({_number(row) for row in rows})
    step = min((after - one for one, after in pairwise(numbers)), default=1)
    marks: dict[str, Artist | Container] = {}
    for place, (name, state) in enumerate(states.items()):
        own = sorted((row for row in rows if row.claim.row == name), key=_number)
        means = [mean_and_standard_error(row.values).mean for row in own]
        errors = errors_of(own)
        aside = APART * step * (place - (len(states) - 1) / 2)
        marks[name + state] = axes.errorbar(
            [_number(row) + aside for row in own], means, yerr=errors,
            color=theme.models[place % len(theme.models)], marker="o", markersize=3,
            linewidth=1.3, capsize=2,
        )  # fmt: skip
    if any(len(row.values) > 1 for row in rows):
        marks["95 % interval"] = Line2D([], [], color=theme.foreground, linestyle="", marker="|")
    absent = [row.claim.row for row in report.rows if row.claim.row not in states]
    counts = [len(row.values) for row in rows]
    note = networks_note(counts, [*dict.fromkeys(absent)])
    title(axes, report.title, rows, "", theme, note=note)
    axes.set_xticks(numbers)
    axes.set_xlabel(label)
    axes.set_ylabel(score_label(rows[0]))
    legend(picture, marks | floor_mark(theme), columns=4)
    return picture
