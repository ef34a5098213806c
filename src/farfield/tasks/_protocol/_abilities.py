"""Optional abilities of tasks, as protocols.

A task has an ability by having its members. Callers ask `isinstance(task, HasSubsets)`, or the
function beside the protocol, which has a default for other tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, Protocol, final, runtime_checkable

from torch import Tensor

from farfield.core import Problems, Stream
from farfield.functional.internal import MeanImages, PixelSpectrum
from farfield.tasks._protocol._environment import Environment
from farfield.tasks._protocol._task import TRAINING, VALIDATION, Form, ProblemTask, Task, axes_of


@runtime_checkable
class HasForm(Protocol):
    """A task that declares its `form`."""

    @property
    def form(self) -> Form:
        """Form of a problem."""
        ...


def form_of(task: ProblemTask) -> Form:
    """Return the form of the problems of a task: its `form`, or a form by its shapes.

    By shapes, a task has one answer a problem, or candidates if it has `num_candidates`; its items
    are a group, or single where `length` is 1, and have the axes of `axes_of`.

    Args:
        task: Any task.

    Raises:
        ValueError: If its `form` has another number of axes than its items.
    """
    shape = task.item_shape
    if isinstance(task, HasForm):
        if len(task.form.axes) != len(shape):
            raise ValueError(f"form must name an axis for each size of {shape}, got {task.form}")
        return task.form
    return Form(
        axes=axes_of(shape),
        arrangement="single" if task.length == 1 else "group",
        answer="candidates" if isinstance(task, Candidates) else "once",
    )


@runtime_checkable
class AnswersByHand(ProblemTask, Protocol):
    """A task with a rule by hand: it answers without training, and networks have to beat it."""

    def by_hand(self, problems: Problems, training: Problems) -> Tensor:
        """Return the outputs of the rule by hand, which has no trained weights.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run, with targets.
        """
        ...


@runtime_checkable
class Candidates(Protocol):
    """A task whose last positions are candidates, which a model scores.

    `num_outputs` is `num_candidates`, and `segments` are the positions of one sequence to score:
    the premises, then one candidate.
    """

    @property
    def num_candidates(self) -> int:
        """Number of candidates, at the last positions of a problem."""
        ...


@runtime_checkable
class AsksQuestions(Protocol):
    """A task whose problems are an image and a question about it, as an item of its shape."""

    question_size: ClassVar[int]
    """Numbers of a question, the first of its item."""


@runtime_checkable
class HasSubsets(Protocol):
    """A task whose problems are of several kinds, each scored by itself as well."""

    def parts(self, problems: Problems) -> dict[str, Tensor]:
        """Return the masks of the problems of each kind, `(batch,)`, by the name of the kind."""
        ...


@runtime_checkable
class MultiOutput(Protocol):
    """A task that asks for several things at once, each scored by itself as well."""

    def answer_scores(self, outputs: Tensor, problems: Problems) -> dict[str, Tensor]:
        """Compute the score of each answer, `(batch,)`, by the name of the answer."""
        ...


@runtime_checkable
class FurtherScores(Protocol):
    """A task with further named scores of each problem."""

    def further_scores(self, outputs: Tensor, problems: Problems) -> Mapping[str, Tensor]:
        """Compute the scores, `(batch,)` each, by their names in records."""
        ...


@runtime_checkable
class NoMemoryLoss(Protocol):
    """A task with a known loss without memory: the floor of a claim about the loss."""

    def no_memory_loss(self, regime: str) -> float:
        """Return the least loss of a model that remembers nothing."""
        ...


def no_memory_loss(task: Task, regime: str) -> float:
    """Return the least loss without memory; NaN if the task has none."""
    return task.no_memory_loss(regime) if isinstance(task, NoMemoryLoss) else math.nan


@runtime_checkable
class DrawsFirst(Protocol):
    """A task with sets so large that it also draws the first problems of each alone."""

    def draw_first(self, stream: Stream) -> dict[str, Problems]:
        """Draw the first problems of the sets of `draw`, a thousand or more of each."""
        ...

    def num_problems(self, regime: str) -> int:
        """Return the number of problems of a set."""
        ...


@runtime_checkable
class SetScores(Protocol):
    """Scores of a set that are not means over problems: perplexity, FID, R².

    A task may have them, and a model that carries a network by which answers are judged.
    """

    def set_scores(self, outputs: Tensor, problems: Problems) -> Mapping[str, float]:
        """Compute the scores of a set, by their names in records.

        Args:
            outputs: Outputs of a model for all problems of the set.
            problems: The set.
        """
        ...


@runtime_checkable
class PooledScores(Protocol):
    """A task with scores of a set that follow from the losses of its problems: perplexity."""

    def pooled_scores(self, losses: Tensor, problems: Problems) -> Mapping[str, float]:
        """Compute the scores of a set, by their names in records.

        Args:
            losses: Loss of each of its problems.
            problems: The set.
        """
        ...


@runtime_checkable
class Consecutive(Protocol):
    """A task whose problems follow each other: each goes on where the one before it ends."""

    consecutive: ClassVar[bool]
    """True."""


@runtime_checkable
class HasDomains(Protocol):
    """A task whose training problems are of several distributions, named domains.

    `latent["domain"]` of its training problems is the number of the domain, in the order of
    `domains`.
    """

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the training domains."""
        ...

    def leaving_out(self, domain: str) -> ProblemTask:
        """Copy the task without a training domain, which becomes a test.

        Args:
            domain: Name of the domain, and of the regime of the copy.

        Raises:
            ValueError: If it is no training domain, or the only one.
        """
        ...


def domains_of(task: Task) -> tuple[str, ...]:
    """Return the names of the training domains of a task; `training` alone if it has no others."""
    return (task.domains or (TRAINING,)) if isinstance(task, HasDomains) else (TRAINING,)


@runtime_checkable
class RolledOut(Protocol):
    """A task with given first positions, after which a model may roll out its own answers."""

    @property
    def given(self) -> int:
        """Number of given positions."""
        ...


@runtime_checkable
class NeedsFiles(Protocol):
    """A task whose problems are read from files that the user must have."""

    def is_at_hand(self) -> bool:
        """Check whether the files are on this machine."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """A task that reads files whose content no field of the task says, e.g. a folder of texts."""

    def input_files(self) -> Mapping[str, Path]:
        """List the paths of the files that are read, by names that are the same on every machine.

        Raises:
            ValueError: If the files are not on this machine.
        """
        ...


def is_at_hand(task: Task) -> bool:
    """Check whether the problems of a task are available: generated, or files on this machine.

    Args:
        task: A task.
    """
    parts = (task, getattr(task, "shapes", None))
    return all(part.is_at_hand() for part in parts if isinstance(part, NeedsFiles))


@runtime_checkable
class AddsValidation(Protocol):
    """A task that has validation problems where they are asked for."""

    def with_validation(self) -> ProblemTask:
        """Copy the task with a regime `"validation"`; test regimes have the same kind of problems.

        No validation problem is one of a test.

        Raises:
            ValueError: If there are not enough items for it.
        """
        ...


def with_validation(task: Task) -> Any:
    """Copy a task with the regime `"validation"`, on which values of an experiment can be chosen.

    A task that has the regime is returned unchanged.

    Args:
        task: A task.

    Raises:
        ValueError: If the task has no validation problems.
    """
    if any(regime.name == VALIDATION for regime in task.regimes):
        return task
    if isinstance(task, AddsValidation):
        return task.with_validation()
    if isinstance(task, Environment):
        raise ValueError(
            f"task must draw problems to choose on, got the environment {task.name}: an "
            "environment has no validation; compare values by their score in training"
        )
    raise ValueError(
        f"task must have a regime {VALIDATION!r} to choose on, or a method with_validation() that "
        f"returns such a task, got {task.name} with {', '.join(one.name for one in task.regimes)}"
    )


TRAINING_SCORED: Final = 1_000_000
"""Most training problems that a network is scored on, unless the task says another number."""


@runtime_checkable
class ScoresSomeTraining(Protocol):
    """A task with a limited number of training problems that a trained network is scored on."""

    training_scored: ClassVar[int]
    """Maximum number of scored training problems, the first of the set."""


def scored_of(task: ProblemTask, regime: str, problems: Problems) -> Problems:
    """Select the problems of a regime for scoring: all, or the first of training.

    Tasks without a limit are scored on the first million of training; a record has the number of
    problems of each score.

    Args:
        task: A task, which may be one that `ScoresSomeTraining`.
        problems: The set.
    """
    if regime != TRAINING:
        return problems
    most = task.training_scored if isinstance(task, ScoresSomeTraining) else TRAINING_SCORED
    return problems[:most]


def scored_sets(task: ProblemTask, sets: Mapping[str, Problems]) -> dict[str, Problems]:
    """Select the problems for scoring a trained network, by regime.

    A set that is no regime of the task is there to learn from alone, e.g. one without labels.

    Args:
        sets: The sets of a run, by name.
    """
    regimes = {regime.name for regime in task.regimes}
    return {
        name: scored_of(task, name, problems) for name, problems in sets.items() if name in regimes
    }


@final
class ChannelStatistics(NamedTuple):
    """Mean and standard deviation of each channel of images whose values are fractions, 0…1."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


@runtime_checkable
class HasPixelStatistics(Protocol):
    """A task of images with statistics of all of them, for fixed preprocessing."""

    def channel_statistics(self) -> ChannelStatistics:
        """Return mean and standard deviation of each channel."""
        ...

    def pixel_spectrum(self) -> PixelSpectrum:
        """Return mean and principal directions of images standardized by these statistics."""
        ...

    def mean_images(self) -> MeanImages:
        """Return the means of all training images, and of training and test images."""
        ...


@runtime_checkable
class NamesMetric(Protocol):
    """A task whose score is not an accuracy; of an error, lower is better."""

    metric: ClassVar[str]
    """Name of the metric, e.g. `"mse"`."""


def metric_of(task: Task) -> str:
    """Return the metric of a task: named, else `"accuracy"`, or `"return"` of an environment.

    Args:
        task: A task, which may be one that `NamesMetric`.
    """
    # Also of a wrapped task: since Python 3.12 `isinstance` overlooks forwarded attributes.
    named = getattr(task, "metric", None)
    if isinstance(named, str):
        return named
    return "return" if isinstance(task, Environment) else "accuracy"
