"""Regimes that are made from a trained network: attacks, occluders, deformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from torch import Tensor, nn

from farfield.core import Problems, Stream
from farfield.tasks import Regime


@runtime_checkable
class Perturbation(Protocol):
    """A frozen description of how the problems of a regime are changed before they are scored."""

    @property
    def of(self) -> str:
        """Name of the regime whose problems are changed."""
        ...

    @property
    def regime(self) -> Regime:
        """The regime of the changed problems: a name, and the strength as its distance."""
        ...

    def __call__(
        self,
        model: Callable[[Tensor, Tensor], Tensor],
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Problems:
        """The changed problems, as many as before and in the same order.

        Args:
            model: The trained network, in evaluation mode: from `(items, index)` to outputs.
            problems: The problems of the regime, some at a time.
            loss: Loss of the task, one number per problem.
        """
        ...


@runtime_checkable
class ChangesNetwork(Perturbation, Protocol):
    """A perturbation of the network that answers, in place of the problems or beside that."""

    def network(self, model: nn.Module, stream: Stream) -> nn.Module:
        """The network that answers; the given one stays as it is.

        Args:
            model: The trained network, in evaluation mode.
        """
        ...
