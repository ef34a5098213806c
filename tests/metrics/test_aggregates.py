"""Aggregates over tasks: against loops over runs, and against scipy's trimmed mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from farfield.metrics import (
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    stratified_bootstrap,
)

RUNS = [[0.1, 0.9, 0.4, 0.4], [0.5, 0.7, 0.2, 1.0], [-3.0, 0.3, 0.6, 0.8]]
OTHERS = [[0.4, 0.2, 0.3], [0.6, 0.7, 0.1], [0.5, 0.3, 0.9]]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_interquartile_mean_is_the_trimmed_mean(count: int) -> None:
    runs = [row[:count] for row in RUNS]
    expected = stats.trim_mean(np.array(runs), 0.25, axis=None)
    assert float(interquartile_mean(runs)) == pytest.approx(expected)


def test_a_task_with_more_runs_counts_the_same() -> None:
    """Two runs of one task and six of another: the two count three times each."""
    few, many = [0.0, 0.25], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    pooled = sorted(few * 3 + many)
    expected = math.fsum(pooled[3:9]) / 6
    assert float(interquartile_mean([few, many])) == pytest.approx(expected)


def test_improvement_is_counted_over_all_pairs_of_runs() -> None:
    tasks = []
    for ours, theirs in zip(RUNS, OTHERS, strict=True):
        won = [1.0 if x > y else 0.5 if x == y else 0.0 for x in ours for y in theirs]
        tasks.append(sum(won) / len(won))
    found = float(probability_of_improvement(RUNS, OTHERS))
    assert found == pytest.approx(sum(tasks) / 3)
    assert float(probability_of_improvement(OTHERS, RUNS)) == pytest.approx(1 - found)


def test_a_profile_is_the_share_of_runs_above() -> None:
    thresholds = [-5.0, 0.4, 0.75, 1.0]
    expected = [
        sum(sum(run > at for run in row) / len(row) for row in RUNS) / 3 for at in thresholds
    ]
    assert performance_profile(RUNS, thresholds).tolist() == pytest.approx(expected)
    assert expected[0] == 1
    assert expected[-1] == 0


def test_the_bootstrap_draws_runs_within_each_task() -> None:
    """All samples of two runs a task, by hand: the interval is that of their means."""
    runs = [[0.0, 1.0], [10.0, 12.0]]

    def mean(rows: list[np.ndarray]) -> np.ndarray:
        return np.mean([row.mean(-1) for row in rows], axis=0)

    every = [
        (a + b) / 4 + (c + d) / 4
        for a in runs[0] for b in runs[0] for c in runs[1] for d in runs[1]
    ]  # fmt: skip
    found = stratified_bootstrap(
        mean, runs, generator=np.random.default_rng(0), confidence=0.8, samples=20_000
    )
    expected = np.quantile(every * 100, [0.1, 0.9])
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    found = stratified_bootstrap(
        probability_of_improvement, RUNS, OTHERS, generator=np.random.default_rng(0)
    )
    assert 0 < found.low < float(probability_of_improvement(RUNS, OTHERS)) < found.high < 1


def test_scores_without_a_run_are_refused() -> None:
    for empty in ([], [[0.5], []]):
        with pytest.raises(ValueError, match="a row of runs for each task, got shapes"):
            interquartile_mean(empty)
    with pytest.raises(ValueError, match="of the same tasks, got 3 and 2"):
        probability_of_improvement(RUNS, OTHERS[:2])
    for wrong in ({"confidence": 1.0}, {"samples": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must"):
            stratified_bootstrap(
                interquartile_mean, RUNS, generator=np.random.default_rng(0), **wrong
            )
