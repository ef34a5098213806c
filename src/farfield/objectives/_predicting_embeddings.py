"""Learning to predict the next embedding of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream


@final
@dataclass(frozen=True, kw_only=True)
class PredictingEmbeddings:
    r"""The mean squared error of predicted embeddings, whatever they are decoded to.

    $$L = \frac{1}{B (T - 1) H} \sum_{i,t,k} \left(\hat z_{itk} - z_{itk}\right)^2$$

    with $B$ sequences, $T$ places, of which the first is not predicted, and $H$ features. Both are
    normalized, as the predictor has them, or both are embeddings. It needs a model that tells
    them: one with a method `predict` from `(items, index)` to normalized predictions and a
    `farfield.nn.NormalizedSequence`, as `farfield.models.ObjectPredictor` has. `Supervised` on the
    same model is the error in the pixels.

    Args:
        denormalized: Whether the error is that of the embeddings, predictions put back by
            location and scale of the context; otherwise that of what is normalized, as in the
            released code of webb2020.

    Reference:
        webb2020, section 4.3.
    """

    denormalized: bool = False

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The mean squared error; neither `loss` nor `stream` is used.

        Args:
            model: From `(items, index)` to outputs, with a method `predict`.
            problems: The batch.
            loss: Not used: what is predicted is not scored.
            stream: Not used: the rule draws nothing.

        Raises:
            TypeError: If the model does not predict embeddings.
        """
        del loss, stream
        predict = getattr(model, "predict", None)
        if predict is None:
            raise TypeError(
                f"model must have a method predict, got {type(model).__name__} without; "
                "Supervised asks for none"
            )
        predicted, sequence = predict(problems.items, problems.index)
        error = predicted - sequence.targets
        if self.denormalized:
            error = error * sequence.scale
        total: Tensor = error.square().mean()
        return total
