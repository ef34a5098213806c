"""Sampling of analogies between two rows of panels, and of their candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Integer, UInt8

from farfield.core import Stream
from farfield.tasks._analogies._analogy_panels import (
    DOMAINS,
    SCALES,
    Distraction,
    composed,
    levels_of,
    shown,
)
from farfield.tasks._analogies._analogy_relations import (
    RELATIONS,
    Masks,
    completed,
    holds,
    open_rows,
    rows,
    spread,
)
from farfield.tasks._protocol._draws import integers

NUM_CANDIDATES: Final = 4
ROW: Final = 3
"""Panels of a row; the last one of the target row is a candidate."""
PREMISES: Final = 2 * ROW - 1
PLACES: Final = PREMISES + NUM_CANDIDATES
"""Panels of a problem: the source row, two of the target row, the candidates."""
NO_RELATION: Final = -1
"""Of a random foil."""
_PART: Final = 10_000
"""Problems drawn at once; each part has a stream of its own."""


@final
@dataclass(frozen=True, kw_only=True)
class Analogies:
    """A distribution of problems.

    Args:
        pairs: Domains of source and target that occur, places in `DOMAINS`.
        familiar: Levels that `SCALES` show in the source, and wherever they do not matter.
        target: Levels that `SCALES` show in the target where they matter.
        contrasting: Whether each foil completes the target by another relation.
        distractors: Whether what does not matter varies.
    """

    pairs: tuple[tuple[int, int], ...]
    familiar: tuple[int, ...]
    target: tuple[int, ...]
    contrasting: bool
    distractors: bool

    def drawn(self, place: Stream, count: int) -> dict[str, np.ndarray]:
        """`count` problems: `panels`, `(batch, 9, feature)`, `target`, and the latent description.

        Args:
            place: Stream of the set.
            count: Number of problems.
        """
        starts = range(0, count, _PART)
        parts = [
            self._part(place.child(number).numpy(), min(_PART, count - start))
            for number, start in enumerate(starts)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _part(self, generator: np.random.Generator, count: int) -> dict[str, np.ndarray]:
        pairs = np.array(self.pairs)[integers(generator, len(self.pairs), count)]
        source, target = pairs.T
        relation = integers(generator, len(RELATIONS), count)
        first = _triples(generator, relation, source, self.familiar)
        second, relations = self._second_rows(generator, relation, target)
        order = np.argsort(_words(generator, count, NUM_CANDIDATES), axis=1, kind="stable")
        second[:, 2:] = np.take_along_axis(second[:, 2:], order, axis=1)
        panels = [
            self._clear(generator, domain, values)
            for domain, values in ((source, first), (target, second))
        ]
        return {
            "panels": np.concatenate(panels, axis=1),
            "target": (order == 0).argmax(axis=1),
            "relation": relation,
            "relations": np.take_along_axis(relations, order, axis=1),
            "source_domain": source,
            "target_domain": target,
            "values": np.concatenate([first, second], axis=1),
        }

    def _second_rows(
        self, generator: np.random.Generator, relation: Masks, domain: Masks
    ) -> tuple[Masks, Masks]:
        """Two panels and four candidates, the right one first; and the relation of each candidate.

        Contrasting candidates are what the four relations make of the two panels, so that nothing
        in the target row shows the one that is meant. Random ones have all one distribution, and
        the two panels are those of the first.
        """
        count = len(relation)
        if not self.contrasting:
            values = self._random_rows(generator, relation, domain)
            none = np.full((count, NUM_CANDIDATES - 1), NO_RELATION)
            return values, np.concatenate([relation[:, None], none], axis=1)
        pair = np.empty((count, 2), np.int64)
        for chosen, ladder in _ladders(domain, self.target):
            table = spread(open_rows(len(ladder)), ladder)
            pair[chosen] = table[integers(generator, len(table), int(chosen.sum()))]
        relations = (relation[:, None] + np.arange(len(RELATIONS))) % len(RELATIONS)
        thirds = np.take_along_axis(completed(*pair.T), relations, axis=1)
        return np.concatenate([pair, thirds], axis=1), relations

    def _random_rows(self, generator: np.random.Generator, relation: Masks, domain: Masks) -> Masks:
        """A row by the relation, and the ends of three others that differ from it."""
        values = np.empty((len(relation), 2 + NUM_CANDIDATES), np.int64)
        lacking = np.arange(len(relation))
        while len(lacking):
            four = [
                _triples(generator, relation[lacking], domain[lacking], self.target)
                for _ in range(NUM_CANDIDATES)
            ]
            ends = np.stack([row[:, 2] for row in four], axis=1)
            values[lacking] = np.concatenate([four[0][:, :2], ends], axis=1)
            alike = (ends[:, :, None] == ends[:, None, :]).sum(axis=(1, 2)) > NUM_CANDIDATES
            lacking = lacking[alike]
        return values

    def _clear(
        self, generator: np.random.Generator, domain: Masks, values: Masks
    ) -> UInt8[np.ndarray, "batch time feature"]:
        """Panels of each row, drawn again where a relation holds by chance in an irrelevant domain.

        Args:
            generator: Draws what does not matter.
            domain: What matters in each row.
            values: The sets shown in it: the first two panels of the row and whatever ends it.
        """
        count, length = values.shape
        panels = None
        lacking = np.arange(count)
        while len(lacking):
            own = np.arange(len(lacking) * length)
            distraction = Distraction(
                generator=generator,
                group=own if self.distractors else own // length,
                varied=self.distractors,
            )
            matter = np.repeat(domain[lacking], length)
            fresh = composed(
                matter, values[lacking].reshape(-1), distraction, np.array(self.familiar)
            ).reshape(len(lacking), length, -1)
            if panels is None:
                panels = np.empty(fresh.shape, np.uint8)
            panels[lacking] = fresh
            lacking = lacking[_misleading(fresh, domain[lacking])]
        if panels is None:
            raise ValueError(f"count must be at least 1, got {count}")
        return panels


def obeyed(
    panels: Integer[np.ndarray, "batch time feature"],
) -> Bool[np.ndarray, "batch candidate _ value"]:
    """Relations that hold in each domain of a row, with each of the panels that may end it.

    Args:
        panels: The first two panels of each row and those that may end it, `(batch, time, *)`.
    """
    sets = shown(panels.reshape(-1, panels.shape[-1])).reshape(*panels.shape[:2], len(DOMAINS))
    held: np.ndarray = holds(sets[:, :1], sets[:, 1:2], sets[:, 2:])
    return held


def _misleading(
    panels: Integer[np.ndarray, "batch time feature"], domain: Masks
) -> Bool[np.ndarray, " batch"]:
    """True if a relation holds in an irrelevant domain."""
    others = np.arange(len(DOMAINS)) != domain[:, None]
    misled: np.ndarray = np.any(obeyed(panels).any(axis=3) & others[:, None], axis=(1, 2))
    return misled


def _triples(
    generator: np.random.Generator,
    relation: Masks,
    domain: Masks,
    scale: tuple[int, ...],
) -> Masks:
    """Rows of three panels by a relation, each as likely as any other."""
    values = np.empty((len(relation), ROW), np.int64)
    for among, ladder in _ladders(domain, scale):
        for number in range(len(RELATIONS)):
            chosen = among & (relation == number)
            table = spread(rows(number, len(ladder)), ladder)
            values[chosen] = table[integers(generator, len(table), int(chosen.sum()))]
    return values


def _ladders(
    domain: Masks, scale: tuple[int, ...]
) -> Iterator[tuple[Bool[np.ndarray, " batch"], tuple[int, ...]]]:
    """Problems of each domain that occurs, and the levels it may show."""
    for number in range(len(DOMAINS)):
        chosen = domain == number
        if chosen.any():
            yield chosen, scale if number in SCALES else tuple(range(levels_of(number)))


def _words(generator: np.random.Generator, count: int, columns: int) -> np.ndarray:
    return np.asarray(generator.bit_generator.random_raw(count * columns)).reshape(count, columns)
