"""The paired t-test, against loops and against scipy's."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_ind, ttest_rel

from farfield.metrics import Interval, paired_t_test
from farfield.metrics.internal import seeded_difference

NUMBERS = st.lists(st.tuples(st.integers(-999, 999), st.integers(-999, 999)), min_size=2)


@given(pairs=NUMBERS)
def test_it_is_student_s(pairs: list[tuple[int, int]]) -> None:
    first, second = ([pair[side] / 10 for pair in pairs] for side in (0, 1))
    found = paired_t_test(first, second)
    mean = math.fsum(a - b for a, b in zip(first, second, strict=True)) / len(pairs)
    assert found.difference == pytest.approx(mean, abs=1e-9)
    assert found.count == len(pairs)
    if len({a - b for a, b in pairs}) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = scipy.stats.ttest_rel(first, second)
        assert found.t == pytest.approx(theirs.statistic, rel=1e-6, abs=1e-9)
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)


def test_it_is_what_a_table_says() -> None:
    """Differences 1, 2, 3, 4: mean 2.5, standard error √(5/3)/2, three degrees of freedom."""
    found = paired_t_test([1.0, 2.0, 3.0, 4.0], [0.0] * 4)
    t = 2.5 / (math.sqrt(5 / 3) / 2)
    assert found.t == pytest.approx(t)
    # Distribution function of t with 3 degrees of freedom, in closed form.
    x = t / math.sqrt(3)
    below = 0.5 + (x / (1 + x * x) + math.atan(x)) / math.pi
    assert found.p == pytest.approx(2 * (1 - below))
    assert paired_t_test([0.0] * 4, [1.0, 2.0, 3.0, 4.0]).t == -found.t


def test_differences_without_spread() -> None:
    nothing = paired_t_test([0.1, 0.2, 0.7], [0.1, 0.2, 0.7])
    assert nothing.difference == 0
    assert math.isnan(nothing.t)
    assert math.isnan(nothing.p)
    always = paired_t_test([1.0, 2.0], [3.0, 4.0])
    assert (always.difference, always.t, always.p) == (-2.0, -math.inf, 0.0)
    assert paired_t_test([0.1] * 3, [0.0] * 3).t == math.inf  # whose mean is rounded


@pytest.mark.parametrize(
    "first, second",
    [([1.0], [2.0]), ([1.0, 2.0], [1.0, 2.0, 3.0]), ([], [])],
)
def test_what_is_no_pairing_is_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match="the same at least two conditions"):
        paired_t_test(first, second)


def test_numbers_must_be_finite() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        paired_t_test([1.0, np.nan], [1.0, 2.0])


def _by_seed(values: list[float], first: int = 0) -> dict[int, float]:
    return dict(enumerate(values, first))


def test_a_difference_of_shared_seeds_is_the_paired_test() -> None:
    first, second = [3.0, 4.0, 6.0, 5.5], [2.0, 2.0, 3.0, 5.0]
    found, expected = seeded_difference(_by_seed(first), _by_seed(second)), ttest_rel(first, second)
    interval = expected.confidence_interval(0.95)
    assert (found.t, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))
    assert found.pairs == 4


def test_a_difference_without_shared_seeds_is_the_test_of_welch() -> None:
    first, second = [3.0, 4.0, 6.0, 5.5], [2.0, 2.0, 3.0, 5.0, 9.0]
    found = seeded_difference(_by_seed(first), _by_seed(second, 9))
    expected = ttest_ind(first, second, equal_var=False)
    assert (found.t, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.degrees, found.pairs) == (pytest.approx(expected.df), 0)


def test_a_difference_of_some_shared_seeds_is_that_of_all_networks() -> None:
    first, second = [3.0, 4.0, 6.0], [2.0, 2.5, 3.0, 5.0, 9.0]
    found = seeded_difference(_by_seed(first), _by_seed(second))
    n, m, k = 3, 5, 3
    s, z = (math.sqrt(sum((x - sum(v) / len(v)) ** 2 for x in v) / (len(v) - 1))
            for v in (first, second))  # fmt: skip
    a, b = [x - 13 / 3 for x in first], [x - 2.5 for x in second[:3]]
    r = sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(
        sum(x * x for x in a) * sum(y * y for y in b)
    )
    variance = s**2 / n + z**2 / m - 2 * r * k * s * z / (n * m)
    welch = (s**2 / n + z**2 / m) ** 2 / ((s**2 / n) ** 2 / (n - 1) + (z**2 / m) ** 2 / (m - 1))
    degrees = k - 1 + (welch - k + 1) / (n + m) * (n + m - 2 * k)
    assert found.value == pytest.approx(13 / 3 - 4.3)
    assert (found.error, found.degrees) == pytest.approx((math.sqrt(variance), degrees))
    assert found.p == pytest.approx(2 * student.sf(abs(found.t), degrees))


def test_a_difference_of_single_networks_has_no_interval() -> None:
    for theirs in ({0: 1.0}, {1: 1.0, 2: 3.0}):
        found = seeded_difference({0: 4.0}, theirs)
        assert found.value == 4.0 - sum(theirs.values()) / len(theirs)
        assert found.interval == Interval(low=-math.inf, high=math.inf)
