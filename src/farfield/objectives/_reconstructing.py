"""Supervised learning of a network whose memory is to give back what was written."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream


@final
@dataclass(frozen=True, kw_only=True)
class Reconstructing:
    r"""The mean of the task's loss, and of how far the memory is from what was written to it.

    $$L = \frac{1}{B} \sum_b \left(\ell(f(x_b), y_b) + w \, e(x_b)\right)$$

    with $\ell$ the loss of the task, $e$ the reconstruction error of the model's memory and $B$
    the number of problems of the batch. It needs a model that tells its error: one with a method
    `answer_and_error` from `(items, index)` to outputs and errors, as `farfield.models.Relational`
    has with an `MNM`.

    Args:
        weight: What an error counts beside the loss.

    Raises:
        ValueError: If the weight is negative or not finite.

    Reference:
        Munkhdalai et al. 2019; the weight of 1 is that of the released code of webb2021.
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            raise ValueError(f"weight must be at least 0 and finite, got {self.weight}")

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The mean loss and the weighted mean error; `stream` is not drawn from.

        Args:
            model: From `(items, index)` to outputs, with a method `answer_and_error`.
            problems: The batch.
            loss: The task's loss, one number per problem.
            stream: Not used: the rule draws nothing.

        Raises:
            TypeError: If the model does not tell a reconstruction error.
        """
        del stream
        answer = getattr(model, "answer_and_error", None)
        if answer is None:
            raise TypeError(
                f"model must have a method answer_and_error, got {type(model).__name__} without; "
                "Supervised asks for none"
            )
        outputs, error = answer(problems.items, problems.index)
        total: Tensor = (loss(outputs, problems) + self.weight * error).mean()
        return total
