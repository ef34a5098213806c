"""Identity patterns: which places of a row hold the same image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import einops
import numpy as np
from jaxtyping import Int64

from farfield.tasks._protocol._draws import arrangement
from farfield.tasks._rules import _abstract_rules as rules

PATTERNS: Final = {
    "AAA": (0, 0, 0),
    "AAB": (0, 0, 1),
    "ABA": (0, 1, 0),
    "ABB": (0, 1, 1),
    "ABC": (0, 1, 2),
}
"""Every pattern of three places, as the letter at each."""


def num_letters(pattern: str) -> int:
    """Number of different images of a pattern."""
    return len(set(PATTERNS[pattern]))


def spelled(
    pattern: str, letters: Int64[np.ndarray, "batch slot"]
) -> Int64[np.ndarray, "batch time"]:
    """Rows of a pattern: its letters, put in place.

    Args:
        pattern: Name of the pattern.
        letters: The image that each letter stands for.
    """
    return letters[:, list(PATTERNS[pattern])]


def kinds_of_two_rows(patterns: Sequence[str], images: int) -> tuple[rules.Kind, ...]:
    """Four different choices in order, then which of them the letters of both rows stand for.

    Args:
        patterns: The pattern of each kind, of one or two letters.
        images: Number of images.
    """
    choices = tuple(range(images, images - 4, -1))
    letters = {name: tuple(range(4, 4 - 2 * num_letters(name), -1)) for name in patterns}
    return tuple(rules.Kind(name=name, radices=(*choices, *letters[name])) for name in patterns)


def two_rows(
    pattern: str, pool: np.ndarray, digits: rules.Digits
) -> tuple[Int64[np.ndarray, "batch candidate"], Int64[np.ndarray, "batch row time"]]:
    """Choices and both rows of numbered problems, as images of `pool`.

    Args:
        pattern: Name of the pattern of both rows.
        pool: The images.
        digits: Problems of a kind of `kinds_of_two_rows`.
    """
    choices = pool[arrangement(digits[:, :4])]
    letters = np.take_along_axis(choices, arrangement(digits[:, 4:]), axis=1)
    of_row = einops.rearrange(letters, "batch (row letter) -> row batch letter", row=2)
    return choices, np.stack([spelled(pattern, row) for row in of_row], axis=1)
