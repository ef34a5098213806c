"""Forecasts of a benchmark: which tasks have them, and what stands beside."""

from __future__ import annotations

import dataclasses

import pytest

from farfield.analysis import forecast
from farfield.metrics.internal import measure_of
from farfield.reports import ExtrapolationProfile
from farfield.reports.internal import Point
from farfield.suites import recorded
from farfield.suites._forecasts import forecasts_of

SCORES = {"own": (0.9, 0.8, 0.7, 0.6), "rival": (0.9, 0.85, 0.8, 0.5), "other": (0.9, 0.7)}


def profile(scores: tuple[float, ...], metric: str = "accuracy") -> ExtrapolationProfile:
    points = [
        Point(regime=f"r-{d}", distance=float(d), unit="steps" if d else "classes", values=(one,),
              floor=0.1, measure=measure_of(metric))
        for d, one in enumerate(scores)
    ]  # fmt: skip
    return ExtrapolationProfile(task="t", points=tuple(points))


def test_the_farthest_is_forecast_from_the_nearer_and_ranked() -> None:
    profiles = [(name, profile(scores)) for name, scores in SCORES.items()]
    (row,) = forecasts_of("own", profiles).values
    near = {
        name: {d: scores[d] for d in range(3)} for name, scores in SCORES.items() if name != "other"
    }
    expected = forecast(near, at=3, floor=0.1)
    assert row["forecast"] == expected.scores["own"]
    assert (row["low"], row["measured"]) == (expected.intervals["own"].low, 0.6)
    assert (row["rank_forecast"], row["rank"], row["models"]) == (2, 1, 2)  # `other` has no r-3
    assert (row["best_forecast"], row["best"]) == ("rival", "own")


@pytest.mark.parametrize("what", ["two distances", "no validation", "an error without a bound"])
def test_a_task_without_enough_regimes_has_no_forecast(what: str) -> None:
    one = profile(SCORES["own"], "mse" if what.startswith("an") else "accuracy")
    cut = {"two distances": slice(2), "no validation": slice(1, None)}.get(what, slice(None))
    one = dataclasses.replace(one, points=one.points[cut])
    assert not forecasts_of("own", [("own", one)]).cells


def test_recorded_copying_has_a_forecast() -> None:
    profiles = [(one.name, one.profile) for one in recorded("sequence")]
    (row,) = forecasts_of("NTM", [one for one in profiles if one[1].task == "copying"]).values
    assert (row["distance"], row["best"], row["best_forecast"]) == (9950, "NTM", "NTM")
