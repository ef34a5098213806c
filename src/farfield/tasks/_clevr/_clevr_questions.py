"""Questions on scenes: their vectors, their answers, and what can be guessed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Final

import numpy as np
from jaxtyping import Int64, UInt8

from farfield.tasks._clevr._clevr_scenes import ABSENT, COLORS, REACH, SIDE, Scenes

KINDS: Final = ("shape", "left", "top", "closest", "furthest", "count")
"""Kinds of question: three about the object of a color alone, three about the others too."""
RELATIONAL: Final = 3
"""The first kind that is about several objects."""
ANSWERS: Final = ("yes", "no", "square", "circle", "1", "2", "3", "4", "5", "6")
QUESTIONS: Final = len(COLORS) * len(KINDS)
"""Different questions; that of a kind about a color has the number 6 · color + kind."""
FEATURES: Final = len(COLORS) + 2 + RELATIONAL
"""Numbers of the vector of a question."""

_FAR: Final = 2 * SIDE**2
"""More than any squared distance of two centers."""
_RELEASED_FAR: Final = 999
"""Squared distance of an object to itself in the released code, less than many of two objects."""

Table = Int64[np.ndarray, "batch slot value"]
"""Number of the answer about each color, for each kind of question."""


def vectors() -> UInt8[np.ndarray, "item feature"]:
    """Vectors of all questions: color, whether relational, and which of three, each one-hot."""
    numbers = np.arange(QUESTIONS)
    color, kind = np.divmod(numbers, len(KINDS))
    is_relational, subtype = np.divmod(kind, RELATIONAL)
    found = np.zeros((QUESTIONS, FEATURES), np.uint8)
    for place in (color, len(COLORS) + is_relational, len(COLORS) + 2 + subtype):
        found[numbers, place] = 1
    return found


def answer_table(scenes: Scenes, *, closest_to_self: bool = False) -> Table:
    """Numbers of the answers to all questions, with −1 about colors that a scene does not have.

    Where several others are as near (or as far), the first color of them counts.

    Args:
        scenes: The scenes.
        closest_to_self: Whether an object has a squared distance of 999 to itself where the closest
            one is asked for, and so may be its own closest.
    """
    place, shape = scenes[..., :2], scenes[..., 2]
    way = np.square(place[:, :, None] - place[:, None]).sum(3)
    is_there = shape != ABSENT
    others = is_there[:, None] & ~np.eye(len(COLORS), dtype=bool)
    near = np.where(others, way, _FAR)
    if closest_to_self:
        own = np.arange(len(COLORS))
        near[:, own, own] = _RELEASED_FAR
    far = np.where(others, way, -1)
    circle_or_square = 2 + shape
    first = [circle_or_square, *(1 - (2 * place[..., axis] < SIDE) for axis in (0, 1))]
    found = [np.take_along_axis(circle_or_square, at, 1) for at in (near.argmin(2), far.argmax(2))]
    alike = (shape[:, :, None] == shape[:, None]).sum(2)
    table = np.stack([*first, *found, 3 + alike], axis=2)
    return np.where(is_there[:, :, None], table, ABSENT)


def chances(circles: Sequence[Fraction]) -> dict[str, float]:
    """Share of right answers of the best guess at each kind of question, from the question alone.

    A center lies in the left (or upper) half with 33 of its 65 columns (or rows), and every other
    object is the closest or furthest equally often; that objects leave each other room changes
    neither by a thousandth.

    Args:
        circles: Probability of a circle, for each color that scenes have.
    """
    half = Fraction(SIDE // 2 + 1 - REACH, SIDE - 2 * REACH)
    found: dict[str, list[Fraction]] = {kind: [] for kind in KINDS}
    for color, own in enumerate(circles):
        others = [*circles[:color], *circles[color + 1 :]]
        other = sum(others, Fraction()) / len(others)
        guesses = (own, half, half, other, other)
        for kind, chance in zip(KINDS, guesses, strict=False):
            found[kind].append(max(chance, 1 - chance))
        found[KINDS[-1]].append(_likeliest_count(own, others))
    return {kind: float(sum(parts, Fraction()) / len(parts)) for kind, parts in found.items()}


def _likeliest_count(own: Fraction, others: Sequence[Fraction]) -> Fraction:
    """Probability of the most frequent number of others with the shape of an object."""
    circles, squares = (
        reduce(np.convolve, [np.array([1 - p, p], object) for p in chances])
        for chances in (others, [1 - p for p in others])
    )
    likeliest: Fraction = (own * circles + (1 - own) * squares).max()
    return likeliest
