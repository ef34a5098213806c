"""Architecture of networks that read single items as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import nn

from farfield.core import Stream, check_fields
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.models import ItemModel
from farfield.tasks import ProblemTask


@final
@dataclass(frozen=True, kw_only=True)
class ItemNetwork:
    """A network that reads single items as a whole: core and front, each a `Spec`.

    Args:
        core: From items to answers, e.g. `Spec(PreActResNet)`, or to items, e.g. `Spec(SRCNN)`. It
            takes the shape of items as `item_shape`, and the number of outputs as `num_outputs`.
        front: Fixed module that the core reads items through, such as a standardization, or `None`
            for none.

    Raises:
        ValueError: If a field is of another type.
    """

    core: Spec
    front: Spec | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            ValueError: If the problems of the task show more than one item, or the core does not
                take items of such a shape.
        """
        if task.length != 1:
            raise ValueError(
                f"task must show one item a problem, got {task.name} with {task.length}; Network "
                "answers such a task"
            )
        parts = Parts(task, stream)
        front = None if self.front is None else parts.part("front", self.front)
        return ItemModel(parts.part("core", self.core), front)
