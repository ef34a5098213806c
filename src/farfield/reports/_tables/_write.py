"""The report as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from farfield.core import expand_home
from farfield.records import write_whole
from farfield.reports._exhibits._plates import Plate
from farfield.reports._profile._profiles import png, profiles
from farfield.reports._profile._theme import LIGHT
from farfield.reports._report._report import Report
from farfield.reports._tables._html import PROFILES, html
from farfield.reports._tables._markdown import markdown


def write_report(
    report: Report,
    folder: Path,
    sheets: Mapping[str, bytes] | None = None,
    plates: Sequence[Plate] = (),
    *,
    vector: bool = False,
) -> list[Path]:
    """Write `report.html`, `report.md`, `profiles.png` and a PNG for each plate.

    Each is whole or not there at all. A table without results has no picture.

    Args:
        report: The table with what was found.
        folder: Where to; made if need be.
        sheets: Pictures of sample problems (PNG), by the name of the task, for the page.
        plates: What a figure measures beyond, from `illustrate`.
        vector: Whether the page has its pictures as SVG, for light and for dark screens, in place
            of the PNG; each is then drawn three times.

    Raises:
        StoreError: If a file cannot be written.
    """
    pictures = {PROFILES: png(profiles(report))} if report.run else {}
    pictures |= {one.name: png(one.draw(LIGHT)) for one in plates if one.draw}
    contents = {
        "report.html": html(report, sheets, plates, None if vector else pictures).encode(),
        "report.md": markdown(report, plates).encode(),
    }
    contents |= {f"{name}.png": picture for name, picture in pictures.items()}
    folder = expand_home(folder)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]
