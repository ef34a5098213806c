"""The model of dynamic object prediction: from the frames so far to the next."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import check_arguments
from farfield.functional import denormalize
from farfield.models._abilities import KeepsStatistics
from farfield.models._composition import Composition
from farfield.nn import NormalizedSequence


@final
class ObjectPredictor(Composition):
    r"""Encoder, context, predictor and decoder as one model: each next frame of a sequence.

    $$z_t = E(x_t), \qquad \hat z_{t+1} = \mu + \sigma \, P(\mathrm{CN}(z_1), \dots,
      \mathrm{CN}(z_t)), \qquad \hat x_{t+1} = D(\hat z_{t+1})$$

    The context normalizes what the predictor reads and gives $\mu$ and $\sigma$, which put its
    predictions back to where and how large the embeddings are. Each distinct item is encoded once.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`.
        context: From `(batch, time, feature)` to a `NormalizedSequence`, e.g. `PastNorm`, or None.
        predictor: From `(batch, time, feature)` to the same, e.g. `NextEmbedding`.
        decoder: From embeddings `(batch, time, feature)` to items `(batch, time, *shape)`.

    Shape:
        Items `(item, *shape)` and their index `(batch, time)` to `(batch, time − 1, *shape)`, the
        predictions of all places but the first.

    Reference:
        webb2020, section 3.3.
    """

    @check_arguments
    def __init__(
        self,
        encoder: nn.Module,
        context: nn.Module | None,
        predictor: nn.Module,
        decoder: nn.Module,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context
        self.predictor = predictor
        self.decoder = decoder

    def answer(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch _ ..."]:
        """Predict every item but the first from the embeddings: the second of two stages.

        Args:
            embeddings: What `encode` gave.
            index: Which item stands at which place of which sequence.

        Raises:
            ValueError: If the index is not `(batch, time)` of at least two places.
        """
        sequence = self._in_context(embeddings, index)
        predicted = self.predictor(sequence.inputs)
        return self.decoder(denormalize(predicted, sequence.mean, sequence.scale))

    def predict(
        self, items: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch _ feature"], NormalizedSequence]:
        """The predictor's own answers, normalized, beside what they should be.

        Args:
            items: The distinct items.
            index: Which item stands at which place of which sequence.

        Raises:
            ValueError: If the index is not `(batch, time)` of at least two places.
        """
        sequence = self._in_context(self.encode(items), index)
        return self.predictor(sequence.inputs), sequence

    @property
    def wants_statistics(self) -> bool:
        """True if the context uses statistics of the training sequences in evaluation."""
        return isinstance(self.context, KeepsStatistics) and self.context.wants_statistics

    def calibrate(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch time"]
    ) -> None:
        """Let the context keep its statistics of the training sequences.

        Args:
            embeddings: What `encode` gave.
            index: Which item stands at which place of which training sequence.
        """
        if isinstance(self.context, KeepsStatistics):
            self.context.calibrate(F.embedding(index, embeddings))

    def _in_context(self, embeddings: Tensor, index: Tensor) -> NormalizedSequence:
        if index.ndim != 2 or index.shape[1] < 2:
            raise ValueError(
                "index must be (batch, time) with at least two places, "
                f"got shape {tuple(index.shape)}"
            )
        z = F.embedding(index, embeddings)
        if self.context is None:
            nothing, one = torch.zeros_like(z[:, 1:]), torch.ones_like(z[:, 1:])
            return NormalizedSequence(z[:, :-1], z[:, 1:], nothing, one)
        sequence: NormalizedSequence = self.context(z)
        return sequence
