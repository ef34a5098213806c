"""Sampling of progressive matrices and their candidates: kinds of lines, contests and problems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, final

import numpy as np
from jaxtyping import Bool, Int64, UInt8, UInt64

from farfield.core import Stream, stream
from farfield.tasks._analogies._analogy_panels import (
    LINE_COLOR,
    LINE_TYPE,
    NUMBER,
    POSITION,
    Distraction,
    Masks,
    completed,
)
from farfield.tasks._analogies._panel_tasks import drawn_in_parts
from farfield.tasks._matrices._matrix_holdouts import MOST_TRIPLES, NO_TRIPLE
from farfield.tasks._matrices._matrix_panels import (
    ATTRIBUTES,
    CONTENTS,
    LEVELS,
    PANEL_FIELDS,
    RELATIONS,
    SCALES,
    TRIPLES,
    UNION,
    Lines,
    composed,
    laws,
    lines_of,
    shown,
)
from farfield.tasks._protocol._draws import arrangement, integers

CONTEXT: Final = 8
"""Panels of the matrix without its last one."""
ROOM: Final = 3
"""Levels of sizes, colors and types of shapes and of colors of lines in a panel, at most; and
shapes or lines, at least, where these have to show them."""
ATTRIBUTE_OF: Final = np.array([attribute for _, attribute in TRIPLES])

Triples = Int64[np.ndarray, "batch 4"]
"""Numbers of the triples of each problem."""
Options = Int64[np.ndarray, "batch 8 4"]
"""Numbers of the triples of each candidate."""


def kinds(
    triples: Triples, levels: tuple[int, ...]
) -> Iterator[tuple[Lines, Int64[np.ndarray, " item"], Int64[np.ndarray, " item"], int]]:
    """Yield each kind of lines that occurs, its attribute, and its problems and slots."""
    keys = np.where(triples == NO_TRIPLE, NO_TRIPLE, 2 * triples + with_room(triples))
    for key in np.unique(keys[keys != NO_TRIPLE]).tolist():
        triple, room = divmod(key, 2)
        attribute = TRIPLES[triple][1]
        bounds = bounds_of(attribute, levels, room=bool(room))
        yield lines_of(triple, *bounds), *np.nonzero(keys == key), attribute


def bounds_of(
    attribute: int, levels: tuple[int, ...], *, room: bool
) -> tuple[tuple[int, ...], int, int]:
    """Return the levels of an attribute, and the least and greatest number of levels of a panel.

    Args:
        attribute: Index into `ATTRIBUTES`.
        levels: Levels of `SCALES`.
        room: Whether there has to be room for levels of other attributes.
    """
    ladder = levels if attribute in SCALES else tuple(range(LEVELS[attribute]))
    if attribute == NUMBER:
        return ladder[ROOM if room else 1 :], 1, 1
    if attribute in (POSITION, LINE_TYPE):
        return (ladder, ROOM, 5) if room else (ladder, 1, 4)
    return ladder, 1, ROOM


def with_room(triples: Triples) -> Bool[np.ndarray, "batch 4"]:
    """Return the mask of triples on number, position or line type that leave room for others."""
    attribute = np.where(triples == NO_TRIPLE, NO_TRIPLE, ATTRIBUTE_OF[triples])
    shapes = np.isin(attribute, CONTENTS).any(axis=1, keepdims=True)
    lines = (attribute == LINE_COLOR).any(axis=1, keepdims=True)
    room: np.ndarray = np.isin(attribute, (NUMBER, POSITION)) & shapes
    return room | (attribute == LINE_TYPE) & lines


def words(generator: np.random.Generator, *shape: int) -> UInt64[np.ndarray, "*_"]:
    """Draw random words."""
    return np.asarray(generator.bit_generator.random_raw(math.prod(shape))).reshape(shape)


def below(
    generator: np.random.Generator, high: Int64[np.ndarray, "*shape"]
) -> Int64[np.ndarray, "*shape"]:
    """Draw integers 0 … `high` − 1."""
    return (words(generator, *high.shape) % high.astype(np.uint64)).astype(np.int64)


_SIDES: Final = 2
"""Triples between which an attribute is, and ends of its open line."""
_TRIED: Final = 2_000
"""Draws by which it is seen whether two triples have enough in common."""


# Of each attribute that matters, the ends of the first two lines and the open line are drawn
# first, such that they fit two relations alike; then the relation that holds; then its lines. So
# nothing about the last row, the last column and the candidates tells which it is.
class Contest(NamedTuple):
    """Two triples of an attribute, and all that both can be about.

    Attributes:
        attribute: Index into `ATTRIBUTES`.
        triples: The two; a consistent union is the second.
        kinds: The lines of each.
        open: First two panels of an open line and its ends by the two; a union has any end.
        ends: Ends that lines of both have; none for a union, which repeats the open line.
    """

    attribute: int
    triples: tuple[int, int]
    kinds: tuple[Lines, Lines]
    open: Int64[np.ndarray, "item 4"]
    ends: Int64[np.ndarray, " value"]

    def drawn(self, generator: np.random.Generator, count: int) -> Int64[np.ndarray, "item 6"]:
        """Draw the ends of two lines, the first two panels of the open line, and its two ends.

        Each is drawn until lines by either triple, drawn with it, obey that triple alone.

        Args:
            count: Number of problems.
        """
        found = np.empty((count, 6), np.int64)
        lacking = np.arange(count)
        while len(lacking):
            found[lacking] = fresh = self.once(generator, len(lacking))
            lacking = lacking[~self.fits(generator, fresh)]
        return found

    def once(self, generator: np.random.Generator, count: int) -> Int64[np.ndarray, "item 6"]:
        """Draw once, whether or not lines by both triples can go with the draw."""
        lines = self.open[below(generator, np.full(count, len(self.open)))]
        if len(self.ends):
            ends = self.ends[below(generator, np.full((count, 2), len(self.ends)))]
            return np.concatenate([ends, lines], axis=1)
        ends = np.take_along_axis(lines[:, :2], below(generator, np.full((count, 2), 2)), axis=1)
        every = self.kinds[1].ends
        lines[:, 3] = every[below(generator, np.full(count, len(every)))]
        return np.concatenate([ends, lines], axis=1)

    def fits(
        self, generator: np.random.Generator, drawn: Int64[np.ndarray, "item 6"]
    ) -> Bool[np.ndarray, " item"]:
        """Return the mask of draws with which two lines by each triple obey that triple alone."""
        known, ends = drawn[:, :4], drawn[:, 4:]
        different = (ends[:, 1:] != completed(known[:, 2], known[:, 3])).all(axis=1)
        fitting = different if not len(self.ends) else ends[:, 0] != ends[:, 1]
        for side, lines in enumerate(self.kinds):
            panels = _given(generator, lines, known, ends[:, side])
            held = laws(panels[:, :, None])[:, :, self.attribute]
            fitting = fitting & (held.sum(axis=(1, 2)) == 1)
        return fitting


@cache
def contests(attribute: int, levels: tuple[int, ...], *, room: bool) -> tuple[Contest, ...]:
    """List all pairs of triples of an attribute that have enough in common.

    Args:
        attribute: Index into `ATTRIBUTES`.
        levels: The levels of sizes and colors.
        room: Whether panels have to have room for levels of other attributes.
    """
    bounds, found = bounds_of(attribute, levels, room=room), []
    for pair in itertools.combinations(np.flatnonzero(attribute == ATTRIBUTE_OF).tolist(), _SIDES):
        one, other = kinds_of = lines_of(pair[0], *bounds), lines_of(pair[1], *bounds)
        if TRIPLES[pair[1]][0] == UNION:
            lines = one.lines[np.isin(one.lines[:, :2], one.ends).all(axis=1)]
            lines, ends = np.pad(lines, ((0, 0), (0, 1))), other.ends[:0]
        else:
            _, mine, theirs = np.intersect1d(
                _beginnings(one), _beginnings(other), assume_unique=True, return_indices=True
            )
            lines = np.concatenate([one.lines[mine], other.lines[theirs, 2:]], axis=1)
            ends = np.intersect1d(one.ends, other.ends)
        contest = Contest(attribute, pair, kinds_of, lines, ends)
        if len(lines) and (len(ends) or not len(other.lines)) and _is_enough(contest):
            found.append(contest)
    return tuple(found)


def _beginnings(lines: Lines) -> Int64[np.ndarray, " item"]:
    """Return the first two panels of each line as one number, different for each line."""
    numbers: np.ndarray = lines.lines[:, 0] << 32 | lines.lines[:, 1]
    return numbers


def _is_enough(contest: Contest) -> bool:
    """Check whether one draw in a hundred or more can go with both triples."""
    generator = stream(0, "progressive-matrices", "contests").numpy()
    share = contest.fits(generator, contest.once(generator, _TRIED)).mean()
    return bool(share >= 0.01)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Contested:
    """Open lines of problems, each triple with two ends of which one is right.

    Args:
        triples: Triples that hold.
        sets: Both ends of each triple's open line, by option of the candidates.
        known: Ends of the first two lines, and the open line, of each triple.
        right: The right end of each.
        levels: The levels of sizes and colors.
    """

    triples: Triples
    sets: Int64[np.ndarray, "batch 2 4"]
    known: Int64[np.ndarray, "batch 4 4"]
    right: Triples
    levels: tuple[int, ...]

    def context(self, generator: np.random.Generator, chosen: Int64[np.ndarray, " item"]) -> Masks:
        """Draw the sets of levels of the first eight panels, line by line: `(item, 8, attribute)`.

        Args:
            chosen: Rows of the problems.
        """
        values = np.zeros((len(chosen), CONTEXT, len(ATTRIBUTES)), np.int64)
        for lines, rows, slots, attribute in kinds(self.triples[chosen], self.levels):
            at = chosen[rows], slots
            values[rows, :, attribute] = _given(generator, lines, self.known[at], self.right[at])
        return values


def contested(
    generator: np.random.Generator, about: Triples, right: Triples, levels: tuple[int, ...]
) -> Contested:
    """Draw problems about the attributes of some triples; their relations are drawn anew.

    Args:
        about: The triples.
        right: Option of each, 0 or 1, that the right candidate shows.
        levels: The levels of sizes and colors.
    """
    triples = np.full_like(about, NO_TRIPLE)
    sets = np.zeros((len(about), _SIDES, about.shape[1]), np.int64)
    known = np.zeros((*about.shape, 4), np.int64)
    turned = below(generator, np.full(about.shape, _SIDES))
    for attribute, room, rows, slots in _attributes(about):
        pairs = contests(attribute, levels, room=room)
        which = below(generator, np.full(len(rows), len(pairs)))
        for number, pair in enumerate(pairs):
            at = rows[which == number], slots[which == number]
            known[at], ends = np.split(pair.drawn(generator, len(at[0])), [4], axis=1)
            order = turned[at][:, None] ^ np.arange(_SIDES)
            sets[at[0], :, at[1]] = np.take_along_axis(ends, order, axis=1)
            triples[at] = np.array(pair.triples)[turned[at] ^ right[at]]
    ends = np.take_along_axis(sets, right[:, None], axis=1)[:, 0]
    return Contested(triples=triples, sets=sets, known=known, right=ends, levels=levels)


def _attributes(
    triples: Triples,
) -> Iterator[tuple[int, bool, Int64[np.ndarray, " item"], Int64[np.ndarray, " item"]]]:
    """Yield each relevant attribute, with room for others or without, and its rows and slots."""
    keys = np.where(triples == NO_TRIPLE, NO_TRIPLE, 2 * ATTRIBUTE_OF[triples] + with_room(triples))
    for key in np.unique(keys[keys != NO_TRIPLE]).tolist():
        yield key // 2, bool(key % 2), *np.nonzero(keys == key)


def _given(
    generator: np.random.Generator, lines: Lines, known: Int64[np.ndarray, "item 4"], end: Masks
) -> Int64[np.ndarray, "item 8"]:
    """Draw two lines with the known ends, then the open line; by a union, of its sets."""
    if len(lines.lines):
        row = np.searchsorted(lines.ends, known[:, :2])
        two = lines.lines[lines.start[row] + below(generator, lines.number[row])]
    else:
        ends = known[:, :2]
        other = np.where(ends == known[:, 2:3], known[:, 3:], known[:, 2:3])
        pair = np.stack([other, np.broadcast_to(end[:, None], other.shape)], axis=2)
        flip = below(generator, np.full((len(known), 2), 2))[:, :, None] == 1
        two = np.concatenate([np.where(flip, pair[..., ::-1], pair), ends[:, :, None]], axis=2)
    return np.concatenate([two.reshape(-1, 6), known[:, 2:]], axis=1)


NUM_CANDIDATES: Final = 8
NUM_PANELS: Final = CONTEXT + NUM_CANDIDATES
"""Panels of a problem: the matrix without its last one, then the candidates."""
PART: Final = 2_000
"""Number of problems drawn at once; each part has a separate stream."""
_DRAWS: Final = 1_000
"""Draws of a matrix, at most, until it obeys its triples and no other; about six suffice."""
_CELLS: Final = np.array([range(CONTEXT), [0, 3, 6, 1, 4, 7, 2, 5]])
"""Positions of the panels in the order of the lines, for rows and for columns."""
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
and leaves the set unchanged, so that the set does not distinguish them."""
Panels = UInt8[np.ndarray, "batch 16 feature"]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Matrices:
    """A distribution of problems.

    Args:
        structures: The sets of triples that occur, filled up with `NO_TRIPLE`. Each number of
            triples is as likely as any other, and then each set.
        familiar: Levels of irrelevant sizes and colors.
        levels: Levels of relevant sizes and colors.
        distractors: Whether irrelevant attributes vary.
        balanced: Whether candidates are between two relations in each attribute that matters; else
            they show any ends of lines.
    """

    structures: Int64[np.ndarray, "item 4"]
    familiar: tuple[int, ...]
    levels: tuple[int, ...]
    distractors: bool
    balanced: bool = False

    def drawn(self, branch: Stream, count: int) -> dict[str, np.ndarray]:
        """Draw problems: `panels`, `(batch, 16, feature)`, `target`, and the triples that hold.

        Args:
            branch: Stream of the set.
            count: Number of problems.
        """
        return drawn_in_parts(self._part, branch, count, PART)

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
        panels = np.empty((count, NUM_PANELS, PANEL_FIELDS), np.uint8)
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
        """Compose panels that show these sets of levels, `(batch, 16, attribute)`."""
        own = np.arange(len(values) * NUM_PANELS)
        distraction = Distraction(
            generator=generator,
            group=own if self.distractors else own // NUM_PANELS,
            varied=self.distractors,
        )
        flat = composed(values.reshape(len(own), -1), distraction, np.array(self.familiar))
        return flat.reshape(-1, NUM_PANELS, PANEL_FIELDS)


def _taken(generator: np.random.Generator, triples: Triples) -> Options:
    """Draw the option of each triple in each candidate, `(batch, 8, 4)`, in random order.

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
        triples: Triples that hold.
        options: The ends as numbers.
        sets: The same as sets of levels.
        right: The right option of each triple.
        used: Number of options that the candidates show.
        levels: Levels of relevant sizes and colors.
    """

    triples: Triples
    options: Options
    sets: Options
    right: Triples
    used: Triples
    levels: tuple[int, ...]

    def context(self, generator: np.random.Generator, chosen: Int64[np.ndarray, " item"]) -> Masks:
        """Draw the sets of levels of the first eight panels, line by line: `(item, 8, attribute)`.

        Each line has any end, the last one the right option, and is any line that ends so. A
        consistent union is over the right option and two others, which other candidates show if
        there are enough.

        Args:
            chosen: Rows of the problems.
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
    """Draw three lines of the same three options in any order, the right one at the very end."""
    one = 1 + below(generator, used - 1)
    other = 1 + below(generator, np.maximum(used - 2, 1))
    other += other >= one
    spare = 2 + below(generator, np.full(len(used), among.shape[1] - 2))
    other = np.where(used > 2, (right + other) % used, spare)
    union = np.stack([(right + one) % used, other, right], axis=1)
    kinds = below(generator, np.tile([6, 6, 2], (len(right), 1)))
    orders = _ORDERS[np.where(np.arange(3) < 2, kinds, 2 * kinds)]
    chosen = union[np.arange(len(right))[:, None, None], orders]
    return np.take_along_axis(among[:, None], chosen, axis=2)


def _shown_by(triples: Triples, sets: Options) -> Masks:
    """Collect the sets of levels of each attribute, from the sets of each triple."""
    values = np.zeros((*sets.shape[:2], len(ATTRIBUTES)), np.int64)
    for slot in range(MOST_TRIPLES):
        (rows,) = np.nonzero(triples[:, slot] != NO_TRIPLE)
        values[rows, :, ATTRIBUTE_OF[triples[rows, slot]]] = sets[rows, :, slot]
    return values


def _wanted(
    triples: Triples, direction: Int64[np.ndarray, " batch"]
) -> Bool[np.ndarray, "batch 2 attribute relation"]:
    """Return the relations that must hold, and no others, in the form of `laws`."""
    wanted = np.zeros((len(triples), len(_CELLS), len(ATTRIBUTES), len(RELATIONS)), bool)
    rows, slots = np.nonzero(triples != NO_TRIPLE)
    relation, attribute = np.array(TRIPLES)[triples[rows, slots]].T
    wanted[rows, direction[rows], attribute, relation] = True
    return wanted
