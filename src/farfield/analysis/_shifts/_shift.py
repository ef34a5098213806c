"""A family of changes of items, graded by a strength."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, final, get_args

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.core.internal import Checked, PositiveFloat, check_fields
from farfield.tasks import Regime

Group = Literal["light", "detail", "where", "shape", "number", "who", "own"]
"""Group of shifts, by the property of items that they change."""

GROUPS: Final[tuple[Group, ...]] = get_args(Group)

Change = Callable[[Any, float, np.random.Generator], Any]
"""Function from items, a strength and a generator to changed items."""


@final
@dataclass(frozen=True, kw_only=True)
class Shift(Checked):
    """Family of changes of items, graded by a strength; at strength 0 items stay unchanged.

    All strengths get the same random numbers, so that an item is changed in the same direction by
    each. Changed items keep their answers: leave out a shift of which that is not true.

    Args:
        name: Name, with its direction where it has two, e.g. `"offset+"`.
        unit: Unit of the strength, e.g. `"of the side"`.
        end: Largest strength.
        change: Function `(items, strength, generator)` to changed items of the same kind; the
            generator is one of NumPy. Items come as they were given: an array, or a data frame.
        group: Changed property: light, detail, where, shape, number, who or own.
        snap: Function from a strength to the next one that can be had, where items change in steps,
            such as whole pixels; None if every strength can be had.
        reweights: Whether `change` gives weights of the items, and no item is changed.

    Raises:
        ValueError: If a field is of another type, or `end` is not above 0.

    Example:
        >>> def louder(x, strength, generator):
        ...     return x * 2**strength
        >>> Shift(name="louder", unit="doublings", end=4.0, change=louder).name
        'louder'
    """

    name: str
    unit: str
    end: PositiveFloat
    change: Callable[..., Any]
    group: Group = "own"
    snap: Callable[..., float] | None = None
    reweights: bool = False

    def __call__(self, items: Any, strength: float, seed: int = 0) -> Any:
        """Change items, or compute their weights; the given items stay unchanged.

        Args:
            items: An array or a data frame, whose first axis is the items.
            strength: Strength, 0 or above.
            seed: Number of the draws, which are the same at every strength.
        """
        if not strength:
            return np.ones(len(items)) if self.reweights else items
        generator = stream(seed, "shift", self.name).numpy()
        return self.change(items.copy(), strength, generator)

    def strengths(self, number: int) -> tuple[float, ...]:
        """Return strengths from 0 to the end that are evenly spread, as far as they can be had.

        Args:
            number: How many, at most.
        """
        wanted = (float(d) for d in np.linspace(0, self.end, number))
        return tuple(dict.fromkeys([0.0, *map(self.nearest, wanted)]))

    def nearest(self, strength: float) -> float:
        """Return the nearest strength that can be had.

        Args:
            strength: A strength.
        """
        return float(self.snap(strength)) if self.snap else strength

    def at(self, strength: float, of: str = "test") -> ShiftedItems:
        """Return the change of one strength as a perturbation of an experiment.

        Args:
            strength: Strength, above 0.
            of: Name of the regime whose problems are changed.
        """
        return ShiftedItems(shift=self, strength=strength, of=of)


@final
@dataclass(frozen=True, kw_only=True)
class ShiftedItems:
    """Change of the items of problems by one strength of a shift.

    Args:
        shift: The shift; one that changes items.
        strength: Its strength.
        of: Name of the regime whose problems are changed.

    Raises:
        ValueError: If the shift reweights items, or the strength is not above 0.
    """

    shift: Shift
    strength: PositiveFloat
    of: str

    def __post_init__(self) -> None:
        check_fields(self)
        if self.shift.reweights:
            raise ValueError(f"shift must change items, got {self.shift.name}, which weights them")

    @property
    def regime(self) -> Regime:
        """Regime of changed problems."""
        return Regime(
            name=f"{self.shift.name}-{self.strength:g}-{self.of}",
            distance=self.strength,
            unit=self.shift.unit,
        )

    def __call__(
        self,
        model: Callable[[Tensor, Tensor], Tensor],
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Problems:
        """Change the items of problems.

        Args:
            model: Not used.
            loss: Not used.
            stream: Source of the draws.
        """
        del model, loss
        problems = problems.unshared()
        items = problems.table()
        changed = self.shift(items.cpu().numpy(), self.strength, stream.seed)
        return dataclasses.replace(problems, items=torch.from_numpy(changed).to(items.device))
