"""Loops over single keys in float64: what the measures of keys say, from their definitions."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def distance(first: Array, second: Array) -> float:
    return math.sqrt(
        math.fsum((float(a) - float(b)) ** 2 for a, b in zip(first, second, strict=True))
    )


def mean(keys: Array) -> Array:
    return np.array(
        [math.fsum(float(key[k]) for key in keys) / len(keys) for k in range(len(keys[0]))]
    )


def root_mean_square(values: list[float]) -> float:
    return math.sqrt(math.fsum(value**2 for value in values) / len(values))


def spread(keys: Array) -> list[float]:
    """keys is (batch, time, key)."""
    out = []
    for place in range(keys.shape[1]):
        center = mean(keys[:, place])
        out.append(root_mean_square([distance(key, center) for key in keys[:, place]]))
    return out


def unit(means: list[Array]) -> float:
    pairs = [(i, j) for i in range(len(means)) for j in range(i)]
    return root_mean_square([distance(means[i], means[j]) for i, j in pairs])


def closest(key: Array, means: list[Array]) -> int:
    distances = [distance(key, center) for center in means]
    return distances.index(min(distances))


def nearest_centroid_accuracy(first: Array, second: Array) -> float:
    shares = []
    for known, judged in ((0, 1), (1, 0)):
        means = [
            mean([k for n, k in enumerate(keys) if n % 2 == known]) for keys in (first, second)
        ]
        for own, keys in enumerate((first, second)):
            rights, count = 0.0, 0
            for n, key in enumerate(keys):
                if n % 2 == judged:
                    count += 1
                    near, far = distance(key, means[own]), distance(key, means[1 - own])
                    rights += 1.0 if near < far else 0.5 if near == far else 0.0
            shares.append(rights / count)
    return math.fsum(shares) / 4


def overlap(training: tuple[Array, Array], test: tuple[Array, Array]) -> dict[str, object]:
    """Written and recalled keys of both sets, (batch, time, key) and (batch, item, key)."""
    first = training[1].shape[1]
    length = training[0].shape[1]
    means = [mean(training[0][:, place]) for place in range(length)]
    scale = unit(means[:first])
    later = [key for problem in training[0] for key in problem[first:]]
    return {
        "spread": [value / scale for value in spread(training[0])],
        "confused": sum(closest(key, means) < first for key in later) / len(later),
        "recognized": [
            sum(closest(problem[place], means) == place for problem in test[0]) / len(test[0])
            for place in range(first)
        ],
        "recalled": [
            sum(closest(problem[place], means) == place for problem in test[1]) / len(test[1])
            for place in range(first)
        ],
        "written_shift": [
            distance(mean(training[0][:, place]), mean(test[0][:, place])) / scale
            for place in range(first)
        ],
        "recalled_shift": [
            distance(mean(training[1][:, place]), mean(test[1][:, place])) / scale
            for place in range(first)
        ],
        "written_accuracy": [
            nearest_centroid_accuracy(training[0][:, place], test[0][:, place])
            for place in range(first)
        ],
        "recalled_accuracy": [
            nearest_centroid_accuracy(training[1][:, place], test[1][:, place])
            for place in range(first)
        ],
    }


def second_appearance(places: list[int], first: int) -> list[int]:
    return [
        next(u for u in range(t + 1, len(places)) if places[u] == places[t]) for t in range(first)
    ]


def power_iteration(points: Array, count: int) -> list[tuple[Array, float]]:
    """Directions and shares of variance, one after the other, by powers of the scatter matrix."""
    center = mean(points)
    scatter = np.zeros((points.shape[1], points.shape[1]))
    for point in points:
        scatter += np.outer(point - center, point - center)
    total = np.trace(scatter)
    found = []
    for _ in range(count):
        axis = np.ones(len(scatter))
        for _ in range(5000):
            axis = scatter @ axis
            axis /= math.sqrt(math.fsum(axis**2))
        size = float(axis @ scatter @ axis)
        found.append((axis if axis[np.abs(axis).argmax()] > 0 else -axis, size / total))
        scatter = scatter - size * np.outer(axis, axis)
    return found
