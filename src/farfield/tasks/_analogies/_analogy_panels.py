"""Contents of panels: a set of levels in the relevant domain, distraction in the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Int64, Integer

from farfield.tasks._analogies._analogy_drawing import (
    CELL_FIELDS,
    LINE_FIELDS,
    NUM_CELLS,
    NUM_LEVELS,
    NUM_LINES,
)
from farfield.tasks._analogies._analogy_relations import Masks, sizes

DOMAINS: Final = (
    "shape-number",
    "shape-type",
    "shape-size",
    "shape-colour",
    "shape-position",
    "line-type",
    "line-colour",
)
"""Domains of relations, the first four in the order of a cell's fields."""
NUMBER, TYPE, SIZE, COLOR, POSITION, LINE_TYPE, LINE_COLOR = range(len(DOMAINS))
SCALES: Final = (NUMBER, SIZE, COLOR, LINE_COLOR)
"""Ordered domains, whose values can lie beyond those of training."""

Levels = Int64[np.ndarray, "item slot"]
"""Levels of the shapes or lines of each panel."""
Panels = Int64[np.ndarray, "item feature"]
"""Panels as `draw_panels` takes them, but for the type."""


def levels_of(domain: int) -> int:
    """Number of levels of a domain."""
    return NUM_CELLS if domain == POSITION else NUM_LEVELS


@final
@dataclass(frozen=True, kw_only=True)
class Distraction:
    """Distribution of the irrelevant domains.

    Args:
        generator: Gives the words.
        group: Number of the group of each panel: panels of one group share what is drawn.
        varied: Whether shapes and lines of a panel differ in what does not matter, and both are
            there whichever matters.
    """

    generator: np.random.Generator
    group: Int64[np.ndarray, " item"]
    varied: bool

    def words(self, columns: int) -> np.ndarray:
        """Random words, `(item, columns)`."""
        groups = int(self.group.max(initial=-1)) + 1
        drawn = np.asarray(self.generator.bit_generator.random_raw(groups * columns))
        words: np.ndarray = drawn.reshape(-1, columns)[self.group]
        return words

    def below(self, high: int) -> Int64[np.ndarray, " item"]:
        """An integer 0 … `high` − 1 for each panel; 0 where nothing varies."""
        drawn = self.words(1)[:, 0] % np.uint64(high if self.varied else 1)
        return drawn.astype(np.int64)

    def levels(self, choices: Int64[np.ndarray, " value"], slots: int) -> Levels:
        """A level for each slot of each panel; the same for all slots where nothing varies."""
        words = self.words(slots if self.varied else 1)
        picked = choices[(words % np.uint64(len(choices))).astype(np.int64)]
        return np.broadcast_to(picked, (len(picked), slots))


def composed(
    domain: Int64[np.ndarray, " item"],
    values: Masks,
    distraction: Distraction,
    familiar: Int64[np.ndarray, " value"],
) -> Panels:
    """Panels that show `values` in `domain`, and in the others whatever is drawn.

    Args:
        domain: Which domain matters, place in `DOMAINS`.
        values: The set of levels shown in it.
        distraction: Draws the rest.
        familiar: Levels that the other domains of `SCALES` may show.
    """
    cells = _cells(domain, values, distraction, familiar)
    lines = _lines(domain, values, distraction, familiar)
    return np.concatenate([cells, lines], axis=1)


def _cells(
    domain: Int64[np.ndarray, " item"],
    values: Masks,
    distraction: Distraction,
    familiar: Int64[np.ndarray, " value"],
) -> Panels:
    """The shapes: how many, in which cells, and the fields of each."""
    count = _num_shapes(domain, sizes(values), distraction)
    slots = np.zeros((len(values), NUM_CELLS, CELL_FIELDS), np.int64)
    for field, choices in enumerate((np.arange(1), np.arange(NUM_LEVELS), familiar, familiar)):
        drawn, spelled = distraction.levels(choices, NUM_CELLS), _spelled(values, distraction, 9)
        slots[:, :, field] = np.where(domain[:, None] == field, spelled, drawn)
    slots[:, :, NUMBER] += 1
    slots[np.arange(NUM_CELLS) >= count[:, None]] = 0
    places = np.argsort(distraction.words(NUM_CELLS), axis=1, kind="stable")
    given = np.argsort(~_bits(values, NUM_CELLS), axis=1, kind="stable")
    places = np.where(domain[:, None] == POSITION, given, places)
    cells = np.zeros_like(slots)
    np.put_along_axis(cells, places[:, :, None], slots, axis=1)
    return cells.reshape(len(values), -1)


def _num_shapes(
    domain: Int64[np.ndarray, " item"], width: Masks, distraction: Distraction
) -> Int64[np.ndarray, " item"]:
    """Occupied cells: enough to show all values, and some more."""
    more = distraction.below(3)
    if not distraction.varied:
        return np.select([domain < POSITION, domain == POSITION], [0 * width + NUM_LINES, width], 0)
    return np.select([domain < POSITION, domain == POSITION], [width + more, width], 1 + more)


def _lines(
    domain: Int64[np.ndarray, " item"],
    values: Masks,
    distraction: Distraction,
    familiar: Int64[np.ndarray, " value"],
) -> Panels:
    """The lines: how many, in which directions and colors."""
    count = _num_lines(domain, sizes(values), distraction)
    types = np.argsort(distraction.words(NUM_LEVELS), axis=1, kind="stable")[:, :NUM_LINES]
    colors, spelled = distraction.levels(familiar, NUM_LINES), _spelled(values, distraction, 4)
    slots = np.zeros((len(values), NUM_LINES, LINE_FIELDS), np.int64)
    slots[:, :, 0] = 1 + np.where(domain[:, None] == LINE_TYPE, spelled, types)
    slots[:, :, 1] = np.where(domain[:, None] == LINE_COLOR, spelled, colors)
    slots[np.arange(NUM_LINES) >= count[:, None]] = 0
    return slots.reshape(len(values), -1)


def _num_lines(
    domain: Int64[np.ndarray, " item"], width: Masks, distraction: Distraction
) -> Int64[np.ndarray, " item"]:
    """Lines: one of each type that matters; of colors that matter enough; else up to two."""
    more = distraction.below(3)
    among = np.minimum(width + more, NUM_LINES)
    return np.select([domain == LINE_TYPE, domain == LINE_COLOR], [width, among], more)


def _spelled(values: Masks, distraction: Distraction, slots: int) -> Levels:
    """The levels of each set, ascending, then some of them again at random."""
    ascending = np.argsort(~_bits(values, NUM_LEVELS), axis=1, kind="stable")
    width = sizes(values)[:, None]
    again = distraction.words(slots) % np.maximum(width, 1).astype(np.uint64)
    place = np.where(np.arange(slots) < width, np.arange(slots), again.astype(np.int64))
    return np.take_along_axis(ascending, place, axis=1)


def _bits(values: Masks, count: int) -> Bool[np.ndarray, "item value"]:
    return (values[:, None] >> np.arange(count) & 1).astype(bool)


def shown(panels: Integer[np.ndarray, "item feature"]) -> Int64[np.ndarray, "item _"]:
    """The set of levels that each panel shows in every domain, in the order of `DOMAINS`.

    Args:
        panels: What is drawn.
    """
    cells, lines = np.split(panels.astype(np.int64), [NUM_CELLS * CELL_FIELDS], axis=1)
    cells = cells.reshape(-1, NUM_CELLS, CELL_FIELDS)
    lines = lines.reshape(-1, NUM_LINES, LINE_FIELDS)
    full, there = cells[:, :, NUMBER] > 0, lines[:, :, 0] > 0
    columns = [
        *((cells[:, :, field] - (field == NUMBER), full) for field in range(CELL_FIELDS)),
        (np.broadcast_to(np.arange(NUM_CELLS), full.shape), full),
        (lines[:, :, 0] - 1, there),
        (lines[:, :, 1], there),
    ]
    sets = [np.where(here, 1 << np.maximum(levels, 0), 0) for levels, here in columns]
    return np.stack([np.bitwise_or.reduce(each, axis=1) for each in sets], axis=1)
