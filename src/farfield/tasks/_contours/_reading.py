"""Rule by hand of each problem of SVRT, over connected outlines of a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Float
from scipy.ndimage import binary_fill_holes, find_objects, label

from farfield.tasks._contours._scenes import UNEQUAL

_CLOSE: Final = 3.0
"""Largest difference of equal distances, in pixels: positions are whole numbers."""
_ALIKE: Final = 0.85
"""Least overlap of equal shapes of different sizes."""
_SAMPLES: Final = 32
"""Side of shapes that are compared at one size, in pixels."""
_RAYS: Final = 64
_OUTLIER: Final = 1.5
"""Ratio of sizes, or of ink, between equal and unequal objects."""


@final
@dataclass(frozen=True, eq=False)
class FoundObject:
    """A connected outline in a picture.

    Args:
        ink: Its pixels, in its box.
        top, left: Row and column of its box.
    """

    ink: Bool[np.ndarray, "height width"]
    top: int
    left: int

    @cached_property
    def size(self) -> int:
        """Larger side of the box."""
        return max(self.ink.shape)

    @cached_property
    def middle(self) -> Float[np.ndarray, " 2"]:
        """Row and column of the middle of the box."""
        height, width = self.ink.shape
        return np.array([self.top + (height - 1) / 2, self.left + (width - 1) / 2])

    @cached_property
    def filled(self) -> Bool[np.ndarray, "height width"]:
        """Pixels of the outline and inside."""
        found: Bool[np.ndarray, "height width"] = binary_fill_holes(self.ink)
        return found

    def equals(self, other: FoundObject) -> bool:
        """Tell if pixels are equal."""
        return np.array_equal(self.ink, other.ink)

    def mirrors(self, other: FoundObject) -> bool:
        """Tell if pixels are mirrored."""
        return np.array_equal(self.ink[:, ::-1], other.ink)

    def contains(self, other: FoundObject) -> bool:
        """Tell if the middle of another object is inside."""
        row, column = (other.middle - (self.top, self.left)).astype(int)
        height, width = self.ink.shape
        return 0 <= row < height and 0 <= column < width and bool(self.filled[row, column])

    def is_scaled(self, other: FoundObject) -> bool:
        """Tell if shapes are about equal at one size."""
        first, second = _at_one_size(self), _at_one_size(other)
        overlap: float = (first & second).sum() / (first | second).sum()
        return overlap > _ALIKE

    @cached_property
    def radii(self) -> Float[np.ndarray, " ray"]:
        """Reach of the shape around its center of mass in each direction, of mean 1."""
        rows, columns = np.nonzero(self.filled)
        across, down = columns - columns.mean(), rows - rows.mean()
        ray = np.floor(np.arctan2(down, across) / (2 * np.pi) * _RAYS).astype(int) % _RAYS
        reach = np.zeros(_RAYS)
        np.maximum.at(reach, ray, np.hypot(across, down))
        found: Float[np.ndarray, " ray"] = reach / reach.mean()
        return found

    def is_turned(self, other: FoundObject) -> bool:
        """Tell if shapes are about equal at one size and some turn."""
        turned = [np.roll(other.radii, turn) for turn in range(_RAYS)]
        return max(float(np.corrcoef(self.radii, one)[0, 1]) for one in turned) > _ALIKE


Found = Sequence[FoundObject]


def _at_one_size(found: FoundObject) -> Bool[np.ndarray, "height width"]:
    """Sample the filled box at the same number of points."""
    height, width = found.filled.shape
    side = (np.arange(_SAMPLES) + 0.5) * found.size / _SAMPLES
    rows = (side - (found.size - height) / 2).astype(int)
    columns = (side - (found.size - width) / 2).astype(int)
    inside = (0 <= rows) & (rows < height), (0 <= columns) & (columns < width)
    shown = found.filled[rows.clip(0, height - 1)][:, columns.clip(0, width - 1)]
    return shown & inside[0][:, None] & inside[1]


def read_objects(ink: Bool[np.ndarray, "height width"]) -> Found:
    """Find the connected outlines of a picture, the largest first.

    Args:
        ink: Black pixels.
    """
    numbers, _ = label(ink, np.ones((3, 3)))
    found = [
        FoundObject(numbers[box] == number, box[0].start, box[1].start)
        for number, box in enumerate(find_objects(numbers), 1)
    ]
    return sorted(found, key=lambda one: -one.size)


def answer(problem: int, found: Found) -> bool:
    """Tell if a picture is of category 1, as far as a rule on pixels can.

    Args:
        problem: Number of the problem.
        found: Objects of the picture, the largest first.
    """
    return len(found) == 1 or bool(_RULES[problem](found))


def _all_equal(found: Found) -> bool:
    return all(one.equals(found[0]) for one in found)


def _touches(found: Found) -> bool:
    return len(found) == 1


def _of_equal_ink(found: Found) -> bool:
    ink = sorted(one.ink.sum() for one in found)
    return bool(ink[-1] < 2 * ink[0])


def _contains_last(found: Found) -> bool:
    return found[0].contains(found[-1])


def _has_a_pair(found: Found) -> bool:
    return any(a.equals(b) for a, b in combinations(found, 2))


def _has_triples(found: Found) -> bool:
    return all(sum(a.equals(b) for b in found) > 2 for a in found)


def _far(first: FoundObject, second: FoundObject) -> float:
    return float(np.linalg.norm(first.middle - second.middle))


def _pairs_are_as_far(found: Found) -> bool:
    far = [_far(a, b) for a, b in combinations(found, 2) if a.equals(b)]
    return len(far) > 1 and max(far) - min(far) < _CLOSE


def _contains_a_copy(found: Found) -> bool:
    return _contains_last(found) and found[0].is_scaled(found[-1])


def _largest_is_outside(found: Found) -> bool:
    largest, *others = found
    far = max(_far(a, b) for a, b in combinations(others, 2))
    return far < max(_far(largest, other) for other in others)


def _is_square(found: Found) -> bool:
    far = sorted(_far(a, b) for a, b in combinations(found, 2))
    return len(far) == 6 and far[3] - far[0] < _CLOSE


def _small_are_nearest(found: Found) -> bool:
    largest, *others = found
    far = [_far(a, b) for a, b in combinations(others, 2)]
    return min(far) < min(_far(largest, other) for other in others)


def _is_repeated(found: Found) -> bool:
    big, small = found[:2], found[2:]
    offsets = [
        [a.middle - b.middle for a, b in zip(some, big, strict=True)]
        for some in permutations(small)
    ]
    return any(np.abs(one - other).max() < _CLOSE for one, other in offsets)


def _is_line(found: Found) -> bool:
    middles = np.array([one.middle for one in found])
    spread = np.linalg.svd(middles - middles.mean(0), compute_uv=False)[-1]
    return bool(spread < UNEQUAL / 4)


def _differ(found: Found) -> bool:
    return not _all_equal(found)


def _odd_is_as_far(found: Found) -> bool:
    counts = [sum(a.equals(b) for b in found) for a in found]
    odd = found[int(np.argmin(counts))]
    far = [_far(odd, one) for one in found if one is not odd]
    return max(far) - min(far) < _CLOSE


def _is_mirrored(found: Found) -> bool:
    middles = np.array([one.middle for one in found])
    middle_column = (middles[:, 1].max() + middles[:, 1].min()) / 2
    mirrored = middles * (1, -1) + (0, 2 * middle_column)
    far = np.abs(middles[:, None] - mirrored[None]).max(-1).min(1)
    return bool(far.max() < _CLOSE)


def _contains_one(found: Found) -> bool:
    return sum(found[0].contains(one) for one in found[1:]) == 1


_RULES: Final[dict[int, Callable[[Found], bool]]] = {
    1: _all_equal,
    2: _touches,
    3: _of_equal_ink,
    4: _contains_last,
    5: _has_a_pair,
    6: _pairs_are_as_far,
    7: _has_triples,
    8: _contains_a_copy,
    9: _largest_is_outside,
    10: _is_square,
    11: _touches,
    12: _small_are_nearest,
    13: _is_repeated,
    14: _is_line,
    15: _all_equal,
    16: _differ,
    17: _odd_is_as_far,
    18: _is_mirrored,
    19: lambda found: found[0].is_scaled(found[-1]),
    20: lambda found: found[0].mirrors(found[-1]),
    21: lambda found: found[0].is_turned(found[-1]),
    22: _all_equal,
    23: _contains_one,
}
