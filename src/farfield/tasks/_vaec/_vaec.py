"""Visual analogy extrapolation challenge: translated, and scaled up (webb2020)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, check_fields
from farfield.tasks._protocol._answers import OracleByHand
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import COLOR, TRAINING, CountOrNone, Form, check_number
from farfield.tasks._vaec._region_analogies import RegionAnalogies
from farfield.tasks._vaec._vaec_objects import (
    CANVAS,
    DIMENSIONS,
    DRAWS,
    MOST_LEVELS,
    NEW_SHAPES,
    NUM_DIMENSIONS,
    draw_cluttered,
    draw_new_shapes,
    draw_objects,
    drawn_clutter,
    measured_levels,
    visible_levels,
)

_NEW = "new-shapes"
"""Name of the regime of other shapes with the levels of training, and the first part of others."""
_CHUNK = 128
"""Pictures that the oracle measures at once."""


@dataclass(frozen=True, kw_only=True)
class VAECTask(OracleByHand, RegionAnalogies):
    """Base of the visual analogies along one dimension.

    Args:
        num_levels: Levels of every dimension, at most 42.
        levels_per_region: Levels of every dimension within a region or scale, and so candidates.
        image_size: Side of an image, 64…1024 pixels; in clutter or with new shapes a multiple of
            128.
        problems_per_regime: Problems of a set; `None` for a tenth of all: 19,040.
        exact_width: Whether a square of width s covers s pixels rather than s + 1.
        shuffled: Whether the candidates are in random order rather than D first.
        second_object: Whether every picture shows a square of another hue, which tells nothing.
        textured: Whether the background of every picture is a texture rather than gray.
        new_shapes: Whether all tests show shapes that training lacks, rather than squares.
        validation_problems: Number of validation problems of the training kind, with combinations
            of the irrelevant levels that training lacks; 0 for no such regime.
        also_train_on: Numbers of further regions or scales that training shows: each is a training
            domain with as many problems, and validation has as many of each.

    Raises:
        ValueError: If the levels do not divide into regions or scales, a number is out of its
            range, or `image_size` is no multiple of 128 where there is clutter or new shapes, or
            both of these are asked for.
    """

    dimensions: ClassVar[tuple[str, ...]] = DIMENSIONS
    form: ClassVar[Form] = Form(axes=COLOR, arrangement="group", answer="candidates")

    train_on: int = 1
    num_levels: int = MOST_LEVELS
    levels_per_region: int = 7
    image_size: int = 128
    problems_per_regime: int | None = None
    exact_width: bool = False
    shuffled: bool = False
    second_object: bool = False
    textured: bool = False
    new_shapes: bool = False
    validation_problems: CountOrNone = 0
    also_train_on: tuple[int, ...] = ()

    @abstractmethod
    def levels_of(self, number: int) -> Int64[np.ndarray, " value"]:
        """Return the levels, counted from 0, of region or scale `number` on every dimension."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("num_levels", self.num_levels, 6, MOST_LEVELS)
        check_number("levels_per_region", self.levels_per_region, 3, 14)
        if self.num_levels % self.levels_per_region or self._count < 2:
            raise ValueError(
                f"levels_per_region must divide num_levels ({self.num_levels}) into 2 or more, "
                f"got {self.levels_per_region}"
            )
        check_number("train_on", self.train_on, 1, self._count)
        for number in self.also_train_on:
            check_number("also_train_on", number, 1, self._count)
        if len({*self._trained}) < len(self._trained) or len(self._trained) == self._count:
            raise ValueError(
                f"also_train_on must name other {self._word}s than train_on, each once, and leave "
                f"one for a test, got {self.also_train_on} beside {self.train_on}"
            )
        if self.new_shapes and self.also_train_on:
            raise ValueError(
                f"also_train_on and new_shapes exclude each other, got {self.also_train_on}"
            )
        check_number("image_size", self.image_size, 64, 1024)
        if self.new_shapes and self._cluttered:
            raise ValueError("new_shapes and clutter (second_object, textured) exclude each other")
        if (self.new_shapes or self._cluttered) and self.image_size % CANVAS:
            raise ValueError(
                f"image_size must be a multiple of {CANVAS} with second_object, textured or "
                f"new_shapes, got {self.image_size}"
            )
        self._check_counts()

    @property
    def _cluttered(self) -> bool:
        """True if a picture shows more than its object."""
        return self.second_object or self.textured

    @property
    def _count(self) -> int:
        """Number of regions or scales."""
        return self.num_levels // self.levels_per_region

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height, width and the three channels of an image."""
        return (self.image_size, self.image_size, 3)

    def _name_of(self, number: int) -> str:
        if number in self._trained:
            return _NEW if self.new_shapes else TRAINING
        name = f"{self._word}-{number}"
        return f"{_NEW}-{name}" if self.new_shapes else name

    def _test_set(self, branch: Stream, number: int) -> Problems:
        draw = self._with_new_shapes if self.new_shapes else self._set
        return draw(branch, number)

    def _pictures(self, number: int, branch: Stream) -> LazyItems:
        """Return the pictures of all objects, several of each in clutter."""
        objects = self.objects(number)
        return self._in_clutter(objects, branch.child("clutter")) if self._cluttered else objects

    def _in_clutter(self, objects: LazyItems, branch: Stream) -> LazyItems:
        """Draw several pictures of every object, one after another, each with different clutter."""
        levels = objects.latent.repeat_interleave(DRAWS, dim=0)
        return LazyItems(
            latent=torch.cat([levels, drawn_clutter(branch, len(levels))], dim=1),
            draw=partial(
                draw_cluttered,
                num_levels=self.num_levels,
                image_size=self.image_size,
                exact_width=self.exact_width,
                second_object=self.second_object,
                textured=self.textured,
            ),
        )

    def _with_new_shapes(self, branch: Stream, number: int) -> Problems:
        """Draw the problems of a region, all pictures of each with one of the new shapes."""
        squares, levels = self._set(branch, number), self.objects(number).latent
        count = len(NEW_SHAPES)
        shape = torch.from_numpy(integers(branch.child(_NEW).numpy(), count, len(squares)))
        shapes = torch.arange(count).repeat(len(levels))
        items = LazyItems(
            latent=torch.cat([levels.repeat_interleave(count, dim=0), shapes[:, None]], dim=1),
            draw=partial(
                draw_new_shapes,
                num_levels=self.num_levels,
                image_size=self.image_size,
                exact_width=self.exact_width,
            ),
        )
        index = squares.index * count + shape[:, None]
        return replace(squares, items=items, index=index, latent={**squares.latent, "shape": shape})

    def objects(self, number: int) -> LazyItems:
        """List all objects of a region or scale, in the order of their levels, brightness fastest.

        Their background is uniform gray, without clutter.

        Args:
            number: Number of the region or scale, from 1.
        """
        check_number("number", number, 1, self._count)
        levels = torch.from_numpy(self.levels_of(number))
        return LazyItems(
            latent=torch.cartesian_prod(*[levels] * NUM_DIMENSIONS),
            draw=partial(
                draw_objects,
                num_levels=self.num_levels,
                image_size=self.image_size,
                exact_width=self.exact_width,
            ),
        )

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """Return the outputs of the rule: how near each candidate comes to C + B − A."""
        table = problems.items
        rows, positions = torch.unique(problems.index, return_inverse=True)
        parts = (table.index_select(0, part) for part in rows.split(_CHUNK))
        any_shape = self._cluttered or self.new_shapes
        measure = visible_levels if any_shape else measured_levels
        measured = torch.cat([measure(part, self.num_levels) for part in parts])
        a, b, c, *candidates = measured[positions].unbind(dim=1)
        return -(torch.stack(candidates, dim=1) - (c + b - a)[:, None]).norm(dim=2)


@final
@dataclass(frozen=True, kw_only=True)
class VAECTranslation(VAECTask):
    """Which square completes the analogy, in regions further and further from training?

    **Task.** Four-term analogies A : B :: C : D between pictures of a green square on gray. The
    square varies in X, Y, size and brightness; in a problem all pictures differ along one of the
    four, and D is as far from C, in the same direction, as B from A. The candidates are D and six
    foils, the six other levels of that dimension within the region: they show A, B and C again
    wherever these are not D.

    **Worked example.** The size varies, level 0 to 6.

    ```text
      ┌───┐   ┌───┐    ┌───┐   ┌───┐           ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      │ · │ : │ ▪ │ :: │ ▪ │ : │ ? │           │ ■ ││ · ││ · ││ ▪ ││ ▪ ││ ■ ││ ■ │
      └───┘   └───┘    └───┘   └───┘           └───┘└───┘└───┘└───┘└───┘└───┘└───┘
      size 0     2        3       ?         →     5     0    1    2    3    4    6
    ```

    **Positions.** A, B, C, then D, then the foils in ascending order: the target is 0 in every
    problem, as released. A model that scores each candidate by itself and all alike cannot tell;
    one that knows the positions answers 0 and needs `shuffled=True`.

    **Regimes.** The 42 levels of each dimension are cut into six regions of seven: `training` shows
    region 1 (small and dim, upper left), `region-2` … `region-6` regions further and further off,
    up to large, bright squares at the lower right. Each region has 7⁴ = 2,401 objects, which no
    other has. With each of the 140 analogies along each dimension come 34 of the 343 combinations
    of the other dimensions: 19,040 problems. The distance is counted in regions.

    **Score, floor and ceiling.** Share of problems in which D scores higher than every foil; 1/7 by
    guessing; 1 by measuring the squares. A tie is wrong: the released code counts a problem wrong
    where all seven scores are equal, and so must every tie for the answer that is always first.
    `parts` gives the problems by the dimension they vary in, as the paper's supplement scores them.

    **Known shortcuts.** Of the 140 analogies along a dimension D is A in 18 and C is B in 18; D is
    never B, C never A. The most frequent level is right in 24 of 140 (17 %), the most frequent one
    for a given A, B or C in 35 or 36 (25 %), for two of them in at most 43 (31 %). The positions
    tell the answer unless `shuffled`; so do statistics over a batch that are taken for each
    position separately, as the released batch normalization does: D varies over all levels, each
    foil over two.

    **Clutter.** With `second_object` every picture shows another square: red, blue, magenta, yellow
    or cyan, as bright as objects may be, 3, 5 … 23 wide (and a pixel wider, as drawn), anywhere,
    before the green one or behind it. With `textured` a square of 16×16 pixels is repeated over the
    background, every channel of every pixel of it drawn from 88…168. Colors, as gray alone would
    leave no trace in a difference of two channels. Of each object there are eight pictures, each
    with different clutter; the picture at a position is drawn for the position. Levels, analogies
    and candidates are those without clutter, and all regimes have it alike. It tells nothing: an
    analogy between the second squares is right as often as a guess. Hidden parts lower the ceiling:
    the visible green decides 98 % of the problems in region 1 and all in the others.

    **New shapes.** With `new_shapes` training shows squares, and each test problem one of nine
    other shapes, the same in all its pictures: triangle, diamond, circle, ring, crescent, corner,
    plus, saltire or hourglass, within the square of its levels. `new-shapes` has the levels of
    training, `new-shapes-region-2` … those of other regions. Levels, analogies and candidates are
    those of squares. The smallest are of four pixels a side; a saltire so small is a square.

    **Source and deviations.** Webb et al. 2020, section 2.1.1, and the released generator, whose
    pictures and levels these are to the byte; its random draw was not seeded, so this is another
    one. Released and kept: red and blue of the object are 0; a square of width s covers s + 1
    pixels (`exact_width=True`: s of them); the background is 128, of 255. At another
    `image_size` the picture of 128×128 is reduced or enlarged, each pixel the mean of the pixels it
    covers. More problems than a tenth of all, 19,040, take more of the irrelevant combinations.

    Args:
        train_on: Number of the region that training shows, from 1.

    Reference:
        webb2020, section 2.1 and 2.1.1.
    """

    name: ClassVar[str] = "vaec-translation"
    version: ClassVar[int] = 1
    _word: ClassVar[str] = "region"

    def levels_of(self, number: int) -> Int64[np.ndarray, " value"]:
        """Return the levels, counted from 0, of region `number` on every dimension.

        Args:
            number: Number of the region, from 1.
        """
        check_number("number", number, 1, self._count)
        first = (number - 1) * self.levels_per_region
        return np.arange(first, first + self.levels_per_region)


@final
@dataclass(frozen=True, kw_only=True)
class VAECScale(VAECTask):
    """Which square completes the analogy, with differences larger and larger than in training?

    **Task.** Four-term analogies A : B :: C : D between pictures of a green square on gray. The
    square varies in X, Y, size and brightness; in a problem all pictures differ along one of the
    four, and D is as far from C, in the same direction, as B from A. The candidates are D and six
    foils, the six other levels of that dimension at that scale: they show A, B and C again wherever
    these are not D.

    **Worked example.** The size varies, level 0 to 6.

    ```text
      ┌───┐   ┌───┐    ┌───┐   ┌───┐           ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      │ · │ : │ ▪ │ :: │ ▪ │ : │ ? │           │ ■ ││ · ││ · ││ ▪ ││ ▪ ││ ■ ││ ■ │
      └───┘   └───┘    └───┘   └───┘           └───┘└───┘└───┘└───┘└───┘└───┘└───┘
      size 0     2        3       ?         →     5     0    1    2    3    4    6
    ```

    **Positions.** A, B, C, then D, then the foils in ascending order: the target is 0 in every
    problem, as released. A model that scores each candidate by itself and all alike cannot tell;
    one that knows the positions answers 0 and needs `shuffled=True`.

    **Regimes.** `training` shows levels 1–7 of the 42 of each dimension, `scale-2` … `scale-6`
    seven levels 2 … 6 times as far apart: squares that are larger, brighter, further to the lower
    right, and differ by more. Each scale has 7⁴ = 2,401 objects. With each of the 140 analogies
    along each dimension come 34 of the 343 combinations of the other dimensions: 19,040 problems.
    The distance is counted in scales.

    **Score, floor and ceiling.** Share of problems in which D scores higher than every foil; 1/7 by
    guessing; 1 by measuring the squares. A tie is wrong: the released code counts a problem wrong
    where all seven scores are equal, and so must every tie for the answer that is always first.
    `parts` gives the problems by the dimension they vary in, as the paper's supplement scores them.

    **Known shortcuts.** As in `VAECTranslation`.

    **Clutter.** As in `VAECTranslation`; the visible green decides 99 % of the problems at the
    first scale and all but all at the sixth.

    **New shapes.** As in `VAECTranslation`.

    **Source and deviations.** Webb et al. 2020, section 2.1.2, and the released generator, whose
    pictures and levels these are to the byte; its random draw was not seeded, so this is another
    one. Released and kept: red and blue of the object are 0; a square of width s covers s + 1
    pixels (`exact_width=True`: s of them); the background is 128, of 255. At scale k
    the levels are 1, 1 + k, … 1 + 6k; the text multiplies levels 1–7 by k, which gives k, 2k, … 7k
    and fills the 42 (`levels_multiplied=True`). As released, level 1 occurs at every scale, scale 2
    takes four of training's levels and scale 3 three: such objects are not outside its range. At
    another `image_size` the picture of 128×128 is reduced or enlarged, each pixel the mean of the
    pixels it covers. More problems than a tenth of all, 19,040, take more of the irrelevant
    combinations.

    Args:
        train_on: Number of the scale that training shows, from 1.
        levels_multiplied: Whether scale k takes levels k, 2k, … 7k, as the text has it.

    Reference:
        webb2020, section 2.1 and 2.1.2.
    """

    name: ClassVar[str] = "vaec-scale"
    version: ClassVar[int] = 1
    _word: ClassVar[str] = "scale"

    levels_multiplied: bool = False

    def levels_of(self, number: int) -> Int64[np.ndarray, " value"]:
        """Return the levels, counted from 0, of scale `number` on every dimension.

        Args:
            number: Number of the scale, from 1.
        """
        check_number("number", number, 1, self._count)
        steps = np.arange(self.levels_per_region) * number
        return steps + number - 1 if self.levels_multiplied else steps
