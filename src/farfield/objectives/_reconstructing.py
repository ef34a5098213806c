"""Supervised learning with a reconstruction loss of the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from farfield.core import NonNegativeFloat, check_fields
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class Reconstructing(Objective):
    r"""The mean of the task's loss, and of the reconstruction error of the memory.

    $$L = \frac{1}{B} \sum_b \left(\ell(f(x_b), y_b) + w \, e(x_b)\right)$$

    with $\ell$ the loss of the task, $e$ the reconstruction error of the model's memory and $B$
    the number of problems of the batch. It needs a model that gives its error: one with a method
    `answer_and_error` from `(items, index)` to outputs and errors, as `farfield.models.Relational`
    has with an `MNM`.

    Args:
        weight: What an error counts beside the loss.

    Raises:
        ValueError: If the weight is no number, negative or not finite.

    Reference:
        Munkhdalai et al. 2019; the weight of 1 is that of the released code of webb2021.
    """

    takes_embeddings: ClassVar[bool] = True

    weight: NonNegativeFloat = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted mean error.

        Args:
            update: The step, of a model with a method `answer_and_error`.

        Raises:
            TypeError: If the model has no such method; `Supervised` asks for none.
        """
        problems = update.problems
        outputs, error = update.network.call("answer_and_error", problems.items, problems.index)
        return (update.task_loss(outputs, problems) + self.weight * error).mean(), update.state
