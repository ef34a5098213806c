"""Sampling of numbered problems without repetition, and splits of problems.

The words of a counter-based generator are the same on every machine and in every version of NumPy,
which its ready-made draws (`choice`, `permutation`) do not promise; drawn problems therefore are.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import torch
from jaxtyping import Int64

from farfield.core import Problems, Stream, stream
from farfield.core.internal import Size, UnknownNameError, kind_of
from farfield.tasks._protocol._task import TRAINING, VALIDATION

_WORDS = 2**64


def check_generator(generator: np.random.Generator) -> None:
    """Raise `ValueError` unless the generator is NumPy's, which has raw words to draw from."""
    if not isinstance(generator, np.random.Generator):
        raise ValueError(f"generator must be a numpy.random.Generator, got {generator!r}")


def integers(generator: np.random.Generator, high: int, count: int) -> Int64[np.ndarray, " batch"]:
    """Draw uniform integers 0 … `high` − 1, exactly equally likely.

    Args:
        high: Number of different outcomes, at least 1.
        count: Number of integers.

    Raises:
        ValueError: If the generator is not NumPy's.
    """
    check_generator(generator)
    drawn = np.empty(0, np.uint64)
    largest = _WORDS - _WORDS % high - 1
    while len(drawn) < count:
        words = np.atleast_1d(generator.bit_generator.random_raw(count - len(drawn)))
        drawn = np.concatenate([drawn, words[words <= np.uint64(largest)]])
    return (drawn % np.uint64(high)).astype(np.int64)


def permutation(generator: np.random.Generator, count: int) -> Int64[np.ndarray, " batch"]:
    """Draw the integers 0 … `count` − 1 in random order."""
    words = np.atleast_1d(generator.bit_generator.random_raw(count))
    return np.argsort(words, kind="stable").astype(np.int64)


def distinct(
    generator: np.random.Generator, radices: Sequence[int], count: int
) -> Int64[np.ndarray, "batch feature"]:
    """Draw different rows of digits, in random order; digit d is below `radices[d]`.

    A small space is listed and shuffled; from a large one rows are drawn, and those that came
    before are drawn again.

    Args:
        radices: Number of values of each digit.
        count: Number of rows.

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
    """Find the first of each distinct row, in order; by one number per row if 63 bits suffice."""
    if math.prod(radices) < 2**63:
        numbers = np.ravel_multi_index(tuple(rows.T), tuple(radices))
        first = np.unique(numbers, return_index=True)[1]
    else:
        first = np.unique(rows, axis=0, return_index=True)[1]
    return np.sort(first)


def repeated(
    generator: np.random.Generator, rows: Int64[np.ndarray, "batch feature"], count: int
) -> Int64[np.ndarray, "time feature"]:
    """Repeat `rows` to `count` of them: all equally often, up to one more."""
    if count <= len(rows):
        return rows[:count]
    whole, rest = divmod(count, len(rows))
    extra = permutation(generator, len(rows))[:rest]
    return np.concatenate([np.tile(rows, (whole, 1)), rows[extra]])


def redrawn(
    generator: np.random.Generator, rows: Int64[np.ndarray, "batch feature"], count: int
) -> Int64[np.ndarray, "time feature"]:
    """Draw `count` of `rows`, with replacement if they are fewer."""
    if count <= len(rows):
        return rows[:count]
    return rows[integers(generator, len(rows), count)]


def arrangement(digits: Int64[np.ndarray, "batch slot"]) -> Int64[np.ndarray, "batch slot"]:
    """Turn digits into different integers: digit k picks among the integers left.

    With digit k below n − k this numbers the ordered selections from n things, each once
    (Lehmer 1960).
    """
    picked = digits.copy()
    for slot in range(picked.shape[1] - 2, -1, -1):
        later = picked[:, slot + 1 :]
        later += later >= picked[:, slot, None]
    return picked


@lru_cache(maxsize=8)
def _first_sets(draw: Callable[[Stream], dict[str, Problems]]) -> dict[str, Problems]:
    return draw(stream(0))


def resample(
    draw: Callable[[Stream], dict[str, Problems]],
    regime: str,
    n: int,
    generator: np.random.Generator,
) -> Problems:
    """Sample `n` problems, with replacement, from the set of a regime in run 0.

    The sets are those of `draw(stream(0))` whatever the generator, so that no call for training
    ever shows problems that a call for a test draws.

    Args:
        draw: The method `draw` of the task.

    Raises:
        UnknownNameError: If the task has no such regime.
        ValueError: If `n` is not an integer ≥ 1, or the generator is not NumPy's.
    """
    n = kind_of(Size).take("n", n)
    check_generator(generator)
    sets = _first_sets(draw)
    if regime not in sets:
        raise UnknownNameError("regime", regime, sets)
    problems = sets[regime]
    return problems[torch.from_numpy(generator.integers(len(problems), size=n))]


class DrawnSets(ABC):
    """Base of tasks that draw the sets of a run together; samples are from the sets of run 0."""

    @abstractmethod
    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` problems, with replacement, from the set of a regime in run 0.

        The sets are those of `draw(stream(0))` whatever the generator, so that no call shows
        problems that another call withholds.

        Args:
            n: Number of problems.

        Raises:
            ValueError: As `draw`.
        """
        return resample(self.draw, regime, n, generator)


UNLABELLED: Final = "unlabelled"
"""Name of the set of problems to learn from without their labels; it is no regime."""
NO_LABEL: Final = -1
"""Target of a problem without a label: the number of no class."""


def label_split(
    labels: Int64[np.ndarray, " item"],
    classes: int,
    branch: Stream,
    *,
    labels_per_class: int | None,
    validation_per_class: int,
) -> dict[str, Int64[np.ndarray, " batch"]]:
    """Split rows into three sets, as many of each class as of any other if possible.

    In random order, the first of each class are for validation and the next for training.
    Unlabelled are all that are not for validation, those for training among them. Those of fewer
    labels are so among those of more, and validation is the same.

    Args:
        labels: Class of each row.
        classes: Number of classes.
        branch: Stream of the split.
        labels_per_class: Most training rows of each class; `None` for all.
        validation_per_class: Validation rows of each class.

    Raises:
        ValueError: If a class has no row for training.
    """
    counts = np.bincount(labels, minlength=classes)
    if (fewest := counts.min()) <= validation_per_class:
        raise ValueError(
            "validation_per_class must leave every class a training problem, "
            f"class {counts.argmin()} has {fewest}, got {validation_per_class}"
        )
    order = permutation(branch.numpy(), len(labels))
    ranks = _ranks(labels[order], classes)
    most = len(labels) if labels_per_class is None else validation_per_class + labels_per_class
    return {
        TRAINING: order[(validation_per_class <= ranks) & (ranks < most)],
        VALIDATION: order[ranks < validation_per_class],
        UNLABELLED: order[validation_per_class <= ranks],
    }


def _ranks(labels: Int64[np.ndarray, " item"], classes: int) -> Int64[np.ndarray, " item"]:
    """Count the earlier rows of the same class."""
    ranks = np.empty_like(labels)
    for number in range(classes):
        own = np.flatnonzero(labels == number)
        ranks[own] = np.arange(len(own))
    return ranks
