"""Scenes of squares and circles in six colors, and their images."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Int64, UInt8

from farfield.tasks._protocol._draws import integers

SIDE: Final = 75
"""Height and width of an image, pixels."""
REACH: Final = 5
"""Whole pixels between the center of an object and its edges."""
APART: Final = 10
"""Least distance between two centers, pixels."""
COLORS: Final = ("red", "green", "blue", "orange", "gray", "yellow")
SQUARE, CIRCLE = 0, 1
ABSENT: Final = -1

Scenes = Int64[np.ndarray, "batch slot 3"]
"""Column and row of the center, and shape, of the object of each color; −1 where it is absent."""

_WHITE: Final = 255
_PAINTS: Final = (
    (255, 0, 0),
    (0, 255, 0),
    (0, 0, 255),
    (255, 156, 0),
    (128, 128, 128),
    (255, 255, 0),
)
"""Red, green and blue of each color."""


def centers(
    generator: np.random.Generator, count: int, first: int
) -> Int64[np.ndarray, "batch slot 2"]:
    """Centers of the objects, each uniform over the free room, color by color.

    Args:
        generator: Draws them.
        count: Number of scenes.
        first: The first color of which there is an object.
    """
    drawn = np.full((count, len(COLORS), 2), ABSENT)
    for color in range(first, len(COLORS)):
        rows = np.arange(count)
        while len(rows):
            for axis in (0, 1):
                drawn[rows, color, axis] = REACH + integers(generator, SIDE - 2 * REACH, len(rows))
            way = drawn[rows, first:color] - drawn[rows, color, None]
            rows = rows[(np.square(way).sum(2) < APART**2).any(1)]
    return drawn


def images(scenes: Scenes) -> UInt8[np.ndarray, "batch 3 75 75"]:
    """Images of scenes on white; a color covers those before it.

    A pixel is in an object whose center is dx and dy pixels away if both are at most 5 (square),
    or if dx² + dy² ≤ 30 (circle): its middle is then less than 5.5 pixels away.

    Args:
        scenes: The scenes.
    """
    shown = np.full((len(scenes), 3, SIDE * SIDE), _WHITE, np.uint8)
    for color, paint in enumerate(_PAINTS):
        for shape, filled in ((SQUARE, _filled(2 * REACH**2)), (CIRCLE, _filled(REACH**2 + REACH))):
            rows = np.flatnonzero(scenes[:, color, 2] == shape)
            column, row, _ = scenes[rows, color].T
            pixels = (row * SIDE + column)[:, None] + filled
            for channel, value in enumerate(paint):
                shown[rows[:, None], channel, pixels] = value
    return shown.reshape(-1, 3, SIDE, SIDE)


def scenes_of(shown: UInt8[np.ndarray, "batch 3 75 75"]) -> Scenes:
    """Scenes as seen: an object is where its color is, and a square if it fills its corners.

    Args:
        shown: Images.
    """
    scenes = np.full((len(shown), len(COLORS), 3), ABSENT)
    for color, paint in enumerate(_PAINTS):
        is_there = (shown == np.array(paint, np.uint8)[:, None, None]).all(1)
        rows = np.flatnonzero(is_there.any((1, 2)))
        inked = is_there[rows]
        for axis, line in enumerate((inked.any(1), inked.any(2))):
            first, last = line.argmax(1), SIDE - 1 - line[:, ::-1].argmax(1)
            scenes[rows, color, axis] = (first + last) // 2
        scenes[rows, color, 2] = np.where(inked.sum((1, 2)) > _DISK, SQUARE, CIRCLE)
    return scenes


def _filled(most: int) -> Int64[np.ndarray, " item"]:
    """Pixels up to a squared distance from the center, as steps in an image row by row."""
    steps = np.arange(-REACH, REACH + 1)
    down, across = np.nonzero(np.square(steps)[:, None] + np.square(steps) <= most)
    return steps[down] * SIDE + steps[across]


_DISK: Final = len(_filled(REACH**2 + REACH))
"""Pixels of a circle."""
