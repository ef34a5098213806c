"""Regimes of progressive matrices: triples withheld from training, shown at test (barrett2018)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, final

import numpy as np
from jaxtyping import Bool, Int64

from farfield.core import stream
from farfield.tasks._analogies._analogy_panels import COLOR, LINE_TYPE, NUM_LEVELS, NUMBER, POSITION
from farfield.tasks._matrices._matrix_panels import ATTRIBUTES, SCALES, TRIPLES
from farfield.tasks._protocol._draws import integers, permutation

MOST_TRIPLES: Final = 4
"""Triples of a matrix, at most."""
NO_TRIPLE: Final = -1
"""Number in the slot of a missing triple."""
_ALL_LEVELS: Final = tuple(range(NUM_LEVELS))
_PAIRS_OF_TRIPLES: Final = 10
"""Number of pairs of triples of which one is withheld."""
_PAIRS_OF_ATTRIBUTES: Final = 4
"""Pairs of attributes that are withheld."""


@final
@dataclass(frozen=True, kw_only=True)
class Holdout:
    """Triples that training withholds and the test shows.

    Args:
        test: Name of the test.
        distance: Distance of the test from training, in `unit`.
        unit: Unit of the distance.
        withheld: Triples, or combinations of them, that training never shows; a problem of the test
            shows one of these at least. None: anything is shown by both.
        fewest: Triples of a problem, at least.
        scaled: Whether one triple of every problem is about one of `SCALES`.
        familiar: Levels of `SCALES` that training shows.
        novel: Levels that the test shows of those of `SCALES` that matter.
    """

    test: str
    distance: int
    unit: str
    withheld: tuple[tuple[int, ...], ...] = ()
    fewest: int = 1
    scaled: bool = False
    familiar: tuple[int, ...] = _ALL_LEVELS
    novel: tuple[int, ...] = _ALL_LEVELS

    def structures(self, most: int, *, test: bool) -> Int64[np.ndarray, "item 4"]:
        """List the sets of triples that occur, ascending and filled up with `NO_TRIPLE`.

        Args:
            most: Triples of a problem, at most.
            test: Whether the sets are of the test, or of training.
        """
        every, inside = _structures()
        count = inside.sum(axis=1)
        kept = (count >= self.fewest) & (count <= most)
        if self.scaled:
            kept &= inside[:, [attribute in SCALES for _, attribute in TRIPLES]].any(axis=1)
        if self.withheld:
            shows = [inside[:, list(triples)].all(axis=1) for triples in self.withheld]
            kept &= np.logical_or.reduce(shows) == test
        return every[kept]


@cache
def _structures() -> tuple[Int64[np.ndarray, "item 4"], Bool[np.ndarray, "item value"]]:
    """List all sets of one to four triples that one matrix can obey, with masks of their triples.

    An attribute obeys one relation. Numbers and positions do not matter together: positions say
    how many shapes there are.
    """
    rows = []
    for count in range(1, MOST_TRIPLES + 1):
        for chosen in itertools.combinations(range(len(TRIPLES)), count):
            attributes = {TRIPLES[triple][1] for triple in chosen}
            if len(attributes) == count and not {NUMBER, POSITION} <= attributes:
                rows.append([*chosen, *[NO_TRIPLE] * (MOST_TRIPLES - count)])
    table = np.array(rows, np.int64)
    return table, (table[:, :, None] == np.arange(len(TRIPLES))).any(axis=1)


def _about(*attributes: int) -> tuple[tuple[int, ...], ...]:
    """List all combinations of a triple about each of these attributes."""
    triples = [
        [number for number, (_, about) in enumerate(TRIPLES) if about == attribute]
        for attribute in attributes
    ]
    return tuple(itertools.product(*triples))


def _picked(what: str) -> np.random.Generator:
    """Return the generator that chooses withheld triples, the same for every run."""
    return stream(0, "progressive-matrices", "withheld", what).numpy()


def _withheld_triples() -> tuple[tuple[int, ...], ...]:
    """Draw one triple about each attribute."""
    generator = _picked("triples")
    groups = [_about(attribute) for attribute in range(len(ATTRIBUTES))]
    return tuple(group[int(integers(generator, len(group), 1)[0])] for group in groups)


def _withheld_pairs() -> tuple[tuple[int, ...], ...]:
    """Draw one in ten of the pairs of triples that one matrix can obey."""
    table, inside = _structures()
    pairs = table[inside.sum(axis=1) == 2, :2]
    chosen = permutation(_picked("pairs of triples"), len(pairs))
    return tuple(map(tuple, pairs[chosen[: len(pairs) // _PAIRS_OF_TRIPLES]].tolist()))


def _withheld_attributes() -> tuple[tuple[int, ...], ...]:
    """Draw all pairs of triples about four of the pairs of attributes."""
    pairs = list(itertools.combinations(range(len(ATTRIBUTES)), 2))
    pairs.remove((NUMBER, POSITION))
    chosen = permutation(_picked("pairs of attributes"), len(pairs))[:_PAIRS_OF_ATTRIBUTES]
    return tuple(
        triples for number in sorted(chosen.tolist()) for triples in _about(*pairs[number])
    )


def _novel_levels(test: str, distance: int, familiar: slice, novel: slice) -> Holdout:
    """Make a holdout of levels of `SCALES`."""
    return Holdout(
        test=test,
        distance=distance,
        unit="levels",
        scaled=True,
        familiar=_ALL_LEVELS[familiar],
        novel=_ALL_LEVELS[novel],
    )


def _withheld(
    what: str,
    unit: str,
    withheld: tuple[tuple[int, ...], ...],
    distance: int | None = None,
    fewest: int = 1,
) -> Holdout:
    """Make a holdout of triples; its distance is their number unless another is given."""
    return Holdout(
        test=f"withheld-{what}",
        distance=len(withheld) if distance is None else distance,
        unit=f"withheld {unit}",
        withheld=withheld,
        fewest=fewest,
    )


_HALF: Final = NUM_LEVELS // 2
HOLDOUTS: Final[dict[str, Callable[[], Holdout]]] = {
    "neutral": lambda: Holdout(test="neutral", distance=0, unit="levels"),
    "interpolation": lambda: _novel_levels("between", 1, slice(None, None, 2), slice(1, None, 2)),
    "extrapolation": lambda: _novel_levels("upper-half", _HALF, slice(_HALF), slice(_HALF, None)),
    "attribute-pairs": lambda: _withheld(
        "attribute-pairs",
        "pairs of attributes",
        _withheld_attributes(),
        distance=_PAIRS_OF_ATTRIBUTES,
        fewest=2,
    ),
    "triple-pairs": lambda: _withheld(
        "triple-pairs", "pairs of triples", _withheld_pairs(), fewest=2
    ),
    "triples": lambda: _withheld("triples", "triples", _withheld_triples()),
    "shape-colour": lambda: _withheld("shape-colour", "attributes", _about(COLOR), distance=1),
    "line-type": lambda: _withheld("line-type", "attributes", _about(LINE_TYPE), distance=1),
}
"""Regimes of the publication."""
RELATIONAL: Final = ("triple-pairs", "triples")
"""Holdouts that withhold some relations of an attribute and not others."""
