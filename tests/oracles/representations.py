"""Measures of representations, number by number in float64."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def singular_values(rows: Array) -> list[float]:
    """Square roots of the eigenvalues of the matrix of products of all features."""
    features = rows.shape[1]
    products = np.array(
        [
            [math.fsum(float(row[i]) * float(row[j]) for row in rows) for j in range(features)]
            for i in range(features)
        ]
    )
    return sorted((math.sqrt(max(0.0, one)) for one in np.linalg.eigvalsh(products)), reverse=True)


def neighbor_class(known: Array, classes: list[int], asked: Array, k: int) -> int:
    """The class with most votes among the k nearest; of equal ones that with the nearest member."""
    distances = [
        math.sqrt(math.fsum((float(a) - float(b)) ** 2 for a, b in zip(asked, one, strict=True)))
        for one in known
    ]
    order = sorted(range(len(known)), key=lambda row: distances[row])[:k]
    votes = [classes[row] for row in order]
    most = max(votes.count(one) for one in votes)
    return next(one for one in votes if votes.count(one) == most)
