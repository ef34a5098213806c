"""The report as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from farfield.core import expand_home
from farfield.records import write_whole
from farfield.reports._exhibits._plates import Plate
from farfield.reports._profile._profiles import png, profiles
from farfield.reports._profile._theme import LIGHT
from farfield.reports._tables._html import html
from farfield.reports._tables._markdown import markdown
from farfield.reports._tables._report import Report


def write_report(
    report: Report,
    folder: Path,
    sheets: Mapping[str, bytes] | None = None,
    plates: Sequence[Plate] = (),
) -> list[Path]:
    """Write `report.html`, `report.md`, `profiles.png` and a PNG for each plate.

    Each is whole or not there at all.

    Args:
        report: The table with what was found.
        folder: Where to; made if need be.
        sheets: Pictures of sample problems (PNG), by the name of the task, for the page.
        plates: What a figure measures beyond, from `illustrate`.

    Raises:
        StoreError: If a file cannot be written.
    """
    contents = {
        "report.html": html(report, sheets, plates).encode(),
        "report.md": markdown(report, plates).encode(),
        "profiles.png": png(profiles(report)),
    }
    contents |= {f"{one.name}.png": png(one.draw(LIGHT)) for one in plates if one.draw}
    folder = expand_home(folder)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]
