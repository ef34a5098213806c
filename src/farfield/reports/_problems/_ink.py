"""Colors and letters of the sheets of problems, and where the dots are."""

from __future__ import annotations

from typing import Final, Literal

from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from farfield.reports._problems._layout import Corner

DOTS: Final = 96
"""Dots across an image: three to each of its 32 pixels; twice as many where it has over 48."""
INK: Final = "#1a1a1a"
FAINT: Final = "#6b6b6b"
EDGE: Final = "#b8b8b8"
RIGHT: Final = "#0a7d52"
FONT: Final = "DejaVu Sans"


def image(
    axes: Axes,
    corner: Corner,
    shown: Float[Tensor, "height width"] | UInt8[Tensor, "height width *channel"],
    side: float = 1.0,
) -> None:
    """An image in a square, its longer side filling it.

    Args:
        axes: The paper.
        corner: Lower left corner of the square.
        shown: The image.
        side: Side of the square.
    """
    (right, up), (height, width) = corner, shown.shape[:2]
    across, down = (side * length / max(height, width) for length in (width, height))
    left, low = right + (side - across) / 2, up + (side - down) / 2
    axes.imshow(
        shown.numpy(),
        cmap="gray",
        vmin=0,
        vmax=1 if shown.is_floating_point() else 255,
        extent=(left, left + across, low, low + down),
        interpolation="nearest" if max(height, width) <= DOTS // 2 else "hanning",
        aspect="auto",
    )
    axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=EDGE, linewidth=0.6))


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
    color: str = INK,
    weight: str = "normal",
    align: Literal["left", "center", "right"] = "left",
) -> None:
    """Text on the paper.

    Args:
        axes: The paper.
        where: Middle of the height of the text, and its left edge, middle or right edge.
        text: What is written.
        size: Of the letters, points.
        color: Of the letters.
        weight: Of the letters.
        align: Which part of the text `where` is.
    """
    axes.text(
        *where, text, size=size, color=color, weight=weight, ha=align, va="center", family=FONT
    )
