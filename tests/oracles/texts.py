"""Windows, perplexity and a recurrent language model by loops, in float64."""

from __future__ import annotations

import math

import numpy as np


def tokens(text: str) -> list[str]:
    found: list[str] = []
    for line in text.split("\n")[:-1]:
        found += [word for word in line.split(" ") if word]
        found.append("<eos>")
    return found


def ranks(words: list[str]) -> dict[str, int]:
    """Number of each word: how many are more frequent, or as frequent and before it."""
    different = set(words)
    return {
        word: sum(
            words.count(other) > words.count(word)
            or (words.count(other) == words.count(word) and other < word)
            for other in different
        )
        for word in different
    }


def losses(logits: np.ndarray, target: np.ndarray) -> list[float]:
    """Negative log-likelihood of each right word, one after another."""
    found = []
    for row, right in zip(logits.reshape(-1, logits.shape[-1]), target.reshape(-1), strict=True):
        if right >= 0:
            total = sum(math.exp(float(z)) for z in row)
            found.append(-math.log(math.exp(float(row[right])) / total))
    return found


def perplexity(logits: np.ndarray, target: np.ndarray) -> float:
    each = losses(logits, target)
    return math.exp(sum(each) / len(each))


def cached(
    logits: np.ndarray,
    hidden: np.ndarray,
    words: np.ndarray,
    *,
    size: int,
    scale: float,
    weight: float,
) -> np.ndarray:
    """Probabilities of the next words with a cache, of one text: Grave et al. 2017, equation 5."""
    total, time = len(words), len(logits)
    found = np.zeros_like(logits)
    for row in range(time):
        now = total - time + row
        own = [math.exp(float(z)) for z in logits[row]]
        found[row] = [z / sum(own) for z in own]
        past = range(max(0, now - size), now)
        if not past:
            continue
        similar = [math.exp(scale * sum(hidden[now] * hidden[i])) for i in past]
        found[row] *= 1 - weight
        for i, each in zip(past, similar, strict=True):
            found[row, words[i + 1]] += weight * each / sum(similar)
    return found
