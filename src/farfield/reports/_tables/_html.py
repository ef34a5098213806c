"""The report as one HTML file that needs nothing else, and as files."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, final

from farfield.core.internal import expand_home, printable
from farfield.records.internal import write_whole
from farfield.reports._exhibits._exhibit import FINDING_HEAD, Plate, by_quantity
from farfield.reports._profile._pictures import png, profiles, svg
from farfield.reports._profile._theme import DARK, LIGHT, Theme
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report
from farfield.reports._tables._grid import DOTS, STRIP, small_pictures
from farfield.reports._tables._markdown import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PROFILES: Final = "profiles"
"""Name of the picture of all rows."""


def html(
    report: Report,
    sheets: Mapping[str, bytes] | None = None,
    plates: Sequence[Plate] = (),
    pictures: Mapping[str, bytes] | None = None,
) -> str:
    """Format the report as a page: style, pictures and all in one file.

    Args:
        report: The table with its results.
        sheets: Pictures of sample problems (PNG), by the name of the task.
        plates: Further measurements of a figure, from `illustrate`.
        pictures: Pictures as PNG by name of the plate, the profiles by `PROFILES`; drawn as SVG
            for light and for dark screens, which takes longer, if `None`.
    """
    import jinja2  # noqa: PLC0415 — a tenth of a second to import

    shown: dict[str, Callable[[Theme], Picture]]
    shown = {PROFILES: partial(profiles, report)} if report.run else {}
    shown |= {one.name: one.draw for one in plates if one.draw}
    drawn = {
        name: _drawn(draw) if pictures is None else _Addresses(light=_data("png", pictures[name]))
        for name, draw in shown.items()
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("farfield.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        finalize=_printable,
    )
    page = environment.get_template("report.html.jinja")
    return page.render(
        report=report,
        columns=text.COLUMNS,
        label=text.label,
        small_pictures=small_pictures,
        notes=[*text.notes(report), STRIP, DOTS],
        light=LIGHT,
        dark=DARK,
        plates=[
            {"plate": one, "findings": by_quantity(one.findings), "picture": drawn.get(one.name)}
            for one in plates
        ],
        finding_head=FINDING_HEAD,
        profile=drawn.get(PROFILES),
        sheets={name: _data("png", picture) for name, picture in (sheets or {}).items()},
    )


@final
class _Addresses(NamedTuple):
    """Encode a picture in addresses, for light screens and, if there is one, for dark screens."""

    light: str
    dark: str = ""


def _drawn(draw: Callable[[Theme], Picture]) -> _Addresses:
    """Return a picture as SVG for light and for dark screens."""
    return _Addresses(*(_data("svg+xml", svg(draw(theme))) for theme in (LIGHT, DARK)))


def _printable(value: object) -> object:
    """Return text without signs that turn the reading order; all others stay."""
    return printable(value) if type(value) is str else value


def _data(kind: str, content: bytes) -> str:
    """Format an address that holds a picture."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


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
        report: The table with its results.
        folder: Where to; made if need be.
        sheets: Pictures of sample problems (PNG), by the name of the task, for the page.
        plates: Further measurements of a figure, from `illustrate`.
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
