"""The members that both regimes of VAEC have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from farfield.core import LazyItems, Problems, Stream, check_fields
from farfield.tasks._protocol._answers import ChoiceTask, OracleByHand
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import COLOR, TRAINING, Form, Regime, check_number
from farfield.tasks._vaec._vaec_clutter import (
    DRAWS,
    draw_cluttered,
    drawn_clutter,
    visible_levels,
)
from farfield.tasks._vaec._vaec_objects import (
    CANVAS,
    DIMENSIONS,
    MOST_LEVELS,
    draw_objects,
    measured_levels,
)
from farfield.tasks._vaec._vaec_problems import NUM_DIMENSIONS, analogies, drawn_problems

_PREMISES = 3
_CHUNK = 128
"""Pictures that the oracle measures at once."""


@dataclass(frozen=True, kw_only=True)
class VAECTask(OracleByHand, ChoiceTask):
    """Base of the visual analogies along one dimension."""

    name: ClassVar[str]
    version: ClassVar[int]
    form: ClassVar[Form] = Form(axes=COLOR, arrangement="group", answer="candidates")

    train_on: int = 1
    """Number of the region or scale that training shows."""
    num_levels: int = MOST_LEVELS
    """Levels of every dimension."""
    levels_per_region: int = 7
    """Levels of every dimension within a region or scale."""
    image_size: int = 128
    """Side of an image in pixels."""
    problems_per_regime: int | None = None
    """Problems of a set; `None` for a tenth of all."""
    exact_width: bool = False
    """True if a square of width s covers s pixels rather than s + 1."""
    shuffled: bool = False
    """True if the candidates are in random order rather than the right one first."""
    second_object: bool = False
    """True if every picture shows a square of another hue, which tells nothing."""
    textured: bool = False
    """True if the background of every picture is a texture rather than grey."""

    @property
    @abstractmethod
    def _word(self) -> str:
        """Word for a set: region or scale."""

    @abstractmethod
    def levels_of(self, number: int) -> Int64[np.ndarray, " value"]:
        """The levels, counted from 0, that region or scale `number` takes on every dimension."""

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
        check_number("image_size", self.image_size, 64, 1024)
        if self._cluttered and self.image_size % CANVAS:
            raise ValueError(
                f"image_size must be a multiple of {CANVAS} with second_object or textured, "
                f"got {self.image_size}"
            )
        if self.problems_per_regime is not None:
            kinds = NUM_DIMENSIONS * len(analogies(self.levels_per_region))
            most = kinds * self.levels_per_region ** (NUM_DIMENSIONS - 1)
            check_number("problems_per_regime", self.problems_per_regime, 1, most)

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

    @property
    def length(self) -> int:
        """A, B, C and the candidates."""
        return _PREMISES + self.num_candidates

    @property
    def num_candidates(self) -> int:
        """One for each level of the varied dimension: D and its foils."""
        return self.levels_per_region

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: A, B, C and one candidate."""
        return (tuple(range(_PREMISES + 1)),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then the other regions or scales, the nearest first."""
        others = [n for n in range(1, self._count + 1) if n != self.train_on]
        others.sort(key=lambda number: abs(number - self.train_on))
        return tuple(
            Regime(
                name=self._name_of(number),
                distance=float(abs(number - self.train_on)),
                unit=f"{self._word}s",
            )
            for number in (self.train_on, *others)
        )

    def _name_of(self, number: int) -> str:
        return TRAINING if number == self.train_on else f"{self._word}-{number}"

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name; their images are drawn when they are asked for.

        A region's problems do not depend on which region training shows.

        Args:
            stream: Stream of the run.
        """
        place = stream.child(self.name, f"v{self.version}")
        sets = {
            self._name_of(number): self._set(place.child(f"{self._word}-{number}"), number)
            for number in range(1, self._count + 1)
        }
        return {regime.name: sets[regime.name] for regime in self.regimes}

    def _set(self, place: Stream, number: int) -> Problems:
        columns = drawn_problems(
            place, self.levels_per_region, self.problems_per_regime, shuffled=self.shuffled
        )
        latent = {name: torch.from_numpy(column) for name, column in columns.items()}
        index, target = latent.pop("index"), latent.pop("target")
        items = self.objects(number)
        if self._cluttered:
            which = integers(place.child("pictures").numpy(), DRAWS, index.numel())
            index = index * DRAWS + torch.from_numpy(which).reshape(index.shape)
            items = self._in_clutter(items, place.child("clutter"))
        return Problems(items=items, index=index, target=target, latent=latent)

    def _in_clutter(self, objects: LazyItems, place: Stream) -> LazyItems:
        """Several pictures of every object, one after another, each with clutter of its own."""
        levels = objects.latent.repeat_interleave(DRAWS, dim=0)
        return LazyItems(
            latent=torch.cat([levels, drawn_clutter(place, len(levels))], dim=1),
            draw=partial(
                draw_cluttered,
                num_levels=self.num_levels,
                image_size=self.image_size,
                exact_width=self.exact_width,
                second_object=self.second_object,
                textured=self.textured,
            ),
        )

    def objects(self, number: int) -> LazyItems:
        """All objects of a region or scale, in the order of their levels, brightness fastest.

        They stand before even grey, without clutter.

        Args:
            number: Which region or scale, from 1.
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
        """The outputs of the rule: how near each candidate comes to C + B − A, as measured.

        Args:
            problems: Problems of any regime.
        """
        table = problems.items
        rows, places = torch.unique(problems.index, return_inverse=True)
        parts = (table.index_select(0, part) for part in rows.split(_CHUNK))
        measure = visible_levels if self._cluttered else measured_levels
        measured = torch.cat([measure(part, self.num_levels) for part in parts])
        a, b, c, *candidates = measured[places].unbind(dim=1)
        return -(torch.stack(candidates, dim=1) - (c + b - a)[:, None]).norm(dim=2)

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Mask of the problems that vary in each dimension, by its name.

        Args:
            problems: Problems of any regime.
        """
        varied = problems.latent["dimension"]
        return {name: varied == number for number, name in enumerate(DIMENSIONS)}
