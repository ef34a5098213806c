"""Learning rules on a network of three layers, number by number in float64."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def affine(x: list[float], weight: Array, bias: Array) -> list[float]:
    """A linear layer, `weight` of (out, in)."""
    return [
        float(bias[k]) + sum(float(weight[k, j]) * x[j] for j in range(len(x)))
        for k in range(len(bias))
    ]


def mixed(rows: list[list[float]], weights: list[float], partner: list[int]) -> list[list[float]]:
    """Every row with that of its partner."""
    return [
        [
            weights[b] * one + (1 - weights[b]) * other
            for one, other in zip(row, second, strict=True)
        ]
        for b, row in enumerate(rows)
        for second in [rows[partner[b]]]
    ]


def outputs(
    x: Array,
    parameters: dict[str, Array],
    at: str | None = None,
    weights: list[float] | None = None,
    partner: list[int] | None = None,
) -> list[list[float]]:
    """Logits of items (batch, time, feature): each item embedded, all of a problem read at once.

    Mixed `at` the input, the layer `encoder` (a row an item), `hidden` (a row a problem) or not.
    """
    batch, time, _ = x.shape

    def here(rows: list[list[float]], name: str) -> list[list[float]]:
        return mixed(rows, weights, partner) if at == name and weights and partner else rows

    def layer(name: str) -> tuple[Array, Array]:
        return parameters[f"{name}.weight"], parameters[f"{name}.bias"]

    items = [[[float(number) for number in x[b, t]] for b in range(batch)] for t in range(time)]
    items = [here(rows, "input") for rows in items]
    embedded = [here([affine(row, *layer("encoder")) for row in rows], "encoder") for rows in items]
    read = [[math.tanh(n) for t in range(time) for n in embedded[t][b]] for b in range(batch)]
    hidden = here([affine(row, *layer("hidden")) for row in read], "hidden")
    return [affine([math.tanh(n) for n in row], *layer("reader")) for row in hidden]


def probabilities(logits: list[float]) -> list[float]:
    """Softmax."""
    total = math.fsum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / total for logit in logits]


def cross_entropy(logits: list[float], answer: int) -> float:
    """Negative logarithm of the probability of the answer."""
    return -math.log(probabilities(logits)[answer])


def mixup_loss(
    logits: list[list[float]], answers: list[int], weights: list[float], partner: list[int]
) -> float:
    """Cross-entropy with both answers of each mixture, the mean over problems."""
    return math.fsum(
        weights[b] * cross_entropy(row, answers[b])
        + (1 - weights[b]) * cross_entropy(row, answers[partner[b]])
        for b, row in enumerate(logits)
    ) / len(logits)


def mixed_answers(
    logits: list[list[float]], weights: list[float], partner: list[int], *, of_logits: bool
) -> list[list[float]]:
    """Probabilities of mixed logits, or mixtures of probabilities."""
    if of_logits:
        return [probabilities(row) for row in mixed(logits, weights, partner)]
    return mixed([probabilities(row) for row in logits], weights, partner)


def distance(logits: list[list[float]], target: list[list[float]]) -> float:
    """Mean squared distance of probabilities from others."""
    squares = [
        (p - q) ** 2
        for row, answers in zip(logits, target, strict=True)
        for p, q in zip(probabilities(row), answers, strict=True)
    ]
    return math.fsum(squares) / len(squares)


def divergence(first: list[float], second: list[float]) -> float:
    """Kullback–Leibler divergence of the probabilities of one problem from those of another."""
    pairs = zip(probabilities(first), probabilities(second), strict=True)
    return math.fsum(p * math.log(p / q) for p, q in pairs)


def entropy(logits: list[float]) -> float:
    """Entropy of the probabilities."""
    return -math.fsum(p * math.log(p) for p in probabilities(logits))


def lengthened(x: Array, length: float) -> Array:
    """Every problem of (batch, time, feature) with that Euclidean length."""
    return np.stack([row * length / math.sqrt(math.fsum((row**2).ravel())) for row in x])


def adversary(
    x: Array,
    parameters: dict[str, Array],
    direction: Array,
    *,
    radius: float,
    step: float,
    iterations: int,
) -> Array:
    """The change of virtual adversarial training, its gradient by central differences."""
    clean, h = outputs(x, parameters), 1e-5
    for _ in range(iterations):
        shift, slope = lengthened(direction, step), np.empty_like(x)
        for b, t, j in np.ndindex(x.shape):
            both = []
            for sign in (1, -1):
                changed = x + shift
                changed[b, t, j] += sign * h
                both.append(divergence(clean[b], outputs(changed, parameters)[b]))
            slope[b, t, j] = (both[0] - both[1]) / (2 * h)
        direction = slope
    return lengthened(direction, radius)


def cropped(image: Array, row: int, column: int, flip: bool, padding: int) -> Array:
    """A window of an image with a border of zeros, mirrored or not, pixel by pixel."""
    height, width = image.shape[-2:]
    window = np.zeros_like(image)
    for i, j in np.ndindex(height, width):
        above, left = row + i - padding, column + (width - 1 - j if flip else j) - padding
        if 0 <= above < height and 0 <= left < width:
            window[..., i, j] = image[..., above, left]
    return window
