"""Layout of problems on a sheet, its letters and colors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, final

from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from farfield.core import Problems

Corner = tuple[float, float]
"""Lower left corner of an image: right and up, in widths of an image."""


@final
@dataclass(frozen=True, kw_only=True)
class Layout:
    """Layout of one problem of a task.

    Args:
        title: Name of the task in words.
        places: Corner of the image at each position of the problem.
        framed: Positions framed as right, for each answer; empty where a word says it.
        labels: Text centered below a point, e.g. the number of a choice; the label of the right
            answer is the one with its number.
        blank: Corner of the empty field, if there is one.
        signs: Text between images, such as the colons of an analogy, and its middle.
        words: The answer in words, for each answer.
        kind: Latent column by which problems differ in kind, so that a sheet shows all of them.
        kinds: The kinds in words, written beside the problem; empty for none.
        notes: Further latent columns, each with its values in words, written behind the kind.
        name_of_kind: Where that is, the middle of its left edge.
        caption: Function from the problem to a text there instead, which may have several lines.
        drawing: Function that draws a problem whose items are no images: given the axes, the
            lower left corner of its area and the problem. It draws the answer too.
        size: Width and height of the area of such a problem.
        things: Name of the items, where they are no images.
    """

    title: str
    places: tuple[Corner, ...] = ()
    framed: tuple[tuple[int, ...], ...] = ()
    labels: tuple[Corner, ...] = ()
    blank: Corner | None = None
    signs: tuple[tuple[str, Corner], ...] = ()
    words: tuple[str, ...] = ()
    kind: str | None = None
    kinds: tuple[str, ...] = ()
    notes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    name_of_kind: Corner = (0.0, 0.0)
    caption: Callable[[Problems], str] | None = None
    drawing: Callable[[Axes, Corner, Problems], None] | None = None
    size: Corner | None = None
    things: str = "images"

    @property
    def extent(self) -> Corner:
        """Width and height of a problem."""
        if self.size is not None:
            return self.size
        corners = (*self.places, *([] if self.blank is None else [self.blank]))
        width, height = (max(corner) + 1 for corner in zip(*corners, strict=True))
        names = (self.name_of_kind[0] + _LETTER * len(kind) for kind in self.kinds)
        return max((width, *names)), height


_LETTER: Final = 0.09
"""Width of a letter of the name of a kind, in widths of an image."""
GAP: Final = 16 / 96
"""Room between neighboring images, in widths of an image."""
STEP: Final = 1 + GAP
"""Distance from one image to the next."""


def row_of(right: float, up: float, count: int) -> tuple[Corner, ...]:
    """Return corners of images beside each other.

    Args:
        right: Where the first one is.
        up: How high all of them are.
        count: How many.
    """
    return tuple((right + STEP * column, up) for column in range(count))


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
    """Draw an image in a square, its longer side filling it.

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
    """Return a point of a problem on the paper, on a whole dot so that pixels stay square.

    Args:
        origin: Lower left corner of the problem.
        corner: The point, from there.
    """
    return to_dot(origin[0] + corner[0]), to_dot(origin[1] + corner[1])


def to_dot(length: float) -> float:
    """Return the next length of whole dots.

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
    """Draw text on the paper.

    Args:
        axes: The paper.
        where: Middle of the height of the text, and its left edge, middle or right edge.
        text: Text to write.
        size: Of the letters, points.
        color: Of the letters.
        weight: Of the letters.
        align: Which part of the text `where` is.
    """
    axes.text(
        *where, text, size=size, color=color, weight=weight, ha=align, va="center", family=FONT
    )
