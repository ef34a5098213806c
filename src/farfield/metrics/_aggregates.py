"""Aggregates over tasks of Agarwal et al. (2021), for a handful of runs on each task.

Scores are one row of runs for each task, in one unit, e.g. 0 for guessing and 1 for perfect
answers. Every task has the same weight, however many runs it has. Axes before the runs are free:
one number for each sample of the bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farfield.metrics._intervals import Interval


def interquartile_mean(scores: Sequence[ArrayLike]) -> float | NDArray[np.float64]:
    """Compute the mean of the middle half of all runs on all tasks.

    A quarter of the runs, rounded down, is left out at each end, so that single runs that fail or
    excel move the result less than they move the mean.

    Args:
        scores: Sequence[ArrayLike] of the runs on each task.

    Raises:
        ValueError: If there are no tasks, or a task without runs.

    Reference:
        Agarwal, R., et al. (2021), NeurIPS 34: 29304–29320.

    Example:
        >>> float(interquartile_mean([[0.0, 0.5], [0.75, 9.0]]))
        0.625
    """
    rows = _rows(scores)
    runs = math.lcm(*(row.shape[-1] for row in rows))
    repeated = [np.repeat(row, runs // row.shape[-1], axis=-1) for row in rows]
    pooled = np.sort(np.concatenate(repeated, axis=-1), axis=-1)
    cut = pooled.shape[-1] // 4
    return pooled[..., cut : pooled.shape[-1] - cut].mean(-1)


def probability_of_improvement(
    ours: Sequence[ArrayLike], theirs: Sequence[ArrayLike]
) -> float | NDArray[np.float64]:
    r"""Compute the probability that a run of ours has a higher score than a run of theirs.

    On each task it is the share of pairs of runs in which ours is higher, a tie counting half
    (the statistic $U$ of Mann and Whitney over the number of pairs); the result is the mean over
    tasks.

    Args:
        ours: Sequence[ArrayLike] of our runs on each task.
        theirs: Sequence[ArrayLike] of their runs on the same tasks.

    Raises:
        ValueError: If the tasks are not as many, none, or without runs.

    Reference:
        Agarwal, R., et al. (2021), NeurIPS 34: 29304–29320.

    Example:
        >>> float(probability_of_improvement([[1.0, 3.0]], [[2.0, 3.0]]))
        0.375
    """
    first, second = _rows(ours), _rows(theirs)
    if len(first) != len(second):
        raise ValueError(
            f"ours and theirs must be of the same tasks, got {len(first)} and {len(second)}"
        )
    gaps = [
        one[..., :, None] - other[..., None, :] for one, other in zip(first, second, strict=True)
    ]
    return np.mean([np.heaviside(gap, 0.5).mean((-2, -1)) for gap in gaps], axis=0)


def performance_profile(
    scores: Sequence[ArrayLike], thresholds: Sequence[float]
) -> NDArray[np.float64]:
    """Compute the share of runs above each threshold, as the mean over tasks.

    Args:
        scores: Sequence[ArrayLike] of the runs on each task.
        thresholds: Thresholds, in the unit of the scores.

    Raises:
        ValueError: If there are no tasks, or a task without runs.

    Reference:
        Agarwal, R., et al. (2021), NeurIPS 34: 29304–29320, with score distributions.

    Example:
        >>> performance_profile([[0.2, 0.6], [0.9, 1.0]], [0.5, 0.95]).tolist()
        [0.75, 0.25]
    """
    edges = np.asarray(thresholds, dtype=np.float64)
    above = [(row[..., None] > edges).mean(-2) for row in _rows(scores)]
    return np.asarray(np.mean(above, axis=0))


def stratified_bootstrap(
    statistic: Callable[..., float | NDArray[np.float64]],
    *scores: Sequence[ArrayLike],
    generator: np.random.Generator,
    confidence: float = 0.95,
    samples: int = 2000,
) -> Interval:
    """Compute the percentile interval of an aggregate, with runs drawn again within each task.

    Of two or three runs on a single task the interval is too narrow; over several tasks it is
    meant for three runs or more.

    Args:
        statistic: float | NDArray[np.float64] of one or several sides, e.g. `interquartile_mean`.
        scores: Sequence[ArrayLike] of the runs on each task, for each side.
        generator: Draws the runs.
        confidence: Share of the samples that lie within the interval.
        samples: Number of samples.

    Raises:
        ValueError: If the confidence is not between 0 and 1, or there are no samples or tasks.

    Reference:
        Agarwal, R., et al. (2021), NeurIPS 34: 29304–29320.

    Example:
        >>> runs = [[0.5, 0.5, 0.5], [0.75, 0.75, 0.75]]
        >>> stratified_bootstrap(interquartile_mean, runs, generator=np.random.default_rng(0))
        Interval(low=0.625, high=0.625)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    drawn = [
        [row[generator.integers(row.size, size=(samples, row.size))] for row in _rows(side)]
        for side in scores
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(statistic(*drawn), [tail, 1 - tail])
    return Interval(low=float(low), high=float(high))


def _rows(scores: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    """Convert the scores of each task to float64."""
    rows = [np.asarray(one, dtype=np.float64) for one in scores]
    if not rows or not all(row.ndim and row.shape[-1] for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows) or "none"
        raise ValueError(f"scores must be a row of runs for each task, got shapes {shapes}")
    return rows
