"""Models of moving objects: autoencoder, predictor, roll-out."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Size, check_arguments
from farfield.functional import denormalize
from farfield.functional.internal import (
    default_layer,
    lstm,
    lstm_uniform_,
    lstm_weights,
    uninitialized,
)
from farfield.models._abilities import KeepsStatistics
from farfield.models._composition import Composition, gathered
from farfield.models._items import check_one_item
from farfield.models._sequence_reader import check_sequence
from farfield.nn.internal import NormalizedSequence


@final
class ObjectAutoencoder(Composition):
    """Encoder and decoder as one model of problems of a single item, which is reconstructed.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`, or to a set of them,
            `(item, element, feature)`.
        decoder: From embeddings, `(batch, feature)` or `(batch, element, feature)`, to items
            `(batch, *shape)`.

    Shape:
        Items `(item, *shape)` and their index `(batch, 1)` to `(batch, *shape)`.

    Reference:
        webb2020, sections 3.3 and 4.3.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def answer(
        self, embeddings: Float[Tensor, "item *element feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Give every item back from its embedding: the second of two stages.

        Args:
            index: Which item each problem shows.

        Raises:
            ValueError: If a problem shows another number of items than one.
        """
        check_one_item(index)
        z = gathered(embeddings, index)
        return self.decoder(z.squeeze(1) if embeddings.ndim == 2 else z)


@final
class NextEmbedding(nn.Module):
    """Predict the next embedding at every position with an LSTM.

    `LSTM` answers once, from its last state, and starts from another initialization.

    Args:
        in_features: Size of an embedding, read and answered.

    Shape:
        `(batch, time, in_features)` to the same, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        webb2020, section 4.3.
    """

    @check_arguments
    def __init__(
        self, in_features: Size, *, hidden_size: Size = 20, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.controller = lstm_uniform_(
            uninitialized(nn.LSTMCell, in_features, hidden_size), generator
        )
        self.output = default_layer(hidden_size, in_features, generator)

    def forward(
        self, z: Float[Tensor, "batch time feature"]
    ) -> Float[Tensor, "batch time feature"]:
        """Predict the embedding that follows each position."""
        check_sequence(z, self.controller.input_size)
        return self.output(lstm(z, *lstm_weights(self.controller).values()))


@final
class ObjectPredictor(Composition):
    r"""Encoder, context, predictor and decoder as one model: each next frame of a sequence.

    $$z_t = E(x_t), \qquad \hat z_{t+1} = \mu + \sigma \, P(\mathrm{CN}(z_1), \dots,
      \mathrm{CN}(z_t)), \qquad \hat x_{t+1} = D(\hat z_{t+1})$$

    The context normalizes the inputs of the predictor and gives $\mu$ and $\sigma$, which put its
    predictions back to where and how large the embeddings are. Each distinct item is encoded once.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`.
        context: From `(batch, time, feature)` to a `NormalizedSequence`, e.g. `PastNorm`, or None.
        predictor: From `(batch, time, feature)` to the same, e.g. `NextEmbedding`.
        decoder: From embeddings `(batch, time, feature)` to items `(batch, time, *shape)`.

    Shape:
        Items `(item, *shape)` and their index `(batch, time)` to `(batch, time − 1, *shape)`, the
        predictions of all positions except the first.

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
            index: Item at each position of each sequence.

        Raises:
            ValueError: If the index is not `(batch, time)` of at least two steps.
        """
        sequence = self._in_context(embeddings, index)
        predicted = self.predictor(sequence.inputs)
        return self.decoder(denormalize(predicted, sequence.mean, sequence.scale))

    def predict(
        self, items: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch _ feature"], NormalizedSequence]:
        """Predict normalized embeddings; return their targets too.

        Args:
            index: Item at each position of each sequence.

        Raises:
            ValueError: If the index is not `(batch, time)` of at least two steps.
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
            index: Item at each position of each training sequence.
        """
        if isinstance(self.context, KeepsStatistics):
            self.context.calibrate(F.embedding(index, embeddings))

    def _in_context(self, embeddings: Tensor, index: Tensor) -> NormalizedSequence:
        if index.ndim != 2 or index.shape[1] < 2:
            raise ValueError(
                "index must be (batch, time) with at least two steps, "
                f"got shape {tuple(index.shape)}"
            )
        z = F.embedding(index, embeddings)
        if self.context is None:
            nothing, one = torch.zeros_like(z[:, 1:]), torch.ones_like(z[:, 1:])
            return NormalizedSequence(z[:, :-1], z[:, 1:], nothing, one)
        sequence: NormalizedSequence = self.context(z)
        return sequence


@final
class RollOut(nn.Module):
    r"""Encoder, sequence layer and decoder as one model: what does each next frame show?

    $$z_t = E(x_t), \qquad h_t = C(z_1, \dots, z_t), \qquad
      \hat x_{t+1} = \sigma(D(h_t))$$

    In training every $x_t$ is a true frame (teacher forcing). In evaluation the first frames are,
    and from there on $x_t$ is the model's own $\hat x_t$: how likely it holds each pixel to be
    white, or, with `rounded`, which pixels it holds to be more likely white than not. It then reads
    no item after the given frames. `SequenceModel` always reads true items.

    A roll-out goes on from the state after the frames before, one frame at a time: without
    gradients only the answers grow with its length.

    Args:
        encoder: From frames `(item, height, width)` to embeddings `(item, feature)`, or to another
            input of the core.
        core: Sequence layer: takes `(batch, time, feature)` and a state, or None, and gives
            `(batch, time, _)` and the state after, as `farfield.nn.RIMs` or `torch.nn.LSTM` with
            `batch_first`.
        decoder: From outputs of the core, `(batch, time, _)`, to logits of the pixels of frames,
            `(batch, time, height, width)`.
        given: True frames that a roll-out starts from.
        rounded: Whether its own frames are black and white when they are read.

    Shape:
        Frames `(item, height, width)` and their index `(batch, time)` to
        `(batch, time, height · width)`, the logits of the frame after each position.

    Raises:
        ValueError: If `given` is below 1.

    Reference:
        lamb2022, section 8.4.2.
    """

    @check_arguments
    def __init__(
        self,
        encoder: nn.Module,
        core: nn.Module,
        decoder: nn.Module,
        *,
        given: Size,
        rounded: bool = False,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.core = core
        self.decoder = decoder
        self.given = given
        self.rounded = rounded

    def forward(
        self, items: Float[Tensor, "item height width"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time value"]:
        """Predict the frame after each position: from true frames in training, else rolled out.

        Args:
            items: The distinct frames.
            index: Frame at each position of each sequence.

        Raises:
            ValueError: If the index is not `(batch, time)` with at least one step.
        """
        if index.ndim != 2 or index.shape[1] == 0:
            raise ValueError(
                f"index must be (batch, time) with at least one step, got {tuple(index.shape)}"
            )
        logits = self._taught(items, index) if self.training else self._rolled(items, index)
        return logits.flatten(2)

    def _taught(self, items: Tensor, index: Tensor) -> Tensor:
        """Compute logits of every next frame from true frames, each distinct frame encoded once."""
        embeddings = self.encoder(items)
        flat = F.embedding(index, embeddings.flatten(1))
        read, _ = self.core(torch.unflatten(flat, -1, embeddings.shape[1:]))
        logits: Tensor = self.decoder(read)
        return logits

    def _rolled(self, items: Tensor, index: Tensor) -> Tensor:
        """Compute logits of every next frame from the first true frames, then from predictions."""
        flat = F.embedding(index[:, : self.given], items.flatten(1))
        frames, state, logits = torch.unflatten(flat, -1, items.shape[1:]), None, list[Tensor]()
        for _ in range(max(1, index.shape[1] - self.given + 1)):
            embeddings = torch.unflatten(self.encoder(frames.flatten(0, 1)), 0, frames.shape[:2])
            read, state = self.core(embeddings, state)
            logits.append(self.decoder(read))
            frames = self._read_again(logits[-1][:, -1:])
        return torch.cat(logits, dim=1)

    def _read_again(self, logits: Tensor) -> Tensor:
        """Substitute for a true frame, from the prediction."""
        return (logits > 0).to(logits.dtype) if self.rounded else logits.sigmoid()

    def extra_repr(self) -> str:
        """Format the number of given frames for `print`."""
        return f"given={self.given}, rounded={self.rounded}"
