"""The strength at which half of the skill is gone: by hand, and its interval."""

import math

import numpy as np
import pytest

from farfield.metrics.internal import Resampling, Threshold, first_crossings, threshold


def test_the_first_crossing_is_linear_between_strengths() -> None:
    strengths = np.array([0.0, 1, 2, 3])
    skill = np.array([[1, 0.8, 0.4, 0.9], [1, 0.9, 0.9, 0.6], [1, 0.2, 0.1, 0.0]])
    # 0.8 → 0.4 passes ½ at three quarters; the second holds; 1 → 0.2 at 5 / 8.
    assert first_crossings(strengths, skill, 0.5).tolist() == [1.75, math.inf, 0.625]
    assert first_crossings(strengths, skill, 0.5, in_steps=True).tolist() == [2, math.inf, 1]


def test_a_threshold_of_few_items_by_hand() -> None:
    scores = np.array([[1.0, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    found = threshold(np.arange(4.0), scores, 0.0, 0.5, Resampling(count=4))
    assert found.value == 1.5  # ¾ at 1, ¼ at 2
    assert found.returns
    assert found.end == 3
    assert 0 < found.low < found.value < found.high


def test_weights_move_the_score_and_not_the_items() -> None:
    scores = np.tile([1.0, 0.0], (3, 1))
    weights = np.array([[3.0, 1.0], [1, 1], [1, 3]])
    found = threshold(np.arange(3.0), scores, 0.0, 0.4, Resampling(count=2), weights=weights)
    assert found.value == pytest.approx(1.8)  # ¾, ½, ¼


def test_samples_of_equal_classes_keep_their_numbers() -> None:
    strata = np.repeat([0, 1], 50)
    scores = strata[None].astype(float)
    assert np.ptp(Resampling(count=100, strata=strata).means(scores)) == 0
    assert np.ptp(Resampling(count=100).means(scores)) > 0.1


def test_many_items_give_the_means_that_few_samples_at_a_time_give(monkeypatch) -> None:
    scores = np.random.default_rng(0).random((3, 40))
    kept = Resampling(count=40).means(scores)
    monkeypatch.setattr("farfield.metrics._threshold.MOST_KEPT", 0)
    assert np.array_equal(Resampling(count=40).means(scores), kept)


@pytest.mark.parametrize(
    ("value", "high", "shown"),
    [
        (0.57, 0.75, "0.57 [0.41, 0.75]"),
        (0.57, math.inf, "0.57 [0.41, > 4]"),
        (math.inf, math.inf, "> 4"),
    ],
)
def test_a_threshold_is_shown_with_its_interval(value: float, high: float, shown: str) -> None:
    assert str(Threshold(value=value, low=0.41, high=high, end=4.0)) == shown


def test_ends_must_be_around_the_value() -> None:
    with pytest.raises(ValueError, match="value must be in 2…3, got 1"):
        Threshold(value=1, low=2, high=3, end=4)


def test_an_interval_reaches_as_far_as_the_interval_of_the_skill_holds_the_level() -> None:
    strengths, resampling = np.array([0.0, 1.0, 3.0]), Resampling(count=40)
    scores = (np.arange(40) / 40 < np.array([[0.9], [0.7], [0.1]])).astype(float)
    found = threshold(strengths, scores, 0.1, 0.5, resampling)
    means = resampling.means(scores) - 0.1
    ends = np.percentile(means / means[:, :1], [2.5, 97.5], axis=0)
    low, high = (np.interp(-0.5, -skill, strengths) for skill in ends)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert 1 < found.low < found.value < found.high < 3
