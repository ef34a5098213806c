"""Steps along the sign of the gradient of a linear classifier, number by number in float64."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def slope(x: list[float], weight: Array, bias: Array, answer: int) -> list[float]:
    """Gradient of the cross-entropy with respect to the input, `weight` of (class, feature)."""
    logits = [
        bias[c] + math.fsum(weight[c, j] * x[j] for j in range(len(x))) for c in range(len(bias))
    ]
    total = math.fsum(math.exp(logit) for logit in logits)
    excess = [math.exp(logit) / total - (c == answer) for c, logit in enumerate(logits)]
    return [math.fsum(excess[c] * weight[c, j] for c in range(len(bias))) for j in range(len(x))]


def pgd(
    x: Array,
    weight: Array,
    bias: Array,
    answer: int,
    *,
    eps: float,
    steps: int,
    step_size: float,
    start: Array,
    bounds: tuple[float, float] | None,
) -> Array:
    """The input after some steps from `x + start`, each number within `eps` of its own."""
    low, high = bounds or (-math.inf, math.inf)

    def projected(now: list[float]) -> list[float]:
        return [min(max(n, x[j] - eps, low), x[j] + eps, high) for j, n in enumerate(now)]

    now = projected([x[j] + start[j] for j in range(len(x))])
    for _ in range(steps):
        grad = slope(now, weight, bias, answer)
        now = projected([n + math.copysign(step_size, g) for n, g in zip(now, grad, strict=True)])
    return np.array(now)
