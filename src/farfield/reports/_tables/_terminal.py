"""The table on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from farfield.reports._exhibits._exhibit import FINDING_HEAD, Plate, by_quantity
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Verdict

STYLES: Final[dict[Verdict, str]] = {
    Verdict.REPRODUCED: "green",
    Verdict.COMPATIBLE: "yellow",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.DIRECTION_ONLY: "yellow",
    Verdict.NOT_REPRODUCED: "red",
    Verdict.UNDERPOWERED: "cyan",
    Verdict.REACHED: "green",
    Verdict.UNCONFIRMED: "yellow",
    Verdict.BY_HAND: "yellow",
    Verdict.MISSED: "red",
    Verdict.MEASURED: "",
    Verdict.DIVERGED: "magenta",
    Verdict.NEEDS_DATA: "dim",
    Verdict.NOT_RUN: "dim",
}
"""Style of each verdict; the word says the same."""


def terminal(report: Report, plates: Sequence[Plate] = ()) -> RenderableType:
    """Return the report for a rich console: a line per cell, more on a narrow screen.

    Args:
        report: The table with its results.
        plates: Further measurements of a figure, from `illustrate`.
    """
    return _Terminal(report, tuple(plates))


@final
@dataclass(frozen=True)
class _Terminal:
    """A report that lays itself out for the width there is."""

    report: Report
    plates: tuple[Plate, ...]

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        report = self.report
        yield Text(f"{report.key}: {report.title}", style="bold")
        grid = _wide(report)
        unbounded = options.update(max_width=10_000)
        fits = Measurement.get(console, unbounded, grid).maximum <= options.max_width
        yield grid if fits else _narrow(report, options.max_width)
        yield Text()
        for plate in self.plates:
            yield Text(plate.title, style="bold")
            yield _findings(plate)
            yield Text()
        yield Text(text.tally(report), style="bold")
        yield Text(f"One cell alone, e.g.: {report.rows[0].command}", style="dim")
        for note in text.notes(report):
            yield Text(note, style="dim")


def _findings(plate: Plate) -> Grid:
    """Return one line for each quantity, folded where the screen is narrow."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in FINDING_HEAD:
        grid.add_column(heading, overflow="fold")
    for finding in by_quantity(plate.findings):
        grid.add_row(*map(Text, finding.cells))
    return grid


def _wide(report: Report) -> Grid:
    """Return one line for each cell."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("cell", no_wrap=True)
    for heading in text.COLUMNS:
        grid.add_column(heading, justify="left" if heading == "verdict" else "right", no_wrap=True)
    for subject, rows in report.subjects.items():
        grid.add_row()
        grid.add_row(Text(subject, style="bold"))
        for row in rows:
            cells = [Text(f"  {text.label(row)}")]
            for heading, write in text.COLUMNS.items():
                style = STYLES[row.judgement.verdict] if heading == "verdict" else ""
                cells.append(Text(write(row), style=style))
            grid.add_row(*cells)
    return grid


def _narrow(report: Report, width: int) -> Group:
    """Return two lines for each cell, three if its name has no room beside the numbers."""
    lines = {row.name: _two_lines(row) for row in report.rows}
    headings = ("cell", "published ± SE (n)", "ours ± SE (n)", "verdict")
    every = [headings, *(line for pair in lines.values() for line in pair)]
    widths = [max(len(line[column]) for line in every) for column in range(len(headings))]
    names_apart = len(_padded(headings, widths)) > width
    if names_apart:
        widths[0] = len(headings[0])
    parts: list[RenderableType] = [Text(_padded(headings, widths), style="dim")]
    for subject, rows in report.subjects.items():
        levels = dict.fromkeys((text.floor(row), text.ceiling(row)) for row in rows)
        limits = "; ".join(f"floor {floor}, ceiling {ceiling}" for floor, ceiling in levels)
        parts += [Text(), Text.assemble((subject, "bold"), (f"  {limits}", "dim"))]
        for row in rows:
            (name, *numbers), second = lines[row.name]
            if names_apart:
                parts.append(Text(name))
                name = ""
            upper = Text(_padded((name, *numbers), widths))
            upper.stylize(STYLES[row.judgement.verdict], len(upper) - widths[-1])
            parts += [upper, Text(_padded(second, widths), style="dim")]
    return Group(*parts)


def _two_lines(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the two lines of a cell."""
    first = (text.label(row), text.published(row), text.marked_ours(row), text.verdict(row))
    steps = f"{text.budget(row)} of steps" if row.records else ""
    spent = f"{text.seconds(row)} s" if row.records else ""
    return first, ("", steps, text.difference(row) if row.records else "", spent)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
