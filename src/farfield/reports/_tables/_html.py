"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import final

import jinja2

from farfield.core import printable
from farfield.reports._exhibits._plates import FINDING_HEAD, Plate, by_quantity
from farfield.reports._profile._profiles import profiles, svg
from farfield.reports._profile._theme import DARK, LIGHT
from farfield.reports._tables import _text as text
from farfield.reports._tables._report import Report


def html(
    report: Report, sheets: Mapping[str, bytes] | None = None, plates: Sequence[Plate] = ()
) -> str:
    """The report as a page: style, pictures and all in one file, for light and dark screens.

    Args:
        report: The table with what was found.
        sheets: Pictures of sample problems (PNG), by the name of the task.
        plates: What a figure measures beyond, from `illustrate`.
    """
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
        place=text.place,
        notes=text.notes(report),
        light=LIGHT,
        dark=DARK,
        plates=[_PlateOnPage(plate) for plate in plates],
        finding_head=FINDING_HEAD,
        light_figure=_encoded(svg(profiles(report, LIGHT))),
        dark_figure=_encoded(svg(profiles(report, DARK))),
        sheets={name: _encoded(picture) for name, picture in (sheets or {}).items()},
    )


@final
class _PlateOnPage:
    """A plate with its picture for light and for dark screens, empty where it has none."""

    def __init__(self, plate: Plate) -> None:
        self.plate = plate
        self.findings = by_quantity(plate.findings)
        draw = plate.draw
        self.light, self.dark = (
            _encoded(svg(draw(theme))) if draw else "" for theme in (LIGHT, DARK)
        )


def _printable(value: object) -> object:
    """Text without signs that turn the reading order; what else there is stays."""
    return printable(value) if type(value) is str else value


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
