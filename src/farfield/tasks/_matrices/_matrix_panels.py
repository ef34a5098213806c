"""Panels of progressive matrices: rules, contents of panels, and pictures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int64, Integer, UInt8
from torch import Tensor

from farfield.tasks._analogies._analogy_panels import (
    CELL,
    COLOR,
    DOMAINS,
    LINE_COLOR,
    LINE_TYPE,
    MARGIN,
    NUM_CELLS,
    NUM_LEVELS,
    NUMBER,
    POSITION,
    PROGRESSION,
    SIZE,
    TYPE,
    WHITE,
    Distraction,
    Grid,
    Levels,
    Masks,
    completed,
    greys,
    holds,
    sizes,
    spread,
    stamps,
)
from farfield.tasks._analogies._analogy_panels import RELATIONS as BETWEEN_TWO_ROWS
from farfield.tasks._files._panel_files import PANEL_SIZE, block_means

NUM_KINDS: Final = 7
"""Types of shapes: the first of `SHAPES`."""
CELL_FIELDS: Final = 3
"""Number of fields of a cell: type counted from 1 (0 if empty), size, color."""
_REACH: Final = PANEL_SIZE // 2 - MARGIN
"""Reach of straight lines from the center of a panel, pixels."""

LINES: Final[dict[str, Callable[[Grid, Grid, int], Bool[np.ndarray, "height width"]]]] = {
    "horizontal": lambda x, y, half: (abs(y) <= half) & (abs(x) <= _REACH),
    "vertical": lambda x, y, half: (abs(x) <= half) & (abs(y) <= _REACH),
    "falling": lambda x, y, half: (abs(x - y) <= half) & (abs(x + y) <= 2 * _REACH),
    "rising": lambda x, y, half: (abs(x + y) <= half) & (abs(x - y) <= 2 * _REACH),
    "diamond": lambda x, y, half: abs(abs(x) + abs(y) - 60) <= half,
    "circle": lambda x, y, half: abs(x * x + y * y - 52 * 52) <= (2 * half + 1) * 52,
}
"""Test of points on a line: pixels right of and below the center of the panel, and pixels of the
line at each side of its middle."""
NUM_LINES: Final = len(LINES)
SMALLEST_KEPT: Final = 80
"""Least side of a picture that shows pixels of the largest, not means of them."""
PANEL_FIELDS: Final = NUM_CELLS * CELL_FIELDS + NUM_LINES
"""Fields of each cell, in reading order; of each type of line its color counted from 1, 0
where there is none."""


@cache
def _cell_table(step: int) -> UInt8[np.ndarray, "item height width"]:
    """Draw all contents of a cell: empty, then by type, size and color."""
    inked = stamps(step)[1 : 1 + NUM_KINDS * NUM_LEVELS, None]
    shades = greys(np.arange(NUM_LEVELS))[:, None, None]
    drawn = np.where(inked == 1, shades, np.uint8(WHITE)).reshape(-1, *inked.shape[2:])
    return np.concatenate([np.full_like(drawn[:1], WHITE), drawn])


@cache
def _line_pixels(step: int, half_width: int) -> tuple[Int64[np.ndarray, " item"], ...]:
    """List the pixels of each type of line, as indices into the flattened picture."""
    y, x = np.mgrid[0:PANEL_SIZE:step, 0:PANEL_SIZE:step] - PANEL_SIZE // 2
    return tuple(np.flatnonzero(on(x, y, half_width)) for on in LINES.values())


def draw_matrix_panels(
    panels: UInt8[Tensor, "item feature"], image_size: int
) -> UInt8[Tensor, "item height width"]:
    """Draw a gray picture, black 0 to white 255, of each panel; lines lie over shapes.

    Args:
        panels: Descriptions: `CELL_FIELDS` numbers of each cell of the 3×3 grid, in reading order,
            and one of each type of line.
        image_size: Width and height in pixels; 80 keeps every second pixel of 160 in each
            direction, the first included, and 40 has the mean of each four of these: every fourth
            pixel does not tell all sizes apart.
    """
    if image_size < SMALLEST_KEPT:
        kept = draw_matrix_panels(panels, SMALLEST_KEPT).numpy()
        return torch.from_numpy(block_means(kept, SMALLEST_KEPT // image_size))
    step = PANEL_SIZE // image_size
    rows = panels.numpy().astype(np.int64)
    pictures = new_pictures(len(rows), image_size)
    grid = slice(MARGIN // step, (MARGIN + 3 * CELL) // step)
    pictures[:, grid, grid] = _grid(rows, step)
    draw_lines(pictures, rows, step)
    return torch.from_numpy(pictures)


def new_pictures(count: int, image_size: int) -> UInt8[np.ndarray, "item height width"]:
    """Return white pictures."""
    return np.full((count, image_size, image_size), WHITE, np.uint8)


def draw_lines(
    pictures: UInt8[np.ndarray, "item height width"],
    rows: Int64[np.ndarray, "item feature"],
    step: int,
    *,
    half_width: int = 1,
) -> None:
    """Draw the lines of panels over pictures, which change.

    Args:
        pictures: The pictures.
        rows: Descriptions of the panels.
        step: Pixels of the published panel from one pixel to the next.
        half_width: Pixels of a line at each side of its middle, of the published panel.
    """
    flat = pictures.reshape(len(rows), pictures.shape[1] * pictures.shape[2])
    colors = rows[:, NUM_CELLS * CELL_FIELDS :].T
    for color, pixels in zip(colors, _line_pixels(step, half_width), strict=True):
        (shown,) = np.nonzero(color)
        flat[shown[:, None], pixels] = greys(color[shown] - 1)[:, None]


def _grid(
    rows: Int64[np.ndarray, "item feature"], step: int
) -> UInt8[np.ndarray, "item height width"]:
    """Assemble the nine cells of each panel from the rows of pixels of the table's cells."""
    table = _cell_table(step)
    side = table.shape[1]
    content, _ = _contents(rows)
    indices = content.reshape(-1, 3, 1, 3) * side + np.arange(side)[:, None]
    pixels = table.reshape(-1, side).view(f"V{side}")[:, 0]
    return pixels[indices].view(np.uint8).reshape(len(rows), 3 * side, 3 * side)


def _contents(rows: Int64[np.ndarray, "item feature"]) -> tuple[Levels, Levels]:
    """Return the index of each cell into the table of contents, and the size of its figure."""
    cells = rows[:, : NUM_CELLS * CELL_FIELDS].reshape(-1, NUM_CELLS, CELL_FIELDS)
    kind, size, color = np.moveaxis(cells, 2, 0)
    content = ((kind - 1) * NUM_LEVELS + size) * NUM_LEVELS + color + 1
    return np.where(kind > 0, content, 0), size


def cell_contents(
    rows: Int64[np.ndarray, "item feature"], step: int
) -> tuple[UInt8[np.ndarray, "item cell height width"], Levels]:
    """Draw each cell of panels, and return the size of its figure.

    Args:
        rows: Descriptions of the panels.
        step: Pixels of the published panel from one pixel to the next.
    """
    content, size = _contents(rows)
    return _cell_table(step)[content], size


ATTRIBUTES: Final = DOMAINS
"""Attributes of shapes and of lines."""
RELATIONS: Final = (*BETWEEN_TWO_ROWS, "consistent union")
"""Relations along the rows or the columns of a matrix."""
UNION: Final = len(RELATIONS) - 1
LEVELS: Final = (NUM_CELLS + 1, NUM_KINDS, NUM_LEVELS, NUM_LEVELS, NUM_CELLS, NUM_LINES, NUM_LEVELS)
"""Number of levels of each attribute; the level of a number is that number, from 0."""
SCALES: Final = (SIZE, COLOR, LINE_COLOR)
"""Attributes of interpolation and extrapolation."""


def _legal(relation: int, attribute: int) -> bool:
    if relation == PROGRESSION:
        return attribute not in (POSITION, LINE_TYPE)
    return attribute != (POSITION if relation == UNION else NUMBER)


TRIPLES: Final = tuple(
    (relation, attribute)
    for attribute in range(len(ATTRIBUTES))
    for relation in range(len(RELATIONS))
    if _legal(relation, attribute)
)
"""Triples, 29 in all, as indices into `RELATIONS` and `ATTRIBUTES`, which name the object too."""
TRIPLE_NAMES: Final = tuple(
    f"{RELATIONS[relation]} of {ATTRIBUTES[attribute]}" for relation, attribute in TRIPLES
)

WHOLE: Final = np.array([[[0, 1, 2], [3, 4, 5]], [[0, 3, 6], [1, 4, 7]]])
"""Positions of the two whole lines of a matrix, for rows and for columns."""
OPEN: Final = np.array([[6, 7], [2, 5]])
"""Positions of the line that a candidate ends, for rows and for columns."""


class Lines(NamedTuple):
    """All lines of three panels that a triple makes, by the panel that ends them.

    Attributes:
        ends: The sets of levels that a line can end with.
        start: Index into `lines` of the first line with each end.
        number: Number of lines with each end.
        lines: The lines, those with the same end together; none for a consistent union.
    """

    ends: Int64[np.ndarray, " value"]
    start: Int64[np.ndarray, " value"]
    number: Int64[np.ndarray, " value"]
    lines: Int64[np.ndarray, "item 3"]


@cache
def lines_of(triple: int, ladder: tuple[int, ...], fewest: int, most: int) -> Lines:
    """List the lines of a triple over the levels of a ladder.

    Args:
        triple: Index into `TRIPLES`.
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
    """Find the relations of both complete lines, by direction (rows, columns) and attribute.

    Args:
        context: Sets of levels that the eight panels show of each attribute, `(batch, 8, 7)`.
    """
    first, second, third = np.moveaxis(context[:, WHOLE], 3, 0)
    alone = holds(first, second, third).all(axis=2)
    union = _same_three(context[:, WHOLE[:, 0]], context[:, WHOLE[:, 1]])
    found: np.ndarray = np.concatenate([alone, union[..., None]], axis=3) & _LEGAL
    return found


def ended(context: Masks, candidates: Masks) -> Bool[np.ndarray, "batch candidate _ _ value"]:
    """Find the relations of the last line with each candidate, by direction and attribute.

    Args:
        context: Sets of levels that the eight panels show of each attribute, `(batch, 8, 7)`.
        candidates: Sets of levels that the candidates show.
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
    """Check whether two lines, `(*, 3, attribute)`, show the same three sets, not empty."""
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
    """List the columns of a published description that are 1 for a triple.

    Args:
        triple: Index into `TRIPLES`.
    """
    relation, attribute = TRIPLES[triple]
    return (*ATTRIBUTES[attribute].split("-"), RELATIONS[relation])


CONTENTS: Final = (TYPE, SIZE, COLOR)
"""Attributes of single shapes, in the order of a cell's fields."""
_MORE: Final = 3
"""Shapes or lines that are there for no reason: fewer than this."""
_FEW: Final = 4
"""Maximum number of shapes of a panel without relevant shapes; number where nothing varies."""
Choices = Int64[np.ndarray, " value"]
"""Levels to choose from."""
_MASKS: Final = np.arange(1 << NUM_LEVELS)
_WIDTH: Final = sizes(_MASKS)
"""Number of levels of every set."""
_ASCENDING: Final = np.argsort(
    ~(_MASKS[:, None] >> np.arange(NUM_LEVELS) & 1).astype(bool), axis=1, kind="stable"
)
"""Levels of every set, ascending, then the levels outside of the set."""


def composed(
    values: Int64[np.ndarray, "item feature"], distraction: Distraction, familiar: Choices
) -> UInt8[np.ndarray, "item _"]:
    """Compose panels that show the relevant sets.

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
    """Compose the shapes: their number, cells and fields."""
    count = _num_shapes(values, distraction)
    slots = np.empty((len(values), NUM_CELLS, CELL_FIELDS), np.int64)
    for field, attribute in enumerate(CONTENTS):
        choices = np.arange(NUM_KINDS) if attribute == TYPE else familiar
        slots[:, :, field] = _shared_out(values[:, attribute], count, choices, distraction, 9)
    slots[:, :, 0] += 1
    slots[np.arange(NUM_CELLS) >= count[:, None]] = 0
    positions = np.argsort(distraction.words(NUM_CELLS), axis=1, kind="stable")
    position = values[:, POSITION]
    positions = np.where((position > 0)[:, None], _ASCENDING[position, :NUM_CELLS], positions)
    cells = np.zeros_like(slots)
    np.put_along_axis(cells, positions[:, :, None], slots, axis=1)
    return cells.reshape(len(values), -1)


def _num_shapes(values: Masks, distraction: Distraction) -> Int64[np.ndarray, " item"]:
    """Draw the relevant number, the number of relevant positions, or a number with enough room."""
    needed = _WIDTH[values[:, CONTENTS]].max(axis=1)
    more, few = distraction.below(_MORE), distraction.below(_FEW)
    free = np.where(needed > 0, needed + more, 1 + few)
    if not distraction.varied:
        free = np.where(needed > 0, _FEW, 0)
    number, position = values[:, NUMBER], values[:, POSITION]
    return np.select([number > 0, position > 0], [_ASCENDING[number, 0], _WIDTH[position]], free)


def _lines(values: Masks, distraction: Distraction, familiar: Choices) -> Levels:
    """Draw the color of each type of line, counted from 1; 0 for absent lines."""
    types, colors = values[:, LINE_TYPE], values[:, LINE_COLOR]
    more = distraction.below(_MORE)
    free = np.where(colors > 0, _WIDTH[colors] + more, more)
    if not distraction.varied:
        free = np.where(colors > 0, _FEW, 0)
    count = np.where(types > 0, _WIDTH[types], free)
    slots = 1 + _shared_out(colors, count, familiar, distraction, NUM_LINES)
    slots[np.arange(NUM_LINES) >= count[:, None]] = 0
    order = np.argsort(distraction.words(NUM_LINES), axis=1, kind="stable")
    order = np.where((types > 0)[:, None], _ASCENDING[types, :NUM_LINES], order)
    lines = np.zeros_like(slots)
    np.put_along_axis(lines, order, slots, axis=1)
    return lines


def _shared_out(
    values: Masks,
    count: Int64[np.ndarray, " item"],
    choices: Choices,
    distraction: Distraction,
    slots: int,
) -> Levels:
    """Draw a level for each of `count` slots: all levels of a relevant set, or any choices.

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
    """Read the set of levels of every attribute on each panel, in the order of `ATTRIBUTES`.

    Args:
        panels: Descriptions of panels.
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
