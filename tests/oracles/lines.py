"""Sums over single points in float64: straight lines, means in bins, a context normalized."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def line(values: list[float], heights: list[float]) -> tuple[float, float, float]:
    """Slope and intercept from the normal equations, and one minus the share left over."""
    n = len(values)
    v, h = math.fsum(values), math.fsum(heights)
    vv = math.fsum(value * value for value in values)
    vh = math.fsum(value * height for value, height in zip(values, heights, strict=True))
    slope = (n * vh - v * h) / (n * vv - v * v)
    intercept = (h - slope * v) / n
    left = math.fsum(
        (height - slope * value - intercept) ** 2
        for value, height in zip(values, heights, strict=True)
    )
    whole = math.fsum((height - h / n) ** 2 for height in heights)
    return slope, intercept, 1 - left / whole


def bins(values: list[float], heights: list[float], count: int) -> list[tuple[float, float]]:
    """Mean value and height of the points between every two bounds, the last bound included."""
    low, high = min(values), max(values)
    bounds = [low + (high - low) * place / count for place in range(count + 1)]
    means = []
    for place in range(count):
        last = place == count - 1
        inside = [
            point
            for point in zip(values, heights, strict=True)
            if bounds[place] <= point[0] and (last or point[0] < bounds[place + 1])
        ]
        if inside:
            means.append(tuple(math.fsum(part) / len(inside) for part in zip(*inside, strict=True)))
    return means


def normalized(z: Array, gain: Array, shift: Array) -> Array:
    """z is (time, feature); equations 1–3 of webb2020 with 1e-8 under the root."""
    out = np.empty_like(z)
    for k in range(z.shape[1]):
        column = [float(value) for value in z[:, k]]
        mean = math.fsum(column) / len(column)
        variance = math.fsum((value - mean) ** 2 for value in column) / len(column)
        for t, value in enumerate(column):
            out[t, k] = gain[k] * (value - mean) / math.sqrt(variance + 1e-8) + shift[k]
    return out
