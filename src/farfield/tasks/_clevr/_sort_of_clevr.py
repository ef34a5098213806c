"""Sort-of-CLEVR: questions on an image of six objects (lamb2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Annotated, ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, Limits, check_fields
from farfield.tasks._protocol._answers import AnswerTask, target_outputs
from farfield.tasks._protocol._draws import integers, permutation
from farfield.tasks._protocol._task import (
    CHANNELS_FIRST,
    TRAINING,
    VALIDATION,
    Count,
    CountOrNone,
    Form,
    Regime,
    check_regime,
    regimes_at,
)


def descriptions(scenes: Scenes) -> Int64[np.ndarray, "item feature"]:
    """Describe the items: number of a question, −1 for images; then the objects.

    Args:
        scenes: The scenes.
    """
    table = np.full((QUESTIONS + len(scenes), 1 + scenes[0].size), ABSENT)
    table[:QUESTIONS, 0] = np.arange(QUESTIONS)
    table[QUESTIONS:, 1:] = scenes.reshape(len(scenes), -1)
    return table


def rendered(latent: Int64[Tensor, "item feature"]) -> UInt8[Tensor, "item 3 75 75"]:
    """Draw images, and questions in the first pixels of black images, for `LazyItems`.

    Args:
        latent: Rows of `descriptions`.
    """
    question = latent[:, 0].numpy()
    shown = images(latent[:, 1:].reshape(-1, len(COLORS), 3).numpy())
    is_question = question != ABSENT
    shown[is_question] = 0
    shown[is_question, :, 0, :FEATURES] = 255 * vectors()[question[is_question], None]
    return torch.from_numpy(shown)


SIDE: Final = 75
"""Height and width of an image, pixels."""
REACH: Final = 5
"""Whole pixels between the center of an object and its edges."""
APART: Final = 10
"""Least distance between two centers, pixels."""
COLORS: Final = ("red", "green", "blue", "orange", "gray", "yellow")
SQUARE, CIRCLE = 0, 1
ABSENT: Final = -1

Scenes = Int64[np.ndarray, "batch slot 3"]
"""Column and row of the center, and shape, of the object of each color; −1 where it is absent."""

_WHITE: Final = 255
_PAINTS: Final = (
    (255, 0, 0),
    (0, 255, 0),
    (0, 0, 255),
    (255, 156, 0),
    (128, 128, 128),
    (255, 255, 0),
)
"""Red, green and blue of each color."""


def centers(
    generator: np.random.Generator, count: int, first: int
) -> Int64[np.ndarray, "batch slot 2"]:
    """Draw the centers of the objects, uniform over the free room, color by color.

    Args:
        count: Number of scenes.
        first: The first color of which there is an object.
    """
    drawn = np.full((count, len(COLORS), 2), ABSENT)
    for color in range(first, len(COLORS)):
        rows = np.arange(count)
        while len(rows):
            for axis in (0, 1):
                drawn[rows, color, axis] = REACH + integers(generator, SIDE - 2 * REACH, len(rows))
            way = drawn[rows, first:color] - drawn[rows, color, None]
            rows = rows[(np.square(way).sum(2) < APART**2).any(1)]
    return drawn


def images(scenes: Scenes) -> UInt8[np.ndarray, "batch 3 75 75"]:
    """Draw images of scenes on white; a color covers earlier colors.

    A pixel is in an object whose center is dx and dy pixels away if both are at most 5 (square),
    or if dx² + dy² ≤ 30 (circle): its middle is then less than 5.5 pixels away.

    Args:
        scenes: The scenes.
    """
    shown = np.full((len(scenes), 3, SIDE * SIDE), _WHITE, np.uint8)
    for color, paint in enumerate(_PAINTS):
        for shape, filled in ((SQUARE, _filled(2 * REACH**2)), (CIRCLE, _filled(REACH**2 + REACH))):
            rows = np.flatnonzero(scenes[:, color, 2] == shape)
            column, row, _ = scenes[rows, color].T
            pixels = (row * SIDE + column)[:, None] + filled
            for channel, value in enumerate(paint):
                shown[rows[:, None], channel, pixels] = value
    return shown.reshape(-1, 3, SIDE, SIDE)


def scenes_of(shown: UInt8[np.ndarray, "batch 3 75 75"]) -> Scenes:
    """Read scenes off images: an object lies where its color is; a square fills its corners.

    Args:
        shown: Images.
    """
    scenes = np.full((len(shown), len(COLORS), 3), ABSENT)
    for color, paint in enumerate(_PAINTS):
        is_there = (shown == np.array(paint, np.uint8)[:, None, None]).all(1)
        rows = np.flatnonzero(is_there.any((1, 2)))
        inked = is_there[rows]
        for axis, line in enumerate((inked.any(1), inked.any(2))):
            first, last = line.argmax(1), SIDE - 1 - line[:, ::-1].argmax(1)
            scenes[rows, color, axis] = (first + last) // 2
        scenes[rows, color, 2] = np.where(inked.sum((1, 2)) > _DISK, SQUARE, CIRCLE)
    return scenes


def _filled(most: int) -> Int64[np.ndarray, " item"]:
    """List the pixels up to a squared distance from the center, as steps in an image row by row."""
    steps = np.arange(-REACH, REACH + 1)
    down, across = np.nonzero(np.square(steps)[:, None] + np.square(steps) <= most)
    return steps[down] * SIDE + steps[across]


_DISK: Final = len(_filled(REACH**2 + REACH))
"""Pixels of a circle."""


KINDS: Final = ("shape", "left", "top", "closest", "furthest", "count")
"""Kinds of question: three about the object of a color alone, three about other objects too."""
RELATIONAL: Final = 3
"""Index of the first kind that is about several objects."""
ANSWERS: Final = ("yes", "no", "square", "circle", "1", "2", "3", "4", "5", "6")
QUESTIONS: Final = len(COLORS) * len(KINDS)
"""Number of different questions; a kind about a color has the number 6 · color + kind."""
FEATURES: Final = len(COLORS) + 2 + RELATIONAL
"""Numbers of the vector of a question."""

_FAR: Final = 2 * SIDE**2
"""More than any squared distance of two centers."""
_RELEASED_FAR: Final = 999
"""Squared distance of an object to itself in the released code, less than many of two objects."""

Table = Int64[np.ndarray, "batch slot value"]
"""Number of the answer about each color, for each kind of question."""


def vectors() -> UInt8[np.ndarray, "item feature"]:
    """Return the vectors of all questions: color, relational or not, and subtype, each one-hot."""
    numbers = np.arange(QUESTIONS)
    color, kind = np.divmod(numbers, len(KINDS))
    is_relational, subtype = np.divmod(kind, RELATIONAL)
    found = np.zeros((QUESTIONS, FEATURES), np.uint8)
    for column in (color, len(COLORS) + is_relational, len(COLORS) + 2 + subtype):
        found[numbers, column] = 1
    return found


def answer_table(scenes: Scenes, *, closest_to_self: bool = False) -> Table:
    """Compute the numbers of the answers to all questions, −1 about colors that a scene lacks.

    Where several others are as near (or as far), the first color of them counts.

    Args:
        scenes: The scenes.
        closest_to_self: Whether an object has a squared distance of 999 to itself where the closest
            one is asked for, and so may be its own closest.
    """
    center, shape = scenes[..., :2], scenes[..., 2]
    way = np.square(center[:, :, None] - center[:, None]).sum(3)
    is_there = shape != ABSENT
    others = is_there[:, None] & ~np.eye(len(COLORS), dtype=bool)
    near = np.where(others, way, _FAR)
    if closest_to_self:
        own = np.arange(len(COLORS))
        near[:, own, own] = _RELEASED_FAR
    far = np.where(others, way, -1)
    circle_or_square = 2 + shape
    first = [circle_or_square, *(1 - (2 * center[..., axis] < SIDE) for axis in (0, 1))]
    found = [np.take_along_axis(circle_or_square, at, 1) for at in (near.argmin(2), far.argmax(2))]
    alike = (shape[:, :, None] == shape[:, None]).sum(2)
    table = np.stack([*first, *found, 3 + alike], axis=2)
    return np.where(is_there[:, :, None], table, ABSENT)


def chances(circles: Sequence[Fraction]) -> dict[str, float]:
    """Compute the share of right answers of the best guess at each kind, from the question alone.

    A center lies in the left (or upper) half with 33 of its 65 columns (or rows), and every other
    object is the closest or furthest equally often; that objects leave each other room changes
    neither by a thousandth.

    Args:
        circles: Probability of a circle, for each color that scenes have.
    """
    half = Fraction(SIDE // 2 + 1 - REACH, SIDE - 2 * REACH)
    found: dict[str, list[Fraction]] = {kind: [] for kind in KINDS}
    for color, own in enumerate(circles):
        others = [*circles[:color], *circles[color + 1 :]]
        other = sum(others, Fraction()) / len(others)
        guesses = (own, half, half, other, other)
        for kind, chance in zip(KINDS, guesses, strict=False):
            found[kind].append(max(chance, 1 - chance))
        found[KINDS[-1]].append(_likeliest_count(own, others))
    return {kind: float(sum(parts, Fraction()) / len(parts)) for kind, parts in found.items()}


def _likeliest_count(own: Fraction, others: Sequence[Fraction]) -> Fraction:
    """Compute the probability of the likeliest number of other objects with the same shape."""
    circles, squares = (
        reduce(np.convolve, [np.array([1 - p, p], object) for p in chances])
        for chances in (others, [1 - p for p in others])
    )
    likeliest: Fraction = (own * circles + (1 - own) * squares).max()
    return likeliest


NEW: Final = "new-images"
OF_EACH: Final = 10
"""Questions of either sort on an image."""
_VALIDATION_IMAGES: Final = 500


@final
@dataclass(frozen=True, kw_only=True)
class SortOfCLEVR(AnswerTask):
    r"""Which answer is right to a question on an image of six objects?

    **Task.** A problem has two items, an image and a question. The image, red, green and blue as
    bytes of 75 × 75 pixels, shows on white a square or a circle in each of six colors. The question
    is about the object of one color, and of one of six kinds: three about it alone, three
    relational ones. It is an item of the shape of an image as well, so that each image is in the
    table once, with all questions about it: a black one whose first eleven pixels are the numbers
    of the question, 255 for a 1 in all of red, green and blue (`items[index[:, 1], 0, 0, :11]`).
    They say the color (6), whether the question is relational (no, yes), and which of three it is.
    The answer is one of ten: yes, no, square, circle, 1 … 6.

    **Worked example.**

    ```text
      ┌─────────┐   what is the shape of the red object?           square
      │ ■     ○ │   is it in the left half?                        yes
      │   □     │   is it in the upper half?                       yes
      │      ●  │   what is the shape of the object closest to it? square
      │  ◌    ▪ │   of the one furthest from it?                   square
      └─────────┘   how many objects have its shape, itself among them?  3
    ```

    **Regimes.** Centers are drawn color by color at columns and rows 5 … 69, uniformly over the
    positions at least 10 pixels from earlier centers; shapes are drawn with equal probability. Each
    image has ten questions of either sort, each of any color and kind. `new-images` are as
    training. With `withheld_pairs=N`, N color–shape pairs of N different colors, drawn for each
    run, never occur in `training` and `new-images`; `withheld-pairs-N` has all twelve. With
    `withheld_colors=N` the first N colors do not occur there, neither in images nor in questions;
    `withheld-colors-N` has all six.

    **Score, floor and ceiling.** Share of right answers, also of relational and non-relational
    questions by themselves. The floor is the best guess from the question alone: 1/2 for shapes,
    33/65 for halves of the image and 10/32 for the count, on average 0.505 of the non-relational
    and 0.4375 of the relational questions. It is higher in training with withheld pairs, where
    colors say something of shapes; `chances` has it for each kind. The random baselines of the
    text, 50 % and ≈ 39 %, are those of guessing each possible answer with equal probability:
    (1/2 + 1/2 + 1/6) / 3 = 0.389. The ceiling is 1.

    **Known shortcuts.** The count is 3 or 4 in five of eight cases. With withheld pairs, the shapes
    of N colors are always the same in training.

    **Source and deviations.** Lamb 2022, section 10.4.3, after Santoro et al. 2017. The text says
    neither sizes nor numbers of images nor which pairs are withheld: numbers and sizes are those
    of the authors' code. There, as here, an object covers those of earlier colors where
    corners overlap, and where others of both shapes are equally near or far (for 1 in 1,000 of
    these questions), the shape of the first color is the answer. Circles are drawn in
    integers and may differ at the edge from those there. That code has faults, each of them
    an option here. It seeds its generator again for every image, so that all objects are circles
    (`circles_only`) and all images have the same questions (`same_questions`); an object farther
    than √999 pixels from all others is its own closest (`closest_to_self`). In place of pairs
    it withholds colors (`withheld_colors`), and training questions then number the colors
    that are left from 0, test questions all six (`shifted_colors`).

    Args:
        withheld_pairs: Number of color–shape pairs that training lacks, at most one of a color.
        withheld_colors: Number of colors that training lacks, the first ones.
        training_images: Number of training images, of 20 problems each.
        test_images: Number of images of each test.
        circles_only: Whether all objects are circles.
        same_questions: Whether all images of a set have the same questions.
        closest_to_self: Whether an object has a distance of √999 pixels to itself where the closest
            one is asked for.
        shifted_colors: Whether the vectors of training questions number only the colors that are
            left.
        validation_images: Number of images for validation, as `new-images`; 0 for no such regime.

    Raises:
        ValueError: If a number is out of range, or options exclude each other.

    Reference:
        lamb2022, section 10.4.3 and Tables 6 and 7.
    """

    name: ClassVar[str] = "sort-of-clevr"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="question")
    training_scored: ClassVar[int] = 2_000
    question_size: ClassVar[int] = FEATURES
    colors: ClassVar[tuple[str, ...]] = COLORS
    kinds: ClassVar[tuple[str, ...]] = KINDS
    answers: ClassVar[tuple[str, ...]] = ANSWERS

    withheld_pairs: Annotated[int, Limits(at_least=0, at_most=6)] = 0
    withheld_colors: Annotated[int, Limits(at_least=0, at_most=4)] = 0
    training_images: Count = 9_800
    test_images: Count = 2_000
    circles_only: bool = False
    same_questions: bool = False
    closest_to_self: bool = False
    shifted_colors: bool = False
    validation_images: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        for name, other in (
            ("withheld_colors", self.withheld_colors),
            ("circles_only", self.circles_only),
        ):
            if self.withheld_pairs and other:
                raise ValueError(
                    f"withheld_pairs must be 0 where {name} is {other}, got {self.withheld_pairs}"
                )
        if self.shifted_colors and not self.withheld_colors:
            raise ValueError("shifted_colors must be False where withheld_colors is 0, got True")

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Colors, height and width of an image."""
        return (3, SIDE, SIDE)

    @property
    def length(self) -> int:
        """Number of items of a problem: an image and a question."""
        return 2

    @property
    def num_outputs(self) -> int:
        """Number of answers, each with a logit."""
        return len(ANSWERS)

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: image and question."""
        return ((0, 1),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation if any, new images of its kind, and images of withheld parts."""
        named = "colors" if self.withheld_colors else "pairs"
        count = self.withheld_colors or self.withheld_pairs
        unit = {"colors": "colors", "pairs": "color-shape pairs"}[named] + " that training lacks"
        withheld = {f"withheld-{named}-{count}": count} if count else {}
        held_out = {VALIDATION: 0} if self.validation_images else {}
        return regimes_at(unit, {TRAINING: 0} | held_out | {NEW: 0} | withheld)

    def with_validation(self) -> SortOfCLEVR:
        """Copy the task with validation on new images of the training kind."""
        return replace(self, validation_images=_VALIDATION_IMAGES)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        branch = stream.child(self.name, f"v{self.version}")
        return {regime.name: self._problems(regime.name, branch) for regime in self.regimes}

    def _problems(self, regime: str, branch: Stream) -> Problems:
        """Draw the problems of a regime, image by image, relational problems last."""
        scenes = self._scenes(regime, branch)
        color, kind = self._questions(regime, branch, len(scenes))
        shift = self._first_color(regime) if self.shifted_colors else 0
        image = np.repeat(np.arange(len(scenes)), 2 * OF_EACH)
        index = np.stack([QUESTIONS + image, (color - shift) * len(KINDS) + kind], axis=1)
        found = answer_table(scenes, closest_to_self=self.closest_to_self)
        latent = {"color": color, "kind": kind}
        return Problems(
            items=LazyItems(latent=torch.from_numpy(descriptions(scenes)), draw=rendered),
            index=torch.from_numpy(index),
            target=torch.from_numpy(found[image, color, kind]),
            latent={name: torch.from_numpy(column) for name, column in latent.items()},
        )

    def _is_as_training(self, regime: str) -> bool:
        return regime in (TRAINING, VALIDATION, NEW)

    def _first_color(self, regime: str) -> int:
        """Return the first color that occurs."""
        return self.withheld_colors if self._is_as_training(regime) else 0

    def _scenes(self, regime: str, branch: Stream) -> Scenes:
        """Draw the scenes of a regime."""
        own_counts = {TRAINING: self.training_images, VALIDATION: self.validation_images}
        count = own_counts.get(regime, self.test_images)
        first, own = self._first_color(regime), branch.child(regime)
        drawn = integers(own.child("shapes").numpy(), 2, count * len(COLORS))
        shapes = np.full_like(drawn, CIRCLE) if self.circles_only else drawn
        shapes = shapes.reshape(count, len(COLORS))
        shapes[:, :first] = ABSENT
        if self._is_as_training(regime):
            colors, withheld = self._pairs(branch)
            shapes[:, colors] = 1 - withheld
        at = centers(own.child("centers").numpy(), count, first)
        return np.concatenate([at, shapes[:, :, None]], axis=2)

    def _pairs(self, branch: Stream) -> tuple[Int64[np.ndarray, " item"], ...]:
        """Draw the colors and shapes of the pairs that training lacks."""
        colors = permutation(branch.child("colors").numpy(), len(COLORS))
        shapes = integers(branch.child("shapes").numpy(), 2, len(COLORS))
        return colors[: self.withheld_pairs], shapes[: self.withheld_pairs]

    def _questions(
        self, regime: str, branch: Stream, count: int
    ) -> tuple[Int64[np.ndarray, " batch"], Int64[np.ndarray, " batch"]]:
        """Draw color and kind of each question on all images."""
        own, first = branch.child(regime, "questions"), self._first_color(regime)
        drawn = 1 if self.same_questions else count
        number = drawn * 2 * OF_EACH
        color = first + integers(own.child("color").numpy(), len(COLORS) - first, number)
        kind = integers(own.child("kind").numpy(), RELATIONAL, number)
        kind.reshape(drawn, 2, OF_EACH)[:, 1] += RELATIONAL
        return np.tile(color, count // drawn), np.tile(kind, count // drawn)

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the masks of the relational and of the non-relational questions."""
        is_relational = problems.latent["kind"] >= RELATIONAL
        return {"relational": is_relational, "non-relational": ~is_relational}

    def chance(self, regime: str) -> float:
        """Return the share of right answers of the best guess from the question alone."""
        found = self.chances(regime).values()
        return sum(found) / len(found)

    def chances(self, regime: str) -> dict[str, float]:
        """Average the accuracy of the best guess at each kind of question over runs."""
        check_regime(regime, self.regimes)
        known = self.withheld_pairs if self._is_as_training(regime) else 0
        unknown = len(COLORS) - self._first_color(regime) - known
        free = [Fraction(1) if self.circles_only else Fraction(1, 2)] * unknown
        cases = [chances([*map(Fraction, sure), *free]) for sure in product((0, 1), repeat=known)]
        return {kind: sum(case[kind] for case in cases) / len(cases) for kind in KINDS}

    def by_hand(
        self,
        problems: Problems,
        training: Problems,  # noqa: ARG002
    ) -> Float[Tensor, "batch answer"]:
        """Return the outputs of the rule on objects that are found by their color.

        Args:
            problems: Items and their index; without targets.
            training: Not used.
        """
        table = problems.table()
        image, question = problems.index.unbind(1)
        found, inverse = torch.unique(image, return_inverse=True)
        asked = table[question, 0, 0, :FEATURES].bool().long()
        color = asked[:, : len(COLORS)].argmax(1)
        relational, which = asked[:, len(COLORS) + 1], asked[:, len(COLORS) + 2 :].argmax(1)
        answers = answer_table(scenes_of(table[found].numpy()))
        right = answers[inverse.numpy(), color.numpy(), (RELATIONAL * relational + which).numpy()]
        return F.one_hot(torch.from_numpy(right), self.num_outputs).to(torch.float32) * 2 - 1

    def oracle(self, problems: Problems) -> Float[Tensor, "batch answer"]:
        """Return the right answers as outputs."""
        return target_outputs(problems, self.num_outputs)
