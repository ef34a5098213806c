"""Protocol of tasks: the contract between problems, models and the training loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, final, runtime_checkable

import numpy as np
from torch import Tensor

from farfield import core
from farfield.core import Problems, Stream

TRAINING: Final = core.TRAINING
"""Name of the one regime a model learns from."""

VALIDATION = "validation"
"""Name of a regime of new problems of the training kind: what models may be chosen on."""


@final
@dataclass(frozen=True, kw_only=True)
class Regime:
    """One named distribution of problems, and how far it lies from training.

    Args:
        name: What differs from training, e.g. `"withheld-95"`.
        distance: How far the regime lies from training, in `unit`. Training itself is at 0.
        unit: Unit of the distance, e.g. `"withheld shapes"`.
    """

    name: str
    distance: float
    unit: str


@runtime_checkable
class Task(Protocol):
    """Protocol of tasks: immutable, with a name, a version, regimes and a floor.

    A task is a frozen dataclass whose fields are the parameters of the paper. It knows of no
    model, no device and no training. What it asks is in the protocols that extend this one.
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
        """Expected score of an answer that ignores the problem: the floor."""
        ...


@runtime_checkable
class ProblemTask(Task, Protocol):
    """Protocol of tasks that draw problems, score answers and know the ceiling.

    The members below and those of `Task` are all that the rest of the library needs. What a task
    may be able to do besides is declared as protocols, e.g. `Candidates`.
    """

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of one item, e.g. `(32, 32)`."""
        ...

    @property
    def length(self) -> int:
        """Number of places of a problem."""
        ...

    @property
    def num_outputs(self) -> int:
        """Numbers a model gives for one problem (or one place, where it answers at every place)."""
        ...

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Places that form one context each; together they cover all places once."""
        ...

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name, over one table of items."""
        ...

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` problems of one regime, for a training loop of one's own."""
        ...

    def loss(self, outputs: Tensor, problems: Problems) -> Tensor:
        """Loss that training minimizes, one number per problem, `(batch,)`."""
        ...

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        """Score that is reported, one number per problem, `(batch,)`.

        Higher is better, in 0…1, unless the task names an error as its `metric`.
        """
        ...

    def oracle(self, problems: Problems) -> Tensor:
        """Outputs of the rule itself, read off the items: the ceiling."""
        ...
