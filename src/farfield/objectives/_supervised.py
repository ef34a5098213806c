"""Plain supervised learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream


@final
@dataclass(frozen=True, kw_only=True)
class Supervised:
    r"""The mean of the task's loss over the batch.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $B$ the number of problems of the batch.
    """

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The mean loss; `stream` is not drawn from.

        Args:
            model: From `(items, index)` to outputs.
            problems: The batch.
            loss: The task's loss, one number per problem.
            stream: Not used: the rule draws nothing.
        """
        del stream
        return loss(model(problems.items, problems.index), problems).mean()
