"""Graded changes of text."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farfield.analysis._shifts._shift import Shift

Draw = np.random.Generator
Texts = NDArray[Any]


def text_shifts() -> list[Shift]:
    """Return the shifts that texts can have."""
    parts: list[tuple[str, str, float, Any, Any]] = [
        ("typos", "of the letters", 0.3, _typos, "detail"),
        ("unknown", "of the words", 1, _of_words(_shuffled), "detail"),
        ("upper case", "of the words", 1, _of_words(lambda word, _: word.upper()), "light"),
        ("length-", "factor 1 + d", 3, _shorter, "number"),
        ("length+", "factor 1 + d", 3, _longer, "number"),
    ]
    return [
        Shift(name=name, unit=unit, end=end, change=_on_texts(change), group=group)
        for name, unit, end, change, group in parts
    ]


def _on_texts(change: Callable[[str, float, Draw], str]) -> Any:
    """Wrap the change of a text so that it changes an array of texts, each by separate draws."""

    def changed(x: Texts, strength: float, generator: Draw) -> Texts:
        keys = generator.integers(0, 2**63, len(x))
        pairs = zip(x, keys, strict=True)
        draws = [(text, np.random.Generator(np.random.Philox(key=int(key)))) for text, key in pairs]
        found = [change(str(text), strength, draw) for text, draw in draws]
        return np.array(found, dtype=object)

    return changed


def _typos(text: str, d: float, g: Draw) -> str:
    """Swap, drop, double or replace letters."""
    signs = list(text)
    at = [i for i, sign in enumerate(signs) if sign.isalpha()]
    kinds = g.integers(0, 4, len(at))
    letters = g.integers(0, 26, len(at))
    rank = g.random(len(at)).argsort().argsort()
    for i, kind, letter, order in zip(at, kinds, letters, rank, strict=True):
        if order >= round(d * len(at)):
            continue
        if kind == 0 and i + 1 < len(signs):
            signs[i], signs[i + 1] = signs[i + 1], signs[i]
        elif kind == 1:
            signs[i] = ""
        elif kind == 2:
            signs[i] *= 2
        else:
            signs[i] = string.ascii_lowercase[letter]
    return "".join(signs)


def _of_words(change: Callable[[str, Draw], str]) -> Callable[[str, float, Draw], str]:
    """Change a share of the words of a text."""

    def changed(text: str, d: float, g: Draw) -> str:
        words = text.split(" ")
        rank = g.random(len(words)).argsort().argsort()
        chosen = rank < round(d * len(words))
        return " ".join(
            change(word, g) if is_chosen else word
            for word, is_chosen in zip(words, chosen, strict=True)
        )

    return changed


def _shuffled(word: str, g: Draw) -> str:
    """Return a word of the same length that is in no vocabulary."""
    return "".join(string.ascii_lowercase[i] for i in g.integers(0, 26, len(word)))


def _shorter(text: str, d: float, _: Draw) -> str:
    words = text.split(" ")
    return " ".join(words[: max(1, round(len(words) / (1 + d)))])


def _longer(text: str, d: float, _: Draw) -> str:
    words = text.split(" ")
    return " ".join((words * 5)[: round(len(words) * (1 + d))])
