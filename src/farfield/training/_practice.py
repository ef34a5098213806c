"""Practice of agents: how they act in training, and what they learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.training._scored_worlds import ScoredWorlds

Policy = Callable[[np.ndarray], np.ndarray]
"""Function from observations `(batch, *)` to actions `(batch,)`."""


@final
class Lesson(NamedTuple):
    """A batch of what an agent met, for one update of its parameters.

    Attributes:
        problems: The batch, as the learning rule reads it.
        rows: Where they are from.
        draws: Tensors drawn for the update.
    """

    problems: Problems
    rows: Tensor
    draws: Mapping[str, Tensor]


class Practice(Protocol):
    """Copies of an environment that an agent acts in, and the lessons that it takes from there."""

    worlds: ScoredWorlds

    def act(self, step: int) -> Iterable[Lesson]:
        """Act, and give what is learned from at a step of the recipe."""
        ...

    def stops(self, state: Mapping[str, Tensor]) -> bool:
        """True if a lesson, and those after it, are to give no update; `state` is its loss's."""
        ...

    def after(self, lesson: Lesson, state: Mapping[str, Tensor], step: int) -> None:
        """Take note of an update that was made, and of what its loss gave to remember."""
        ...

    def policy(self, count: int, stream: Stream) -> Policy:
        """The policy of `count` agents in episodes that begin, whose draws are from `stream`."""
        ...

    def state(self) -> dict[str, Any]:
        """Everything that changes with a step, but for `worlds` and the agent."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned."""
        ...
