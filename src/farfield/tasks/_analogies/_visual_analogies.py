"""Visual analogies between rows of panels, generated (hill2019, webb2020)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, final

import numpy as np
from jaxtyping import Bool, Integer, UInt8
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import UnknownNameError, check_fields
from farfield.tasks._analogies._analogy_panels import (
    DOMAINS,
    NUM_LEVELS,
    RELATIONS,
    SCALES,
    Distraction,
    Masks,
    completed,
    composed,
    draw_panels,
    holds,
    levels_of,
    open_rows,
    rows,
    shown,
    spread,
)
from farfield.tasks._analogies._panel_tasks import (
    PanelTask,
    drawn_in_parts,
    occurring,
    panel_problems,
)
from farfield.tasks._files._panel_files import check_image_size
from farfield.tasks._protocol._answers import DescribedChoice
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    CountOrNone,
    Regime,
    check_number,
    regimes_at,
)

NUM_CANDIDATES: Final = 4
ROW: Final = 3
"""Panels of a row; the last one of the target row is a candidate."""
PREMISES: Final = 2 * ROW - 1
NUM_PANELS: Final = PREMISES + NUM_CANDIDATES
"""Panels of a problem: the source row, two of the target row, the candidates."""
NO_RELATION: Final = -1
"""Relation of a random foil."""
_PART: Final = 10_000
"""Number of problems drawn at once; each part has a separate stream."""


class VisualAnalogyTask(PanelTask):
    """Base of the analogies from a source row to a target row."""

    _panels: ClassVar[int] = NUM_PANELS
    _candidates: ClassVar[int] = NUM_CANDIDATES

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Two contexts: the source, and the target with one candidate."""
        return (tuple(range(ROW)), tuple(range(ROW, PREMISES + 1)))


@final
@dataclass(frozen=True, kw_only=True)
class Analogies:
    """A distribution of problems.

    Args:
        pairs: Domains of source and target that occur, indices into `DOMAINS`.
        familiar: Levels of `SCALES` in the source, and wherever they are irrelevant.
        target: Levels of `SCALES` in the target where they are relevant.
        contrasting: Whether each foil completes the target by another relation.
        distractors: Whether irrelevant domains vary.
    """

    pairs: tuple[tuple[int, int], ...]
    familiar: tuple[int, ...]
    target: tuple[int, ...]
    contrasting: bool
    distractors: bool

    def drawn(self, branch: Stream, count: int) -> dict[str, np.ndarray]:
        """Draw problems: `panels`, `(batch, 9, feature)`, `target`, and the latent description.

        Args:
            branch: Stream of the set.
            count: Number of problems.
        """
        return drawn_in_parts(self._part, branch, count, _PART)

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
        """Draw two panels and four candidates, the right one first, with the candidates' relations.

        Contrasting candidates are the ends that the four relations make of the two panels, so that
        nothing in the target row shows the right relation. Random candidates have all one
        distribution, and the two panels belong to the first.
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
        """Draw a row by the relation, and the ends of three other rows that differ from it."""
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
        """Draw panels of each row until no relation holds by chance in an irrelevant domain.

        Args:
            generator: Draws the irrelevant domains.
            domain: Relevant domain of each row.
            values: Sets shown in this domain: the first two panels of the row and its ends.
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
    """Find the relations that hold in each domain of a row, with each panel that may end it.

    Args:
        panels: The first two panels of each row and those that may end it, `(batch, time, *)`.
    """
    sets = shown(panels.reshape(-1, panels.shape[-1])).reshape(*panels.shape[:2], len(DOMAINS))
    held: np.ndarray = holds(sets[:, :1], sets[:, 1:2], sets[:, 2:])
    return held


def _misleading(
    panels: Integer[np.ndarray, "batch time feature"], domain: Masks
) -> Bool[np.ndarray, " batch"]:
    """Check whether a relation holds in an irrelevant domain."""
    others = np.arange(len(DOMAINS)) != domain[:, None]
    misled: np.ndarray = np.any(obeyed(panels).any(axis=3) & others[:, None], axis=(1, 2))
    return misled


def _triples(
    generator: np.random.Generator, relation: Masks, domain: Masks, scale: tuple[int, ...]
) -> Masks:
    """Draw rows of three panels by a relation, all equally likely."""
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
    """Yield the problems of each domain that occurs, and the levels that it may show."""
    for number in range(len(DOMAINS)):
        chosen = domain == number
        if chosen.any():
            yield chosen, scale if number in SCALES else tuple(range(levels_of(number)))


def _words(generator: np.random.Generator, count: int, columns: int) -> np.ndarray:
    return np.asarray(generator.bit_generator.random_raw(count * columns)).reshape(count, columns)


_FAMILIAR: Final = "familiar"
_PAIRS: Final = "withheld-pairs"
_MOST: Final = 10_000_000


@final
@dataclass(frozen=True, kw_only=True)
class VisualAnalogies(DescribedChoice, VisualAnalogyTask):
    """Which panel continues the target row as the source row is continued?

    **Task.** Two rows of three panels. In the source row a relation holds between the levels that
    the panels show in one domain; the same relation is to hold in the target row, in another
    domain. The last panel of the target row is one of four candidates; the answer is which.

    Panels show shapes on a 3×3 grid and lines. The domains are number, type, size, color and
    position of shapes, and type (direction) and color of lines; each has ten levels, position
    nine. In the relevant domain a panel shows a *set* of levels, of one to four. From the sets A
    and B of the first two panels a relation makes the third: *progression* moves B on by the step
    from A to B; *XOR*, *OR* and *AND* take the levels of exactly one, of either, of both. A set of
    numbers is cells with as many shapes. Everything else varies at random from panel to panel, but
    so that no relation holds in it.

    **Worked example.** OR, from the type of shapes to their size.

    ```text
      source  ┌─────┐┌─────┐┌─────┐     target  ┌─────┐┌─────┐┌─────┐
              │ ▲ ✚ ││ ✚ ◆ ││ ▲✚◆ │             │ ● ⬤ ││ ⬤ • ││  ?  │
              └─────┘└─────┘└─────┘             └─────┘└─────┘└─────┘
      ┌─────┐     ┌─────┐     ┌─────┐     ┌─────┐
      │  ⬤  │ AND │ ●⬤• │ OR  │ ● • │ XOR │ … … │ progression     → 1
      └─────┘     └─────┘     └─────┘     └─────┘
    ```

    **Regimes.** Four domains are scales: number, size, and both colors. Training shows their lower
    five levels, of the other domains all. Tests, each of `test_problems`:

    | regime | target | levels from training |
    |---|---|---|
    | `training`, `familiar` | any domain, familiar levels | 0 |
    | `target-upper-half` | a scale, its upper five levels | 5 |

    The source and irrelevant domains stay familiar. With `interpolation` training shows every
    second level and the test, `target-between`, those between. Where `withheld_pairs` names pairs
    of a source and a target domain, no other set shows them and the test `withheld-pairs` shows
    nothing else: all pairs with one target make a novel target domain, others a novel transfer.

    **Score, floor and ceiling.** Share of right answers, a tie counting as wrong; 0.25 by guessing;
    1 by reading the panels.

    **Known shortcuts.** None in the target alone: the four relations make the contrasting
    candidates of the same two panels, each as often right. Without `contrasting` three random foils
    are wrong by every relation or by all but another one; going by whether *some* relation holds
    then needs no source. The source alone says which relation is meant, so that the four relations
    can be distinguished without an analogy, by a model that sees sets.

    **Source and deviations.** Hill et al. 2019, the extrapolation set of which is that of Webb et
    al. 2020, section 2.2; the rules are made anew from the published descriptions, and numbers on
    this task are not numbers on theirs (`PublishedVisualAnalogies` reads theirs). As there: the
    relations, the domains, source and target of three and two panels and four candidates, familiar
    values in the source and novel ones in the target, contrasting foils or random ones. Ours: every
    domain takes every relation, position and types having an order, so that in any of them each
    foil can stand for a relation; a number is that of the shapes in one cell, so that a panel can
    show several; the drawings. The paper has 600,000 training problems and images of 80×80,
    every second pixel of 160×160; 40×40 keeps every fourth, and shapes are hard to tell apart.

    Args:
        training_problems: Number of problems of the training set.
        test_problems: Number of problems of each test.
        image_size: Width and height of a panel: 40, 80 or 160 pixels.
        contrasting: Whether each foil completes the target by another relation; else by none.
        distractors: Whether irrelevant domains vary, within a panel too; otherwise they are
            constant in a row, and there are shapes or lines but not both.
        interpolation: Whether novel levels lie between the familiar ones rather than beyond them.
        withheld_pairs: Pairs of source and target domain that training never shows.
        validation_problems: Number of validation problems, as familiar as those of `familiar`; 0
            for no such regime.

    Attributes:
        domains: Names of the domains, by their number in the latent description.
        relations: Names of the relations, by their number there.

    Raises:
        ValueError: If a number is out of range, or `withheld_pairs` leaves none to another set.
        UnknownNameError: If `withheld_pairs` names a domain that does not exist.

    Reference:
        hill2019; webb2020, section 2.2.
    """

    name: ClassVar[str] = "visual-analogies"
    version: ClassVar[int] = 1
    domains: ClassVar[tuple[str, ...]] = DOMAINS
    relations: ClassVar[tuple[str, ...]] = RELATIONS

    training_problems: int = 10_000
    test_problems: int = 2_000
    image_size: int = 80
    contrasting: bool = True
    distractors: bool = True
    interpolation: bool = False
    withheld_pairs: tuple[tuple[str, str], ...] = ()
    validation_problems: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("training_problems", self.training_problems, 1, _MOST)
        check_number("test_problems", self.test_problems, 1, _MOST)
        check_image_size(self.image_size)
        for pair in self.withheld_pairs:
            for domain in pair:
                if domain not in DOMAINS:
                    raise UnknownNameError("domain", domain, DOMAINS)
            if len(pair) != 2 or pair[0] == pair[1]:
                raise ValueError(
                    f"withheld_pairs must hold pairs of two different domains, got {pair!r}"
                )
        if not any(target in SCALES for _, target in self._pairs(withheld=False)):
            raise ValueError(
                "withheld_pairs must leave a target whose values can be novel "
                f"({', '.join(DOMAINS[number] for number in SCALES)}), it withholds all of them"
            )

    def _pairs(self, *, withheld: bool) -> tuple[tuple[int, int], ...]:
        """List pairs of domains, as numbers, that are withheld, or that are shown."""
        named = {
            (DOMAINS.index(source), DOMAINS.index(target)) for source, target in self.withheld_pairs
        }
        every = itertools.permutations(range(len(DOMAINS)), 2)
        return tuple(pair for pair in every if (pair in named) == withheld)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation if any, its like, withheld pairs if any, then novel values."""
        novel, distance = ("target-between", 1) if self.interpolation else ("target-upper-half", 5)
        held_out = [VALIDATION] if self.validation_problems else []
        near = (TRAINING, *held_out, _FAMILIAR, *([_PAIRS] if self.withheld_pairs else []))
        return regimes_at("levels", dict.fromkeys(near, 0) | {novel: distance})

    def with_validation(self) -> VisualAnalogies:
        """Copy the task with validation on new problems of the training kind."""
        return replace(self, validation_problems=VALIDATION_PROBLEMS)

    def _analogies(self) -> dict[str, Analogies]:
        """Return the distribution of each set, by regime."""
        novel, familiar = (
            (range(1, NUM_LEVELS, 2), range(0, NUM_LEVELS, 2))
            if self.interpolation
            else (range(NUM_LEVELS // 2, NUM_LEVELS), range(NUM_LEVELS // 2))
        )
        shown, withheld = self._pairs(withheld=False), self._pairs(withheld=True)
        scales = tuple(pair for pair in shown if pair[1] in SCALES)
        *near, last = (regime.name for regime in self.regimes)
        return {
            name: Analogies(
                pairs={_PAIRS: withheld, last: scales}.get(name, shown),
                familiar=tuple(familiar),
                target=tuple(novel if name == last else familiar),
                contrasting=self.contrasting,
                distractors=self.distractors,
            )
            for name in (*near, last)
        }

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name; panels are drawn when they are read."""
        branch = stream.child(self.name, f"v{self.version}")
        return {
            name: self._set(analogies, branch.child(name))
            for name, analogies in self._analogies().items()
        }

    def _set(self, analogies: Analogies, branch: Stream) -> Problems:
        own = {TRAINING: self.training_problems, VALIDATION: self.validation_problems}
        count = own.get(str(branch.path[-1]), self.test_problems)
        draw = partial(draw_panels, image_size=self.image_size)
        return panel_problems(analogies.drawn(branch, count), draw)

    @staticmethod
    def _fitting(panels: np.ndarray) -> np.ndarray:
        """Check whether each candidate obeys a relation of the source."""
        source = np.any(obeyed(panels[:, :ROW]), axis=(1, 2))
        target = np.any(obeyed(panels[:, ROW:]), axis=2)
        fitting: np.ndarray = np.any(target & source[:, None], axis=2)
        return fitting

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the problems about each relation that occurs, by its name."""
        relation = problems.latent["relation"]
        return occurring({name: relation == number for number, name in enumerate(RELATIONS)})
