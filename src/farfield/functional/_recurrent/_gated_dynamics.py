"""One step of the mechanisms of RIMs on their own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._recurrent._lstm_step import lstm_step

State = tuple[Tensor, ...]
"""The hidden state, and the cell where there is one."""

Dynamics = Callable[[Tensor, Tensor, State], State]
"""Function from the gates' inputs and the state before to the state after."""


def lstm_dynamics(
    inputs: Float[Tensor, "*batch gate"], hidden: Float[Tensor, "*batch gate"], state: State
) -> State:
    """A step of an LSTM: hidden state and cell.

    Args:
        inputs: What the input adds to the gates, in the order input, forget, candidate, output.
        hidden: What the state before adds to them.
        state: Hidden state and cell before.

    Reference:
        lamb2022, section 8.2.3; Hochreiter and Schmidhuber 1997.
    """
    return lstm_step(inputs + hidden, state[1])


def gru_dynamics(
    inputs: Float[Tensor, "*batch gate"], hidden: Float[Tensor, "*batch gate"], state: State
) -> State:
    """A step of a gated recurrent unit: its hidden state alone.

    Args:
        inputs: What the input adds to the gates, in the order reset, update, candidate.
        hidden: What the state before adds to them; to the candidate as far as it is not reset.
        state: The hidden state before.

    Reference:
        lamb2022, section 8.2.3; Chung et al. 2015.
    """
    size = state[0].shape[-1]
    gates = torch.sigmoid(inputs[..., : 2 * size] + hidden[..., : 2 * size])
    reset, keep = gates.chunk(2, dim=-1)
    new = torch.tanh(torch.addcmul(inputs[..., 2 * size :], reset, hidden[..., 2 * size :]))
    return (new + keep * (state[0] - new),)
