"""One step of an LSTM: as autograd sees it, and by hand with its gradient.

The steps by hand stand feature by batch, so that the rows of each gate are contiguous and a
product with a weight matrix needs no transposition. They work in place on what they are given.
"""

from __future__ import annotations

from typing import NamedTuple

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


class StepByHand(NamedTuple):
    """Residuals of a step for its gradient, all `(feature, batch)`.

    Attributes:
        gates: Input, forget, candidate and output after their nonlinearities.
        cell: The cell after the step.
        squashed: The hyperbolic tangent of the cell.
        state: The hidden state after the step.
    """

    gates: Tensor
    cell: Tensor
    squashed: Tensor
    state: Tensor


def step_by_hand(gates: Tensor, cell: Tensor | None) -> StepByHand:
    """One step from the summed inputs of the gates, which are overwritten.

    Args:
        gates: Inputs of the gates, `(4H, batch)`.
        cell: The cell before the step, `(H, batch)` or `(H, 1)`; None is a cell of zeros.
    """
    size = gates.shape[0] // 4
    gates[: 2 * size].sigmoid_()
    gates[2 * size : 3 * size].tanh_()
    gates[3 * size :].sigmoid_()
    enter, keep, candidate, leave = gates.chunk(4)
    new = enter * candidate
    if cell is not None:
        new = torch.addcmul(new, keep, cell)
    squashed = new.tanh()
    return StepByHand(gates, new, squashed, leave * squashed)


def gradient_of_step(
    step: StepByHand, before: Tensor | None, state: Tensor, cell: Tensor | None
) -> tuple[Tensor, Tensor]:
    r"""Gradients of a step's gate inputs and of the cell before it.

    With $c' = f c + i u$ and $h = o \tanh c'$, and d of a quantity the gradient of the loss by it.

    Args:
        step: The saved tensors of the step.
        before: The cell before the step; None is a cell of zeros.
        state: Gradient of the hidden state after the step.
        cell: Gradient of the cell after the step, from later steps; None is zero.
    """
    enter, keep, candidate, leave = step.gates.chunk(4)
    # dc' += dh · o (1 − tanh² c')
    through = state * leave
    inner = through - through * step.squashed.square()
    if cell is not None:
        inner = inner + cell
    slope = torch.addcmul(step.gates, step.gates, step.gates, value=-1)
    enter_slope, keep_slope, _, leave_slope = slope.chunk(4)
    candidate_slope = enter - enter * candidate.square()
    forget = torch.zeros_like(inner) if before is None else inner * before * keep_slope
    # di = dc' · u i (1 − i), df = dc' · c f (1 − f), du = dc' · i (1 − u²),
    # do = dh · tanh(c') o (1 − o), dc = dc' · f
    gates = torch.cat(
        (
            inner * candidate * enter_slope,
            forget,
            inner * candidate_slope,
            state * step.squashed * leave_slope,
        )
    )
    return gates, inner * keep
