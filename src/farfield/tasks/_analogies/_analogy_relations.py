"""Relations between the panels of a row, on sets of levels as bits of an integer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from jaxtyping import Bool, Int64

RELATIONS: Final = ("progression", "XOR", "OR", "AND")
"""Relations between the three panels of a row."""
PROGRESSION: Final = 0
_HALF: Final = 16
"""Half of more bits than a set has after two steps."""
_LARGEST_SET: Final = 3
"""Values of one of the first two panels, at most."""
_LARGEST_UNION: Final = 4
"""Values of two panels together, at most: there are four places for lines."""

Masks = Int64[np.ndarray, "..."]
"""Sets of levels: bit k is set where level k is shown."""


def _number_of_bits() -> Int64[np.ndarray, " value"]:
    """Number of bits of every integer of `_HALF` bits."""
    counts = np.zeros(1, np.int64)
    for _ in range(_HALF):
        counts = np.concatenate([counts, counts + 1])
    return counts


_BITS: Final = _number_of_bits()


def sizes(masks: Masks) -> Masks:
    """Number of levels of each set."""
    low = (1 << _HALF) - 1
    bits: Masks = _BITS[masks & low] + _BITS[masks >> _HALF & low]
    return bits


def holds(first: Masks, second: Masks, third: Masks) -> Bool[np.ndarray, "... value"]:
    """Relations that hold between the three panels of a row, in the order of `RELATIONS`.

    A progression moves all levels by one step, not 0, from panel to panel. The others make the
    third panel of the levels that are in one of the first two, in either, or in both; they are said
    to hold only where the first two share a level and each has one of its own, so that a row obeys
    one relation at most.

    Args:
        first: Sets of levels, first panel.
        second: The second panel.
        third: The third panel.
    """
    step = _lowest(second) - _lowest(first)
    moves = (
        (first > 0)
        & (step != 0)
        & (_moved(first, step) == second)
        & (_moved(second, step) == third)
        & (sizes(third) == sizes(first))
    )
    crossing = _crossing(first, second)
    made = [crossing & (third == each) for each in (first ^ second, first | second, first & second)]
    return np.stack([moves, *made], axis=-1)


def completed(first: Masks, second: Masks) -> Int64[np.ndarray, "... value"]:
    """The third panel by each relation, in the order of `RELATIONS`.

    Args:
        first: Sets of levels, first panel.
        second: The second panel.
    """
    step = _lowest(second) - _lowest(first)
    thirds = (_moved(second, step), first ^ second, first | second, first & second)
    return np.stack(thirds, axis=-1)


def _lowest(masks: Masks) -> Masks:
    """The lowest level of each set; of the empty one −1."""
    return sizes((masks & -masks) - (masks > 0)) - (masks == 0)


def _moved(masks: Masks, step: Masks) -> Masks:
    """Sets with all levels moved by a step; what falls below level 0 is lost."""
    up = np.left_shift(masks, np.maximum(step, 0))
    return np.right_shift(up, np.maximum(-step, 0))


def _crossing(first: Masks, second: Masks) -> Bool[np.ndarray, "*_"]:
    """True if two sets share a level and each has one of its own."""
    common = first & second
    return (common > 0) & (common != first) & (common != second)


@cache
def rows(relation: int, num_levels: int) -> Int64[np.ndarray, "item 3"]:
    """All rows of three panels that a relation makes of the lowest `num_levels` levels.

    Args:
        relation: Place in `RELATIONS`.
        num_levels: Number of levels that may be shown.
    """
    first, second = _pairs(num_levels)
    third = completed(first, second)[:, relation]
    kept = holds(first, second, third)[:, relation] & (third < 1 << num_levels)
    found: Int64[np.ndarray, "item 3"] = np.stack([first, second, third], axis=1)[kept]
    return found


@cache
def open_rows(num_levels: int) -> Int64[np.ndarray, "item 2"]:
    """First two panels, of the lowest levels, that every relation can complete within them.

    Args:
        num_levels: Number of levels that may be shown.
    """
    first, second = _pairs(num_levels)
    thirds = completed(first, second)
    kept = (thirds < 1 << num_levels).all(axis=1)
    for relation in range(len(RELATIONS)):
        kept &= holds(first, second, thirds[:, relation])[:, relation]
    found: Int64[np.ndarray, "item 2"] = np.stack([first, second], axis=1)[kept]
    return found


def _pairs(num_levels: int) -> tuple[Masks, Masks]:
    """All pairs of small sets whose levels together are not too many."""
    small = np.array(
        [
            sum(1 << level for level in chosen)
            for size in range(1, _LARGEST_SET + 1)
            for chosen in itertools.combinations(range(num_levels), size)
        ],
        np.int64,
    )
    first, second = np.repeat(small, len(small)), np.tile(small, len(small))
    few = sizes(first | second) <= _LARGEST_UNION
    return first[few], second[few]


def spread(masks: Masks, ladder: Sequence[int]) -> Masks:
    """Sets of places on a ladder as sets of the levels that stand there.

    Args:
        masks: Sets of places, counted from 0.
        ladder: The levels, ascending.
    """
    bits = masks[..., None] >> np.arange(len(ladder)) & 1
    found: Masks = np.left_shift(bits, np.array(ladder)).sum(axis=-1)
    return found
