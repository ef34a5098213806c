"""Plain supervised learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class Supervised(Objective):
    r"""The mean of the task's loss over the batch.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $B$ the number of problems of the batch.
    """

    takes_embeddings: ClassVar[bool] = True

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss.

        Args:
            update: The step.
        """
        return update.task_loss(update.outputs(), update.problems).mean(), update.state
