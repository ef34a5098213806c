"""Protocol of networks in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from farfield.records import Score


@runtime_checkable
class Learner(Protocol):
    """One or more networks of one experiment, updated in step."""

    seeds: tuple[int, ...]

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0, in every network; gives the loss of each."""
        ...

    def score(self, step: int) -> list[list[Score]]:
        """Scores of every regime after `step` updates, one list per seed."""
        ...

    def training_metrics(self, step: int) -> list[list[Score]]:
        """The metric, then the loss, after `step` updates on some training problems, per seed."""
        ...

    def weights(self) -> list[dict[str, Any]]:
        """The state dictionaries of the networks as they are scored, one per seed."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything that changes with a step, no two tensors sharing memory."""
        ...

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        ...
