"""Protocols of networks in training: their interface, and the parts of an update."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from farfield.records import Score
from farfield.training._turns import Turn


@runtime_checkable
class Learner(Protocol):
    """One or more networks of one experiment, updated in step."""

    seeds: tuple[int, ...]

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0, in every network; gives the loss of each."""
        ...

    def score(self, step: int) -> list[list[Score]]:
        """Compute scores of every regime after `step` updates, one list per seed."""
        ...

    def training_metrics(self, step: int) -> list[list[Score]]:
        """Measure metric, then loss, on some training problems after `step` updates, per seed."""
        ...

    def weights(self) -> list[dict[str, Any]]:
        """Return the state dictionaries of the scored networks, one per seed."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Collect everything that changes with a step; no two tensors share memory."""
        ...

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        ...


class Moves(Protocol):
    """Parts of an update that networks do in their own way, in the order of their calls."""

    def draw(self, step: int) -> Iterable[tuple[Turn, Any]]:
        """Draw the batch of every turn of the players at a step, one when it is asked for."""
        ...

    def differentiate(self, turn: Turn, batch: Any) -> tuple[Tensor, Mapping[str, Tensor] | None]:
        """Compute the loss of each network and, in `grad` of parameters, its gradients.

        The second result is the state of the objective; `None` ends the step without an update.
        """
        ...

    def remember(self, turn: Turn, batch: Any, state: Mapping[str, Tensor], step: int) -> None:
        """Keep the state of the objective after an update of the parameters."""
        ...

    def join(self, losses: Sequence[Tensor]) -> Tensor:
        """Combine the losses of all turns of a step."""
        ...
