"""The LSTM reasoner."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import lstm, lstm_init_, uninitialized, xavier_normal_
from farfield.models._checks import check_sequence


@final
class LSTM(nn.Module):
    """Read a sequence of embeddings with an LSTM and answer from its last state.

    `torch.nn.LSTM` with a linear layer behind it computes the same; this one starts from the
    paper's initialization and can be mapped over many seeds with `torch.func.vmap`.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Number of hidden units.
        generator: Where the first weights are drawn from; None is torch's global generator.

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
        super().__init__()
        self.controller = lstm_init_(
            uninitialized(nn.LSTMCell, in_features, hidden_size), generator
        )
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        cell = self.controller
        check_sequence(z, cell.input_size)
        weights = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
        return self.output(lstm(z, *weights, num_states=1).squeeze(1))
