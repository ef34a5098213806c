"""Colours and letters of the sheets of problems, and where the dots are."""

from __future__ import annotations

from typing import Final, Literal

from matplotlib.axes import Axes

from farfield.reports._layout import Corner

DOTS: Final = 96
"""Dots across an image: three to each of its 32 pixels; twice as many where it has over 48."""
INK: Final = "#1a1a1a"
FAINT: Final = "#6b6b6b"
EDGE: Final = "#b8b8b8"
RIGHT: Final = "#0a7d52"
FONT: Final = "DejaVu Sans"


def moved(origin: Corner, corner: Corner) -> Corner:
    """A point of a problem on the paper, on a whole dot so that pixels stay square.

    Args:
        origin: Lower left corner of the problem.
        corner: The point, from there.
    """
    return to_dot(origin[0] + corner[0]), to_dot(origin[1] + corner[1])


def to_dot(length: float) -> float:
    """The next length of whole dots.

    Args:
        length: In widths of an image.
    """
    return round(length * DOTS) / DOTS


def write(
    axes: Axes,
    where: Corner,
    text: str,
    *,
    size: float,
    colour: str = INK,
    weight: str = "normal",
    align: Literal["left", "center", "right"] = "left",
) -> None:
    """Text on the paper.

    Args:
        axes: The paper.
        where: Middle of the height of the text, and its left edge, middle or right edge.
        text: What is written.
        size: Of the letters, points.
        colour: Of the letters.
        weight: Of the letters.
        align: Which part of the text `where` is.
    """
    axes.text(
        *where, text, size=size, color=colour, weight=weight, ha=align, va="center", family=FONT
    )
