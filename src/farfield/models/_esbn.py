"""The emergent symbol binding network."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import (
    ESBNKeys,
    ESBNParameters,
    content_scores,
    content_weights,
    esbn,
    esbn_keys,
    kaiming_normal_,
    lstm_init_,
    read_confidence,
    uninitialized,
    xavier_normal_,
)
from farfield.models._checks import check_sequence


@final
class ESBN(nn.Module):
    r"""Bind learned keys to embeddings that the controller never sees, and answer.

    At each place the controller, an LSTM, writes a key $k^w_t$ beside the embedding $z_t$, and
    receives the keys of earlier places, weighted by how well their embeddings match:

    $$k^r_t = g_t \sum_{i<t} \mathrm{softmax}_i(z_t \cdot z_i)
      \left(k^w_i \parallel \sigma(\gamma \, z_t \cdot z_i + \beta)\right)$$

    Nothing is read at the first place; after the last the controller makes one more step, and
    the answer is read from its state. An LSTM or a Transformer computes with the embeddings
    themselves; here they only decide which keys come back, so what is learned about the keys
    holds for embeddings never seen.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Hidden units of the controller.
        key_size: Size of a key.
        confidence: Whether the controller gets the confidence of what was read. None is yes,
            unless there is a default memory, which does without.
        default_memory: Whether the memory starts with one learned key and value.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        key: Head of the written key.
        gate: Head of the gate on what is read.
        output: The linear output layer.
        confidence_gain, confidence_bias: $\gamma$ and $\beta$, start at 1 and 0; None without
            confidence.
        default_key, default_value: The first entry of the memory, starts at 0; None without
            default memory.

    Raises:
        ValueError: If a size is below 1, or confidence and default memory are both asked for.

    Reference:
        webb2021, algorithm 1, appendix A.3.3; ablation and default memory, appendix A.5.5.

    Example:
        >>> reasoner = ESBN(in_features=8, num_outputs=2, hidden_size=16, key_size=4)
        >>> reasoner(torch.rand(3, 5, 8)).shape  # three problems of five embeddings
        torch.Size([3, 2])
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        key_size: Size = 256,
        confidence: bool | None = None,
        default_memory: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if confidence and default_memory:
            raise ValueError(
                "default_memory=True takes the place of the confidence, got confidence=True; "
                "leave confidence out or set it to False"
            )
        told = not default_memory if confidence is None else confidence
        self.in_features = in_features
        self.controller = lstm_init_(
            uninitialized(nn.LSTMCell, key_size + int(told), hidden_size), generator
        )
        self.key = kaiming_normal_(uninitialized(nn.Linear, hidden_size, key_size), generator)
        self.gate = xavier_normal_(uninitialized(nn.Linear, hidden_size, 1), generator)
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)
        self.confidence_gain = nn.Parameter(torch.ones(1)) if told else None
        self.confidence_bias = nn.Parameter(torch.zeros(1)) if told else None
        self.default_key = nn.Parameter(torch.zeros(key_size)) if default_memory else None
        self.default_value = nn.Parameter(torch.zeros(in_features)) if default_memory else None

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        weights, confidence = self._matches(z)
        return self.output(esbn(weights, confidence, self._parameters_of_recurrence()))

    def keys(self, z: Float[Tensor, "batch time feature"]) -> ESBNKeys:
        """The keys written and read at every place, to look into a trained network.

        Args:
            z: Embeddings, as for the answer.

        Raises:
            ValueError: If the embeddings are not `(batch, time, in_features)`.
        """
        return esbn_keys(*self._matches(z), self._parameters_of_recurrence())

    def _matches(self, z: Tensor) -> tuple[Tensor, Tensor | None]:
        """Weights of all reads, and their confidence, if any."""
        check_sequence(z, self.in_features)
        scores = content_scores(z, self.default_value)
        weights = content_weights(scores)
        if self.confidence_gain is None or self.confidence_bias is None:
            return weights, None
        return weights, read_confidence(scores, weights, self.confidence_gain, self.confidence_bias)

    def _parameters_of_recurrence(self) -> ESBNParameters:
        cell = self.controller
        return ESBNParameters(
            weight_ih=cell.weight_ih,
            weight_hh=cell.weight_hh,
            bias_ih=cell.bias_ih,
            bias_hh=cell.bias_hh,
            key_weight=self.key.weight,
            key_bias=self.key.bias,
            gate_weight=self.gate.weight,
            gate_bias=self.gate.bias,
            default_key=self.default_key,
        )
