"""How scores are named, written and compared."""

from __future__ import annotations

import math

import pytest

from farfield.metrics.internal import MEASURES, measure_of


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_found_by_its_name_and_by_that_of_a_part(name: str) -> None:
    assert MEASURES[name].name == name
    assert measure_of(name) is measure_of(f"{name}/size") is MEASURES[name]


def test_a_metric_that_is_not_known_is_a_share() -> None:
    found = measure_of("recall/top/5")
    assert (found.name, found.label, found.unit) == ("recall", "recall", " %")
    assert found.worst((0.2, 0.5)) == 0.2
    points = measure_of("points", share=False)
    assert (points.label, points.unit, points.lowest) == ("points", "", -math.inf)
    assert points.written(-195.5) == "-195.5000"
    assert measure_of("accuracy", share=False) is MEASURES["accuracy"]


def test_lengths_of_episodes_are_numbers_of_steps() -> None:
    assert measure_of("length").written(12.5) + measure_of("length").unit == "12.5000"


def test_shares_are_written_in_percent_and_other_numbers_as_they_are() -> None:
    accuracy, error = MEASURES["accuracy"], MEASURES["mse"]
    assert accuracy.written(0.98764) + accuracy.unit == "98.8 %"
    assert error.written(0.98764) + error.unit == "0.9876"
    assert (accuracy.written(0.98764, 2), error.written(0.98764, 2)) == ("98.76", "0.98764")


def test_an_interval_of_a_mean_ends_where_scores_do() -> None:
    scores = [100.0, 100.0, 96.0]  # 98.67 ± 5.74
    found = MEASURES["accuracy"].interval(scores, scale=100.0)
    assert (round(found.low, 2), found.high) == (92.93, 100.0)
    assert MEASURES["psnr"].interval(scores).high > 104
    assert MEASURES["mse"].interval([0.0, 0.0, 0.4]).low == 0.0
    assert (MEASURES["ssim"].range, MEASURES["mse"].range) == (2.0, math.inf)


def test_the_worst_error_is_the_largest() -> None:
    assert MEASURES["mse"].worst((0.2, 0.9)) == 0.9
    assert MEASURES["accuracy"].worst((0.2, 0.9)) == 0.2


@pytest.mark.parametrize("name, best", [("accuracy", 1), ("mse", 0), ("psnr", math.inf)])
def test_the_best_error_is_the_smallest(name: str, best: float) -> None:
    assert measure_of(name).best == best
