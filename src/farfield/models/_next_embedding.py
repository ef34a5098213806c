"""The recurrent network that predicts the next embedding of a sequence."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import fan_in_uniform_, lstm, lstm_uniform_, uninitialized
from farfield.models._checks import check_sequence


@final
class NextEmbedding(nn.Module):
    """Predict the next embedding at every position with an LSTM.

    `LSTM` answers once, from its last state, and starts from another initialization.

    Args:
        in_features: Size of an embedding, read and answered.
        hidden_size: Number of hidden units.
        generator: Where the first weights are drawn from; None is torch's global generator.

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
        self,
        in_features: Size,
        *,
        hidden_size: Size = 20,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.controller = lstm_uniform_(
            uninitialized(nn.LSTMCell, in_features, hidden_size), generator
        )
        self.output = fan_in_uniform_(uninitialized(nn.Linear, hidden_size, in_features), generator)

    def forward(
        self, z: Float[Tensor, "batch time feature"]
    ) -> Float[Tensor, "batch time feature"]:
        """Predict the embedding that follows each place."""
        cell = self.controller
        check_sequence(z, cell.input_size)
        weights = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
        return self.output(lstm(z, *weights))
