"""Prediction of the next embedding of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from farfield.core import check_fields
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class PredictingEmbeddings(Objective):
    r"""The mean squared error of predicted embeddings.

    $$L = \frac{1}{B (T - 1) H} \sum_{i,t,k} \left(\hat z_{itk} - z_{itk}\right)^2$$

    with $B$ sequences, $T$ places, of which the first is not predicted, and $H$ features. Both are
    normalized, as the predictor has them, or both are embeddings. It needs a model that gives
    them: one with a method `predict` from `(items, index)` to normalized predictions and a
    `farfield.nn.NormalizedSequence`, as `farfield.models.ObjectPredictor` has. `Supervised` on the
    same model is the error in the pixels.

    Args:
        denormalized: Whether the error is that of the embeddings, predictions put back by
            location and scale of the context; otherwise that of what is normalized, as in the
            released code of webb2020.

    Raises:
        ValueError: If `denormalized` is neither True nor False.

    Reference:
        webb2020, section 4.3.
    """

    takes_embeddings: ClassVar[bool] = True

    denormalized: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean squared error; what is predicted is not scored by the task.

        Args:
            update: The step, of a model with a method `predict`.

        Raises:
            TypeError: If the model has no such method; `Supervised` asks for none.
        """
        problems = update.problems
        predicted, sequence = update.network.call("predict", problems.items, problems.index)
        error = predicted - sequence.targets
        if self.denormalized:
            error = error * sequence.scale
        return error.square().mean(), update.state
