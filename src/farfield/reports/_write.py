"""The report as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from farfield.records import write_whole
from farfield.reports._html import html
from farfield.reports._markdown import markdown
from farfield.reports._profiles import png, profiles
from farfield.reports._report import Report


def write_report(
    report: Report, folder: Path, sheets: Mapping[str, bytes] | None = None
) -> list[Path]:
    """Write `report.html`, `report.md` and `profiles.png`, each whole or not at all.

    Args:
        report: The table with what was found.
        folder: Where to; made if need be.
        sheets: Pictures of sample problems (PNG), by the name of the task, for the page.

    Raises:
        StoreError: If a file cannot be written.
    """
    contents = {
        "report.html": html(report, sheets).encode(),
        "report.md": markdown(report).encode(),
        "profiles.png": png(profiles(report)),
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]
