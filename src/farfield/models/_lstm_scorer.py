"""The recurrent part of the analogy scoring model."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Dropout, Size, check_arguments
from farfield.functional import lstm, uninitialized, xavier_uniform_
from farfield.models._checks import check_length, check_sequence


@final
class LSTMScorer(nn.Module):
    """Read premises and a candidate with an LSTM, and score the candidate by its last state.

    `LSTM`, the reasoner, keeps torch's two biases and starts from another initialization; this one
    has a single bias, as the original framework has, and starts from a Xavier uniform draw over
    input and hidden weights together.

    Args:
        in_features: Size of an embedding.
        length: Places of a sequence: the premises and one candidate.
        hidden_size: Number of hidden units.
        dropout: Share of the embeddings' features set to zero in training.
        position_tags: Whether a one-hot number of its place is set before every embedding, as the
            released code does and the text does not say.
        forget_bias: First bias of the forget gate: 0 as published, 1 as in the released code.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, length, in_features)` to `(batch, 1)`.

    Attributes:
        weight_ih: `(4 · hidden_size, in_features)`, and `length` more columns at the left with
            `position_tags`; rows in the order input, forget, candidate, output.
        weight_hh: `(4 · hidden_size, hidden_size)`.
        bias: `(4 · hidden_size,)`.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or `dropout` is outside [0, 1).

    Reference:
        webb2020, sections 3.2 and 4.1.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size,
        *,
        hidden_size: Size = 256,
        dropout: Dropout = 0.0,
        position_tags: bool = False,
        forget_bias: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.length, self.hidden_size = in_features, length, hidden_size
        self.dropout, self.position_tags = dropout, position_tags
        wide = in_features + length * position_tags
        kernel = xavier_uniform_(
            uninitialized(nn.Linear, wide + hidden_size, 4 * hidden_size), generator
        )
        self.weight_ih = nn.Parameter(kernel.weight[:, :wide].detach().clone())
        self.weight_hh = nn.Parameter(kernel.weight[:, wide:].detach().clone())
        self.bias = nn.Parameter(kernel.bias.detach().clone())
        with torch.no_grad():
            self.bias[hidden_size : 2 * hidden_size] = forget_bias
        self.output = xavier_uniform_(uninitialized(nn.Linear, hidden_size, 1), generator)

    @classmethod
    def released(
        cls,
        in_features: int,
        length: int,
        *,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> LSTMScorer:
        """As in webb2020's released code: with tags of places and a bias of 1 on the forget gate.

        Args:
            in_features: Size of an embedding.
            length: Places of a sequence: the premises and one candidate.
            dropout: Share of the embeddings' features set to zero in training.
            generator: Where the first weights are drawn from; None is torch's global generator.
        """
        return cls(
            in_features,
            length,
            dropout=dropout,
            position_tags=True,
            forget_bias=1.0,
            generator=generator,
        )

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence."""
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        z = F.dropout(z, self.dropout, self.training)
        if self.position_tags:
            z = tag_places(z)
        weights = (self.weight_ih, self.weight_hh, self.bias, torch.zeros_like(self.bias))
        return self.output(lstm(z, *weights, num_states=1).squeeze(1))

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.in_features}, {self.length}, hidden_size={self.hidden_size}, "
            f"dropout={self.dropout}, position_tags={self.position_tags}"
        )


def tag_places(
    z: Float[Tensor, "batch time feature"],
) -> Float[Tensor, "batch time _"]:
    """Every embedding with a one-hot number of its place before it.

    Args:
        z: The sequences.
    """
    tags = torch.eye(z.shape[1], dtype=z.dtype, device=z.device).expand(z.shape[0], -1, -1)
    return torch.cat([tags, z], dim=-1)
