"""Sampling of progressive matrices and their candidates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Int64, UInt8, UInt64

from farfield.core import Stream
from farfield.tasks._analogies._analogy_panels import (
    LINE_COLOR,
    LINE_TYPE,
    NUMBER,
    POSITION,
    Distraction,
)
from farfield.tasks._analogies._analogy_relations import Masks
from farfield.tasks._matrices._matrix_drawing import PANEL_FIELDS
from farfield.tasks._matrices._matrix_holdouts import MOST_TRIPLES, NO_TRIPLE
from farfield.tasks._matrices._matrix_panels import CONTENTS, composed, shown
from farfield.tasks._matrices._matrix_relations import (
    ATTRIBUTES,
    LEVELS,
    RELATIONS,
    SCALES,
    TRIPLES,
    Lines,
    laws,
    lines_of,
)
from farfield.tasks._protocol._draws import arrangement, integers

CONTEXT: Final = 8
NUM_CANDIDATES: Final = 8
PLACES: Final = CONTEXT + NUM_CANDIDATES
"""Panels of a problem: the matrix without its last one, then the candidates."""
PART: Final = 2_000
"""Problems drawn at once; each part has a stream of its own."""
_DRAWS: Final = 1_000
"""Draws of a matrix, at most, until it obeys its triples and no other; about six suffice."""
_CELLS: Final = np.array([range(CONTEXT), [0, 3, 6, 1, 4, 7, 2, 5]])
"""Places of the panels in the order of the lines, where those are rows and where columns."""
_ORDERS: Final = np.array(list(itertools.permutations(range(3))))
_NUMBERS: Final = np.arange(NUM_CANDIDATES)[:, None]
_BITS: Final = _NUMBERS >> np.arange(3) & 1
_OPTIONS: Final = np.stack(
    [
        np.pad(options, ((0, 0), (0, MOST_TRIPLES - options.shape[1])))
        for options in (
            _NUMBERS,
            np.concatenate([_NUMBERS % 2, _NUMBERS // 2], axis=1),
            np.concatenate([_NUMBERS % 4, _NUMBERS // 4], axis=1),
            _BITS,
            np.concatenate([_BITS, _BITS.sum(axis=1, keepdims=True) % 2], axis=1),
        )
    ]
)
"""Option of each candidate for each triple: for one triple; two, of which the
second or the first has four; three; four. A shift of the options turns any candidate into any other
and leaves the set as it is, so that the set does not distinguish them."""
_ROOM: Final = 3
"""Levels of sizes, colors and types of shapes and of colors of lines in a panel, at most; and
shapes or lines, at least, where these have to show them."""

_ATTRIBUTE_OF: Final = np.array([attribute for _, attribute in TRIPLES])

Triples = Int64[np.ndarray, "batch 4"]
"""A number for each triple of each problem."""
Options = Int64[np.ndarray, "batch 8 4"]
"""A number for each triple of each candidate."""
Panels = UInt8[np.ndarray, "batch 16 feature"]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Matrices:
    """A distribution of problems.

    Args:
        structures: The sets of triples that occur, filled up with `NO_TRIPLE`. Each number of
            triples is as likely as any other, and then each set.
        familiar: Levels of sizes and colors where they do not matter.
        levels: Those where they matter.
        distractors: Whether what does not matter varies.
    """

    structures: Int64[np.ndarray, "item 4"]
    familiar: tuple[int, ...]
    levels: tuple[int, ...]
    distractors: bool

    def drawn(self, place: Stream, count: int) -> dict[str, np.ndarray]:
        """`count` problems: `panels`, `(batch, 16, feature)`, `target`, and what holds.

        Args:
            place: Stream of the set.
            count: Number of problems.
        """
        starts = range(0, count, PART)
        parts = [
            self._part(place.child(number).numpy(), min(PART, count - start))
            for number, start in enumerate(starts)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _part(self, generator: np.random.Generator, count: int) -> dict[str, np.ndarray]:
        triples = self._structures(generator, count)
        direction = integers(generator, len(_CELLS), count)
        target = integers(generator, NUM_CANDIDATES, count)
        taken = _taken(generator, triples)
        options, sets = _options(generator, triples, self.levels)
        candidates = _shown_by(triples, np.take_along_axis(sets, taken, axis=1))
        used, right = taken.max(axis=1) + 1, taken[np.arange(count), target]
        panels = np.empty((count, PLACES, PANEL_FIELDS), np.uint8)
        wanted = _wanted(triples, direction)
        lacking = np.arange(count)
        for _ in range(_DRAWS):
            few = (column[lacking] for column in (triples, options, right, used))
            context = _context(generator, self.levels, *few)
            context = np.take_along_axis(context, _CELLS[direction[lacking]][:, :, None], axis=1)
            values = np.concatenate([context, candidates[lacking]], axis=1)
            panels[lacking] = fresh = self._composed(generator, values)
            found = shown(fresh[:, :CONTEXT].reshape(-1, PANEL_FIELDS)).reshape(context.shape)
            lacking = lacking[(laws(found) != wanted[lacking]).any(axis=(1, 2, 3))]
            if not len(lacking):
                return {
                    "panels": panels,
                    "target": target,
                    "triples": triples,
                    "direction": direction,
                }
        raise RuntimeError(
            f"{len(lacking)} of {count} matrices still obey more than their triples, or less, "
            f"after {_DRAWS} draws"
        )

    def _structures(self, generator: np.random.Generator, count: int) -> Triples:
        number = (self.structures != NO_TRIPLE).sum(axis=1)
        numbers, first, members = np.unique(number, return_index=True, return_counts=True)
        chosen = integers(generator, len(numbers), count)
        found: Triples = self.structures[first[chosen] + _below(generator, members[chosen])]
        return found

    def _composed(self, generator: np.random.Generator, values: Masks) -> Panels:
        """Panels that show these sets of levels, `(batch, 16, attribute)`."""
        own = np.arange(len(values) * PLACES)
        distraction = Distraction(
            generator=generator,
            group=own if self.distractors else own // PLACES,
            varied=self.distractors,
        )
        flat = composed(values.reshape(len(own), -1), distraction, np.array(self.familiar))
        return flat.reshape(-1, PLACES, PANEL_FIELDS)


def _taken(generator: np.random.Generator, triples: Triples) -> Options:
    """Option of each triple in each candidate, `(batch, 8, 4)`, candidates in random order.

    Which of them is right is decided apart from this.
    """
    count = len(triples)
    number = (triples != NO_TRIPLE).sum(axis=1)
    design = np.select([number == 1, number == 2], [0, 1 + integers(generator, 2, count)], number)
    words = _words(generator, count, NUM_CANDIDATES)
    order = np.argsort(words, axis=1, kind="stable")
    taken: Options = _OPTIONS[design[:, None], order]
    return taken


def _options(
    generator: np.random.Generator, triples: Triples, levels: tuple[int, ...]
) -> tuple[Options, Options]:
    """Different ends of lines for each triple, as numbers and as sets of levels: `(batch, 8, 4)`.

    Which lines they end is not asked, so that all of them are as likely to be right.
    """
    options = np.zeros((len(triples), NUM_CANDIDATES, MOST_TRIPLES), np.int64)
    sets = np.zeros_like(options)
    for lines, rows, slots, _ in _kinds(triples, levels):
        most = min(NUM_CANDIDATES, len(lines.ends))
        left = len(lines.ends) - np.arange(most)
        drawn = arrangement(_below(generator, np.tile(left, (len(rows), 1))))
        options[rows, :most, slots] = drawn
        sets[rows, :most, slots] = lines.ends[drawn]
    return options, sets


def _context(
    generator: np.random.Generator,
    levels: tuple[int, ...],
    triples: Triples,
    options: Options,
    right: Triples,
    used: Triples,
) -> Masks:
    """Sets of levels of the first eight panels, line by line: `(batch, 8, attribute)`.

    Each line has any end, the last one the right option, and is any line that ends so. A consistent
    union is over the right option and two others, which other candidates show if there are enough.
    """
    values = np.zeros((len(triples), CONTEXT, len(ATTRIBUTES)), np.int64)
    for lines, rows, slots, attribute in _kinds(triples, levels):
        among, answer = options[rows, :, slots], right[rows, slots]
        if len(lines.lines):
            last = np.take_along_axis(among, answer[:, None], axis=1)
            ends = _below(generator, np.full((len(rows), 2), len(lines.ends)))
            ends = np.concatenate([ends, last], axis=1)
            three = lines.lines[lines.start[ends] + _below(generator, lines.number[ends])]
        else:
            among = among[:, : len(lines.ends)]
            three = lines.ends[_united(generator, among, answer, used[rows, slots])]
        values[rows, :, attribute] = three.reshape(len(rows), -1)[:, :CONTEXT]
    return values


def _united(
    generator: np.random.Generator,
    among: Int64[np.ndarray, "batch value"],
    right: Int64[np.ndarray, " batch"],
    used: Int64[np.ndarray, " batch"],
) -> Int64[np.ndarray, "batch 3 3"]:
    """Three lines of the same three options in any order, the right one at the end of the last."""
    one = 1 + _below(generator, used - 1)
    other = 1 + _below(generator, np.maximum(used - 2, 1))
    other += other >= one
    spare = 2 + _below(generator, np.full(len(used), among.shape[1] - 2))
    other = np.where(used > 2, (right + other) % used, spare)
    union = np.stack([(right + one) % used, other, right], axis=1)
    kinds = _below(generator, np.tile([6, 6, 2], (len(right), 1)))
    orders = _ORDERS[np.where(np.arange(3) < 2, kinds, 2 * kinds)]
    places = union[np.arange(len(right))[:, None, None], orders]
    return np.take_along_axis(among[:, None], places, axis=2)


def _kinds(
    triples: Triples, levels: tuple[int, ...]
) -> Iterator[tuple[Lines, Int64[np.ndarray, " item"], Int64[np.ndarray, " item"], int]]:
    """Each kind of lines that occurs, its attribute, and the problems and slots that it fills."""
    keys = np.where(triples == NO_TRIPLE, NO_TRIPLE, 2 * triples + _with_room(triples))
    for key in np.unique(keys[keys != NO_TRIPLE]).tolist():
        triple, room = divmod(key, 2)
        attribute = TRIPLES[triple][1]
        ladder = levels if attribute in SCALES else tuple(range(LEVELS[attribute]))
        sizes = {
            NUMBER: (1, 1),
            POSITION: (_ROOM, 5) if room else (1, 4),
            LINE_TYPE: (_ROOM, 5) if room else (1, 4),
        }.get(attribute, (1, _ROOM))
        if attribute == NUMBER:
            ladder = ladder[_ROOM if room else 1 :]
        yield lines_of(triple, ladder, *sizes), *np.nonzero(keys == key), attribute


def _with_room(triples: Triples) -> Bool[np.ndarray, "batch 4"]:
    """Mask of triples on the number or position of shapes or lines whose types others decide."""
    attribute = np.where(triples == NO_TRIPLE, NO_TRIPLE, _ATTRIBUTE_OF[triples])
    shapes = np.isin(attribute, CONTENTS).any(axis=1, keepdims=True)
    lines = (attribute == LINE_COLOR).any(axis=1, keepdims=True)
    room: np.ndarray = np.isin(attribute, (NUMBER, POSITION)) & shapes
    return room | (attribute == LINE_TYPE) & lines


def _shown_by(triples: Triples, sets: Options) -> Masks:
    """Sets of levels of each attribute, from those of each triple."""
    values = np.zeros((*sets.shape[:2], len(ATTRIBUTES)), np.int64)
    for slot in range(MOST_TRIPLES):
        (rows,) = np.nonzero(triples[:, slot] != NO_TRIPLE)
        values[rows, :, _ATTRIBUTE_OF[triples[rows, slot]]] = sets[rows, :, slot]
    return values


def _wanted(
    triples: Triples, direction: Int64[np.ndarray, " batch"]
) -> Bool[np.ndarray, "batch 2 attribute relation"]:
    """The relations that must hold, and no others, as `laws` gives them."""
    wanted = np.zeros((len(triples), len(_CELLS), len(ATTRIBUTES), len(RELATIONS)), bool)
    rows, slots = np.nonzero(triples != NO_TRIPLE)
    relation, attribute = np.array(TRIPLES)[triples[rows, slots]].T
    wanted[rows, direction[rows], attribute, relation] = True
    return wanted


def _words(generator: np.random.Generator, *shape: int) -> UInt64[np.ndarray, ...]:
    return np.asarray(generator.bit_generator.random_raw(math.prod(shape))).reshape(shape)


def _below(
    generator: np.random.Generator, high: Int64[np.ndarray, "*shape"]
) -> Int64[np.ndarray, "*shape"]:
    """Integers 0 … `high` − 1."""
    return (_words(generator, *high.shape) % high.astype(np.uint64)).astype(np.int64)
