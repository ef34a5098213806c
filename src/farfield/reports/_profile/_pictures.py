"""Pictures of reports and their formats; matplotlib is loaded at the first picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from farfield.reports._profile._theme import LIGHT, Theme
from farfield.reports._report._report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


def profiles(report: Report, theme: Theme = LIGHT) -> Picture:
    """Draw the extrapolation profiles of a report, one panel for each task.

    Score against distance from training. Filled markers are our means, with 95 % intervals where
    there are three networks or more, small dots single networks; open markers are the published
    means with their standard errors. Where only one distance was asked for, the models are side
    by side instead, and many of them one below another; columns that are on no common axis of
    distance have a line each.

    Args:
        report: The table with its records.
    """
    from farfield.reports._profile._profile_drawing import draw_report  # noqa: PLC0415

    return draw_report(report, theme)


def png(figure: Picture, dpi: int = 300) -> bytes:
    """Encode a figure as PNG; the same bytes for the same figure.

    Args:
        figure: The figure.
        dpi: Dots per inch.
    """
    return _encoded(figure, {}, format="png", dpi=dpi, metadata={"Software": None})


def svg(figure: Picture) -> bytes:
    """Encode a figure as SVG, its letters as outlines; the same bytes for the same figure.

    Args:
        figure: The figure.
    """
    settings = {"svg.hashsalt": "farfield", "svg.fonttype": "path"}
    return _encoded(figure, settings, format="svg", metadata={"Date": None, "Creator": None})


def pdf(figure: Picture) -> bytes:
    """Encode a figure as PDF; the same bytes for the same figure.

    Args:
        figure: The figure.
    """
    metadata = {"CreationDate": None, "Producer": None}
    return _encoded(figure, {}, format="pdf", metadata=metadata)


def _encoded(figure: Picture, settings: dict[str, str], **options: Any) -> bytes:
    """Save a figure to bytes, under settings of matplotlib that no file of the user changes."""
    from farfield.reports._profile._style import own_settings  # noqa: PLC0415

    buffer = io.BytesIO()
    with own_settings(settings):
        figure.savefig(buffer, **options)
    return buffer.getvalue()
