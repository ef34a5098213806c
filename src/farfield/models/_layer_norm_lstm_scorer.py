"""The recurrent part of the analogy scoring model, with layer normalization inside."""

from __future__ import annotations

import functools
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import uninitialized, xavier_uniform_
from farfield.models._checks import check_length, check_sequence
from farfield.models._lstm_scorer import tag_places
from farfield.nn import NormalizedLSTM

_EPS = 1e-12
"""Added to the variance by the cell that the released code takes from its framework."""


@final
class LayerNormLSTMScorer(nn.Module):
    """Read premises and a candidate with a layer-normalized LSTM, and score the candidate.

    `LSTMScorer` with a layer normalization on the summed input of each gate and on the new cell;
    the normalized cell is carried on. The shifts of the normalizations stand for biases.

    Args:
        in_features: Size of an embedding.
        length: Places of a sequence: the premises and one candidate.
        hidden_size: Number of hidden units.
        position_tags: Whether a one-hot number of its place is set before every embedding, as the
            released code does and the text does not say.
        forget_bias: Added to the forget gate after its normalization: 0 as published, 1 as in the
            released code.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, length, in_features)` to `(batch, 1)`.

    Attributes:
        cell: The LSTM, a `farfield.nn.NormalizedLSTM`.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        webb2020, sections 4.1 and 4.2 (layer norm., recurrent); Ba et al. 2016.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size,
        *,
        hidden_size: Size = 256,
        position_tags: bool = False,
        forget_bias: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.length, self.position_tags = in_features, length, position_tags
        wide = in_features + length * position_tags
        self.cell = NormalizedLSTM(
            wide,
            hidden_size,
            bias=False,
            batch_first=True,
            normalizer=functools.partial(nn.LayerNorm, eps=_EPS),
            forget_bias=forget_bias,
            carry_normalized=True,
            generator=generator,
        )
        kernel = xavier_uniform_(
            uninitialized(nn.Linear, wide + hidden_size, 4 * hidden_size), generator
        )
        self.cell.weight_ih_l0 = nn.Parameter(kernel.weight[:, :wide].detach().clone())
        self.cell.weight_hh_l0 = nn.Parameter(kernel.weight[:, wide:].detach().clone())
        self.output = xavier_uniform_(uninitialized(nn.Linear, hidden_size, 1), generator)

    @classmethod
    def released(
        cls, in_features: int, length: int, *, generator: torch.Generator | None = None
    ) -> LayerNormLSTMScorer:
        """As in webb2020's released code: with tags of places and a bias of 1 on the forget gate.

        Args:
            in_features: Size of an embedding.
            length: Places of a sequence: the premises and one candidate.
            generator: Where the first weights are drawn from; None is torch's global generator.
        """
        return cls(in_features, length, position_tags=True, forget_bias=1.0, generator=generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence."""
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        states, _ = self.cell(tag_places(z) if self.position_tags else z)
        return self.output(states[:, -1])

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"{self.in_features}, {self.length}, position_tags={self.position_tags}"
