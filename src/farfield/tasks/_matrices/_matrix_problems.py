"""Sampling of progressive matrices and their candidates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Int64, UInt8

from farfield.core import Stream
from farfield.tasks._analogies._analogy_panels import Distraction, Masks
from farfield.tasks._matrices._matrix_contests import contested
from farfield.tasks._matrices._matrix_drawing import PANEL_FIELDS
from farfield.tasks._matrices._matrix_holdouts import MOST_TRIPLES, NO_TRIPLE
from farfield.tasks._matrices._matrix_lines import (
    ATTRIBUTE_OF,
    CONTEXT,
    Options,
    Triples,
    below,
    kinds,
    words,
)
from farfield.tasks._matrices._matrix_panels import composed, shown
from farfield.tasks._matrices._matrix_relations import (
    ATTRIBUTES,
    RELATIONS,
    TRIPLES,
    laws,
)
from farfield.tasks._protocol._draws import arrangement, integers

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
        balanced: Whether candidates are between two relations in each attribute that matters; else
            they show any ends of lines.
    """

    structures: Int64[np.ndarray, "item 4"]
    familiar: tuple[int, ...]
    levels: tuple[int, ...]
    distractors: bool
    balanced: bool = False

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
        right = taken[np.arange(count), target]
        ends = (
            contested(generator, triples, right, self.levels)
            if self.balanced
            else _free(generator, triples, taken, right, self.levels)
        )
        triples = ends.triples
        candidates = _shown_by(triples, np.take_along_axis(ends.sets, taken, axis=1))
        panels = np.empty((count, PLACES, PANEL_FIELDS), np.uint8)
        wanted = _wanted(triples, direction)
        lacking = np.arange(count)
        for _ in range(_DRAWS):
            context = ends.context(generator, lacking)
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
        found: Triples = self.structures[first[chosen] + below(generator, members[chosen])]
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
    order = np.argsort(words(generator, count, NUM_CANDIDATES), axis=1, kind="stable")
    taken: Options = _OPTIONS[design[:, None], order]
    return taken


def _free(
    generator: np.random.Generator,
    triples: Triples,
    taken: Options,
    right: Triples,
    levels: tuple[int, ...],
) -> _Free:
    """Draw different ends of lines for each triple.

    Which lines they end is not asked, so that all of them are as likely to be right.
    """
    options = np.zeros((len(triples), NUM_CANDIDATES, MOST_TRIPLES), np.int64)
    sets = np.zeros_like(options)
    for lines, rows, slots, _ in kinds(triples, levels):
        most = min(NUM_CANDIDATES, len(lines.ends))
        left = len(lines.ends) - np.arange(most)
        drawn = arrangement(below(generator, np.tile(left, (len(rows), 1))))
        options[rows, :most, slots] = drawn
        sets[rows, :most, slots] = lines.ends[drawn]
    used = taken.max(axis=1) + 1
    return _Free(triples=triples, options=options, sets=sets, right=right, used=used, levels=levels)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class _Free:
    """Ends of lines of each triple, any eight, whichever lines they end.

    Args:
        triples: What holds.
        options: The ends as numbers.
        sets: The same as sets of levels.
        right: The right option of each triple.
        used: How many options the candidates show.
        levels: The levels of sizes and colors where they matter.
    """

    triples: Triples
    options: Options
    sets: Options
    right: Triples
    used: Triples
    levels: tuple[int, ...]

    def context(self, generator: np.random.Generator, chosen: Int64[np.ndarray, " item"]) -> Masks:
        """Sets of levels of the first eight panels, line by line: `(item, 8, attribute)`.

        Each line has any end, the last one the right option, and is any line that ends so. A
        consistent union is over the right option and two others, which other candidates show if
        there are enough.

        Args:
            generator: What draws.
            chosen: Which problems.
        """
        values = np.zeros((len(chosen), CONTEXT, len(ATTRIBUTES)), np.int64)
        for lines, rows, slots, attribute in kinds(self.triples[chosen], self.levels):
            at = chosen[rows], slots
            among, answer = self.options[chosen[rows], :, slots], self.right[at]
            if len(lines.lines):
                last = np.take_along_axis(among, answer[:, None], axis=1)
                ends = below(generator, np.full((len(rows), 2), len(lines.ends)))
                ends = np.concatenate([ends, last], axis=1)
                three = lines.lines[lines.start[ends] + below(generator, lines.number[ends])]
            else:
                among = among[:, : len(lines.ends)]
                three = lines.ends[_united(generator, among, answer, self.used[at])]
            values[rows, :, attribute] = three.reshape(len(rows), -1)[:, :CONTEXT]
        return values


def _united(
    generator: np.random.Generator,
    among: Int64[np.ndarray, "batch value"],
    right: Int64[np.ndarray, " batch"],
    used: Int64[np.ndarray, " batch"],
) -> Int64[np.ndarray, "batch 3 3"]:
    """Three lines of the same three options in any order, the right one at the end of the last."""
    one = 1 + below(generator, used - 1)
    other = 1 + below(generator, np.maximum(used - 2, 1))
    other += other >= one
    spare = 2 + below(generator, np.full(len(used), among.shape[1] - 2))
    other = np.where(used > 2, (right + other) % used, spare)
    union = np.stack([(right + one) % used, other, right], axis=1)
    kinds = below(generator, np.tile([6, 6, 2], (len(right), 1)))
    orders = _ORDERS[np.where(np.arange(3) < 2, kinds, 2 * kinds)]
    places = union[np.arange(len(right))[:, None, None], orders]
    return np.take_along_axis(among[:, None], places, axis=2)


def _shown_by(triples: Triples, sets: Options) -> Masks:
    """Sets of levels of each attribute, from those of each triple."""
    values = np.zeros((*sets.shape[:2], len(ATTRIBUTES)), np.int64)
    for slot in range(MOST_TRIPLES):
        (rows,) = np.nonzero(triples[:, slot] != NO_TRIPLE)
        values[rows, :, ATTRIBUTE_OF[triples[rows, slot]]] = sets[rows, :, slot]
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
