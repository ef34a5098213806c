"""Base of the tasks of abstract rules: problems by number, drawn without repetition."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar, Final, Self, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, Limits, check_fields
from farfield.tasks._protocol._answers import AnswerTask
from farfield.tasks._protocol._draws import distinct, permutation, redrawn, repeated
from farfield.tasks._protocol._task import (
    GRAY,
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    CountOrNone,
    Form,
    OneContext,
    Regime,
    regimes_at,
)
from farfield.tasks._rules._glyph_set import (
    GLYPH_SIDE,
    GlyphSet,
    Handwriting,
    other_fonts,
    other_images,
    table,
    without_size_twins,
)
from farfield.tasks._rules._likeness import likeness
from farfield.tasks._rules._variation import (
    Variation,
    repeated_problems,
    show_varied,
    two_showings_differ,
)

Digits = Int64[np.ndarray, "_ _"]
"""Problems by number, `(batch, slot)`: each row of digits is one problem of its kind."""
Likeness = Float[Tensor, "batch time time"]
"""Likeness of every two positions: above a half where they show the same item."""
Outputs = Float[Tensor, "batch candidate"]
"""Outputs of a rule or of a model."""
Columns = dict[str, np.ndarray]
"""Columns of problems: `index`, `target`, and the latent description."""
SetSize = Annotated[int, Limits(at_least=3, at_most=10_000_000)]
"""Number of problems that holds the kinds of every rule."""
NUM_GLYPHS: Final = 100
GLYPH_SHAPE: Final = (GLYPH_SIDE, GLYPH_SIDE)
NUM_CHOICES: Final = 4
ALIKE: Final = 0.5
"""Likeness above which two images are the same item."""


@final
@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of problem, and how its problems are numbered.

    Args:
        name: Name of the kind, part of the path of its random stream.
        radices: Number of values of each digit; a problem is a row of digits.
    """

    name: str
    radices: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of different problems."""
        return math.prod(self.radices)


@dataclass(frozen=True, kw_only=True)
class RuleTask(OneContext, AnswerTask):
    """Base of the tasks of abstract rules over images.

    Args:
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images, or `Handwriting`; `None` for the built-in 100 glyphs.
        validation_problems: Number of validation problems, on images that no other regime shows
            (see `docs/tasks.md`); 0 for no such regime.
        variations: Variations of the showings: for each, a test that shows the problems of the
            last test again, every showing drawn anew (see `docs/tasks.md`).
        training_variation: Variation of the showings in training and validation; training problems
            are then repeated up to `max_problems`, every showing drawn anew.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="group")

    withheld: int = 0
    max_problems: SetSize = 10_000
    shapes: GlyphSet | Handwriting | None = None
    validation_problems: CountOrNone = 0
    variations: tuple[Variation, ...] = ()
    training_variation: Variation | None = None

    @property
    @abstractmethod
    def _fewest(self) -> int:
        """Number of images that one problem of every kind needs."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_shapes(self.withheld, self._named_shapes, self._fewest)
        if self.validation_problems and other_images(self.shapes) is None:
            self._check_held_out()
        self._check_variations()

    @property
    def _named_shapes(self) -> GlyphSet | Handwriting | None:
        """Images of the task: with changes of size, without images that differ in size alone."""
        if isinstance(self.shapes, GlyphSet) and any(one.size for one in self._all_variations):
            return without_size_twins(self.shapes)
        return self.shapes

    @property
    def _shapes(self) -> GlyphSet | None:
        """Images of the task, read from files if need be."""
        shapes = self._named_shapes
        return shapes.read() if isinstance(shapes, Handwriting) else shapes

    @property
    def _all_variations(self) -> tuple[Variation, ...]:
        """Variations of the tests, then of training."""
        training = self.training_variation
        return (*self.variations, *(() if training is None else (training,)))

    def _check_variations(self) -> None:
        """Raise `ValueError` if a variation comes twice, is none, or lacks its fonts."""
        names = [one.name for one in self.variations]
        if len(set(names)) < len(names):
            raise ValueError(f"variations must differ, got {', '.join(names)}")
        if any(one == Variation() for one in self._all_variations):
            raise ValueError("variations must change the showings, got Variation()")
        has_hands = isinstance(self.shapes, Handwriting)
        if any(one.font for one in self._all_variations) and not has_hands:
            other_fonts(self.shapes or GlyphSet.glyphs())

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of an image."""
        return item_shape(self.shapes)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where it is asked for, the tests, then a test of each variation."""
        return (*self._identical_regimes, *self._varied_regimes)

    @property
    def _identical_regimes(self) -> tuple[Regime, ...]:
        """Training, validation where it is asked for, then the test on withheld images."""
        training, test = regimes_of(self.withheld)
        return (training, *self._validation(test.distance, test.unit), test)

    @property
    def _varied_regimes(self) -> tuple[Regime, ...]:
        """Tests of the variations; their distance is the difference of two showings of an image."""
        return tuple(
            Regime(name=one.name, distance=_distance(self._named_shapes, one), unit=_UNIT)
            for one in self.variations
        )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        sets = self._draw_identical(stream)
        if not self._all_variations:
            return sets
        branch = stream.child(self.name, f"v{self.version}", "showings")
        fonts = self._fonts()
        last = sets[self._identical_regimes[-1].name]
        if (varied := self.training_variation) is not None:
            again = repeated_problems(sets[TRAINING], self.max_problems)
            for name, known in {**sets, TRAINING: again}.items():
                if name in (TRAINING, VALIDATION):
                    sets[name] = show_varied(known, varied, branch.child(name, varied.name), fonts)
        for one in self.variations:
            sets[one.name] = show_varied(last, one, branch.child("test", one.name), fonts)
        return sets

    @abstractmethod
    def _draw_identical(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run without variation, by regime name."""

    def _fonts(self) -> tuple[Float[Tensor, "item height width"], ...]:
        """Load the images in their other fonts, if a variation asks for fonts."""
        if self._shapes is None or not any(one.font for one in self._all_variations):
            return ()
        return tuple(other.items for other in other_fonts(self._shapes))

    @abstractmethod
    def _answers(self, likeness: Likeness) -> Outputs:
        """Compute the outputs of the rule."""

    def oracle(self, problems: Problems) -> Outputs:
        """Return the outputs of the rule over equal items."""
        items = seen(problems)
        equal = items[:, :, None] == items[:, None, :]
        return self._answers(equal.to(problems.items.dtype))

    def by_hand(self, problems: Problems, training: Problems) -> Outputs:  # noqa: ARG002
        """Return the outputs of the rule over equal pixels, or over alike pixels if items vary.

        Args:
            problems: Items and their index; without targets.
            training: Not used.
        """
        if not self._all_variations:
            return self.oracle(problems)
        return torch.cat([self._answers(part) for part in likeness(problems)])

    def _validation(self, distance: float, unit: str) -> tuple[Regime, ...]:
        """Return the regime of validation, if there is one."""
        return regimes_at(unit, {VALIDATION: distance} if self.validation_problems else {})

    def with_validation(self) -> Self:
        """Copy the task with validation problems on images that no other regime shows."""
        return replace(self, validation_problems=VALIDATION_PROBLEMS)

    @property
    def _num_held_out(self) -> int:
        """Number of the user's images that validation shows: a fifth, taken from training."""
        return max(self._fewest, (num_shapes(self._shapes) - self.withheld) // 5)

    def _check_held_out(self) -> None:
        """Raise `ValueError` unless training keeps enough of the user's images."""
        total = num_shapes(self._shapes)
        if total - self.withheld - self._num_held_out < self._fewest:
            raise ValueError(
                f"withheld must leave {2 * self._fewest} images for training and validation, got "
                f"{self.withheld} of {total}: add images or withhold fewer"
            )

    def _images(
        self, branch: Stream
    ) -> tuple[Float[Tensor, "item height width"], dict[str, Int64[np.ndarray, " _"]]]:
        """Load the images of the task, and split them by regime: training, test, validation."""
        items = table(self._shapes)
        pools = split_shapes(branch, len(items), self.withheld)
        if not self.validation_problems:
            return items, pools
        other = other_images(self.shapes)
        if other is not None:
            if self.training_variation is not None and self.training_variation.size:
                other = without_size_twins(other)
            return torch.cat([items, other.items]), pools | {
                VALIDATION: len(items) + np.arange(len(other))
            }
        held = pools[TRAINING][-self._num_held_out :]
        kept = {name: pool[~np.isin(pool, held)] for name, pool in pools.items()}
        return items, kept | {VALIDATION: held}


class NumberedTask(RuleTask):
    """Base of the rule tasks whose problems are numbered.

    A task names the kinds of its problems, and makes images of the digits that number a problem.
    """

    _with_replacement: ClassVar[bool] = False
    """True if problems that are too few are drawn again, rather than repeated equally often."""

    @property
    def _size(self) -> tuple[int, ...]:
        """Size of the problems, part of the path of their streams."""
        return ()

    @abstractmethod
    def _kinds(self, images: int) -> tuple[Kind, ...]:
        """List the kinds of problems over a number of images."""

    def _counts(
        self, branch: Stream, kinds: Mapping[str, Sequence[Kind]], most: int, *, shared: bool
    ) -> dict[str, list[int]]:
        """Count the wanted problems of each regime and kind, at most `most` of a regime."""
        del branch
        return balanced_counts(kinds, most, shared=shared)

    @abstractmethod
    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[Digits]
    ) -> Sequence[Columns]:
        """Make the columns of each kind, as images of `pool`."""

    def _draw_identical(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run without variation, by regime name."""
        branch = stream.child(self.name, f"v{self.version}", *self._size)
        items, pools = self._images(branch)
        held_out = {name: pool for name, pool in pools.items() if name == VALIDATION}
        shown = {name: pool for name, pool in pools.items() if name != VALIDATION}
        sets = self._sets(branch, items, shown, self.max_problems, shared=self.withheld == 0)
        if held_out:
            sets |= self._sets(branch, items, held_out, self.validation_problems, shared=False)
        return {regime.name: sets[regime.name] for regime in self._identical_regimes}

    def _sets(
        self,
        branch: Stream,
        items: Float[Tensor, "item height width"],
        pools: Mapping[str, Int64[np.ndarray, " _"]],
        most: int,
        *,
        shared: bool,
    ) -> dict[str, Problems]:
        """Draw a set of problems over each pool of images.

        Args:
            branch: Stream of the task.
            items: All images.
            pools: Rows of the images of each regime.
            most: Largest number of problems of a set.
            shared: Whether the pools are the same images, so that problems must be split.
        """
        kinds = {regime: self._kinds(len(pool)) for regime, pool in pools.items()}
        drawn = draw_digits(
            branch,
            kinds,
            self._counts(branch, kinds, most, shared=shared),
            shared=shared,
            repeat=redrawn if self._with_replacement else repeated,
        )
        return {
            regime: shuffled(own, items, self._columns(own, pools[regime], digits))
            for regime, digits in drawn.items()
            for own in [branch.child(regime)]
        }


@dataclass(frozen=True, kw_only=True)
class YesNo:
    """Mixin of tasks with two answers, 0 and 1.

    Args:
        softmax: Whether the answer is two logits rather than one (positive: 1).
    """

    softmax: bool = False

    @property
    def num_outputs(self) -> int:
        """One logit, or two where `softmax`."""
        return 2 if self.softmax else 1


class FourChoices:
    """Mixin of tasks with four images to choose from, the last of a problem."""

    @property
    def num_outputs(self) -> int:
        """Number of choices, each with a logit."""
        return NUM_CHOICES


def num_shapes(shapes: GlyphSet | Handwriting | None) -> int:
    """Return the number of images of a task, without drawing the built-in table."""
    return NUM_GLYPHS if shapes is None else len(shapes)


def item_shape(shapes: GlyphSet | Handwriting | None) -> tuple[int, ...]:
    """Return height and width of an image of a task, without drawing the built-in table."""
    return shapes.images.shape[1:] if isinstance(shapes, GlyphSet) else GLYPH_SHAPE


def check_shapes(withheld: int, shapes: GlyphSet | Handwriting | None, fewest: int) -> None:
    """Raise `ValueError` unless there are images enough for training and test.

    Args:
        withheld: Number of images that training never shows.
        shapes: The images, or `None` for the built-in ones.
        fewest: Number of images that one problem of every kind needs.
    """
    total = num_shapes(shapes)
    if total < fewest:
        raise ValueError(f"shapes must hold at least {fewest} images, got {total}: add images")
    possible = "0" if total < 2 * fewest else f"0 or {fewest}…{total - fewest}"
    if not (withheld == 0 or fewest <= withheld <= total - fewest):
        raise ValueError(
            f"withheld must be {possible} for {total} images, "
            f"an int that leaves {fewest} on either side, got {withheld!r}"
        )


def regimes_of(withheld: int) -> tuple[Regime, ...]:
    """List training, and the test on `withheld` unseen shapes."""
    return regimes_at("withheld shapes", {TRAINING: 0, f"withheld-{withheld}": withheld})


def split_shapes(
    branch: Stream, total: int, withheld: int
) -> dict[str, Int64[np.ndarray, " item"]]:
    """Split images by regime: the first `withheld` of a random order are for the test.

    With none withheld both regimes use all images.

    Args:
        branch: Stream of the task. The order does not depend on `withheld`: the images withheld by
            a smaller number are among those withheld by a larger.
        total: Number of images.
        withheld: Number of images for the test.
    """
    order = permutation(branch.child("shapes").numpy(), total)
    train, test = (regime.name for regime in regimes_of(withheld))
    return {train: order[withheld:], test: order[:withheld] if withheld else order}


def balanced_counts(
    kinds: Mapping[str, Sequence[Kind]],
    max_problems: int,
    *,
    shared: bool,
    training_problems: int | None = None,
) -> dict[str, list[int]]:
    """Count problems of each kind in each set, equal parts: all, or `max_problems` together.

    A kind of which there are fewer is repeated. Where the sets share their images, training leaves
    to the test the problems that it does not need, at least a twentieth.

    Args:
        kinds: The kinds of each regime, over the images of that regime.
        max_problems: Largest number of problems of a set.
        shared: Whether both regimes use the same images.
        training_problems: Number of training problems, however many different ones there are;
            `None` where `max_problems` decides.

    Raises:
        ValueError: If the training problems leave none to a test on the same images.
    """
    counts = {}
    for regime, those in kinds.items():
        largest = max(kind.size for kind in those)
        counts[regime] = [min(largest, part) for part in _parts(max_problems, len(those))]
    if shared:
        (train, train_counts), (test, test_counts) = counts.items()
        most = largest - max(1, largest // 20)
        counts[train] = [min(count, most) for count in train_counts]
        left = [largest - count for count in counts[train]]
        counts[test] = [min(pair) for pair in zip(test_counts, left, strict=True)]
    if training_problems is not None and TRAINING in kinds:
        counts[TRAINING] = _parts(training_problems, len(kinds[TRAINING]))
        most = min(kind.size for kind in kinds[TRAINING]) - max(max(c) for c in counts.values())
        if shared and most < 0:
            raise ValueError(
                f"training_problems must leave problems for the test on the same images, "
                f"got {training_problems}: lower it or withhold images"
            )
    return counts


def _parts(count: int, kinds: int) -> list[int]:
    """Split a number into equal parts, the first parts larger by one if needed."""
    share, rest = divmod(count, kinds)
    return [share + (part < rest) for part in range(kinds)]


Repeat = Callable[[np.random.Generator, Digits, int], Digits]
"""Rule for filling a set with more problems of a kind than exist."""


def draw_digits(
    branch: Stream,
    kinds: Mapping[str, Sequence[Kind]],
    counts: Mapping[str, Sequence[int]],
    *,
    shared: bool,
    repeat: Repeat = repeated,
) -> dict[str, list[Digits]]:
    """Draw the numbered problems of each set, by regime and kind.

    No problem comes twice in a set unless all of its kind come; none is in two sets.

    Args:
        branch: Stream of the task. Every kind of every set is drawn from a separate child.
        kinds: The kinds of each regime, over the images of that regime.
        counts: Wanted number of problems of each regime and kind.
        shared: Whether both regimes use the same images, so that their problems must be split.
        repeat: Rule for more problems of a kind than exist: each set repeats its problems.
    """
    drawn: dict[str, list[Digits]] = {regime: [] for regime in kinds}
    for number, same_kind in enumerate(zip(*kinds.values(), strict=True)):
        wanted = {regime: counts[regime][number] for regime in kinds}
        if shared:
            unique = _draw_split(branch.child("problems"), same_kind[0], wanted)
        else:
            unique = {
                regime: _draw_unique(branch.child(regime), kind, wanted[regime])
                for regime, kind in zip(kinds, same_kind, strict=True)
            }
        for regime, digits in unique.items():
            again = branch.child(regime, same_kind[0].name, "repeats").numpy()
            drawn[regime].append(repeat(again, digits, wanted[regime]))
    return drawn


def _draw_unique(branch: Stream, kind: Kind, count: int) -> Digits:
    """Draw `count` different problems, or all if there are fewer."""
    return distinct(branch.child(kind.name).numpy(), kind.radices, min(count, kind.size))


def _draw_split(branch: Stream, kind: Kind, wanted: Mapping[str, int]) -> dict[str, Digits]:
    """Draw different problems for two sets over the same images, in proportion if too few."""
    train, test = wanted
    total = sum(wanted.values())
    unique = _draw_unique(branch, kind, total)
    cut = max(min(1, wanted[test]), len(unique) * wanted[test] // max(1, total))
    return {train: unique[cut:], test: unique[:cut]}


def shuffled(
    branch: Stream, items: Float[Tensor, "item height width"], parts: Sequence[Columns]
) -> Problems:
    """Mix the problems of all kinds in random order, so that any stretch is a sample."""
    order = permutation(branch.child("order").numpy(), sum(len(part["target"]) for part in parts))
    columns = {
        name: torch.from_numpy(np.concatenate([part[name] for part in parts])[order])
        for name in parts[0]
    }
    index, target = columns.pop("index"), columns.pop("target")
    return Problems(items=items, index=index, target=target, latent=columns)


_UNIT: Final = "gray levels between showings"
"""Unit of the distance of a variation."""


@lru_cache(maxsize=256)
def _distance(shapes: GlyphSet | Handwriting | None, variation: Variation) -> float:
    """Measure how far two showings of an image differ; of handwriting, showings of letters."""
    if isinstance(shapes, Handwriting):  # whose files may be missing
        shapes = GlyphSet.plain_letters()
    fonts = other_fonts(shapes) if shapes is not None and variation.font else ()
    return two_showings_differ(table(shapes), [other.items for other in fonts], variation)


def seen(problems: Problems) -> Int64[Tensor, "batch time"]:
    """Number the pictures of problems by position; equal pictures have equal numbers.

    Showings that vary have the number of their picture.
    """
    if isinstance(problems.items, LazyItems):
        return problems.items.latent[:, 0].to(problems.index.device)[problems.index]
    pictures = problems.table().flatten(1)
    return torch.unique(pictures, dim=0, return_inverse=True)[1][problems.index]


PATTERNS: Final = {
    "AAA": (0, 0, 0),
    "AAB": (0, 0, 1),
    "ABA": (0, 1, 0),
    "ABB": (0, 1, 1),
    "ABC": (0, 1, 2),
}
"""Patterns of three positions, as the letter at each position."""


def num_letters(pattern: str) -> int:
    """Count the different images of a pattern."""
    return len(set(PATTERNS[pattern]))


def spelled(
    pattern: str, letters: Int64[np.ndarray, "batch slot"]
) -> Int64[np.ndarray, "batch time"]:
    """Write rows of a pattern.

    Args:
        pattern: Name of the pattern.
        letters: Image of each letter.
    """
    return letters[:, list(PATTERNS[pattern])]
