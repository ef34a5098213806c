"""Normalizers number by number in float64, after the equations of webb2020 and ren2017 alone."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def location_and_scale(values: list[float], correction: int, eps: float) -> tuple[float, float]:
    """webb2020, equations 1 and 2, of one feature."""
    mu = math.fsum(values) / len(values)
    squares = math.fsum((value - mu) ** 2 for value in values)
    return mu, math.sqrt(squares / max(len(values) - correction, 1) + eps)


def context_statistics(z: Array, correction: int, eps: float) -> tuple[Array, Array]:
    """Over all places of one problem (time, feature)."""
    found = [location_and_scale([float(x) for x in row], correction, eps) for row in z.T]
    return np.array([[mu for mu, _ in found]]), np.array([[scale for _, scale in found]])


def running_context_statistics(z: Array, correction: int, eps: float) -> tuple[Array, Array]:
    """At each place over those up to and with it."""
    seen = [context_statistics(z[: t + 1], correction, eps) for t in range(len(z))]
    return np.concatenate([mu for mu, _ in seen]), np.concatenate([scale for _, scale in seen])
