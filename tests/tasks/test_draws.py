"""Drawing without repetition: every outcome, equally often, the same on every machine."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farfield.core import stream
from farfield.tasks._protocol._draws import (
    arrangement,
    distinct,
    integers,
    permutation,
    redrawn,
    repeated,
)


def generator(*path: str | int) -> np.random.Generator:
    return stream(0, "test", *path).numpy()


def test_first_draws_are_those_stored() -> None:
    assert integers(generator(), 1000, 6).tolist() == [139, 36, 979, 426, 749, 330]
    assert permutation(generator(), 6).tolist() == [3, 2, 4, 0, 5, 1]
    assert distinct(generator(), (50, 50), 3).tolist() == [[39, 26], [36, 49], [29, 30]]
    assert distinct(generator(), (2, 3), 4).tolist() == [[1, 0], [0, 2], [1, 1], [0, 0]]


def test_integers_are_equally_frequent() -> None:
    counts = np.bincount(integers(generator(), 7, 70_000), minlength=7)
    assert len(counts) == 7
    assert abs(counts - 10_000).max() < 4 * math.sqrt(10_000 * 6 / 7)


@pytest.mark.parametrize("high", [1, 2, 2**62])
def test_integers_stay_below_powers_of_two(high: int) -> None:
    drawn = integers(generator(), high, 1000)
    assert drawn.min() >= 0
    assert drawn.max() < high
    assert drawn.max() >= high // 2 - (high == 1)


def test_words_that_would_favour_small_numbers_are_drawn_again() -> None:
    high = 3 * 2**61  # a quarter of all words lies beyond the last whole multiple
    share = (integers(generator(), high, 20_000) < 2**62).mean()
    assert abs(share - 2 / 3) < 4 * math.sqrt(2 / 9 / 20_000)


def test_every_order_is_equally_frequent() -> None:
    orders = [tuple(permutation(generator(number), 3)) for number in range(3000)]
    counts = [orders.count(order) for order in itertools.permutations(range(3))]
    assert sum(counts) == 3000
    assert max(abs(count - 500) for count in counts) < 4 * math.sqrt(3000 * 5 / 36)


@given(
    radices=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_rows_are_distinct_and_within_their_radices(
    radices: list[int], share: float, seed: int
) -> None:
    count = round(share * math.prod(radices))
    rows = distinct(generator(seed), radices, count)
    assert rows.shape == (count, len(radices))
    assert len({tuple(row) for row in rows}) == count
    assert ((rows >= 0) & (rows < np.array(radices))).all()


def test_rows_of_a_large_space_are_distinct() -> None:
    rows = distinct(generator(), (200, 200), 13_000)
    assert len({tuple(row) for row in rows}) == 13_000


@pytest.mark.parametrize("count", [2, 5])
def test_every_row_is_equally_likely(count: int) -> None:
    drawn = [
        tuple(row) for number in range(900) for row in distinct(generator(number), (3, 3), count)
    ]
    expected = 900 * count / 9
    counts = [drawn.count(row) for row in itertools.product(range(3), repeat=2)]
    assert max(abs(found - expected) for found in counts) < 4 * math.sqrt(expected)


def test_a_space_beyond_64_bits_can_be_drawn_from() -> None:
    rows = distinct(generator(), (10**5,) * 5, 1000)
    assert len({tuple(row) for row in rows}) == 1000


def test_more_rows_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at most 6, .* got 7"):
        distinct(generator(), (2, 3), 7)


@pytest.mark.parametrize("things, slots", [(4, 4), (5, 3), (6, 2), (3, 1)])
def test_an_arrangement_of_each_number_gives_each_selection_once(things: int, slots: int) -> None:
    radices = range(things, things - slots, -1)
    digits = np.array(list(itertools.product(*(range(radix) for radix in radices))))
    picked = [tuple(row) for row in arrangement(digits)]
    assert sorted(picked) == sorted(itertools.permutations(range(things), slots))


@pytest.mark.parametrize("count", [3, 5, 10, 13])
def test_repeats_are_as_even_as_they_can_be(count: int) -> None:
    rows = np.arange(5)[:, None]
    counts = np.bincount(repeated(generator(), rows, count)[:, 0], minlength=5)
    assert counts.sum() == count
    assert counts.max() - counts.min() <= 1


def test_redrawn_rows_are_drawn_with_replacement_only_if_too_few() -> None:
    rows = np.arange(50)[:, None]
    assert redrawn(generator(), rows, 50)[:, 0].tolist() == list(range(50))
    counts = np.bincount(redrawn(generator(), rows, 5000)[:, 0], minlength=50)
    assert abs(counts - 100).max() < 4.5 * 10
    assert counts.std() > 5
