"""Scores against a number that the columns of a table name: samples, functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from matplotlib.figure import Figure as Picture

from farfield.metrics import mean_and_standard_error, t_interval, welch_interval
from farfield.reports import _text as text
from farfield.reports._axes import WIDTH, plain, score_label
from farfield.reports._plates import Finding, Plate
from farfield.reports._report import Report, Row
from farfield.reports._theme import Theme
from farfield.reproductions import AgainstColumns, Figure

CAPTION: Final = (
    "Score against the number of {label}, mean of the networks; bars: its 95 % interval. Apart: "
    "whether the 95 % intervals of both means do not overlap."
)


def curve_plate(figure: Figure, analysis: AgainstColumns, report: Report) -> Plate | None:
    """A curve for each row, and how two of them differ; `None` where nothing has been run.

    Args:
        figure: What the paper says.
        analysis: What the columns count, and which rows are compared.
        report: The figure's cells with what was found.
    """
    run = report.run
    if not run:
        return None
    cells = {(row.claim.row, _number(row)): row for row in run}
    findings = [
        Finding(
            what=f"{first} − {second} at {number} {analysis.label}",
            paper=figure.words("difference"),
            ours=_difference(cells[first, number], cells[second, number]),
        )
        for first, second in analysis.pairs
        for number in sorted({number for _, number in cells})
        if (first, number) in cells and (second, number) in cells
    ]
    return Plate(
        name="curve",
        title=f"Against the number of {analysis.label}",
        caption=CAPTION.format(label=analysis.label),
        draw=partial(_draw, run, analysis.label),
        findings=tuple(findings),
    )


def _number(row: Row) -> int:
    """The number that a column begins with."""
    return int(row.claim.column.split()[0].replace(",", ""))


def _difference(first: Row, second: Row) -> str:
    """Mean of one less that of the other, and whether their intervals are apart."""
    ours, theirs = (mean_and_standard_error(row.values) for row in (first, second))
    gap = text.signed(ours.mean - theirs.mean, 1)
    if min(ours.count, theirs.count) < 2:
        return f"{gap} (too few networks for an interval)"
    ends = [t_interval(row.values) for row in (first, second)]
    apart = ends[0].low > ends[1].high or ends[1].low > ends[0].high
    interval = welch_interval(ours, theirs).interval
    low, high = (text.signed(end, 1) for end in (interval.low, interval.high))
    return f"{gap} [{low}, {high}], {'apart' if apart else 'not apart'}"


def _draw(rows: Sequence[Row], label: str, theme: Theme) -> Picture:
    """A line for each row."""
    picture = Picture(figsize=(WIDTH, 2.8), facecolor=theme.paper, layout="constrained")
    axes = picture.subplots()
    plain(axes, theme, size=7)
    for place, name in enumerate(dict.fromkeys(row.claim.row for row in rows)):
        own = sorted((row for row in rows if row.claim.row == name), key=_number)
        means = [mean_and_standard_error(row.values).mean for row in own]
        halves = [t_interval(row.values).half_width if len(row.values) > 1 else 0 for row in own]
        axes.errorbar(
            [_number(row) for row in own], means, yerr=halves,
            color=theme.models[place % len(theme.models)], marker="o", markersize=3,
            linewidth=1.3, capsize=2, label=name,
        )  # fmt: skip
    axes.set_xticks(sorted({_number(row) for row in rows}))
    axes.set_xlabel(label, fontsize=7.5, color=theme.ink)
    axes.set_ylabel(score_label(rows[0]), fontsize=7.5, color=theme.ink)
    axes.legend(fontsize=6.5, frameon=False, labelcolor=theme.ink)
    return picture
