"""Steps of an LSTM and their gradients, in tables that hold all steps: for gradients by hand."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_sigmoid_backward = torch.ops.aten.sigmoid_backward
_tanh_backward = torch.ops.aten.tanh_backward


class LSTMTable(NamedTuple):
    """Values of all steps, a row for each sequence and step.

    Attributes:
        gates: Values of the gates, in the order of `lstm_step`.
        cells: Cells after the steps.
        squashed: Hyperbolic tangents of the cells.
        states: Hidden states.
    """

    gates: Tensor
    cells: Tensor
    squashed: Tensor
    states: Tensor

    @classmethod
    def empty(cls, rows: int, like: Tensor) -> LSTMTable:
        """A table to be filled.

        Args:
            rows: Number of rows.
            like: Weights from the hidden state: (4H, H).
        """
        widths = (len(like), *3 * (like.shape[1],))
        return cls(*(like.new_empty(rows, width) for width in widths))

    def fill(self, rows: slice, gates: Tensor, before: slice | None) -> Tensor:
        """Make one step: the hidden state after it.

        Args:
            rows: Of the step.
            gates: Inputs of the gates.
            before: Rows of the step before, as many or one for all; None for a cell of zeros.
        """
        values, cell, squashed, state = (part[rows] for part in self)
        torch.sigmoid(gates, out=values)
        enter, keep, candidate, leave = values.chunk(4, dim=-1)
        torch.tanh(gates.chunk(4, dim=-1)[2], out=candidate)
        torch.mul(enter, candidate, out=cell)
        if before is not None:
            cell.addcmul_(keep, self.cells[before])
        return torch.mul(torch.tanh(cell, out=squashed), leave, out=state)

    def gradients(
        self, rows: slice, before: slice | None, of_state: Tensor, of_cell: Tensor, of_gates: Tensor
    ) -> Tensor:
        """Gradient of the cell before a step; that of the gates' inputs is put into `of_gates`.

        Args:
            rows: Of the step.
            before: As for `fill`.
            of_state: Gradient of the hidden state after the step.
            of_cell: Gradient of the cell after the step, by what follows.
            of_gates: Where the gradient of the gates' inputs goes.
        """
        values, squashed = self.gates[rows], self.squashed[rows]
        enter, keep, candidate, leave = values.chunk(4, dim=-1)
        of_enter, of_keep, of_candidate, of_leave = of_gates.chunk(4, dim=-1)
        of_cell = _tanh_backward(of_state * leave, squashed).add_(of_cell)
        torch.mul(of_cell, candidate, out=of_enter)
        torch.mul(of_cell, 0 if before is None else self.cells[before], out=of_keep)
        torch.mul(of_state, squashed, out=of_leave)
        _sigmoid_backward.grad_input(of_gates, values, grad_input=of_gates)
        _tanh_backward.grad_input(of_cell * enter, candidate, grad_input=of_candidate)
        return of_cell.mul_(keep)
