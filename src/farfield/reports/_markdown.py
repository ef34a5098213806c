"""The table as Markdown."""

from __future__ import annotations

from farfield.reports import _text as text
from farfield.reports._report import Report, Row


def markdown(report: Report) -> str:
    """The report as a Markdown page.

    Args:
        report: The table with what was found.
    """
    lines = [f"# {report.key}", "", f"{report.title}.", "", f"**{text.tally(report)}**", ""]
    for subject, rows in report.subjects.items():
        lines += [f"## {subject}", "", *markdown_rows(rows), ""]
    lines += [f"- {note}" for note in text.notes(report)]
    lines += [f"- Trained on: {place}." for place in report.environments]
    return "\n".join(lines) + "\n"


def markdown_rows(rows: list[Row]) -> list[str]:
    """Rows as the lines of a Markdown table.

    Args:
        rows: The rows.
    """
    headings = ["cell", *text.COLUMNS, "command"]
    aligns = ["---", *("---:" if name != "verdict" else "---" for name in text.COLUMNS), "---"]
    lines = [_line(headings), _line(aligns)]
    for row in rows:
        written = [write(row) for write in text.COLUMNS.values()]
        lines.append(_line([text.place(row), *written, f"`{row.command}`"]))
    return lines


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
