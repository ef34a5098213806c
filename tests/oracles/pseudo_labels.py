"""FixMatch and FreeMatch on given logits, number by number in float64."""

from __future__ import annotations

import math

import numpy as np

Rows = list[list[float]]


def softmax(logits: list[float]) -> list[float]:
    top = max(logits)
    powers = [math.exp(number - top) for number in logits]
    return [power / sum(powers) for power in powers]


def first_largest(numbers: list[float]) -> int:
    return max(range(len(numbers)), key=lambda k: (numbers[k], -k))


def labeled_loss(logits: Rows, labels: list[int]) -> float:
    return -sum(
        math.log(softmax(row)[label]) for row, label in zip(logits, labels, strict=True)
    ) / len(labels)


def unlabeled_loss(weak: Rows, strong: Rows, thresholds: list[float]) -> tuple[float, list[bool]]:
    """Mean over all rows of the cross-entropy of the accepted ones, and which are accepted."""
    total, accepted = 0.0, []
    for one, other in zip(weak, strong, strict=True):
        p = softmax(one)
        label = first_largest(p)
        accepted.append(p[label] >= thresholds[label])
        total -= math.log(softmax(other)[label]) if accepted[-1] else 0.0
    return total / len(weak), accepted


class FreeMatchMeans:
    """Running means of the answers, from equal classes on."""

    def __init__(self, classes: int, momentum: float) -> None:
        self.momentum, self.time = momentum, 1 / classes
        self.p, self.h = [1 / classes] * classes, [1 / classes] * classes

    def take(self, weak: Rows) -> list[float]:
        """Average a batch in, and give the thresholds."""
        m, answers = self.momentum, [softmax(row) for row in weak]
        n, labels = len(answers), [first_largest(row) for row in answers]
        self.time = m * self.time + (1 - m) * sum(max(row) for row in answers) / n
        for k in range(len(self.p)):
            self.p[k] = m * self.p[k] + (1 - m) * sum(row[k] for row in answers) / n
            self.h[k] = m * self.h[k] + (1 - m) * labels.count(k) / n
        return [self.time * p / max(self.p) for p in self.p]

    def fairness(self, strong: Rows, accepted: list[bool]) -> float:
        answers = [softmax(row) for row, counts in zip(strong, accepted, strict=True) if counts]
        if not answers:
            return 0.0
        labels, classes = [first_largest(row) for row in answers], range(len(self.p))
        mean = [sum(row[k] for row in answers) / len(answers) for k in classes]
        counts = [labels.count(k) / len(answers) for k in classes]
        first = [self.p[k] / self.h[k] if self.h[k] else 0.0 for k in classes]
        second = [mean[k] / counts[k] if counts[k] else 0.0 for k in classes]
        return sum(
            first[k] / sum(first) * math.log(second[k] / sum(second) + 1e-12) for k in classes
        )


def reflected_window(
    image: np.ndarray, row: int, column: int, flip: bool, padding: int
) -> np.ndarray:
    """A window of `image` (*, height, width) in a mirrored border."""
    sides = [(0, 0)] * (image.ndim - 2) + [(padding, padding)] * 2
    window = np.pad(image, sides, mode="reflect")
    window = window[..., row : row + image.shape[-2], column : column + image.shape[-1]]
    return window[..., ::-1] if flip else window
