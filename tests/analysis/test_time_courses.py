"""Training curves of several networks as one."""

from __future__ import annotations

import math

import pytest

from farfield.analysis import time_course
from farfield.analysis.internal import TimeCourse
from farfield.records import Record, Score


def record(curve: dict[int, float], seed: int = 0, key: str = "k") -> Record:
    steps = max(curve, default=1)
    others = [
        Score(step=steps, regime="training", metric="loss", value=9.0, count=4),
        Score(step=steps, regime="withheld-95", metric="accuracy", value=0.1, count=4),
        Score(step=77, regime="withheld-95", metric="accuracy", value=0.1, count=4),
    ]
    points = [
        Score(step=step, regime="training", metric="accuracy", value=value, count=4)
        for step, value in curve.items()
    ]
    return Record(
        key=key,
        experiment={},
        seed=seed,
        steps=steps,
        scores=(*others, *reversed(points)),
        seconds=1.0,
        environment={},
    )


def test_a_course_is_the_mean_over_the_networks() -> None:
    curves = [{1: 0.25, 2: 0.5, 4: 1.0}, {1: 0.35, 2: 0.9, 4: 1.0}, {1: 0.3, 2: 0.7, 4: 1.0}]
    found = time_course([record(curve, seed) for seed, curve in enumerate(curves)])
    assert found.steps == (1, 2, 4)
    assert found.count == 3
    assert found.curves == tuple(tuple(curve.values()) for curve in curves)
    assert found.means == pytest.approx((0.3, 0.7, 1.0))
    assert found.standard_errors == pytest.approx((0.05 / 3**0.5, 0.2 / 3**0.5, 0.0))


def test_only_points_that_all_networks_have_count() -> None:
    old = record({8: 0.9})
    found = time_course([old, record({1: 0.2, 8: 0.7}, 1)])
    assert (found.steps, found.means) == ((8,), pytest.approx((0.8,)))
    alone = time_course([record({1: 0.2, 8: 0.7})])
    assert alone.steps == (1, 8)
    assert all(math.isnan(error) for error in alone.standard_errors)


def course(*means: float) -> TimeCourse:
    steps = tuple(10 * (place + 1) for place in range(len(means)))
    return TimeCourse(steps=steps, curves=(means,))


@pytest.mark.parametrize(
    "means, expected",
    [
        ((0.2, 0.96, 0.9, 0.95, 0.99), 40),
        ((0.96, 0.97), 10),
        ((0.2, 0.97, 0.94), None),
        ((0.2, 0.3, 0.95), 30),
        ((0.2, math.nan, 0.95), 30),
        ((0.99, math.nan), None),
    ],
)
def test_a_course_has_settled_where_it_stays(means: tuple, expected: int | None) -> None:
    assert course(*means).settled(0.95) == expected
    assert course(*means).median_settled(0.95) == expected


@pytest.mark.parametrize(
    "losses, expected",
    [
        ((1.9, 0.1, 0.3, 0.2, 0.1), 40),
        ((0.2, 0.1), 10),
        ((1.9, 0.1, 0.21), None),
        ((1.9, math.nan, 0.1), 30),
    ],
)
def test_a_falling_course_has_settled_where_it_stays_below(losses, expected) -> None:
    assert course(*losses).settled(0.2, falling=True) == expected


def test_the_median_is_over_networks_and_counts_those_that_never_settle() -> None:
    slow, quick, never = (0.1, 0.2, 0.96, 0.97), (0.96, 0.97, 0.98, 0.99), (0.1, 0.2, 0.3, 0.4)

    def median(*curves) -> float | None:
        return TimeCourse(steps=(1, 2, 4, 8), curves=curves).median_settled(0.95)

    assert median(slow, quick) == 2.5
    assert median(slow, quick, never) == 4
    assert median(quick, never, never) is None
    assert median(quick, never) is None


def test_a_course_is_of_the_metric_asked_for() -> None:
    found = time_course([record({1: 0.2, 8: 0.7}, seed) for seed in range(2)], "loss")
    assert (found.steps, found.means) == ((8,), (9.0,))


def test_what_makes_no_course_is_refused() -> None:
    with pytest.raises(ValueError, match=r"of one experiment, at least one, got \[\]"):
        time_course([])
    with pytest.raises(ValueError, match=r"got \['a', 'b'\]"):
        time_course([record({1: 0.5}, key="a"), record({1: 0.5}, key="b")])
    with pytest.raises(ValueError, match="must share a point"):
        time_course([record({1: 0.5}), record({2: 0.5}, 1)])
