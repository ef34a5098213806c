"""Context whitening, number by number in float64, after its equation alone."""

from __future__ import annotations

import numpy as np


def context_whiten(z: np.ndarray, eps: float) -> np.ndarray:
    """Whiten one problem `(time, feature)`; the root by Denman and Beavers' iteration."""
    time, features = z.shape
    gram = np.zeros((time, time))
    for i in range(time):
        for j in range(time):
            for k in range(features):
                gram[i, j] += z[i, k] * z[j, k]
    scale = sum(gram[i, i] for i in range(time)) / time
    root = gram / scale + eps * np.eye(time)
    inverse_root = np.eye(time)
    for _ in range(60):
        root, inverse_root = (
            (root + np.linalg.inv(inverse_root)) / 2,
            (inverse_root + np.linalg.inv(root)) / 2,
        )
    out = np.zeros_like(z)
    for i in range(time):
        for k in range(features):
            for j in range(time):
                out[i, k] += inverse_root[i, j] * z[j, k] * np.sqrt(features / scale)
    return out


def covariance(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of rows, and their covariance with the divisor n."""
    count, width = rows.shape
    mean = np.array([sum(rows[:, i]) / count for i in range(width)])
    found = np.zeros((width, width))
    for row in rows:
        for i in range(width):
            for j in range(width):
                found[i, j] += (row[i] - mean[i]) * (row[j] - mean[j]) / count
    return mean, found


def zca_matrix(covariance: np.ndarray, eps: float, inside: bool) -> np.ndarray:
    """Whiten every principal direction and turn back, direction by direction."""
    directions, variances, _ = np.linalg.svd(covariance)
    matrix = np.zeros_like(covariance)
    for variance, direction in zip(variances, directions.T, strict=True):
        scale = 1 / np.sqrt(variance + eps) if inside else 1 / np.sqrt(variance) + eps
        matrix += scale * np.outer(direction, direction)
    return matrix


def standardized(image: np.ndarray, mean: list[float], std: list[float]) -> np.ndarray:
    """An image of bytes, channel by channel."""
    return np.stack(
        [
            (channel.astype(float) / 255 - m) / s
            for channel, m, s in zip(image, mean, std, strict=True)
        ]
    )
