"""The analogies of VAEC, and their sampling in a region."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Int64

from farfield.core import Stream
from farfield.tasks._protocol._draws import permutation
from farfield.tasks._rules._abstract_rules import Columns

NUM_DIMENSIONS: Final = 4
_SHARE: Final = 10
"""One in so many of the combinations of irrelevant levels is shown with each analogy."""


def analogies(num_levels: int) -> Int64[np.ndarray, "batch 4"]:
    """All analogies along one dimension, levels of A, B, C and D, by signed distance.

    C : D differs from A : B, as far and in the same direction. The pair of the two outermost levels
    has no such companion.

    Args:
        num_levels: Levels of the dimension within a region.
    """
    level = range(num_levels)
    return np.array(
        [
            (a, a + distance, c, c + distance)
            for distance in range(-num_levels, num_levels + 1)
            for a in level
            for c in level
            if distance and a != c and a + distance in level and c + distance in level
        ]
    )


def drawn_problems(
    place: Stream, num_levels: int, problems: int | None, *, shuffled: bool
) -> Columns:
    """The problems of one region in random order, over its `num_levels` ** 4 objects.

    With every analogy along every dimension comes a tenth of the combinations of the other
    dimensions' levels, drawn anew for each, none twice; more where more problems are asked for.

    Args:
        place: Stream of the region.
        num_levels: Levels of every dimension within a region.
        problems: Number of problems; `None` for all that a tenth gives.
        shuffled: Whether the candidates stand in random order rather than the right one first.
    """
    rows = analogies(num_levels)
    kinds, combinations = NUM_DIMENSIONS * len(rows), num_levels ** (NUM_DIMENSIONS - 1)
    shown = combinations // _SHARE
    if problems is not None:
        shown = max(shown, -(-problems // kinds))
    drawn = _orders(place.child("irrelevant"), kinds, combinations)[:, :shown]
    order = permutation(place.child("order").numpy(), drawn.size)[:problems]
    kind = order // shown
    dimension, analogy = kind // len(rows), rows[kind % len(rows)]
    irrelevant = np.unravel_index(drawn.ravel()[order], (num_levels,) * (NUM_DIMENSIONS - 1))
    candidates = candidates_of(analogy[:, 3], num_levels)
    if shuffled:
        turns = _orders(place.child("candidates"), len(order), num_levels)
        candidates = np.take_along_axis(candidates, turns, axis=1)
    terms = np.concatenate([analogy[:, :3], candidates], axis=1)
    levels = _levels(terms, dimension, np.stack(irrelevant, axis=1))
    return {
        "index": np.ravel_multi_index(tuple(np.moveaxis(levels, 2, 0)), (num_levels,) * 4),
        "target": (candidates == analogy[:, 3:]).argmax(axis=1),
        "dimension": dimension,
        "analogy": analogy,
        "distance": analogy[:, 1] - analogy[:, 0],
        "object": levels[:, 0],
    }


def _orders(place: Stream, count: int, size: int) -> Int64[np.ndarray, "batch item"]:
    """`count` random orders of 0 … `size` − 1."""
    words = place.numpy().bit_generator.random_raw(count * size).reshape(count, size)
    return np.argsort(words, axis=1, kind="stable").astype(np.int64)


def candidates_of(
    right: Int64[np.ndarray, " batch"], num_levels: int
) -> Int64[np.ndarray, "batch candidate"]:
    """D, then the foils: all other levels, ascending.

    Args:
        right: Level of D.
        num_levels: Levels of the dimension within a region.
    """
    place = np.arange(num_levels - 1)
    foils = place + (place >= right[:, None])
    return np.concatenate([right[:, None], foils], axis=1)


def _levels(
    terms: Int64[np.ndarray, "batch time"],
    dimension: Int64[np.ndarray, " batch"],
    irrelevant: Int64[np.ndarray, "batch 3"],
) -> Int64[np.ndarray, "batch time 4"]:
    """Levels of all places: `terms` along the varied dimension, the same ones along the others."""
    levels = np.empty((*terms.shape, NUM_DIMENSIONS), np.int64)
    for varied in range(NUM_DIMENSIONS):
        rows = dimension == varied
        levels[rows, :, varied] = terms[rows]
        others = [other for other in range(NUM_DIMENSIONS) if other != varied]
        for column, other in enumerate(others):
            levels[rows, :, other] = irrelevant[rows, column, None]
    return levels
