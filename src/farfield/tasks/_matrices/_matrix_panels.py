"""Contents of panels of progressive matrices: relevant sets of levels, and distraction."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Bool, Int64, Integer, UInt8

from farfield.tasks._analogies._analogy_panels import (
    COLOR,
    LINE_COLOR,
    LINE_TYPE,
    NUM_CELLS,
    NUM_LEVELS,
    NUMBER,
    POSITION,
    SIZE,
    TYPE,
    Distraction,
    Levels,
    Masks,
    sizes,
)
from farfield.tasks._matrices._matrix_drawing import CELL_FIELDS, NUM_KINDS, NUM_LINES

CONTENTS: Final = (TYPE, SIZE, COLOR)
"""Attributes of single shapes, in the order of a cell's fields."""
_MORE: Final = 3
"""Shapes or lines that are there for no reason: fewer than this."""
_FEW: Final = 4
"""Shapes of a panel in which nothing about shapes matters, at most; those where nothing varies."""
Choices = Int64[np.ndarray, " value"]
"""Levels to choose from."""
_MASKS: Final = np.arange(1 << NUM_LEVELS)
_WIDTH: Final = sizes(_MASKS)
"""Number of levels of every set."""
_ASCENDING: Final = np.argsort(
    ~(_MASKS[:, None] >> np.arange(NUM_LEVELS) & 1).astype(bool), axis=1, kind="stable"
)
"""The levels of every set, ascending, then the others."""


def composed(
    values: Int64[np.ndarray, "item feature"],
    distraction: Distraction,
    familiar: Choices,
) -> UInt8[np.ndarray, "item _"]:
    """Panels as they are drawn, which show the sets that matter.

    Where sets of several attributes of shapes matter, the panel has to have room for them: a number
    or set of positions no smaller than any set of types, sizes or colors; likewise for lines.

    Args:
        values: The set of levels of each attribute that matters, 0 where one does not.
        distraction: Draws the rest.
        familiar: Levels that sizes and colors may show where they do not matter.
    """
    cells = _cells(values, distraction, familiar)
    lines = _lines(values, distraction, familiar)
    return np.concatenate([cells, lines], axis=1).astype(np.uint8)


def _cells(values: Masks, distraction: Distraction, familiar: Choices) -> Levels:
    """The shapes: how many, in which cells, and the fields of each."""
    count = _num_shapes(values, distraction)
    slots = np.empty((len(values), NUM_CELLS, CELL_FIELDS), np.int64)
    for field, attribute in enumerate(CONTENTS):
        choices = np.arange(NUM_KINDS) if attribute == TYPE else familiar
        slots[:, :, field] = _shared_out(values[:, attribute], count, choices, distraction, 9)
    slots[:, :, 0] += 1
    slots[np.arange(NUM_CELLS) >= count[:, None]] = 0
    places = np.argsort(distraction.words(NUM_CELLS), axis=1, kind="stable")
    position = values[:, POSITION]
    places = np.where((position > 0)[:, None], _ASCENDING[position, :NUM_CELLS], places)
    cells = np.zeros_like(slots)
    np.put_along_axis(cells, places[:, :, None], slots, axis=1)
    return cells.reshape(len(values), -1)


def _num_shapes(values: Masks, distraction: Distraction) -> Int64[np.ndarray, " item"]:
    """The number that matters, that of the positions that do, or some number with enough room."""
    needed = _WIDTH[values[:, CONTENTS]].max(axis=1)
    more, few = distraction.below(_MORE), distraction.below(_FEW)
    free = np.where(needed > 0, needed + more, 1 + few)
    if not distraction.varied:
        free = np.where(needed > 0, _FEW, 0)
    number, position = values[:, NUMBER], values[:, POSITION]
    return np.select([number > 0, position > 0], [_ASCENDING[number, 0], _WIDTH[position]], free)


def _lines(values: Masks, distraction: Distraction, familiar: Choices) -> Levels:
    """The color of each type of line, counted from 1; 0 where it is absent."""
    types, colors = values[:, LINE_TYPE], values[:, LINE_COLOR]
    more = distraction.below(_MORE)
    free = np.where(colors > 0, _WIDTH[colors] + more, more)
    if not distraction.varied:
        free = np.where(colors > 0, _FEW, 0)
    count = np.where(types > 0, _WIDTH[types], free)
    slots = 1 + _shared_out(colors, count, familiar, distraction, NUM_LINES)
    slots[np.arange(NUM_LINES) >= count[:, None]] = 0
    places = np.argsort(distraction.words(NUM_LINES), axis=1, kind="stable")
    places = np.where((types > 0)[:, None], _ASCENDING[types, :NUM_LINES], places)
    lines = np.zeros_like(slots)
    np.put_along_axis(lines, places, slots, axis=1)
    return lines


def _shared_out(
    values: Masks,
    count: Int64[np.ndarray, " item"],
    choices: Choices,
    distraction: Distraction,
    slots: int,
) -> Levels:
    """A level for each of `count` slots: all those of a set that matters, or any of the choices.

    Levels of a set come in ascending order from some slot on, the rest are repetitions; which slot
    that is differs between attributes, so that they are not tied to one another.
    """
    drawn = distraction.levels(choices, slots)
    width = np.maximum(_WIDTH[values], 1)[:, None]
    start, room = distraction.words(1), np.maximum(count, 1)[:, None]
    turned = (np.arange(slots) + (start % room.astype(np.uint64)).astype(np.int64)) % room
    again = (distraction.words(slots) % width.astype(np.uint64)).astype(np.int64)
    spelled = _ASCENDING[values[:, None], np.where(turned < width, turned, again)]
    return np.where((values > 0)[:, None], spelled, drawn)


def shown(panels: Integer[np.ndarray, "item feature"]) -> Int64[np.ndarray, "item _"]:
    """The set of levels that each panel shows of every attribute, in the order of `ATTRIBUTES`.

    Args:
        panels: What is drawn.
    """
    cells, lines = np.split(panels.astype(np.int64), [NUM_CELLS * CELL_FIELDS], axis=1)
    kind, size, color = np.moveaxis(cells.reshape(-1, NUM_CELLS, CELL_FIELDS), 2, 0)
    full, there = kind > 0, lines > 0
    sets = [
        1 << full.sum(axis=1),
        *(_union(levels, full) for levels in (kind - 1, size, color)),
        _union(np.broadcast_to(np.arange(NUM_CELLS), full.shape), full),
        _union(np.broadcast_to(np.arange(NUM_LINES), there.shape), there),
        _union(lines - 1, there),
    ]
    return np.stack(sets, axis=1)


def _union(levels: Levels, there: Bool[np.ndarray, "item slot"]) -> Masks:
    found: Masks = np.bitwise_or.reduce(np.where(there, 1 << np.maximum(levels, 0), 0), axis=1)
    return found
