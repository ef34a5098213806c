"""Scores against distances, numbers and settings, from records alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final, final

from matplotlib.artist import Artist
from matplotlib.container import Container
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import measure_of, welch_interval
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
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
from farfield.reports._profile._profiles import profiles
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Verdict

LOWEST: Final = (
    "Filled: means over our networks, with their 95 % intervals; open: as published. Hardest: the "
    "regime of a task that lies farthest from training."
)


@final
@dataclass(frozen=True, kw_only=True)
class Generalization:
    """Lowest score of one row over all regimes, and highest of the others in the hardest.

    The quantities are named `lowest` and `others`.

    Args:
        row: The row as published, e.g. `"ESBN + TCN"`.
    """

    row: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The lowest mean of the row, and the highest of the others where it is hardest.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del store
        own = [row for row in report.rows if row.claim.row == self.row]
        run = [row for row in own if row.records]
        if not run:
            return None
        others = []
        for subject, rows in report.subjects.items():
            farthest = max(row.distance for row in rows)
            hardest = [row for row in rows if row.distance == farthest and row.records]
            rivals = [row for row in hardest if row not in own]
            if rivals:
                others.append(f"{subject} {_ours(max(rivals, key=_mean))}")
        findings = (
            Finding(
                what=f"{self.row}: lowest mean of all regimes",
                paper=figure.words("lowest"),
                ours=f"{_ours(min(run, key=_mean))}, of {len(run)} of {len(own)} regimes run",
            ),
            Finding(
                what="the best of the other rows in the hardest regime of each task",
                paper=figure.words("others"),
                ours="; ".join(others) or text.MISSING,
            ),
        )
        return Plate(
            name="generalization",
            title="How far they hold",
            caption=LOWEST,
            draw=partial(profiles, report),
            findings=findings,
        )


def _mean(row: Row) -> float:
    return row.judgement.ours.mean if row.judgement.ours else float("nan")


def _ours(row: Row) -> str:
    """Mean and standard error, and whose, e.g. `95.0 ± 0.7 (10) (ESBN + TCN, m = 95)`."""
    return f"{text.ours(row)} {text.place(row)}"


COLUMNS_CAPTION: Final = (
    "Score against the number of {label}{of}; dashed: answers that ignore the problem."
)
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
            caption=COLUMNS_CAPTION.format(
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


SETTINGS_CAPTION: Final = (
    "Score against each setting, mean of the networks, with its 95 % interval where there are "
    "several; dashed: answers that ignore the problem. Best: the setting with the highest mean, "
    "and what it gains over the first."
)
SEPARATOR: Final = " = "
"""Text between a setting and its number in the name of a column."""


@final
@dataclass(frozen=True, kw_only=True)
class ScoresBySetting:
    """Scores against settings, a panel for each, of columns such as `σ = 0.25`.

    The quantities have the name of the row and of the setting, e.g. `BN/σ`.
    """

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A curve for each row and setting; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del store
        if not report.run:
            return None
        panels: dict[str, list[Row]] = {}
        for row in report.run:
            subject, (setting, _) = row.claim.subject, _setting(row)
            panels.setdefault(f"{subject}: {setting}", []).append(row)
        return Plate(
            name="settings",
            title="Scores by setting",
            caption=SETTINGS_CAPTION,
            draw=partial(draw_settings, panels),
            findings=tuple(_findings(figure, panels)),
        )


def _findings(figure: Figure, panels: dict[str, list[Row]]) -> Iterator[Finding]:
    """The best setting of each row of each panel."""
    for head, rows in panels.items():
        for name, own in _curves(rows).items():
            means = [mean_and_standard_error(row.values).mean for row in own]
            best = max(range(len(own)), key=means.__getitem__)
            yield Finding(
                what=f"{head}, {name}: best",
                paper=figure.words(f"{name}/{_setting(own[best])[0]}"),
                ours=f"{own[best].claim.column}, {text.signed(means[best] - means[0], 1)}",
            )


def _setting(row: Row) -> tuple[str, float]:
    """Name and number of the setting of a row."""
    name, _, number = row.claim.column.partition(SEPARATOR)
    return name, float(number)


def _curves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each name, by the number of their setting."""
    names = dict.fromkeys(row.claim.row for row in rows)
    return {
        name: sorted((row for row in rows if row.claim.row == name), key=_setting) for name in names
    }


@in_style
def draw_settings(panels: dict[str, list[Row]], theme: Theme) -> Picture:
    """A panel for each setting of each set of problems, a line in it for each row.

    Args:
        panels: The cells of each panel, by its title.
        theme: Colors.
    """
    picture = Picture(figsize=(WIDTH, 2.4 * -(-len(panels) // 2)))
    grid = picture.subplots(-(-len(panels) // 2), 2, squeeze=False, sharey="row")
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (head, rows) in zip(grid.flat, panels.items(), strict=False):
        draw_floors(axes.axhline, rows, theme)
        numbers = sorted({_setting(row)[1] for row in rows})
        for place, (name, own) in enumerate(_curves(rows).items()):
            means = [mean_and_standard_error(row.values).mean for row in own]
            errors = errors_of(own)
            axes.errorbar(
                [numbers.index(_setting(row)[1]) for row in own], means,
                yerr=errors,
                color=theme.models[place % len(theme.models)], marker="o", markersize=3,
                linewidth=1.3, capsize=2, label=name,
            )  # fmt: skip
        axes.set_xticks(range(len(numbers)), [f"{number:g}" for number in numbers])
        axes.set_title(head)
        axes.set_xlabel(_setting(rows[0])[0])
    for axes in grid[:, 0]:
        axes.set_ylabel(score_label(next(iter(panels.values()))[0]))
    handles, names = picture.axes[0].get_legend_handles_labels()
    legend(picture, dict(zip(names, handles, strict=True)), columns=len(names))
    return picture
