"""Balanced candidates of progressive matrices: either of two relations can end a last line.

Of each attribute that matters, the ends of the first two lines and the open line are drawn first,
such that they fit two relations alike; then which of these holds; then the lines that it makes. So
nothing about the last row, the last column and the candidates tells which it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, final

import numpy as np
from jaxtyping import Bool, Int64

from farfield.core import stream
from farfield.tasks._analogies._analogy_panels import Masks, completed
from farfield.tasks._matrices._matrix_holdouts import NO_TRIPLE
from farfield.tasks._matrices._matrix_lines import (
    ATTRIBUTE_OF,
    CONTEXT,
    Triples,
    below,
    bounds_of,
    kinds,
    with_room,
)
from farfield.tasks._matrices._matrix_relations import (
    ATTRIBUTES,
    TRIPLES,
    UNION,
    Lines,
    laws,
    lines_of,
)

_SIDES: Final = 2
"""Triples between which an attribute is, and ends of its open line."""
_TRIED: Final = 2_000
"""Draws by which it is seen whether two triples have enough in common."""


class Contest(NamedTuple):
    """Two triples of an attribute, and all that both can be about.

    Attributes:
        attribute: Place in `ATTRIBUTES`.
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
        """The ends of two lines, the first two panels of the open line, and its two ends.

        Each is drawn until lines by either triple, drawn with it, obey that triple alone.

        Args:
            generator: What draws.
            count: Number of problems.
        """
        found = np.empty((count, 6), np.int64)
        lacking = np.arange(count)
        while len(lacking):
            found[lacking] = fresh = self.once(generator, len(lacking))
            lacking = lacking[~self.fits(generator, fresh)]
        return found

    def once(self, generator: np.random.Generator, count: int) -> Int64[np.ndarray, "item 6"]:
        """The same, whether lines by both triples can go with it or not."""
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
        """Mask of what two lines by each triple, drawn anew, go with so that nothing else holds."""
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
    """All pairs of triples of an attribute that have enough in common.

    Args:
        attribute: Place in `ATTRIBUTES`.
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
    """The first two panels of each line as one number; no two lines have the same."""
    numbers: np.ndarray = lines.lines[:, 0] << 32 | lines.lines[:, 1]
    return numbers


def _is_enough(contest: Contest) -> bool:
    """True if one draw in a hundred or more can go with both triples."""
    generator = stream(0, "progressive-matrices", "contests").numpy()
    share = contest.fits(generator, contest.once(generator, _TRIED)).mean()
    return bool(share >= 0.01)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Contested:
    """Open lines of problems, each triple with two ends of which one is right.

    Args:
        triples: What holds.
        sets: Both ends of each triple's open line, by option of the candidates.
        known: Of each triple the ends of the first two lines, and the open line.
        right: The right end of each.
        levels: The levels of sizes and colors.
    """

    triples: Triples
    sets: Int64[np.ndarray, "batch 2 4"]
    known: Int64[np.ndarray, "batch 4 4"]
    right: Triples
    levels: tuple[int, ...]

    def context(self, generator: np.random.Generator, chosen: Int64[np.ndarray, " item"]) -> Masks:
        """Sets of levels of the first eight panels, line by line: `(item, 8, attribute)`.

        Args:
            generator: What draws.
            chosen: Which problems.
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
        generator: What draws.
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
    """Each attribute that matters, with room for others or without, and where it does."""
    keys = np.where(triples == NO_TRIPLE, NO_TRIPLE, 2 * ATTRIBUTE_OF[triples] + with_room(triples))
    for key in np.unique(keys[keys != NO_TRIPLE]).tolist():
        yield key // 2, bool(key % 2), *np.nonzero(keys == key)


def _given(
    generator: np.random.Generator, lines: Lines, known: Int64[np.ndarray, "item 4"], end: Masks
) -> Int64[np.ndarray, "item 8"]:
    """Two lines with the ends that are known, then the open line; by a union, of its sets."""
    if len(lines.lines):
        place = np.searchsorted(lines.ends, known[:, :2])
        two = lines.lines[lines.start[place] + below(generator, lines.number[place])]
    else:
        ends = known[:, :2]
        other = np.where(ends == known[:, 2:3], known[:, 3:], known[:, 2:3])
        pair = np.stack([other, np.broadcast_to(end[:, None], other.shape)], axis=2)
        flip = below(generator, np.full((len(known), 2), 2))[:, :, None] == 1
        two = np.concatenate([np.where(flip, pair[..., ::-1], pair), ends[:, :, None]], axis=2)
    return np.concatenate([two.reshape(-1, 6), known[:, 2:]], axis=1)
