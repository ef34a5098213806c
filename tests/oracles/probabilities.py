"""Scores of the probabilities of classes, problem by problem in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

Logits = Sequence[float]


def softmax(logits: Logits) -> list[float]:
    powers = [math.exp(value - max(logits)) for value in logits]
    return [power / sum(powers) for power in powers]


def negative_log_likelihood(outputs: Sequence[Logits], target: Sequence[int]) -> float:
    total = 0.0
    for logits, right in zip(outputs, target, strict=True):
        total -= math.log(softmax(logits)[right])
    return total / len(target)


def top_k_accuracy(outputs: Sequence[Logits], target: Sequence[int], k: int) -> float:
    hits = 0
    for logits, right in zip(outputs, target, strict=True):
        order = sorted(range(len(logits)), key=lambda number: -logits[number])
        hits += right in order[:k]
    return hits / len(target)


def expected_calibration_error(
    outputs: Sequence[Logits], target: Sequence[int], bins: int
) -> float:
    """Guo et al. 2017, equations 1 to 3."""
    members: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for logits, right in zip(outputs, target, strict=True):
        probabilities = softmax(logits)
        confidence = max(probabilities)
        for m in range(bins):
            if m / bins < confidence <= (m + 1) / bins:
                members[m].append((confidence, probabilities.index(confidence) == right))
    error = 0.0
    for group in members:
        if group:
            accuracy = sum(is_right for _, is_right in group) / len(group)
            confidence = sum(value for value, _ in group) / len(group)
            error += len(group) / len(target) * abs(accuracy - confidence)
    return error


def binary_cross_entropy(logits: Logits, right: int) -> float:
    """Mean over classes of the cross-entropy of each class's probability, yes or no."""
    total = 0.0
    for number, probability in enumerate(softmax(logits)):
        total -= math.log(probability if number == right else 1 - probability)
    return total / len(logits)
