"""torch's LSTM and GRU as sequence layers, by its kernels where there is nothing faster."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from farfield.functional import (
    GatedParameters,
    Indexed,
    gated_recurrence,
    gru_dynamics,
    is_transformed,
    lstm_dynamics,
    uninitialized,
)
from farfield.nn._sequence_layer import SequenceLayer
from farfield.nn._states import State


@final
class LSTMLayer(SequenceLayer):
    r"""torch's LSTM, by its fused kernel where that is the faster one.

    $$i, f, g, o = W_x x_t + b_x + W_h h_{t-1} + b_h, \qquad
      c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh(g), \qquad
      h_t = \sigma(o) \tanh(c_t)$$

    Beside `torch.nn.LSTM`, which it holds, it draws its first weights from a generator and says
    what is wrong with an input in words. It goes step by step under the transformations of
    `torch.func`, for which torch's kernel is not made, and on a CPU over `Indexed` sequences and
    under `torch.autocast`.
    `NormalizedLSTM` takes normalizers, and is the slower one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of two times `(num_layers, batch,
        hidden_size)`, hidden states and cells. Out: the hidden states of the last layer,
        `hidden_size` features, and the last state.

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
        # Under autocast torch's kernel on a CPU asks for AVX-512.
        if is_transformed() or _is_autocast_on_cpu(x):
            return _unrolled(self.recurrent, x, state)
        # Of packed sequences the states are cut, and cuDNN takes only whole ones.
        outputs, last = self.recurrent(x, tuple(part.contiguous() for part in state))
        return outputs, last

    def _run_indexed(self, x: Indexed, state: State) -> tuple[Tensor, State]:
        on_cpu = x.items.is_cpu
        return _unrolled(self.recurrent, x, state) if on_cpu else self._run(x.gathered(), state)


@final
class GRULayer(SequenceLayer):
    r"""torch's gated recurrent unit, by its fused kernel where that is the faster one.

    $$r, z = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h), \qquad
      n = \tanh(W_x' x_t + b_x' + r (W_h' h_{t-1} + b_h')), \qquad
      h_t = (1 - z) n + z h_{t-1}$$

    Beside `torch.nn.GRU`, which it holds, it draws its first weights from a generator and says
    what is wrong with an input in words. It goes step by step under the transformations of
    `torch.func`, for which torch's kernel is not made, and on a CPU, where that takes less time.
    `NormalizedGRU` takes normalizers, and is the slower one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state `(num_layers, batch,
        hidden_size)`. Out: the hidden states of the last layer, `hidden_size` features, and the
        last state.

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
        # On a CPU torch's own goes step by step too, with gradients of the weights at each.
        if x.is_cpu or is_transformed():
            return _unrolled(self.recurrent, x, state)
        outputs, last = self.recurrent(x, state[0].contiguous())
        return outputs, (last,)

    def _run_indexed(self, x: Indexed, state: State) -> tuple[Tensor, State]:
        on_cpu = x.items.is_cpu
        return _unrolled(self.recurrent, x, state) if on_cpu else self._run(x.gathered(), state)


def _draw(recurrent: nn.RNNBase, generator: torch.Generator | None) -> None:
    """Draw all weights and biases as torch does."""
    bound = 1 / math.sqrt(recurrent.hidden_size)
    for parameter in recurrent.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)


def _is_autocast_on_cpu(x: Tensor) -> bool:
    return x.is_cpu and torch.is_autocast_enabled("cpu")


def _zeros(recurrent: nn.RNNBase, x: Tensor) -> Tensor:
    return x.new_zeros(recurrent.num_layers, x.shape[1], recurrent.hidden_size)


def _unrolled(recurrent: nn.RNNBase, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
    """What `recurrent` gives, without its kernel."""
    dynamics = lstm_dynamics if isinstance(recurrent, nn.LSTM) else gru_dynamics
    read, last = x, []
    for layer, weights in enumerate(recurrent.all_weights):
        own = tuple(part[layer] for part in state)
        outputs, after = gated_recurrence(read, GatedParameters(*weights), own, dynamics)
        last.append(after)
        read = outputs
    return outputs, tuple(torch.stack(parts) for parts in zip(*last, strict=True))
