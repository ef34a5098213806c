"""Reasoners that read a problem as a sequence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, nn

from farfield.core.internal import Size, check_arguments
from farfield.functional.internal import (
    linear_layer,
    lstm,
    lstm_controller,
    lstm_weights,
    relu_layer,
    self_attention,
    sinusoidal_position,
    uniform_weights_,
    uninitialized,
)
from farfield.models._abilities import HasHiddenSize, width_of
from farfield.models._sequence_reader import SequenceReader


@final
class LSTM(SequenceReader):
    """Read a sequence of embeddings with an LSTM and answer from its last state.

    `torch.nn.LSTM` with a linear layer behind it computes the same; this one starts from the
    paper's initialization and can be mapped over many seeds with `torch.func.vmap`.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        webb2021, appendix A.3.4.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        self.controller = lstm_controller(in_features, hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        return lstm(z, **lstm_weights(self.controller), num_states=1).squeeze(1)


@final
class LastState(SequenceReader):
    """Read a sequence of embeddings with a layer over sequences, and answer from its last output.

    `SequenceModel` has its own encoder and no context; this one is a reasoner of `Relational`,
    behind a normalization over the problem, beside `LSTM`, which it is for any other layer.

    Args:
        core: Function that makes the layer from the size of an embedding, with the batch first,
            e.g. `Spec(RIMs, hidden_size=60, batch_first=True)` in an experiment. It draws from
            the global generator, which an experiment seeds.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        core: The layer.
        output: The linear output layer.

    Raises:
        TypeError: If the layer does not say how wide it answers.
        ValueError: If a size is below 1.

    Reference:
        webb2021, appendix A.3.4, with another layer in place of the LSTM.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        core: Callable[[int], nn.Module],
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        self.core = core(in_features)
        width = width_of("core", self.core, HasHiddenSize)
        self.output = linear_layer(width, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        return self.core(z)[0][:, -1]


@final
class Transformer(SequenceReader):
    r"""Let the embeddings of a problem attend to each other once, average them, and answer.

    $$u = \mathrm{LN}(x + \mathrm{Attention}(x)), \qquad
      v = \mathrm{LN}(u + \mathrm{MLP}(u)), \qquad
      y = W \, \mathrm{ReLU}(V \, \overline{v})$$

    with $x$ the embeddings plus a sinusoidal code of their positions. The layer is that of
    `torch.nn.TransformerEncoderLayer`, normalized after each residual and without dropout.

    Args:
        num_heads: Number of attention heads; must divide `in_features`.
        feedforward_size: Units of the hidden layer behind the attention.
        final_norm: Whether one more layer normalization follows the layer, as in the
            released code.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        attention_in: Queries, keys and values of all heads.
        attention_out: Mixes the heads.
        norm1, norm2: Layer normalizations behind attention and MLP.
        fc1, fc2: The MLP.
        norm3: The final normalization, or None.
        hidden: Layer of 256 ReLU units on the average.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or the heads do not divide `in_features`.

    Reference:
        webb2021, appendix A.3.9. `attention_out` is not specified there and starts as torch's
        own attention does: uniform in $\pm 1 / \sqrt{d}$ for $d$ features.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        num_heads: Size = 8,
        feedforward_size: Size = 512,
        final_norm: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        if in_features % num_heads:
            raise ValueError(f"num_heads must divide in_features={in_features}, got {num_heads}")
        self.num_heads = num_heads
        self.attention_in = linear_layer(in_features, 3 * in_features, generator)
        self.attention_out = uniform_weights_(
            uninitialized(nn.Linear, in_features, in_features),
            1 / math.sqrt(in_features),
            generator,
        )
        self.norm1 = nn.LayerNorm(in_features)
        self.fc1 = relu_layer(in_features, feedforward_size, generator)
        self.fc2 = relu_layer(feedforward_size, in_features, generator)
        self.norm2 = nn.LayerNorm(in_features)
        self.norm3 = nn.LayerNorm(in_features) if final_norm else None
        self.hidden = relu_layer(in_features, 256, generator)
        self.output = linear_layer(256, num_outputs, generator)

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> Transformer:
        """Build webb2021's released network: one more layer normalization behind the layer."""
        return cls(in_features, num_outputs, final_norm=True, generator=generator)

    def _read(self, z: Tensor) -> Tensor:
        place = sinusoidal_position(z.shape[1], z.shape[2], dtype=z.dtype, device=z.device)
        encoded = self._layer(z + place)
        if self.norm3 is not None:
            encoded = self.norm3(encoded)
        return torch.relu(self.hidden(encoded.mean(1)))

    def _layer(self, x: Tensor) -> Tensor:
        gathered = self_attention(
            x, self.attention_in.weight, self.attention_in.bias, num_heads=self.num_heads
        )
        attended = self.norm1(x + self.attention_out(gathered))
        return self.norm2(attended + self.fc2(torch.relu(self.fc1(attended))))
