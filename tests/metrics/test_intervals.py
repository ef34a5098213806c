"""Intervals against scipy.stats, and what happens at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from farfield.metrics import Interval, mean_and_standard_error, paired_interval, t_interval
from farfield.metrics.internal import Summary, least_share, shared_spread_interval, welch_interval

scores = st.lists(
    st.floats(min_value=-100, max_value=100, allow_subnormal=False), min_size=2, max_size=12
)


@given(scores)
def test_mean_and_standard_error_are_scipy_s(values):
    summary = mean_and_standard_error(values)
    assert summary.count == len(values)
    assert summary.mean == pytest.approx(np.mean(values), rel=1e-12, abs=1e-10)
    assert summary.standard_error == pytest.approx(stats.sem(values), rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_t_interval_is_scipy_s(confidence):
    values = np.random.default_rng(1).normal(90, 3, size=10).tolist()
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    got = t_interval(values, confidence)
    assert (got.low, got.high) == pytest.approx(tuple(expected), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_welch_interval_is_scipy_s(confidence):
    random = np.random.default_rng(2)
    first, second = random.normal(90, 3, size=10).tolist(), random.normal(85, 9, size=6).tolist()
    test = stats.ttest_ind(first, second, equal_var=False)
    expected = test.confidence_interval(confidence)
    got = welch_interval(
        mean_and_standard_error(first), mean_and_standard_error(second), confidence
    )
    assert got.value == pytest.approx(np.mean(first) - np.mean(second), rel=1e-12)
    assert got.degrees == pytest.approx(test.df, rel=1e-12)
    assert (got.interval.low, got.interval.high) == pytest.approx(tuple(expected), rel=1e-10)


def test_a_paired_interval_is_that_of_a_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard error 1/√3. With two degrees of freedom the quantile of
    # p has the closed form (2p − 1) √(2 / (4 p (1 − p))).
    for comparisons in (1, 2, 144):
        p = 1 - 0.05 / comparisons / 2
        reach = (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p))) / math.sqrt(3)
        got = paired_interval([3.0, 4.0, 6.0], [2.0, 2.0, 3.0], comparisons=comparisons)
        assert (got.value, got.degrees) == (2.0, 2)
        assert got.interval.low == pytest.approx(2 - reach, rel=1e-9)
        assert got.interval.high == pytest.approx(2 + reach, rel=1e-9)


def test_pairs_take_out_what_both_have_in_common() -> None:
    ours, theirs = [90.0, 50.0, 10.0], [80.0, 40.0, 0.0]
    assert paired_interval(ours, theirs).interval == Interval(low=10.0, high=10.0)
    assert paired_interval(ours, theirs, comparisons=144).clear
    alone = paired_interval([90.0], [80.0])
    assert alone.value == 10.0
    assert not alone.clear
    assert alone.interval == Interval(low=-math.inf, high=math.inf)


def test_a_spread_that_only_ours_tell_is_that_of_both() -> None:
    """The interval that predicts the mean of two further networks, by scipy's t."""
    values = [3.0, 5.0, 4.0, 8.0]
    ours = mean_and_standard_error(values)
    printed = Summary(mean=4.0, standard_error=0.0, count=2, mean_rounding=0.3)
    found = shared_spread_interval(ours, printed, 0.9)
    error = math.sqrt(np.var(values, ddof=1) * (1 / 4 + 1 / 2) + 0.3**2 / 3)
    low, high = stats.t.interval(0.9, 3, loc=5.0 - 4.0, scale=error)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), rel=1e-12)
    assert found.degrees == 3
    alone = mean_and_standard_error([3.0])
    assert shared_spread_interval(alone, printed).interval.half_width == math.inf


def test_equal_scores_have_no_spread_at_all():
    values = [0.1 + 0.2] * 7
    assert mean_and_standard_error(values).standard_error == 0.0
    assert t_interval(values) == Interval(low=values[0], high=values[0])


def test_one_network_says_nothing_of_the_spread():
    alone, ten = mean_and_standard_error([3.0]), mean_and_standard_error([3.0, 4.0] * 5)
    assert math.isnan(alone.standard_error)
    assert t_interval([3.0]) == Interval(low=-math.inf, high=math.inf)
    for sides in ((alone, ten), (ten, alone)):
        difference = welch_interval(*sides)
        assert difference.interval == Interval(low=-math.inf, high=math.inf)
        assert math.isnan(difference.degrees)
        assert not difference.clear
    assert welch_interval(alone, ten).value == -0.5


def test_a_printed_zero_is_not_an_error_of_zero():
    printed = Summary(
        mean=100.0, standard_error=0.0, count=10, mean_rounding=0.05, error_rounding=0.05
    )
    ours = mean_and_standard_error([100.0] * 10)
    for count in (1, 10):
        exact = welch_interval(ours, Summary(mean=100.0, standard_error=0.0, count=count))
        assert exact.interval == Interval(low=0.0, high=0.0)
    rounded = welch_interval(ours, printed)
    square = 0.05**2 / 3
    degrees = (2 * square) ** 2 / (square**2 / 9)
    reach = stats.t.ppf(0.975, degrees) * math.sqrt(2 * square)
    assert rounded.degrees == pytest.approx(degrees)
    assert (rounded.interval.low, rounded.interval.high) == pytest.approx((-reach, reach))


def test_rounding_of_the_mean_costs_no_degrees_of_freedom():
    noisy = mean_and_standard_error([99.0, 100.0] * 5)
    plain = Summary(mean=99.0, standard_error=0.3, count=10)
    printed = Summary(mean=99.0, standard_error=0.3, count=10, mean_rounding=0.5)
    assert welch_interval(noisy, printed).degrees > welch_interval(noisy, plain).degrees
    wide = welch_interval(noisy, printed).interval.half_width
    assert wide > welch_interval(noisy, plain).interval.half_width


def test_a_difference_is_clear_only_when_it_is_known():
    far = Summary(mean=90.0, standard_error=0.1, count=10)
    near = Summary(mean=100.0, standard_error=0.1, count=10)
    assert welch_interval(near, far).clear
    assert welch_interval(far, near).clear
    assert not welch_interval(far, far).clear
    assert not welch_interval(mean_and_standard_error([math.nan] * 3), far).clear


def test_intervals_answer_what_lies_in_them():
    interval = Interval(low=-1.0, high=2.0)
    assert interval.half_width == 1.5
    assert interval.contains(-1.0)
    assert interval.contains(2.0)
    assert not interval.contains(2.1)
    assert interval.within(2.0)
    assert not interval.within(1.9)
    assert Interval(low=-2.0, high=1.0).within(2.0)
    assert not Interval(low=-2.0, high=1.0).within(1.9)


@pytest.mark.parametrize(
    "low, high, cut",
    [(-5.0, 3.0, (0.0, 3.0)), (98.0, 103.0, (98.0, 100.0)), (-1.0, 101.0, (0.0, 100.0))],
)
def test_an_interval_is_cut_where_no_number_can_be(low, high, cut):
    found = Interval(low=low, high=high).cut(0.0, 100.0)
    assert (found.low, found.high) == cut


def test_coverage_is_what_it_says():
    random = np.random.default_rng(3)
    trials = 2000
    first, second = random.normal(0, 1, (trials, 10)), random.normal(0, 4, (trials, 10))
    hits = sum(
        welch_interval(
            mean_and_standard_error(a.tolist()), mean_and_standard_error(b.tolist())
        ).interval.contains(0.0)
        for a, b in zip(first, second, strict=True)
    )
    assert abs(hits / trials - 0.95) < 4 * math.sqrt(0.95 * 0.05 / trials)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: mean_and_standard_error([]), r"at least one, got shape \(0,\)"),
        (lambda: t_interval([1.0, 2.0], 0.0), "confidence must lie between 0 and 1, got 0.0"),
        (lambda: t_interval([1.0, 2.0], 1.0), "confidence must lie between 0 and 1, got 1.0"),
        (lambda: paired_interval([1.0, 2.0], [1.0]), "one number per pair, got 2 and 1"),
        (lambda: paired_interval([1.0], [1.0], comparisons=0), "comparisons must be at least 1"),
        (lambda: paired_interval([1.0], [1.0], 2.0), "between 0 and 1, got 2.0"),
        (lambda: Interval(low=2.0, high=1.0), "got 2.0 and 1.0"),
        (lambda: Summary(mean=1.0, standard_error=0.1, count=0), "count must be at least 1"),
        (lambda: Summary(mean=1.0, standard_error=-0.1, count=2), "standard_error must be"),
        (
            lambda: Summary(mean=1.0, standard_error=0.1, count=2, mean_rounding=-1.0),
            "mean_rounding must be at least 0, got -1.0",
        ),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("successes, count", [(0, 5), (7, 10), (9, 10), (10, 10), (3, 3), (1, 1)])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_least_share_is_scipy_s(successes, count, confidence):
    test = stats.binomtest(successes, count, alternative="greater")
    expected = test.proportion_ci(confidence, method="exact").low
    assert least_share(successes, count, confidence) == pytest.approx(expected, rel=1e-9)


def test_all_of_ten_leave_a_quarter_that_fails():
    assert 1 - least_share(10, 10) == pytest.approx(0.259, abs=5e-4)
    assert 1 - least_share(3, 3) == pytest.approx(0.632, abs=5e-4)
    assert 1 - least_share(400, 400) == pytest.approx(0.0075, abs=5e-5)


@pytest.mark.parametrize("successes, count", [(4, 3), (-1, 3), (0, 0)])
def test_a_share_is_of_some(successes, count):
    with pytest.raises(ValueError, match=f"must lie in 0…count.* got {successes} of {count}"):
        least_share(successes, count)


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_a_share_is_not_known_for_certain(confidence):
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        least_share(1, 2, confidence)
