"""Tables, statements and reports as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Final

from farfield._text import cell_words, one_line
from farfield.reports._exhibits._exhibit import FINDING_HEAD, Finding, Plate, by_quantity
from farfield.reports._report import _text as text
from farfield.reports._report._report import Finder, Report, Row
from farfield.reproductions import Statement
from farfield.reproductions.internal import judge_statement


def markdown(report: Report, plates: Sequence[Plate] = ()) -> str:
    """Format the report as a Markdown page; its pictures lie beside it.

    Args:
        report: The table with its results.
        plates: Further measurements of a figure, from `illustrate`.
    """
    lines = [
        f"# {report.key}",
        "",
        f"{as_words(report.title)}.",
        "",
        f"**{text.tally(report)}**",
        "",
    ]
    for plate in plates:
        lines += _plate(plate)
    for subject, rows in report.subjects.items():
        lines += [f"## {cell_words(subject)}", "", *markdown_rows(rows), ""]
    lines += [f"- {note}" for note in text.notes(report)]
    lines += [f"- Trained on: {as_words(place)}." for place in report.environments]
    return "\n".join(lines) + "\n"


def _plate(plate: Plate) -> list[str]:
    """Write heading, picture, caption and findings of a plate."""
    picture = f"{plate.name}.png" if plate.draw else None
    shown = exhibit_lines(plate.title, picture, plate.caption, plate.findings)
    return [f"## {cell_words(plate.title)}", "", *shown]


def exhibit_lines(
    title: str, picture: str | None, caption: str, findings: Sequence[Finding]
) -> list[str]:
    """Write picture, caption and findings as lines of Markdown in which no text is markup.

    Args:
        title: Title of the picture.
        picture: Where it lies; `None` for none.
        caption: How to read it.
        findings: Measurements.
    """
    lines = [f"![{as_words(title)}]({picture})", ""] if picture else []
    lines += [_as_paragraph(caption), ""]
    if findings:
        table = [FINDING_HEAD, ("---",) * len(FINDING_HEAD)]
        shown = by_quantity(findings)
        table += [tuple(as_words(cell) for cell in finding.cells) for finding in shown]
        lines += [*map(table_line, table), ""]
    return lines


def markdown_rows(rows: list[Row]) -> list[str]:
    """Return rows as the lines of a Markdown table.

    Args:
        rows: The rows.
    """
    headings = ["cell", *text.COLUMNS, "command"]
    aligns = ["---", *("---:" if name != "verdict" else "---" for name in text.COLUMNS), "---"]
    lines = [_line(headings), _line(aligns)]
    for row in rows:
        written = [write(row) for write in text.COLUMNS.values()]
        command = one_line(row.command).replace("|", "\\|")
        lines.append(_line([*map(cell_words, (text.label(row), *written)), f"`{command}`"]))
    return lines


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table_line(cells: Iterable[str]) -> str:
    """Format a row of a Markdown table.

    Args:
        cells: Its cells, in which nothing is markup that is not meant.
    """
    return f"| {' | '.join(cells)} |"


def as_words(found: str) -> str:
    """Write a recorded text as words in one line of Markdown: nothing in it is markup.

    Args:
        found: Any text.
    """
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in found).split())
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", html.escape(line, quote=False))


def _as_paragraph(found: str) -> str:
    """Format words as a line that starts a paragraph, whose beginning could be markup too."""
    return re.sub(r"^(\d*)(?=[.)#+=-])", r"\1\\", as_words(found))


INTRODUCTION: Final = (
    "Numbers and orders from the paper's text, of several cells at once, each with the most steps. "
    "Interval: 95 % of the values of the number with means that our networks allow. Published "
    "cells: the number that follows from the published tables."
)
HEAD: Final = ("statement", "the paper", "published cells", "ours [95 %]", "verdict", "why")


def statement_lines(statements: Iterable[Statement], find: Finder) -> list[str]:
    """Return a line of a table for each statement, under its head; depends on the records alone.

    Args:
        statements: Statements to judge.
        find: The records of a claim.
    """
    table = [HEAD, ("---",) * len(HEAD)]
    for one in statements:
        judged = judge_statement(one, find, has_data=lambda _: False)
        paper = f"“{one.quote}” ({one.where})"
        about = f"{one.about}; {one.note}" if one.note else one.about
        cells = (about, paper, judged.published, judged.ours, judged.verdict.value, judged.reason)
        table.append(tuple(as_words(cell) or "–" for cell in cells))
    return [table_line(line) for line in table]
