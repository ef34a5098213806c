"""Panels of analogies: relations between sets of levels, contents of panels, and pictures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, final

import einops
import numpy as np
import torch
from jaxtyping import Bool, Int64, Integer, UInt8
from torch import Tensor

from farfield.tasks._files._panel_files import PANEL_SIZE

RELATIONS: Final = ("progression", "XOR", "OR", "AND")
"""Relations between the three panels of a row."""
PROGRESSION: Final = 0
_HALF: Final = 16
"""Half of more bits than a set has after two steps."""
_LARGEST_SET: Final = 3
"""Values of one of the first two panels, at most."""
_LARGEST_UNION: Final = 4
"""Maximum number of values of two panels together, the number of lines of a panel."""

Masks = Int64[np.ndarray, "..."]
"""Sets of levels: bit k is set where level k is shown."""


def _number_of_bits() -> Int64[np.ndarray, " value"]:
    """Count the bits of every integer of `_HALF` bits."""
    counts = np.zeros(1, np.int64)
    for _ in range(_HALF):
        counts = np.concatenate([counts, counts + 1])
    return counts


_BITS: Final = _number_of_bits()


def sizes(masks: Masks) -> Masks:
    """Count the levels of each set."""
    low = (1 << _HALF) - 1
    bits: Masks = _BITS[masks & low] + _BITS[masks >> _HALF & low]
    return bits


def holds(first: Masks, second: Masks, third: Masks) -> Bool[np.ndarray, "... value"]:
    """Find the relations that hold between three panels of a row, in the order of `RELATIONS`.

    A progression moves all levels by one step, not 0, from panel to panel. The others make the
    third panel of the levels that are in one of the first two, in either, or in both; they hold by
    definition only where the first two share a level and each has a level that the other lacks, so
    that a row obeys at most one relation.

    Args:
        first: Sets of levels, first panel.
        second: The second panel.
        third: The third panel.
    """
    step = _lowest(second) - _lowest(first)
    moves = (
        (first > 0)
        & (step != 0)
        & (_moved(first, step) == second)
        & (_moved(second, step) == third)
        & (sizes(third) == sizes(first))
    )
    crossing = _crossing(first, second)
    made = [crossing & (third == each) for each in (first ^ second, first | second, first & second)]
    return np.stack([moves, *made], axis=-1)


def completed(first: Masks, second: Masks) -> Int64[np.ndarray, "... value"]:
    """Complete a row by each relation, in the order of `RELATIONS`.

    Args:
        first: Sets of levels, first panel.
        second: The second panel.
    """
    step = _lowest(second) - _lowest(first)
    thirds = (_moved(second, step), first ^ second, first | second, first & second)
    return np.stack(thirds, axis=-1)


def _lowest(masks: Masks) -> Masks:
    """Find the lowest level of each set; −1 for the empty set."""
    return sizes((masks & -masks) - (masks > 0)) - (masks == 0)


def _moved(masks: Masks, step: Masks) -> Masks:
    """Move all levels of sets by a step; levels below 0 are lost."""
    up = np.left_shift(masks, np.maximum(step, 0))
    return np.right_shift(up, np.maximum(-step, 0))


def _crossing(first: Masks, second: Masks) -> Bool[np.ndarray, "*_"]:
    """Check whether two sets share a level and each has a level that the other lacks."""
    common = first & second
    return (common > 0) & (common != first) & (common != second)


@cache
def rows(relation: int, num_levels: int) -> Int64[np.ndarray, "item 3"]:
    """List all rows of three panels that a relation makes of the lowest `num_levels` levels.

    Args:
        relation: Index into `RELATIONS`.
        num_levels: Number of levels that may be shown.
    """
    first, second = _pairs(num_levels)
    third = completed(first, second)[:, relation]
    kept = holds(first, second, third)[:, relation] & (third < 1 << num_levels)
    found: Int64[np.ndarray, "item 3"] = np.stack([first, second, third], axis=1)[kept]
    return found


@cache
def open_rows(num_levels: int) -> Int64[np.ndarray, "item 2"]:
    """List the first two panels, of the lowest levels, that every relation can complete.

    Args:
        num_levels: Number of levels that may be shown.
    """
    first, second = _pairs(num_levels)
    thirds = completed(first, second)
    kept = (thirds < 1 << num_levels).all(axis=1)
    for relation in range(len(RELATIONS)):
        kept &= holds(first, second, thirds[:, relation])[:, relation]
    found: Int64[np.ndarray, "item 2"] = np.stack([first, second], axis=1)[kept]
    return found


def _pairs(num_levels: int) -> tuple[Masks, Masks]:
    """List all pairs of small sets whose levels together are not too many."""
    small = np.array(
        [
            sum(1 << level for level in chosen)
            for size in range(1, _LARGEST_SET + 1)
            for chosen in itertools.combinations(range(num_levels), size)
        ],
        np.int64,
    )
    first, second = np.repeat(small, len(small)), np.tile(small, len(small))
    few = sizes(first | second) <= _LARGEST_UNION
    return first[few], second[few]


def spread(masks: Masks, ladder: Sequence[int]) -> Masks:
    """Map sets of positions on a ladder to sets of the levels at these positions.

    Args:
        masks: Sets of positions, counted from 0.
        ladder: The levels, ascending.
    """
    bits = masks[..., None] >> np.arange(len(ladder)) & 1
    found: Masks = np.left_shift(bits, np.array(ladder)).sum(axis=-1)
    return found


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
"""Domains with an order, whose values can lie beyond the values of training."""

Levels = Int64[np.ndarray, "item slot"]
"""Levels of the shapes or lines of each panel."""
Panels = Int64[np.ndarray, "item feature"]
"""Panels in the form of `draw_panels`, of another type."""


def levels_of(domain: int) -> int:
    """Return the number of levels of a domain."""
    return NUM_CELLS if domain == POSITION else NUM_LEVELS


@final
@dataclass(frozen=True, kw_only=True)
class Distraction:
    """Distribution of the irrelevant domains.

    Args:
        generator: Generator of the words.
        group: Number of the group of each panel: panels of one group share their draws.
        varied: Whether shapes and lines of a panel differ in irrelevant domains, and both are
            always shown.
    """

    generator: np.random.Generator
    group: Int64[np.ndarray, " item"]
    varied: bool

    def words(self, columns: int) -> np.ndarray:
        """Draw random words, `(item, columns)`."""
        groups = int(self.group.max(initial=-1)) + 1
        drawn = np.asarray(self.generator.bit_generator.random_raw(groups * columns))
        words: np.ndarray = drawn.reshape(-1, columns)[self.group]
        return words

    def below(self, high: int) -> Int64[np.ndarray, " item"]:
        """Draw an integer 0 … `high` − 1 for each panel; 0 where nothing varies."""
        drawn = self.words(1)[:, 0] % np.uint64(high if self.varied else 1)
        return drawn.astype(np.int64)

    def levels(self, choices: Int64[np.ndarray, " value"], slots: int) -> Levels:
        """Draw a level for each slot of each panel; the same for all slots where nothing varies."""
        words = self.words(slots if self.varied else 1)
        picked = choices[(words % np.uint64(len(choices))).astype(np.int64)]
        return np.broadcast_to(picked, (len(picked), slots))


def composed(
    domain: Int64[np.ndarray, " item"],
    values: Masks,
    distraction: Distraction,
    familiar: Int64[np.ndarray, " value"],
) -> Panels:
    """Compose panels that show `values` in `domain`, and distraction in the other domains.

    Args:
        domain: Relevant domain, index into `DOMAINS`.
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
    """Compose the shapes: their number, cells and fields."""
    count = _num_shapes(domain, sizes(values), distraction)
    slots = np.zeros((len(values), NUM_CELLS, CELL_FIELDS), np.int64)
    for field, choices in enumerate((np.arange(1), np.arange(NUM_LEVELS), familiar, familiar)):
        drawn, spelled = distraction.levels(choices, NUM_CELLS), _spelled(values, distraction, 9)
        slots[:, :, field] = np.where(domain[:, None] == field, spelled, drawn)
    slots[:, :, NUMBER] += 1
    slots[np.arange(NUM_CELLS) >= count[:, None]] = 0
    positions = np.argsort(distraction.words(NUM_CELLS), axis=1, kind="stable")
    given = np.argsort(~_bits(values, NUM_CELLS), axis=1, kind="stable")
    positions = np.where(domain[:, None] == POSITION, given, positions)
    cells = np.zeros_like(slots)
    np.put_along_axis(cells, positions[:, :, None], slots, axis=1)
    return cells.reshape(len(values), -1)


def _num_shapes(
    domain: Int64[np.ndarray, " item"], width: Masks, distraction: Distraction
) -> Int64[np.ndarray, " item"]:
    """Draw the number of occupied cells: enough to show all values, and some more."""
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
    """Compose the lines: their number, directions and colors."""
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
    """Draw the number of lines: one of each relevant type, enough for relevant colors, or any."""
    more = distraction.below(3)
    among = np.minimum(width + more, NUM_LINES)
    return np.select([domain == LINE_TYPE, domain == LINE_COLOR], [width, among], more)


def _spelled(values: Masks, distraction: Distraction, slots: int) -> Levels:
    """Fill slots with the levels of each set, ascending, then with some levels again at random."""
    ascending = np.argsort(~_bits(values, NUM_LEVELS), axis=1, kind="stable")
    width = sizes(values)[:, None]
    again = distraction.words(slots) % np.maximum(width, 1).astype(np.uint64)
    picked = np.where(np.arange(slots) < width, np.arange(slots), again.astype(np.int64))
    return np.take_along_axis(ascending, picked, axis=1)


def _bits(values: Masks, count: int) -> Bool[np.ndarray, "item value"]:
    return (values[:, None] >> np.arange(count) & 1).astype(bool)


def shown(panels: Integer[np.ndarray, "item feature"]) -> Int64[np.ndarray, "item _"]:
    """Read the set of levels that each panel shows in every domain, in the order of `DOMAINS`.

    Args:
        panels: Descriptions of panels.
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


NUM_LEVELS: Final = 10
"""Levels of every domain except the position of shapes."""
NUM_CELLS: Final = 9
"""Cells of the grid of shapes: their positions."""
NUM_LINES: Final = 4
"""Lines of a panel, at most."""
CELL_FIELDS: Final = 4
"""Number of fields of a cell: number of shapes (0 if empty), type, size, color."""
LINE_FIELDS: Final = 2
"""Number of fields of a line: type counted from 1 (0 for no line), color."""
PANEL_FIELDS: Final = NUM_CELLS * CELL_FIELDS + NUM_LINES * LINE_FIELDS
MARGIN: Final = 8
CELL: Final = 48
WHITE: Final = 255
_DARKER: Final = 23
"""Gray levels from one color to the next: 207 (light) to 0 (black)."""
_LINE_WIDTH: Final = 3
_DIRECTION: Final = 1000
"""Length of the vector along a line, rounded to integers."""

Grid = Int64[np.ndarray, "height width"]
Inside = Bool[np.ndarray, "height width"]


def _ring(x: Grid, y: Grid, side: int) -> Inside:
    squares = x * x + y * y
    return (squares <= side * side) & (4 * squares >= side * side)


def _crescent(x: Grid, y: Grid, side: int) -> Inside:
    bite = (2 * x - side) ** 2 + 4 * y * y
    return (x * x + y * y <= side * side) & (bite >= 3 * side * side)


def _corner(x: Grid, y: Grid, side: int) -> Inside:
    return (np.maximum(abs(x), abs(y)) <= side) & ((3 * x <= -side) | (3 * y >= side))


SHAPES: Final[dict[str, Callable[[Grid, Grid, int], Inside]]] = {
    "triangle": lambda x, y, side: (abs(y) <= side) & (2 * abs(x) <= y + side + 2),
    "diamond": lambda x, y, side: abs(x) + abs(y) <= side,
    "square": lambda x, y, side: 8 * np.maximum(abs(x), abs(y)) <= 7 * side,
    "circle": lambda x, y, side: x * x + y * y <= side * side,
    "ring": _ring,
    "crescent": _crescent,
    "corner": _corner,
    "plus": lambda x, y, side: (
        (np.maximum(abs(x), abs(y)) <= side) & (3 * np.minimum(abs(x), abs(y)) <= side)
    ),
    "saltire": lambda x, y, side: (
        (np.maximum(abs(x), abs(y)) <= side) & (2 * abs(abs(x) - abs(y)) <= side)
    ),
    "hourglass": lambda x, y, side: (abs(y) <= side) & (abs(x) <= abs(y)),
}
"""Test of points in a shape: half pixels right of and below its center, and its side in pixels."""


def shape_side(size: int) -> int:
    """Return the width of a shape alone in its cell, pixels of the published panel."""
    return 16 + 3 * size


def _centers(number: int) -> list[tuple[int, int]]:
    """List the centers of the shapes of a cell, in half pixels from its left and upper edge."""
    if number == 1:
        return [(CELL, CELL)]
    return [(12 + 24 * (shape % 4), 16 + 32 * (shape // 4)) for shape in range(number)]


@cache
def stamps(step: int) -> UInt8[np.ndarray, "item height width"]:
    """Draw binary masks of all contents of a cell: empty, then by number, type and size."""
    y, x = 2 * np.mgrid[0:CELL:step, 0:CELL:step] + 1
    drawn = [np.zeros(x.shape, bool)]
    for number in range(1, NUM_LEVELS + 1):
        for inside in SHAPES.values():
            for size in range(NUM_LEVELS):
                side = shape_side(size) if number == 1 else 8 + size // 3
                parts = [inside(x - right, y - down, side) for right, down in _centers(number)]
                drawn.append(np.logical_or.reduce(parts))
    return np.stack(drawn).astype(np.uint8)


@cache
def _line_masks(step: int) -> Bool[np.ndarray, "item height width"]:
    """Draw lines through the center in ten directions, 18° apart, from the horizontal upwards."""
    y, x = 2 * np.mgrid[0:PANEL_SIZE:step, 0:PANEL_SIZE:step] - PANEL_SIZE
    angles = [math.pi * number / NUM_LEVELS for number in range(NUM_LEVELS)]
    along = [(round(_DIRECTION * math.cos(a)), round(_DIRECTION * math.sin(a))) for a in angles]
    reach = PANEL_SIZE - 2 * MARGIN
    within = x * x + y * y <= reach * reach
    return np.stack([within & (abs(a * y + b * x) <= _DIRECTION * _LINE_WIDTH) for a, b in along])


def greys(colors: np.ndarray) -> np.ndarray:
    return (_DARKER * (NUM_LEVELS - 1 - colors)).astype(np.uint8)


def draw_panels(
    panels: UInt8[Tensor, "item feature"], image_size: int
) -> UInt8[Tensor, "item height width"]:
    """Draw a gray picture, black 0 to white 255, of each panel; lines lie over shapes.

    Args:
        panels: Descriptions: `CELL_FIELDS` numbers of each cell of the 3×3 grid, in reading order,
            and `LINE_FIELDS` of each line, in the order in which they are drawn.
        image_size: Width and height in pixels; 80 keeps every second pixel of 160 in each
            direction, the first included.
    """
    step = PANEL_SIZE // image_size
    rows = panels.numpy().astype(np.int64)
    cells = rows[:, : NUM_CELLS * CELL_FIELDS].reshape(-1, NUM_CELLS, CELL_FIELDS)
    number, kind, size, color = np.moveaxis(cells, 2, 0)
    content = ((number - 1) * NUM_LEVELS + kind) * NUM_LEVELS + size + 1
    ink = stamps(step)[np.where(number > 0, content, 0)]
    ink *= (WHITE - greys(color))[:, :, None, None]
    pictures = np.full((len(rows), image_size, image_size), WHITE, np.uint8)
    grid = slice(MARGIN // step, (MARGIN + 3 * CELL) // step)
    pattern = "item (row column) height width -> item (row height) (column width)"
    pictures[:, grid, grid] -= einops.rearrange(ink, pattern, row=3)
    lines = rows[:, NUM_CELLS * CELL_FIELDS :].reshape(-1, NUM_LINES, LINE_FIELDS)
    for kind, color in np.moveaxis(lines, 1, 0).transpose(0, 2, 1):
        (shown,) = np.nonzero(kind)
        inked = _line_masks(step)[kind[shown] - 1]
        pictures[shown] = np.where(inked, greys(color[shown])[:, None, None], pictures[shown])
    return torch.from_numpy(pictures)
