"""Proposals of pictures: random positions, objects in contact or inside, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Int64
from scipy.ndimage import maximum_filter

from farfield.tasks._contours._outlines import (
    COLUMN,
    CONTOUR,
    DIRECTIONS,
    MIRRORED,
    ROW,
    SIDE,
    SIZE,
    TURN,
    TURNS,
    UNIT,
    Corners,
    Objects,
    fill,
    pixels,
    placed,
)
from farfield.tasks._protocol._draws import integers

Numbers = Int64[np.ndarray, "..."]
Spots = Int64[np.ndarray, "... 2"]
Fits = Bool[np.ndarray, " batch"]
GAP: Final = 3
"""Least number of pixels between the boxes of objects that are apart."""
_BORDER: Final = 2
"""Least number of pixels between a box and the border of the picture."""


def vectors(turns: Numbers, lengths: Numbers) -> Spots:
    """Compute vectors of lengths in pixels, rounded to pixels.

    Args:
        turns: Directions in 256ths of a turn.
        lengths: Lengths in pixels.
    """
    found: Spots = (DIRECTIONS[turns % TURNS] * lengths[..., None] + 2**13) >> 14
    return found


@final
@dataclass(frozen=True, eq=False)
class Proposals:
    """Random pictures of one problem, to be kept where they fit.

    Args:
        generator: Source of the random numbers.
        corners: Corners of the outlines of each picture.
        percent: Size of objects, in percent.
        more: Show more objects, where the rule allows it.
        kind: 0 or 1, where a category has two kinds of pictures.
    """

    generator: np.random.Generator
    corners: Int64[np.ndarray, "batch contour corner 2"]
    percent: int
    more: bool
    kind: int = 0

    def __len__(self) -> int:
        return len(self.corners)

    def below(self, high: int, *shape: int) -> Int64[np.ndarray, "batch ..."]:
        """Draw integers 0 … `high` − 1 for each picture."""
        size = (len(self), *shape)
        return integers(self.generator, high, int(np.prod(size))).reshape(size)

    def between(self, low: int, high: int, *shape: int) -> Int64[np.ndarray, "batch ..."]:
        """Draw integers `low` … `high` for each picture."""
        return low + self.below(high - low + 1, *shape)

    def pixels(self, size: int) -> int:
        """Scale a size in pixels."""
        return size * self.percent // 100

    def spots(self, sizes: Sequence[int], high: int = SIDE) -> Spots:
        """Draw the middles of objects in the picture, columns below `high`.

        Args:
            sizes: Size of each object, scaled.
            high: Number of columns.
        """
        reach = np.array([(size + 1) // 2 + _BORDER for size in sizes])
        words = self.below(2**32, len(sizes), 2)
        room = np.stack([high - 2 * reach, SIDE - 2 * reach], axis=-1)
        return reach[:, None] + ((words * room) >> 32)

    def shuffled(self, contours: Sequence[int]) -> Int64[np.ndarray, "batch object"]:
        """Put outlines in random order."""
        order = np.argsort(self.below(2**62, len(contours)), axis=1, kind="stable")
        return np.array(contours)[order]

    def outlines(self, objects: Objects) -> Corners:
        """Look up the corners of the outline of each object."""
        rows = np.arange(len(self)).reshape(-1, *([1] * (objects.ndim - 2)))
        found: Corners = self.corners[rows, objects[..., CONTOUR]]
        return found

    def pixels_of(self, objects: Objects) -> Int64[np.ndarray, "... pixel 2"]:
        """Compute the pixels of objects."""
        return pixels(self.outlines(objects), objects)

    def is_inside(self, small: Objects, big: Objects) -> Fits:
        """Tell if the middle of one object is inside the outline of another."""
        corners = placed(self.outlines(big), big) * big[:, SIZE, None, None]
        at = (small[:, [COLUMN, ROW]] - big[:, [COLUMN, ROW]])[:, None] * (2 * UNIT)
        (x, y), (px, py) = np.moveaxis(corners, -1, 0), np.moveaxis(at, -1, 0)
        nx, ny = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
        turn = (px - x) * (ny - y) - (py - y) * (nx - x)
        crosses = ((y > py) != (ny > py)) & np.where(ny > y, turn < 0, turn > 0)
        return crosses.sum(1) % 2 == 1

    def is_clear(self, big: Objects, small: Objects, reach: int, asked: Fits) -> Fits:
        """Tell where all pixels of two objects are more than `reach` columns or rows apart.

        Args:
            big: The first objects.
            small: The second objects; a window around each is looked at.
            reach: Number of columns and rows.
            asked: Pictures in question; the others are not clear.
        """
        found, rows = asked.copy(), np.flatnonzero(asked)
        if not len(rows):
            return found
        half = int(small[rows, SIZE].max()) // 2 + reach + 2
        corner = small[rows, None, COLUMN : ROW + 1] - half
        window = fill((self.pixels_of(big)[rows] - corner).clip(0, 2 * half), 2 * half + 1)
        window[:, [0, -1]] = window[:, :, [0, -1]] = False  # pixels outside the window
        size = 2 * reach + 1
        near = maximum_filter(window.view(np.uint8), (1, size, size))
        points = self.pixels_of(small)[rows] - corner
        found[rows] = ~near[np.arange(len(rows))[:, None], points[..., 1], points[..., 0]].any(1)
        return found

    def slide(
        self, moved: Objects, others: Objects, turns: Int64[np.ndarray, " batch"]
    ) -> tuple[Objects, Fits]:
        """Move an object straight on until it touches others, and tell if it does.

        Outlines touch where a pixel of one is beside a pixel of another, also at a corner.

        Args:
            moved: The objects, outside the picture or inside another outline.
            others: The objects that they may touch.
            turns: Directions: 0 to the right, 1 down, 2 to the left, 3 up.
        """
        standing = _ahead(self.pixels_of(others).reshape(len(self), -1, 2), turns)
        going = _ahead(self.pixels_of(moved), turns)
        marked = maximum_filter(fill(standing.clip(0, SIDE - 1), SIDE).view(np.uint8), (1, 3, 1))
        columns = np.where(marked, np.arange(SIDE, dtype=np.int16), np.int16(2 * SIDE))
        following = np.minimum.accumulate(columns[..., ::-1], axis=2)[..., ::-1]
        rows = going[..., 1].clip(0, SIDE - 1)
        wall = following[np.arange(len(self))[:, None], rows, going[..., 0].clip(0, SIDE - 1)]
        steps = (wall - going[..., 0]).min(1) - 1
        touches = (wall < 2 * SIDE).any(1) & (steps >= 0)
        moved = moved.copy()
        moved[:, [COLUMN, ROW]] += _STEPS[turns] * np.where(touches, steps, 0)[:, None]
        return moved, touches

    def attached(self, contour: int, size: int, others: Objects) -> tuple[Objects, Fits]:
        """Put an object in contact with one of others, from a random side.

        Args:
            contour: Number of the outline of the new object.
            size: Its size, scaled.
            others: Objects to touch.
        """
        turns, which = self.below(4), self.below(others.shape[1])
        to = others[np.arange(len(self)), which]
        reach = (size + int(others[..., SIZE].max())) // 2 - GAP
        aside = self.between(-reach, reach)[:, None]
        middles = to[:, [COLUMN, ROW]] + _STEPS[turns][:, ::-1] * aside
        start = middles - _STEPS[turns] * (2 * SIDE)
        return self.slide(place(contour, start, size), others, turns)


_STEPS: Final = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])


def _ahead(
    points: Int64[np.ndarray, "batch pixel 2"], turns: Int64[np.ndarray, " batch"]
) -> Int64[np.ndarray, "batch pixel 2"]:
    """Turn pictures so that a direction leads to the right."""
    ahead = np.where(turns[:, None] % 2 == 0, points[..., 0], points[..., 1])
    aside = np.where(turns[:, None] % 2 == 0, points[..., 1], points[..., 0])
    return np.stack([np.where(turns[:, None] > 1, SIDE - 1 - ahead, ahead), aside], axis=-1)


def place(
    contour: int | Sequence[int] | Numbers,
    middles: Spots,
    size: int | Sequence[int] | Numbers,
    mirrored: int | Sequence[int] = 0,
    turn: int | Numbers = 0,
) -> Objects:
    """Describe objects at positions; numbers may be given for all of them together.

    Args:
        contour: Number of the outline.
        middles: Column and row of the middle.
        size: Size, scaled.
        mirrored: 1 for a mirrored object.
        turn: Turn in 256ths.
    """
    found = np.zeros((*middles.shape[:-1], 6), np.int64)
    found[..., [COLUMN, ROW]] = middles
    for column, values in ((CONTOUR, contour), (SIZE, size), (MIRRORED, mirrored), (TURN, turn)):
        found[..., column] = values
    return found


def join(*objects: Objects) -> Objects:
    """Join single objects and several to the objects of a picture."""
    several = [one if one.ndim > 2 else one[:, None] for one in objects]
    return np.concatenate(several, axis=1)


def are_apart(objects: Objects, others: Objects | None = None) -> Fits:
    """Tell if boxes have a gap, of all objects or between two groups.

    Args:
        objects: Objects of each picture.
        others: Objects of the second group.
    """
    second = objects if others is None else others
    far = np.abs(objects[:, :, None, [COLUMN, ROW]] - second[:, None, :, [COLUMN, ROW]]).max(-1)
    apart = 2 * (far - GAP) >= objects[:, :, None, SIZE] + second[:, None, :, SIZE]
    if others is None:
        apart |= np.eye(objects.shape[1], dtype=np.bool_)
    return apart.all((1, 2))


def are_framed(objects: Objects) -> Fits:
    """Tell if all boxes are in the picture."""
    reach = (objects[..., SIZE] + 1) // 2 + _BORDER
    low = (objects[..., [COLUMN, ROW]] - reach[..., None]).min((1, 2))
    high = (objects[..., [COLUMN, ROW]] + reach[..., None]).max((1, 2))
    return (low >= 0) & (high <= SIDE)


def distances(objects: Objects) -> np.ndarray:
    """Compute the distances between the middles of all objects, in pixels."""
    middles = objects[..., [COLUMN, ROW]]
    return np.sqrt(np.square(middles[:, :, None] - middles[:, None]).sum(-1))
