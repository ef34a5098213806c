"""What every task answers: the contract between problems, models and the training loop."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    """An immutable description of what is asked: its name, its version, its regimes and its floor.

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
    """A task that draws problems and scores answers to them, and knows the ceiling.

    The members below and those of `Task` are all that the rest of the library needs. What a task
    may have besides, it declares by the protocols of its abilities, e.g. `Candidates`.
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
        """What training minimizes, one number per problem, `(batch,)`."""
        ...

    def score(self, outputs: Tensor, problems: Problems) -> Tensor:
        """What is reported, one number per problem, `(batch,)`.

        Higher is better, in 0…1, unless the task has a class variable `metric` that names an error.
        """
        ...

    def oracle(self, problems: Problems) -> Tensor:
        """Outputs of the rule itself, read off the items: the ceiling."""
        ...


@runtime_checkable
class Candidates(Protocol):
    """A task whose last places are candidates, one of which answers: what a model scores.

    `num_outputs` is `num_candidates`, and `segments` speaks of the places of one sequence to be
    scored: the premises and one candidate behind them.
    """

    @property
    def num_candidates(self) -> int:
        """Number of candidates, which stand at the last places of a problem."""
        ...


@runtime_checkable
class InParts(Protocol):
    """A task whose problems are of several kinds, each scored by itself as well."""

    def parts(self, problems: Problems) -> dict[str, Tensor]:
        """Which problems are of which kind: `(batch,)` booleans by the name of the kind."""
        ...


@runtime_checkable
class SeveralAnswers(Protocol):
    """A task that asks for several things at once, each scored by itself as well."""

    def answer_scores(self, outputs: Tensor, problems: Problems) -> dict[str, Tensor]:
        """The score of each answer, `(batch,)`, by the name of the answer."""
        ...


@runtime_checkable
class NoMemoryLoss(Protocol):
    """A task that knows what its loss is without memory: the floor of a claim about the loss."""

    def no_memory_loss(self, regime: str) -> float:
        """Least loss of a model that remembers nothing."""
        ...


def no_memory_loss(task: Task, regime: str) -> float:
    """Least loss without memory; NaN for a task that does not say.

    Args:
        task: The task.
        regime: Name of the regime.
    """
    return task.no_memory_loss(regime) if isinstance(task, NoMemoryLoss) else math.nan


@runtime_checkable
class DrawsFirst(Protocol):
    """A task with sets so large that it also draws the first problems of each alone."""

    def draw_first(self, stream: Stream) -> dict[str, Problems]:
        """The first problems of the sets that `draw` gives, a thousand or more of each."""
        ...

    def num_problems(self, regime: str) -> int:
        """How many problems there are in a set."""
        ...


@runtime_checkable
class SetScores(Protocol):
    """A task with scores of a whole set that are no means over problems: perplexity, FID, R²."""

    def set_scores(self, outputs: Tensor, problems: Problems) -> Mapping[str, float]:
        """Scores of a set, by their names in records.

        Args:
            outputs: What a model answers to all of its problems.
            problems: The set.
        """
        ...


@runtime_checkable
class RolledOut(Protocol):
    """A task whose first places are given; a model may go on from its own answers after them."""

    @property
    def given(self) -> int:
        """How many places are given."""
        ...


@runtime_checkable
class FromFiles(Protocol):
    """A task whose problems nobody can generate: they are read from files a user has."""

    def is_at_hand(self) -> bool:
        """Whether the files are on this machine."""
        ...


def is_at_hand(task: Task) -> bool:
    """Whether the problems of a task can be had on this machine: generated, or its files read.

    Args:
        task: A task.
    """
    return not isinstance(task, FromFiles) or task.is_at_hand()


def scored_of(task: ProblemTask, regime: str, problems: Problems) -> Problems:
    """The problems of a regime that a trained network is scored on: all, or the first of training.

    Args:
        task: A task; one whose training set is too large to be scored as a whole has a class
            variable `training_scored` that says how many problems of it are.
        regime: Name of the regime.
        problems: The set.
    """
    most = getattr(task, "training_scored", None)
    return problems if most is None or regime != TRAINING else problems[:most]


def metric_of(task: Task) -> str:
    """Name of what the score of a task measures: `"accuracy"`, where the task names no other.

    Args:
        task: A task; one that measures something else has a class variable `metric`.
    """
    return str(getattr(task, "metric", "accuracy"))
