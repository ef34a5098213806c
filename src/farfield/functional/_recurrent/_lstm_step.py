"""One step of an LSTM."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def lstm_step(
    gates: Float[Tensor, "*batch _"], cell: Float[Tensor, " *_"]
) -> tuple[Float[Tensor, "*batch _"], Float[Tensor, "*batch _"]]:
    """Hidden state and cell after one step, from the summed inputs of the four gates.

    Args:
        gates: Inputs of the gates, in the order input, forget, candidate, output, each a quarter.
        cell: The cell before the step; a zero without axes stands for a cell of zeros.
    """
    enter, keep, candidate, leave = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(candidate)
    return torch.sigmoid(leave) * torch.tanh(cell), cell
