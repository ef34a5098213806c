"""Scorers of candidates that read premises and candidate as a sequence."""

from __future__ import annotations

import functools
from typing import final

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Dropout, Size, check_arguments
from farfield.functional.internal import linear_layer, lstm, xavier_layer
from farfield.models._sequence_reader import SequenceReader, check_sequence
from farfield.nn import NormalizedLSTM


@final
class LSTMScorer(SequenceReader):
    """Read premises and a candidate with an LSTM, and score the candidate by its last state.

    `LSTM`, the reasoner, keeps torch's two biases and starts from another initialization; this one
    has a single bias, as the original framework has, and starts from a Xavier uniform draw over
    input and hidden weights together.

    Args:
        length: Positions of a sequence: the premises and one candidate.
        dropout: Share of the embeddings' features set to zero in training.
        position_tags: Whether a one-hot number of its position is set before every embedding, as
            the released code does and the text does not say.
        forget_bias: First bias of the forget gate: 0 as published, 1 as in the released code.

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
        super().__init__(in_features, length)
        self.hidden_size, self.dropout = hidden_size, dropout
        self.position_tags = position_tags
        wide = in_features + length * position_tags
        self.weight_ih, self.weight_hh = _gates(wide, hidden_size, generator)
        self.bias = nn.Parameter(torch.zeros(4 * hidden_size))
        with torch.no_grad():
            self.bias[hidden_size : 2 * hidden_size] = forget_bias
        self.output = xavier_layer(hidden_size, 1, generator)

    @classmethod
    def released(
        cls,
        in_features: int,
        length: int,
        *,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> LSTMScorer:
        """Build webb2020's released network: tags of positions, a bias of 1 on the forget gate.

        Args:
            length: Positions of a sequence: the premises and one candidate.
            dropout: Share of the embeddings' features set to zero in training.
        """
        return cls(
            in_features,
            length,
            dropout=dropout,
            position_tags=True,
            forget_bias=1.0,
            generator=generator,
        )

    def _read(self, z: Tensor) -> Tensor:
        z = F.dropout(z, self.dropout, self.training)
        if self.position_tags:
            z = tag_places(z)
        weights = (self.weight_ih, self.weight_hh, self.bias, torch.zeros_like(self.bias))
        return lstm(z, *weights, num_states=1).squeeze(1)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return (
            f"{self.in_features}, {self.length}, hidden_size={self.hidden_size}, "
            f"dropout={self.dropout}, position_tags={self.position_tags}"
        )


def _gates(
    in_features: int, hidden_size: int, generator: torch.Generator | None
) -> tuple[nn.Parameter, nn.Parameter]:
    """Draw input and hidden weights of the gates of an LSTM as one Xavier uniform matrix."""
    kernel = xavier_layer(in_features + hidden_size, 4 * hidden_size, generator).weight.detach()
    of_input, of_state = torch.split(kernel, [in_features, hidden_size], dim=1)
    return nn.Parameter(of_input.clone()), nn.Parameter(of_state.clone())


def tag_places(z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch time _"]:
    """Prepend a one-hot number of its position to every embedding.

    Args:
        z: The sequences.
    """
    tags = torch.eye(z.shape[1], dtype=z.dtype, device=z.device).expand(z.shape[0], -1, -1)
    return torch.cat([tags, z], dim=-1)


_EPS = 1e-12
"""Added to the variance by the cell that the released code takes from its framework."""


@final
class LayerNormLSTMScorer(SequenceReader):
    """Read premises and a candidate with a layer-normalized LSTM, and score the candidate.

    `LSTMScorer` with a layer normalization on the summed input of each gate and on the new cell;
    the normalized cell is carried on. The shifts of the normalizations stand for biases.

    Args:
        length: Positions of a sequence: the premises and one candidate.
        position_tags: Whether a one-hot number of its position is set before every embedding, as
            the released code does and the text does not say.
        forget_bias: Added to the forget gate after its normalization: 0 as published, 1 as in the
            released code.

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
        super().__init__(in_features, length)
        self.position_tags = position_tags
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
        gates = _gates(wide, hidden_size, generator)
        self.cell.weight_ih_l0, self.cell.weight_hh_l0 = gates
        self.output = xavier_layer(hidden_size, 1, generator)

    @classmethod
    def released(
        cls, in_features: int, length: int, *, generator: torch.Generator | None = None
    ) -> LayerNormLSTMScorer:
        """Build webb2020's released network: tags of positions, a bias of 1 on the forget gate.

        Args:
            length: Positions of a sequence: the premises and one candidate.
        """
        return cls(in_features, length, position_tags=True, forget_bias=1.0, generator=generator)

    def _read(self, z: Tensor) -> Tensor:
        states, _ = self.cell(tag_places(z) if self.position_tags else z)
        return states[:, -1]

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"{self.in_features}, {self.length}, position_tags={self.position_tags}"


@final
class RNNScorer(SequenceReader):
    r"""Read premises and a candidate with a plain RNN, and score the candidate by its last state.

    $$h_t = \tanh(W_{ih} z_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})$$

    with $h_0 = 0$, and a linear layer on the last state. `torch.nn.RNN` with a linear layer behind
    it computes the same; this one can be mapped over many seeds with `torch.func.vmap`.
    `LSTMScorer` has gates.

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
        self, in_features: Size, *, hidden_size: Size = 64, generator: torch.Generator | None = None
    ) -> None:
        super().__init__(in_features)
        self.input = linear_layer(in_features, hidden_size, generator)
        self.hidden = linear_layer(hidden_size, hidden_size, generator)
        self.output = linear_layer(hidden_size, 1, generator)

    def _read(self, z: Tensor) -> Tensor:
        first, *rest = self.input(z).unbind(dim=1)
        state = torch.tanh(first + self.hidden.bias)
        for driven in rest:
            state = torch.tanh(driven + F.linear(state, self.hidden.weight, self.hidden.bias))
        return state


@final
class SlotwiseScorer(nn.Module):
    r"""An `LSTMScorer` that reads the slots of embeddings one at a time, and weights for them.

    $$\text{score} = \sum_k \alpha_k\, f(z_{1k}, \dots, z_{nk})$$

    with one $f$ for all slots $k$. Where one slot follows a rule and the others do not, $f$ learns
    the rule from that slot as if it stood alone, and $\alpha$ which slot it is. `LSTMScorer` on
    the whole embedding has to find both in one matrix.

    Args:
        in_features: Size of an embedding, slot by slot.
        length: Positions of a sequence: the premises and one candidate.
        num_slots: Number of slots, all of one size.

    Shape:
        `(batch, length, in_features)` to `(batch, 1)`.

    Attributes:
        scorer: The LSTM.
        weight: The weights $\alpha$ of the slots, all alike at first.

    Raises:
        ValueError: If a size is below 1, or the slots do not divide an embedding.

    Reference:
        Made for webb2020's analogies, in clutter.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        length: Size,
        *,
        num_slots: Size = 12,
        hidden_size: Size = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if in_features % num_slots:
            raise ValueError(f"num_slots must divide in_features ({in_features}), got {num_slots}")
        self.in_features = in_features
        self.scorer = LSTMScorer(
            in_features // num_slots, length, hidden_size=hidden_size, generator=generator
        )
        self.weight = nn.Parameter(torch.full((num_slots,), num_slots**-0.5))

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch 1"]:
        """Score every sequence."""
        check_sequence(z, self.in_features)
        slots = rearrange(
            z, "batch time (slot feature) -> (batch slot) time feature", slot=len(self.weight)
        )
        scores = self.scorer(slots).reshape(z.shape[0], len(self.weight))
        return (scores @ self.weight)[:, None]
