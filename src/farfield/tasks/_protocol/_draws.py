"""Sampling of numbered problems without repetition, from a stream's raw 64-bit words.

The words of a counter-based generator are the same on every machine and in every version of NumPy,
which its ready-made draws (`choice`, `permutation`) do not promise; drawn problems therefore are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int64

_WORDS = 2**64


def check_generator(generator: np.random.Generator) -> None:
    """Raise `ValueError` unless the generator is NumPy's, which has raw words to draw from."""
    if not isinstance(generator, np.random.Generator):
        raise ValueError(f"generator must be a numpy.random.Generator, got {generator!r}")


def integers(generator: np.random.Generator, high: int, count: int) -> Int64[np.ndarray, " batch"]:
    """Uniform integers 0 … `high` − 1, each equally likely to the last one.

    Args:
        generator: Where the words come from.
        high: Number of different outcomes, at least 1.
        count: How many to draw.

    Raises:
        ValueError: If the generator is none.
    """
    check_generator(generator)
    drawn = np.empty(0, np.uint64)
    largest = _WORDS - _WORDS % high - 1
    while len(drawn) < count:
        words = np.atleast_1d(generator.bit_generator.random_raw(count - len(drawn)))
        drawn = np.concatenate([drawn, words[words <= np.uint64(largest)]])
    return (drawn % np.uint64(high)).astype(np.int64)


def permutation(generator: np.random.Generator, count: int) -> Int64[np.ndarray, " batch"]:
    """The integers 0 … `count` − 1 in random order."""
    words = np.atleast_1d(generator.bit_generator.random_raw(count))
    return np.argsort(words, kind="stable").astype(np.int64)


def distinct(
    generator: np.random.Generator, radices: Sequence[int], count: int
) -> Int64[np.ndarray, "batch feature"]:
    """Different rows of digits, in random order; digit d is below `radices[d]`.

    A small space is listed and shuffled; from a large one rows are drawn, and those that came
    before are drawn again.

    Args:
        generator: Where the words come from.
        radices: Number of values of each digit.
        count: How many rows to draw.

    Raises:
        ValueError: If there are fewer different rows than `count`.
    """
    space = math.prod(radices)
    if count > space:
        raise ValueError(
            f"count must be at most {space}, the number of different rows, got {count}"
        )
    if space <= 3 * count:
        numbers = permutation(generator, space)[:count]
        return np.stack(np.unravel_index(numbers, tuple(radices)), axis=1).astype(np.int64)
    rows = np.empty((0, len(radices)), np.int64)
    while len(rows) < count:
        lacking = count - len(rows)
        fresh = [integers(generator, radix, lacking) for radix in radices]
        rows = np.concatenate([rows, np.stack(fresh, axis=1)])
        rows = rows[_first_of_each(rows, radices)]
    return rows


def _first_of_each(
    rows: Int64[np.ndarray, "batch feature"], radices: Sequence[int]
) -> Int64[np.ndarray, " item"]:
    """Index of the first of each distinct row, in order; by one number per row where 63 bits do."""
    if math.prod(radices) < 2**63:
        numbers = np.ravel_multi_index(tuple(rows.T), tuple(radices))
        first = np.unique(numbers, return_index=True)[1]
    else:
        first = np.unique(rows, axis=0, return_index=True)[1]
    return np.sort(first)


def repeated(
    generator: np.random.Generator, rows: Int64[np.ndarray, "batch feature"], count: int
) -> Int64[np.ndarray, "time feature"]:
    """`count` of `rows`: each as often as any other, but for one where they do not divide."""
    if count <= len(rows):
        return rows[:count]
    whole, rest = divmod(count, len(rows))
    extra = permutation(generator, len(rows))[:rest]
    return np.concatenate([np.tile(rows, (whole, 1)), rows[extra]])


def redrawn(
    generator: np.random.Generator, rows: Int64[np.ndarray, "batch feature"], count: int
) -> Int64[np.ndarray, "time feature"]:
    """`count` of `rows`, drawn with replacement where there are fewer of them."""
    if count <= len(rows):
        return rows[:count]
    return rows[integers(generator, len(rows), count)]


def arrangement(digits: Int64[np.ndarray, "batch slot"]) -> Int64[np.ndarray, "batch slot"]:
    """Different integers from digits: digit k picks among those that digits 0 … k − 1 left.

    With digit k below n − k this numbers the ordered selections from n things, each once
    (Lehmer 1960).
    """
    picked = digits.copy()
    for place in range(picked.shape[1] - 2, -1, -1):
        later = picked[:, place + 1 :]
        later += later >= picked[:, place, None]
    return picked
