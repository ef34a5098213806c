"""Forecasts at farther regimes: the formula by hand, planted curves, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from farfield.analysis import forecast

TABLE = {
    "steep": {0: 0.9, 10: 0.8, 20: 0.6},
    "flat": {0: [0.8, 1.0], 10: 0.9, 20: [0.85, 0.75]},
}


def test_the_formula_by_hand() -> None:
    found = forecast(TABLE, at=40, floor=0.5)
    near, far = {"steep": 0.8, "flat": 0.8}, {"steep": 0.2, "flat": 0.6}
    together = 0.4 / 0.8
    for name in TABLE:
        kept = far[name] / near[name]
        skill = far[name] * (kept**0.75 * together**0.25) ** (2**1.5 - 1)
        assert found.scores[name] == pytest.approx(0.5 + 0.5 * skill)
        assert found.intervals[name].low == pytest.approx(0.5 + 0.5 * (skill - 0.35))
        assert found.intervals[name].high == pytest.approx(0.5 + 0.5 * (skill + 0.12))
    assert list(found.scores) == ["flat", "steep"]
    assert found.best == "flat"
    assert str(found).splitlines()[2].startswith(f"| flat | {found.scores['flat']:.3f} |")


def test_the_unit_of_scores_and_of_distances_is_free() -> None:
    percent = {
        name: {7 * d: 100 * np.asarray(s) for d, s in one.items()} for name, one in TABLE.items()
    }
    found, other = forecast(TABLE, at=40, floor=0.5), forecast(percent, at=280, floor=50, best=100)
    for name, score in found.scores.items():
        assert other.scores[name] == pytest.approx(100 * score)
        assert other.intervals[name].high == pytest.approx(100 * found.intervals[name].high)


def test_what_does_not_fall_stays_and_intervals_end_at_the_best_score() -> None:
    found = forecast({"one": {0: 1.0, 5: 1.0}}, at=500, floor=0.1)
    assert found.scores == {"one": 1.0}
    assert found.intervals["one"].high == 1.0
    assert found.intervals["one"].low == 0.0  # no accuracy is below


def test_what_is_below_the_floor_goes_back_to_it() -> None:
    found = forecast({"one": {0: 0.9, 5: 0.4}, "two": {0: 0.9, 5: 0.5}}, at=20, floor=0.5)
    assert 0.4 < found.scores["one"] < found.scores["two"] == 0.5


def test_planted_curves_are_ranked_and_held_by_their_intervals() -> None:
    generator = np.random.default_rng(0)
    ranks, inside = [], []
    for _ in range(40):
        scales = generator.uniform(1, 12, 12)

        def scores(d: float, scales: np.ndarray = scales) -> np.ndarray:
            return 0.1 + 0.9 * np.exp(-((d / scales) ** 1.5)) + generator.normal(0, 0.01, 12)

        table = {d: scores(d) for d in (0.0, 1.0, 2.0)}
        truth = scores(4.0)
        found = forecast(
            {f"{n}": {d: s[n] for d, s in table.items()} for n in range(12)}, at=4, floor=0.1
        )
        ranks.append(spearmanr([found.scores[f"{n}"] for n in range(12)], truth).statistic)
        ends = [found.intervals[f"{n}"] for n in range(12)]
        inside += [one.low <= t <= one.high for one, t in zip(ends, truth, strict=True)]
    assert np.mean(ranks) > 0.97
    assert np.mean(inside) > 0.95


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        ({}, {"at": 3}, "at least one model"),
        ({"a": {0: 1.0, 1: 1.0}, "b": {0: 1.0, 2: 1.0}}, {"at": 3}, "same distances"),
        ({"a": {1: 1.0, 2: 1.0}}, {"at": 3}, r"distance 0 and one above, got \[1.0, 2.0\]"),
        ({"a": {0: 1.0}}, {"at": 3}, "distance 0 and one above"),
        ({"a": {0: 1.0, 3: 1.0}}, {"at": 3}, "above 3, got 3"),
        ({"a": {0: 1.0, 1: 1.0}}, {"at": math.inf}, "finite"),
        ({"a": {0: 1.0, 1: math.nan}}, {"at": 3}, "finite, got nan of a"),
        ({"a": {0: 1.0, 1: []}}, {"at": 3}, "finite"),
        ({"a": {0: 1.0, 1: 1.0}}, {"at": 3, "floor": 1.0}, "above floor, got 1.0 and 1.0"),
    ],
)
def test_what_has_no_forecast_is_refused(scores: dict, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        forecast(scores, **options)
