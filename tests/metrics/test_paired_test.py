"""The paired t-test, against loops and against scipy's."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from farfield.metrics import paired_t_test

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
