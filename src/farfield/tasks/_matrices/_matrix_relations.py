"""Rules of progressive matrices: triples of a relation, an object and an attribute."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from jaxtyping import Bool, Int64

from farfield.tasks._analogies import _analogy_panels as between
from farfield.tasks._analogies._analogy_panels import (
    COLOR,
    DOMAINS,
    LINE_COLOR,
    LINE_TYPE,
    NUM_CELLS,
    NUM_LEVELS,
    NUMBER,
    POSITION,
    SIZE,
    Masks,
    completed,
    holds,
    sizes,
    spread,
)
from farfield.tasks._matrices._matrix_drawing import NUM_KINDS, NUM_LINES

ATTRIBUTES: Final = DOMAINS
"""Of shapes and of lines."""
RELATIONS: Final = (*between.RELATIONS, "consistent union")
"""Relations along the rows or the columns of a matrix."""
UNION: Final = len(RELATIONS) - 1
LEVELS: Final = (NUM_CELLS + 1, NUM_KINDS, NUM_LEVELS, NUM_LEVELS, NUM_CELLS, NUM_LINES, NUM_LEVELS)
"""Number of levels of each attribute; the level of a number is that number, from 0."""
SCALES: Final = (SIZE, COLOR, LINE_COLOR)
"""The attributes that interpolation and extrapolation are about."""


def _legal(relation: int, attribute: int) -> bool:
    if relation == between.PROGRESSION:
        return attribute not in (POSITION, LINE_TYPE)
    return attribute != (POSITION if relation == UNION else NUMBER)


TRIPLES: Final = tuple(
    (relation, attribute)
    for attribute in range(len(ATTRIBUTES))
    for relation in range(len(RELATIONS))
    if _legal(relation, attribute)
)
"""The 29 that exist, as places in `RELATIONS` and `ATTRIBUTES`, which name the object too."""
TRIPLE_NAMES: Final = tuple(
    f"{RELATIONS[relation]} of {ATTRIBUTES[attribute]}" for relation, attribute in TRIPLES
)

WHOLE: Final = np.array([[[0, 1, 2], [3, 4, 5]], [[0, 3, 6], [1, 4, 7]]])
"""Places of the two whole lines of a matrix, if lines are rows and if they are columns."""
OPEN: Final = np.array([[6, 7], [2, 5]])
"""Places of the line that a candidate ends, likewise."""


class Lines(NamedTuple):
    """All lines of three panels that a triple makes, by the panel that ends them.

    Attributes:
        ends: The sets of levels that a line can end with.
        start: Place in `lines` of the first line with each end.
        number: Number of lines with each end.
        lines: The lines, those with the same end together; none for a consistent union.
    """

    ends: Int64[np.ndarray, " value"]
    start: Int64[np.ndarray, " value"]
    number: Int64[np.ndarray, " value"]
    lines: Int64[np.ndarray, "item 3"]


@cache
def lines_of(triple: int, ladder: tuple[int, ...], fewest: int, most: int) -> Lines:
    """The lines of a triple over the levels of a ladder.

    Args:
        triple: Place in `TRIPLES`.
        ladder: The levels that may be shown, ascending.
        fewest: Levels that a panel shows, at least.
        most: Levels that a panel shows, at most.
    """
    relation, _ = TRIPLES[triple]
    masks = np.arange(1, 1 << len(ladder))
    masks = masks[(sizes(masks) >= fewest) & (sizes(masks) <= most)]
    if relation == UNION:
        none = np.zeros(len(masks), np.int64)
        return Lines(spread(masks, ladder), none, none, np.empty((0, 3), np.int64))
    first, second = np.repeat(masks, len(masks)), np.tile(masks, len(masks))
    third = completed(first, second)[:, relation]
    kept = holds(first, second, third)[:, relation] & np.isin(third, masks)
    lines = np.stack([first, second, third], axis=1)[kept]
    lines = lines[np.argsort(lines[:, 2], kind="stable")]
    ends, start, count = np.unique(lines[:, 2], return_index=True, return_counts=True)
    return Lines(spread(ends, ladder), start, count, spread(lines, ladder))


def laws(context: Masks) -> Bool[np.ndarray, "batch _ _ value"]:
    """Relations that hold in both complete lines, by direction (rows, columns) and attribute.

    Args:
        context: Sets of levels that the eight panels show of each attribute, `(batch, 8, 7)`.
    """
    first, second, third = np.moveaxis(context[:, WHOLE], 3, 0)
    alone = holds(first, second, third).all(axis=2)
    union = _same_three(context[:, WHOLE[:, 0]], context[:, WHOLE[:, 1]])
    found: np.ndarray = np.concatenate([alone, union[..., None]], axis=3) & _LEGAL
    return found


def ended(context: Masks, candidates: Masks) -> Bool[np.ndarray, "batch candidate _ _ value"]:
    """Relations that hold in the last line with each candidate, by direction and attribute.

    Args:
        context: Sets of levels that the eight panels show of each attribute, `(batch, 8, 7)`.
        candidates: Those that the candidates show.
    """
    first, second = np.moveaxis(context[:, OPEN], 2, 0)
    third = candidates[:, :, None]
    alone = holds(first[:, None], second[:, None], third)
    shape = np.broadcast_shapes(third.shape, first[:, None].shape)
    last = [np.broadcast_to(each, shape) for each in (first[:, None], second[:, None], third)]
    model = context[:, None, WHOLE[:, 0]]
    union = _same_three(np.broadcast_to(model, (*shape[:3], 3, shape[3])), np.stack(last, axis=3))
    found: np.ndarray = np.concatenate([alone, union[..., None]], axis=4)
    return found


def _same_three(line: Masks, other: Masks) -> Bool[np.ndarray, "*_"]:
    """True if two lines, `(*, 3, attribute)`, show the same three different sets, none empty."""
    one, two = np.sort(line, axis=-2), np.sort(other, axis=-2)
    different = (one[..., 0, :] > 0) & (np.diff(one, axis=-2) > 0).all(axis=-2)
    same: np.ndarray = different & (one == two).all(axis=-2)
    return same


_LEGAL: Final = np.array(
    [
        [_legal(relation, attribute) for relation in range(len(RELATIONS))]
        for attribute in range(len(ATTRIBUTES))
    ]
)


def described(triple: int) -> tuple[str, ...]:
    """The columns of a published description that are 1 for a triple.

    Args:
        triple: Place in `TRIPLES`.
    """
    relation, attribute = TRIPLES[triple]
    return (*ATTRIBUTES[attribute].split("-"), RELATIONS[relation])
