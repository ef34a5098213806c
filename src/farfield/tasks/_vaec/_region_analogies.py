"""Base of all visual analogies: regions of levels, and problems between their objects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, UnknownNameError
from farfield.tasks._protocol._answers import ChoiceTask
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    Regime,
    check_number,
    regimes_at,
)
from farfield.tasks._vaec._vaec_objects import analogies, combinations_shown, drawn_problems

_PREMISES = 3


class RegionAnalogies(ChoiceTask):
    """Base of the analogies along one dimension, whose levels are in regions or scales."""

    name: ClassVar[str]
    version: ClassVar[int]
    dimensions: ClassVar[tuple[str, ...]]
    """Names of the dimensions, in the order of their levels."""
    also_train_on: tuple[int, ...] = ()
    """Numbers of further regions or scales that training shows, each a training domain."""

    @property
    @abstractmethod
    def train_on(self) -> int:
        """Number of the region or scale that training shows."""

    @property
    @abstractmethod
    def levels_per_region(self) -> int:
        """Levels of every dimension within a region or scale."""

    @property
    @abstractmethod
    def problems_per_regime(self) -> int | None:
        """Problems of a set; `None` for a tenth of all."""

    @property
    @abstractmethod
    def shuffled(self) -> bool:
        """True if the candidates are in random order rather than the right one first."""

    @property
    @abstractmethod
    def validation_problems(self) -> int:
        """Number of validation problems; 0 for no validation."""

    @property
    @abstractmethod
    def _word(self) -> str:
        """Word for a set: region or scale."""

    @property
    @abstractmethod
    def _count(self) -> int:
        """Number of regions or scales."""

    @property
    def _trained(self) -> tuple[int, ...]:
        """Numbers of the regions or scales that training shows."""
        return (self.train_on, *self.also_train_on)

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the training domains; none where training is one region or scale."""
        return tuple(f"{self._word}-{n}" for n in self._trained) if self.also_train_on else ()

    def leaving_out(self, domain: str) -> Self:
        """Copy the task without a training domain, which is one of the tests there.

        Args:
            domain: Name of the domain, and of the regime of the copy.

        Raises:
            ValueError: If it is no training domain, or the only one.
        """
        if domain not in self.domains:
            raise UnknownNameError("one of several training domains", domain, self.domains)
        names = zip(self.domains, self._trained, strict=True)
        train_on, *others = (number for name, number in names if name != domain)
        task: Any = self
        copy: Self = replace(task, train_on=train_on, also_train_on=tuple(others))
        return copy

    @property
    def _combinations(self) -> int:
        """Number of combinations of irrelevant levels that come with every analogy."""
        return combinations_shown(
            self.levels_per_region, self.problems_per_regime, len(self.dimensions)
        )

    @property
    def length(self) -> int:
        """Number of images: A, B, C and the candidates."""
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
        """Training, validation if any, then the other regions or scales, the nearest first.

        With new shapes those of training come before them.
        """
        numbers = sorted(range(1, self._count + 1), key=self._distance)
        tests = {self._name_of(number): self._distance(number) for number in numbers}
        held_out = {VALIDATION: 0} if self.validation_problems else {}
        return regimes_at(f"{self._word}s", {TRAINING: 0, **held_out, **tests})

    def with_validation(self) -> Self:
        """Copy the task with validation on new problems of the training kind."""
        task: Any = self
        copy: Self = replace(task, validation_problems=VALIDATION_PROBLEMS)
        return copy

    def _distance(self, number: int) -> int:
        """Return the distance of a region or scale from the nearest one of training."""
        return min(abs(number - trained) for trained in self._trained)

    @abstractmethod
    def _name_of(self, number: int) -> str:
        """Return the name of the regime that is not training, if any, of a region or scale."""

    @abstractmethod
    def _test_set(self, branch: Stream, number: int) -> Problems:
        """Draw the problems of the regime that is not training, if any, of a region or scale."""

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name; their images are drawn when they are asked for.

        A region's problems do not depend on which region training shows.
        """
        branch = stream.child(self.name, f"v{self.version}")
        branches = {n: branch.child(f"{self._word}-{n}") for n in range(1, self._count + 1)}
        sets = {self._name_of(n): self._test_set(own, n) for n, own in branches.items()}
        shown = branches[self.train_on]
        if TRAINING not in sets:
            sets[TRAINING] = self._set(shown, self.train_on)
        if self.validation_problems:
            sets[VALIDATION] = self._set(shown.child(VALIDATION), self.train_on, beside=shown)
        if self.also_train_on:
            sets |= self._of_domains(branches)
        return {regime.name: sets[regime.name] for regime in self.regimes}

    def _of_domains(self, branches: Mapping[int, Stream]) -> dict[str, Problems]:
        """Draw training and validation problems of all training domains."""
        shown = {number: branches[number] for number in self._trained}
        parts = {TRAINING: [self._set(own, number) for number, own in shown.items()]}
        if self.validation_problems:
            parts[VALIDATION] = [
                self._set(own.child(VALIDATION), number, beside=own)
                for number, own in shown.items()
            ]
        return {name: _joined(several) for name, several in parts.items()}

    def _set(self, branch: Stream, number: int, *, beside: Stream | None = None) -> Problems:
        """Draw the problems of a region: all, or validation problems beside a training set."""
        columns = drawn_problems(
            branch,
            self.levels_per_region,
            self.problems_per_regime if beside is None else self.validation_problems,
            shuffled=self.shuffled,
            beside=beside,
            skip=0 if beside is None else self._combinations,
            dimensions=len(self.dimensions),
        )
        latent = {name: torch.from_numpy(column) for name, column in columns.items()}
        index, target = latent.pop("index"), latent.pop("target")
        items = self._pictures(number, branch)
        pictures = len(items) // self.levels_per_region ** len(self.dimensions)
        if pictures > 1:
            which = integers(branch.child("pictures").numpy(), pictures, index.numel())
            index = index * pictures + torch.from_numpy(which).reshape(index.shape)
        return Problems(items=items, index=index, target=target, latent=latent)

    @abstractmethod
    def _pictures(self, number: int, branch: Stream) -> LazyItems:
        """Return the pictures of all objects of a region or scale, in the order of their levels.

        There are as many of each object, one after another.
        """

    def _check_counts(self) -> None:
        """Raise `ValueError` if there are fewer problems than are asked for."""
        kinds = len(self.dimensions) * len(analogies(self.levels_per_region))
        combinations = self.levels_per_region ** (len(self.dimensions) - 1)
        if self.problems_per_regime is not None:
            check_number("problems_per_regime", self.problems_per_regime, 1, kinds * combinations)
        left = kinds * (combinations - self._combinations)
        check_number("validation_problems", self.validation_problems, 0, left)

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the problems that vary in each dimension, by its name."""
        varied = problems.latent["dimension"]
        return {name: varied == number for number, name in enumerate(self.dimensions)}


def _joined(parts: Sequence[Problems]) -> Problems:
    """Join the problems of several domains, whose pictures are drawn when they are asked for.

    Args:
        parts: Problems of each domain, over pictures that are drawn alike.
    """
    tables = [part.items for part in parts if isinstance(part.items, LazyItems)]
    starts = np.cumsum([0, *map(len, tables)])
    names = parts[0].latent
    latent = {name: torch.cat([part.latent[name] for part in parts]) for name in names}
    sizes = torch.tensor([len(part) for part in parts])
    return Problems(
        items=replace(tables[0], latent=torch.cat([table.latent for table in tables])),
        index=torch.cat(
            [p.index + int(start) for p, start in zip(parts, starts[:-1], strict=True)]
        ),
        target=torch.cat([part.target for part in parts]),
        latent={**latent, "domain": torch.arange(len(parts)).repeat_interleave(sizes)},
    )
