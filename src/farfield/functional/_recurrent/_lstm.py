"""The long short-term memory, with both of its biases."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import on_cpu
from farfield.functional._autograd._products import is_rewritten
from farfield.functional._recurrent._lstm_step import lstm_step


def lstm(
    inputs: Float[Tensor, "batch time feature"],
    weight_ih: Float[Tensor, "_ feature"],
    weight_hh: Float[Tensor, "_ _"],
    bias_ih: Float[Tensor, " _"],
    bias_hh: Float[Tensor, " _"],
    *,
    num_states: int | None = None,
) -> Float[Tensor, "batch _ _"]:
    r"""Hidden states of an LSTM after every step, or the last few, from a state of zeros.

    $$i, f, g, o = W_x x_t + b_x + W_h h_{t-1} + b_h, \qquad
      c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh(g), \qquad
      h_t = \sigma(o) \tanh(c_t)$$

    The two biases enter only as their sum, but an optimizer with per-parameter scales moves two
    biases further than one, so both are kept. Parameters are laid out as in `torch.nn.LSTMCell`.

    Args:
        inputs: The sequences.
        weight_ih: $W_x$, rows in the order input, forget, candidate, output: $(4H, \cdot)$ for
            $H$ hidden units.
        weight_hh: $W_h$, $(4H, H)$.
        bias_ih: $b_x$, $(4H)$.
        bias_hh: $b_h$, $(4H)$.
        num_states: How many of the last states are returned; None is all, one for each step.

    Raises:
        ValueError: If the sequence is empty, a shape does not fit, or `num_states` is no number
            of steps.

    Reference:
        Hochreiter and Schmidhuber 1997; webb2021, appendix A.3.4.
    """
    _check_shapes(inputs, weight_ih, weight_hh)
    number = inputs.shape[1] if num_states is None else num_states
    if not 1 <= number <= inputs.shape[1]:
        raise ValueError(f"num_states must be 1…{inputs.shape[1]}, got {num_states}")
    arguments = (inputs, weight_ih, weight_hh, bias_ih, bias_hh)
    # torch's kernel is not made for the others, or on a GPU wants the weights in one piece.
    by_torch = on_cpu(inputs) and not is_rewritten() and len(inputs) > 0
    return (_by_torch if by_torch else _step_by_step)(*arguments)[:, -number:]


def _by_torch(inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor, *biases: Tensor) -> Tensor:
    zeros = inputs.new_zeros(1, len(inputs), weight_hh.shape[-1])
    weights = (weight_ih, weight_hh, *biases)
    graded = torch.is_grad_enabled()
    return torch.lstm(inputs, (zeros, zeros), weights, True, 1, 0.0, graded, False, True)[0]


def _step_by_step(
    inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor, bias_hh: Tensor
) -> Tensor:
    cell = inputs.new_zeros(())
    states: list[Tensor] = []
    for gates in F.linear(inputs, weight_ih, bias_ih + bias_hh).unbind(1):
        total = gates + F.linear(states[-1], weight_hh) if states else gates
        state, cell = lstm_step(total, cell)
        states.append(state)
    return torch.stack(states, dim=1)


def _check_shapes(inputs: Tensor, weight_ih: Tensor, weight_hh: Tensor) -> None:
    if inputs.ndim != 3 or inputs.shape[1] == 0:
        raise ValueError(
            "inputs must be (batch, time, feature) with at least one step, "
            f"got shape {tuple(inputs.shape)}"
        )
    if inputs.shape[-1] != weight_ih.shape[-1]:
        raise ValueError(
            f"inputs must have the {weight_ih.shape[-1]} features of weight_ih, "
            f"got {inputs.shape[-1]}"
        )
    rows = 4 * weight_hh.shape[-1]
    if weight_hh.shape[0] != rows or weight_ih.shape[0] != rows:
        raise ValueError(
            f"weight_ih and weight_hh must have {rows} rows, four for each hidden unit, "
            f"got {weight_ih.shape[0]} and {weight_hh.shape[0]}"
        )
