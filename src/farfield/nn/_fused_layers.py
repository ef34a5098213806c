"""torch's LSTM and GRU as sequence layers whose first weights come from a generator."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from farfield.functional import is_transformed, linear, uninitialized
from farfield.nn._normalized_gru import GRUStep
from farfield.nn._normalized_lstm import LSTMStep
from farfield.nn._recurrence import Cell
from farfield.nn._sequence_layer import SequenceLayer, State

_LSTM_STEP = LSTMStep(forget_bias=0.0, carry_normalized=False)


@final
class LSTMLayer(SequenceLayer):
    r"""torch's LSTM, by its fused kernel.

    $$i, f, g, o = W_x x_t + b_x + W_h h_{t-1} + b_h, \qquad
      c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh(g), \qquad
      h_t = \sigma(o) \tanh(c_t)$$

    Beside `torch.nn.LSTM`, which it holds, it draws its first weights from a generator and says
    what is wrong with an input in words; under the transformations of `torch.func`, for which
    torch's kernel is not made, it goes step by step. `NormalizedLSTM` takes normalizers and packed
    sequences, and is the slower one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, or `(time,
        input_size)`; and a state of two times `(num_layers, batch, hidden_size)`, hidden states
        and cells. Out: the hidden states of the last layer, `hidden_size` features, and the last
        state.

    Attributes:
        recurrent: torch's module, with the weights.

    Raises:
        ValueError: If a size is below 1, or the input or the state of another shape.

    Reference:
        Hochreiter and Schmidhuber 1997; the rival of lamb2022, section 8.4.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first, num_layers=num_layers)
        self.recurrent = uninitialized(nn.LSTM, input_size, hidden_size, num_layers, bias)
        _draw(self.recurrent, generator)

    def _first_state(self, x: Tensor) -> State:
        return (_zeros(self.recurrent, x),) * 2

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        if is_transformed():
            return _step_by_step(_LSTM_STEP, self.recurrent, x, state)
        outputs, last = self.recurrent(x, state)
        return outputs, last


@final
class GRULayer(SequenceLayer):
    r"""torch's gated recurrent unit, by its fused kernel.

    $$r, z = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h), \qquad
      n = \tanh(W_x' x_t + b_x' + r (W_h' h_{t-1} + b_h')), \qquad
      h_t = (1 - z) n + z h_{t-1}$$

    Beside `torch.nn.GRU`, which it holds, it draws its first weights from a generator and says
    what is wrong with an input in words; under the transformations of `torch.func`, for which
    torch's kernel is not made, it goes step by step. `NormalizedGRU` takes normalizers and packed
    sequences, and is the slower one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, or `(time,
        input_size)`; and a state `(num_layers, batch, hidden_size)`. Out: the hidden states of the
        last layer, `hidden_size` features, and the last state.

    Attributes:
        recurrent: torch's module, with the weights.

    Raises:
        ValueError: If a size is below 1, or the input or the state of another shape.

    Reference:
        Cho et al. 2014; a rival as in lamb2022, section 8.4.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first, num_layers=num_layers)
        self.recurrent = uninitialized(nn.GRU, input_size, hidden_size, num_layers, bias)
        _draw(self.recurrent, generator)

    def _first_state(self, x: Tensor) -> State:
        return (_zeros(self.recurrent, x),)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        if is_transformed():
            return _step_by_step(GRUStep(), self.recurrent, x, state)
        outputs, last = self.recurrent(x, *state)
        return outputs, (last,)


def _draw(recurrent: nn.RNNBase, generator: torch.Generator | None) -> None:
    """Draw all weights and biases as torch does."""
    bound = 1 / math.sqrt(recurrent.hidden_size)
    for parameter in recurrent.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)


def _zeros(recurrent: nn.RNNBase, x: Tensor) -> Tensor:
    return x.new_zeros(recurrent.num_layers, x.shape[1], recurrent.hidden_size)


def _step_by_step(
    cell: Cell, recurrent: nn.RNNBase, x: Tensor, state: State
) -> tuple[Tensor, State]:
    """What `recurrent` gives, without its kernel."""
    last = []
    for layer, (weight_ih, weight_hh, *biases) in enumerate(recurrent.all_weights):
        bias_ih, bias_hh = biases or (None, None)
        parts, hidden = tuple(part[layer] for part in state), []
        for inputs in linear(x, weight_ih, bias_ih).unbind(0):
            parts = cell.step(inputs, linear(parts[0], weight_hh, bias_hh), parts, _as_it_is)
            hidden.append(parts[0])
        x = torch.stack(hidden)
        last.append(parts)
    return x, tuple(torch.stack(parts) for parts in zip(*last, strict=True))


def _as_it_is(_place: str, z: Tensor) -> Tensor:
    return z
