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
