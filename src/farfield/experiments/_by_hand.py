"""Architecture of rows by hand: the rule of a task in place of a network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

from torch import Tensor, nn

from farfield.core import Problems, Stream, stream
from farfield.tasks import TRAINING, AnswersByHand


@final
@dataclass(frozen=True)
class ByHand:
    """Rule of a task by hand, in place of a network; nothing is trained.

    A goal for networks must be out of its reach. Such rules are a threshold, equality of pixels or
    the nearest training points. A rule reads the items that a network reads, and the training
    problems of its run.

    Example:
        >>> from farfield.experiments import Experiment, Recipe
        >>> from farfield.tasks import SameDifferent
        >>> task = SameDifferent(withheld=98)
        >>> experiment = Experiment(task=task, model=ByHand(), recipe=Recipe(steps=1))
    """

    task_kind: ClassVar[type] = AnswersByHand

    def build(self, task: AnswersByHand, stream: Stream) -> nn.Module:
        """Build the rule of `task` as a module without parameters."""
        return _Rule(task, stream.seed)


@final
class _Rule(nn.Module):
    """Answer problems by the rule of their task."""

    def __init__(self, task: AnswersByHand, seed: int) -> None:
        super().__init__()
        self._task = task
        self._seed = seed

    @cached_property
    def _training(self) -> Problems:
        return self._task.draw(stream(self._seed, "problems"))[TRAINING]

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        """Answers to every problem."""
        # No target: a rule that looked at it would fail.
        shown = Problems(items=items, index=index, target=index.new_empty(len(index), 0))
        return self._task.by_hand(shown, self._training)
