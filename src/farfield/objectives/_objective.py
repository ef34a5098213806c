"""What every learning rule is: a pure function to a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream


@runtime_checkable
class Objective(Protocol):
    """A learning rule: a pure function of a model and a batch of problems to one number."""

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The loss that the optimizer follows.

        Args:
            model: From `(items, index)` to outputs.
            problems: The batch.
            loss: The task's loss, one number per problem.
            stream: Where a rule that draws (mixing weights, partners) draws from.
        """
        ...
