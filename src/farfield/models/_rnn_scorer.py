"""The plain recurrent part of the analogy scoring model."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Size, check_arguments
from farfield.functional import uninitialized, xavier_normal_
from farfield.models._checks import check_sequence


@final
class RNNScorer(nn.Module):
    r"""Read premises and a candidate with a plain RNN, and score the candidate by its last state.

    $$h_t = \tanh(W_{ih} z_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})$$

    with $h_0 = 0$, and a linear layer on the last state. `torch.nn.RNN` with a linear layer behind
    it computes the same; this one can be mapped over many seeds with `torch.func.vmap`.
    `LSTMScorer` has gates.

    Args:
        in_features: Size of an embedding.
        hidden_size: Number of hidden units.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, 1)`, for any time of at least 1.

    Attributes:
        input: The layer from embeddings to hidden units, Xavier normal.
        hidden: The layer from hidden units to hidden units, Xavier normal.
        output: The linear output layer, Xavier normal. All biases start at 0.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        webb2020, supplement 2; hill2019.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        *,
        hidden_size: Size = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.input, self.hidden, self.output = (
            xavier_normal_(uninitialized(nn.Linear, rows, columns), generator)
            for rows, columns in (
                (in_features, hidden_size),
                (hidden_size, hidden_size),
                (hidden_size, 1),
            )
        )

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence."""
        check_sequence(z, self.input.in_features)
        first, *rest = self.input(z).unbind(dim=1)
        state = torch.tanh(first + self.hidden.bias)
        for driven in rest:
            state = torch.tanh(driven + F.linear(state, self.hidden.weight, self.hidden.bias))
        return self.output(state)
