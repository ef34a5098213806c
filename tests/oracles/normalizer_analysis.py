"""Loops in float64 for the analyses of ren2017. Nothing here imports the package."""

from __future__ import annotations

import itertools
import math

import numpy as np

Array = np.ndarray


def dependence(responses: Array, bins: int) -> tuple[float, float]:
    """Mean absolute correlation and mutual information over pairs of columns."""
    pairs = list(itertools.combinations(responses.T, 2))
    return (
        sum(abs(correlation(*pair)) for pair in pairs) / len(pairs),
        sum(information(*pair, bins) for pair in pairs) / len(pairs),
    )


def correlation(first: Array, second: Array) -> float:
    """Pearson's coefficient."""
    x, y = (each - sum(each) / len(each) for each in (first, second))
    return sum(x * y) / math.sqrt(sum(x * x) * sum(y * y))


def information(first: Array, second: Array, bins: int) -> float:
    """Nats, from a joint histogram of quantiles by middle ranks, less the bias of Miller."""
    size = len(first)
    counts = np.zeros((bins, bins))
    for x, y in zip(first, second, strict=True):
        i, j = (
            int((sum(column < own) + sum(column <= own) - 1) / 2 * bins // size)
            for column, own in ((first, x), (second, y))
        )
        counts[i, j] += 1
    total, occupied = 0.0, 0
    for i, j in itertools.product(range(bins), repeat=2):
        if counts[i, j]:
            apart = sum(counts[i]) * sum(counts[:, j])
            total += counts[i, j] / size * math.log(size * counts[i, j] / apart)
            occupied += 1
    used = sum(any(row) for row in counts) + sum(any(column) for column in counts.T)
    return total - (occupied - used + 1) / (2 * size)


def divisive_activation(first: float, second: float, sigma: float) -> float:
    """ren2017, equations 3 and 4 over two units, and a ReLU."""
    mean = (first + second) / 2
    squares = ((first - mean) ** 2 + (second - mean) ** 2) / 2
    return max((first - mean) / math.sqrt(sigma**2 + squares), 0.0)
