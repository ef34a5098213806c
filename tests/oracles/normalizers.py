"""Normalizers number by number in float64, after the equations of webb2020 and ren2017 alone."""

from __future__ import annotations

import math
from collections.abc import Callable

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


Index = tuple[int, ...]
Members = Callable[[Array, Index], list[Index]]
"""The places of an array whose numbers share the statistics of one of them."""


def field_norm(
    z: Array, members: Members, correction: int, eps: float
) -> tuple[Array, Array, Array]:
    """ren2017, equations 3 and 4: centered, and what it is divided by, and the quotient."""
    centered, scales = np.full(z.shape, np.nan), np.full(z.shape, np.nan)
    for place in np.ndindex(z.shape):
        values = [float(z[member]) for member in members(z, place)]
        mu, scales[place] = location_and_scale(values, correction, eps)
        centered[place] = z[place] - mu
    return centered, scales, centered / scales


def slot(z: Array, place: Index) -> list[Index]:
    """All problems, at the same place."""
    return [(problem, *place[1:]) for problem in range(len(z))]


def pooled(z: Array, place: Index) -> list[Index]:
    """All problems and places, of the same feature."""
    return [(*other, place[-1]) for other in np.ndindex(z.shape[:-1])]


def batch_and_time(z: Array, place: Index) -> list[Index]:
    """All problems and times, of the same candidate and feature."""
    return [
        (problem, *place[1:-2], time, place[-1])
        for problem in range(z.shape[0])
        for time in range(z.shape[-2])
    ]


def sub_batch(size: int) -> Members:
    """The problems of the same group, at the same place."""

    def members(z: Array, place: Index) -> list[Index]:
        return [p for p in slot(z, place) if p[0] // size == place[0] // size]

    return members


def _number(z: Array, place: Index) -> int:
    """Where an embedding stands once the problems stand one behind the other."""
    return place[0] * z.shape[-2] + place[-2]


def piece(length: int) -> Members:
    """The embeddings of the same piece of all problems in sequence."""

    def members(z: Array, place: Index) -> list[Index]:
        mine = _number(z, place) // length
        return [p for p in batch_and_time(z, place) if _number(z, p) // length == mine]

    return members


def window(length: int, include_self: bool) -> Members:
    """The embedding and those before it, or those before it alone; round the beginning."""

    def members(z: Array, place: Index) -> list[Index]:
        in_order = batch_and_time(z, place)
        last = _number(z, place) - (0 if include_self else 1)
        return [in_order[(last - back) % len(in_order)] for back in range(length)]

    return members


def channel_group(num_groups: int) -> Members:
    """All places of the channels of a group, in the same image."""

    def members(z: Array, place: Index) -> list[Index]:
        size = z.shape[1] // num_groups
        return [
            (place[0], *other)
            for other in np.ndindex(z.shape[1:])
            if other[0] // size == place[1] // size
        ]

    return members


def features(z: Array, place: Index) -> list[Index]:
    """All features of the same place."""
    return [(*place[:-1], k) for k in range(z.shape[-1])]


def images(z: Array, place: Index) -> list[Index]:
    """All images and places, of the same channel."""
    return [(other[0], place[1], *other[2:]) for other in np.ndindex(z.shape) if other[1] == 0]


def divisive_norm(
    z: Array,
    summation: tuple[int, int],
    suppression: tuple[int, int],
    sigma: float,
    divided_by: int | None = None,
) -> tuple[Array, Array]:
    """ren2017, equations 3 and 4, of one image: centered, and normalized."""
    centered = np.full(z.shape, np.nan)
    for channel, y, x in np.ndindex(z.shape):
        size = z.shape[0] * summation[0] * summation[1]
        centered[channel, y, x] = z[channel, y, x] - _around(z, y, x, summation) / size
    out = np.full(z.shape, np.nan)
    size = z.shape[0] * (divided_by or suppression[0] * suppression[1])
    for channel, y, x in np.ndindex(z.shape):
        squares = _around(centered**2, y, x, suppression) / size
        out[channel, y, x] = centered[channel, y, x] / math.sqrt(sigma**2 + squares)
    return centered, out


def _around(z: Array, y: int, x: int, sides: tuple[int, int]) -> float:
    """The sum over all channels of a window around a place; beyond the border there is nothing."""
    total = []
    for dy in range(-((sides[0] - 1) // 2), sides[0] // 2 + 1):
        for dx in range(-((sides[1] - 1) // 2), sides[1] // 2 + 1):
            if 0 <= y + dy < z.shape[1] and 0 <= x + dx < z.shape[2]:
                total += [float(channel[y + dy, x + dx]) for channel in z]
    return math.fsum(total)
