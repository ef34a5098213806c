"""Protocol of tasks: the contract between problems, models and the training loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, Protocol, final, runtime_checkable

import numpy as np
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING as _TRAINING
from farfield.core.internal import Checked, Limits, UnknownNameError

TRAINING: Final = _TRAINING
"""Name of the one regime a model learns from."""

VALIDATION = "validation"
"""Name of a regime of new problems of the training kind, for model selection."""

ORACLE: Final = "oracle"
"""Name of a regime of held-out problems of the test kind: only an oracle can choose on it."""

TEST: Final = "test"
"""Name of the test of a task with one test of the training kind."""


@final
@dataclass(frozen=True, kw_only=True)
class Regime:
    """One named distribution of problems, and how far it lies from training.

    Args:
        name: Difference from training, e.g. `"withheld-95"`.
        distance: Distance of the regime from training, in `unit`; 0 for training.
        unit: Unit of the distance, e.g. `"withheld shapes"`.
    """

    name: str
    distance: float
    unit: str


def regimes_at(unit: str, distances: Mapping[str, float]) -> tuple[Regime, ...]:
    """Return a regime for each name, in the order of `distances`.

    Args:
        unit: Unit of all distances.
        distances: Distance of each regime from training, by its name.
    """
    return tuple(
        Regime(name=name, distance=float(distance), unit=unit)
        for name, distance in distances.items()
    )


def alike_regimes(unit: str, validation: int, tests: Sequence[str] = (TEST,)) -> tuple[Regime, ...]:
    """Return training, validation if anything is held out for it, and tests, all at distance 0.

    Args:
        unit: Unit of the distance.
        validation: Number of problems or images for validation.
        tests: Names of the tests.
    """
    held_out = (VALIDATION,) if validation else ()
    return regimes_at(unit, dict.fromkeys((TRAINING, *held_out, *tests), 0))


@runtime_checkable
class Task(Protocol):
    """Protocol of tasks: immutable, with a name, a version, regimes and a floor.

    A task is a frozen dataclass whose fields are the parameters of the paper. It knows of no
    model, no device and no training. Its questions are in the protocols that extend this one.
    """

    name: ClassVar[str]
    """Name on the command line, e.g. `"same-different"`."""
    version: ClassVar[int]
    """Raised whenever any drawn byte changes."""

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training first, then the test distributions by growing distance."""
        ...

    def chance(self, regime: str) -> float:
        """Return the expected score of an answer that ignores the problem: the floor."""
        ...


@runtime_checkable
class ProblemTask(Task, Protocol):
    """Protocol of tasks that draw problems, score answers and know the ceiling.

    The members below and the members of `Task` are all that the rest of the library needs. Optional
    abilities of tasks are separate protocols, e.g. `Candidates`.
    """

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of one item, e.g. `(32, 32)`."""
        ...

    @property
    def length(self) -> int:
        """Number of positions of a problem."""
        ...

    @property
    def num_outputs(self) -> int:
        """Number of outputs of a problem, or of a position, if every position is answered."""
        ...

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Positions that form one context each; together they cover all positions once."""
        ...

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name, over one table of items."""
        ...

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` problems of a regime, for the user's training loop."""
        ...

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        """Compute the loss that training minimizes, one number per problem, `(batch,)`."""
        ...

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        """Score that is reported, one number per problem, `(batch,)`.

        Higher is better, in 0…1, unless the task names an error as its `metric`.
        """
        ...

    def oracle(self, problems: Problems) -> Tensor:
        """Return the outputs of the rule itself, read off the items: the ceiling."""
        ...


class OneContext(ABC):
    """Mixin of tasks whose problems are one context."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of positions of a problem."""

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: all positions of a problem."""
        return (tuple(range(self.length)),)


class SingleItem(OneContext):
    """Mixin of tasks whose problems have one item."""

    @property
    def length(self) -> int:
        """Number of items of a problem: one."""
        return 1


Axis = Literal["channel", "height", "width", "feature", "class", "word"]
"""Axis of an item."""

Arrangement = Literal["single", "group", "question", "sequence"]
"""Arrangement of the items of a problem: one alone, a few together, an image and a question about
it, or one after another."""

Answer = Literal["once", "everywhere", "candidates", "items", "restoration", "generation"]
"""Kind of answer: one a problem, one at every position, a candidate, items themselves, a better
version of the item, or a new image."""

Reading = Literal[
    "elements",
    "item",
    "maps",
    "group",
    "candidates",
    "sequence",
    "items",
    "restoration",
    "generation",
    "observation",
]
"""Way in which a model reads a problem; `"observation"`: the view of an agent at one step."""


@final
@dataclass(frozen=True, kw_only=True)
class Form(Checked):
    """Form of a problem: the axes of its items, their arrangement, and the kind of answer.

    Args:
        axes: The axes of `item_shape`: `("height", "width")` for a gray image,
            `("height", "width", "channel")` or `("channel", "height", "width")` for others,
            `("feature",)` for a vector, `("class",)` for a symbol as a one-hot vector,
            `("word",)` for the number of a word.
        arrangement: `"single"` for one item a problem; `"group"` for as many items in every
            problem, looked at together; `"question"` for an image and a question about it;
            `"sequence"` for items read in order, of which a test may
            show more than training.
        answer: `"once"` for one answer a problem; `"everywhere"` for one at every position;
            `"candidates"` for a score of each candidate; `"items"` for items as answers;
            `"restoration"` for the item without its faults; `"generation"` for a new image, made
            of noise.

    Raises:
        ValueError: If a field is none of these.
    """

    axes: tuple[Axis, ...]
    arrangement: Arrangement
    answer: Answer = "once"

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Ways in which models can read a problem.

        `"elements"`: as the set of parts of its one item. `"item"`: its one item as a whole.
        `"maps"`: maps of its image, with the question about it if there is one. `"group"`: all
        items together. `"candidates"`: the premises with each candidate. `"sequence"`: one item
        after another. `"items"`: to predict items or to give them back. `"restoration"`: to mend
        its one item. `"generation"`: to make an image of it.
        """
        if self.answer in ("candidates", "items", "restoration", "generation"):
            return (self.answer,)
        if self.arrangement == "single":
            return ("elements", "item", *(("maps",) if self.axes in (GRAY, CHANNELS_FIRST) else ()))
        if self.arrangement == "question":
            return ("maps", "group", "sequence")
        if self.arrangement == "group" and self.answer == "once":
            return ("group", "sequence")
        return ("sequence",)


GRAY: tuple[Axis, ...] = ("height", "width")
"""Axes of a gray image."""

COLOR: tuple[Axis, ...] = ("height", "width", "channel")
"""Axes of a color image."""

CHANNELS_FIRST: tuple[Axis, ...] = ("channel", "height", "width")
"""Axes of a color image with its channels first, as torch has them."""

VECTOR: tuple[Axis, ...] = ("feature",)
"""Axes of a vector."""

SYMBOL: tuple[Axis, ...] = ("class",)
"""Axes of a symbol."""

WORD: tuple[Axis, ...] = ("word",)
"""Axes of the number of a word."""


def axes_of(shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """Guess the axes of items by shape: two sizes are a gray image, three an image with channels.

    The channels are last if they are 3 there, and first if not; any other number of sizes is that
    of a vector.

    Args:
        shape: Shape of an item.
    """
    color = COLOR if shape[-1:] == (3,) else CHANNELS_FIRST
    return {2: GRAY, 3: color}.get(len(shape), VECTOR * len(shape))


Count = Annotated[int, Limits(at_least=1, at_most=10_000_000)]
"""Number of problems, or of positions of a problem."""

CountOrNone = Annotated[int, Limits(at_least=0, at_most=10_000_000)]
"""Number of problems of a set that may be left out; 0 for no set."""

VALIDATION_PROBLEMS: Final = 2_000
"""Number of validation problems that a search asks a task for."""


def check_number(name: str, value: int, fewest: int, most: int) -> None:
    """Raise `ValueError` unless the field `name` is an integer of `fewest` … `most`."""
    if not is_integer(value) or not fewest <= value <= most:
        raise ValueError(f"{name} must be an int {fewest}…{most}, got {value!r}")


def is_integer(value: object) -> bool:
    """Check whether a value is an integer and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_regime(regime: str, regimes: Sequence[Regime]) -> str:
    """Raise `UnknownNameError` unless `regime` is one of `regimes`; else return it."""
    names = [known.name for known in regimes]
    if regime not in names:
        raise UnknownNameError("regime", regime, names)
    return regime
