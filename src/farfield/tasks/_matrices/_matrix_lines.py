"""Kinds of lines of progressive matrices, by triple, and the numbers that are drawn for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from jaxtyping import Bool, Int64, UInt64

from farfield.tasks._analogies._analogy_panels import LINE_COLOR, LINE_TYPE, NUMBER, POSITION
from farfield.tasks._matrices._matrix_holdouts import NO_TRIPLE
from farfield.tasks._matrices._matrix_panels import CONTENTS
from farfield.tasks._matrices._matrix_relations import LEVELS, SCALES, TRIPLES, Lines, lines_of

CONTEXT: Final = 8
"""Panels of the matrix without its last one."""
ROOM: Final = 3
"""Levels of sizes, colors and types of shapes and of colors of lines in a panel, at most; and
shapes or lines, at least, where these have to show them."""
ATTRIBUTE_OF: Final = np.array([attribute for _, attribute in TRIPLES])

Triples = Int64[np.ndarray, "batch 4"]
"""A number for each triple of each problem."""
Options = Int64[np.ndarray, "batch 8 4"]
"""A number for each triple of each candidate."""


def kinds(
    triples: Triples, levels: tuple[int, ...]
) -> Iterator[tuple[Lines, Int64[np.ndarray, " item"], Int64[np.ndarray, " item"], int]]:
    """Each kind of lines that occurs, its attribute, and the problems and slots that it fills."""
    keys = np.where(triples == NO_TRIPLE, NO_TRIPLE, 2 * triples + with_room(triples))
    for key in np.unique(keys[keys != NO_TRIPLE]).tolist():
        triple, room = divmod(key, 2)
        attribute = TRIPLES[triple][1]
        bounds = bounds_of(attribute, levels, room=bool(room))
        yield lines_of(triple, *bounds), *np.nonzero(keys == key), attribute


def bounds_of(
    attribute: int, levels: tuple[int, ...], *, room: bool
) -> tuple[tuple[int, ...], int, int]:
    """The levels that panels show of an attribute, and how many of them, at least and at most.

    Args:
        attribute: Place in `ATTRIBUTES`.
        levels: Those of `SCALES`.
        room: Whether there has to be room for levels of other attributes.
    """
    ladder = levels if attribute in SCALES else tuple(range(LEVELS[attribute]))
    if attribute == NUMBER:
        return ladder[ROOM if room else 1 :], 1, 1
    if attribute in (POSITION, LINE_TYPE):
        return (ladder, ROOM, 5) if room else (ladder, 1, 4)
    return ladder, 1, ROOM


def with_room(triples: Triples) -> Bool[np.ndarray, "batch 4"]:
    """Mask of triples on the number or position of shapes or lines whose types others decide."""
    attribute = np.where(triples == NO_TRIPLE, NO_TRIPLE, ATTRIBUTE_OF[triples])
    shapes = np.isin(attribute, CONTENTS).any(axis=1, keepdims=True)
    lines = (attribute == LINE_COLOR).any(axis=1, keepdims=True)
    room: np.ndarray = np.isin(attribute, (NUMBER, POSITION)) & shapes
    return room | (attribute == LINE_TYPE) & lines


def words(generator: np.random.Generator, *shape: int) -> UInt64[np.ndarray, "*_"]:
    """Random words."""
    return np.asarray(generator.bit_generator.random_raw(math.prod(shape))).reshape(shape)


def below(
    generator: np.random.Generator, high: Int64[np.ndarray, "*shape"]
) -> Int64[np.ndarray, "*shape"]:
    """Integers 0 … `high` − 1."""
    return (words(generator, *high.shape) % high.astype(np.uint64)).astype(np.int64)
