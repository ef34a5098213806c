"""The recurrence of an LSTM with divisive normalization, its gradient written out.

The cost of a step is its products and the number of its operations: all gates are normalized at
once, sums over windows are differences of running sums, and the gradient of the weights is one
product for all steps.
"""

from __future__ import annotations

from functools import partial
from typing import Any, final

import torch
from torch import Tensor

from farfield.functional._autograd._products import add_product, is_rewritten, product
from farfield.functional._autograd._unroll import differentiable_gradients
from farfield.functional._norm._divisive_norm import window_mean


def _plain(
    inputs: Tensor,
    weight_hh: Tensor,
    hidden: Tensor,
    cell: Tensor,
    *,
    smoothing: float,
    windows: tuple[int, int],
) -> tuple[Tensor, Tensor]:
    """Compute the formula, for autograd to differentiate."""
    summation, suppression = (window_mean(hidden, window) for window in windows)

    def normalized(z: Tensor) -> Tensor:
        v = z - z @ summation
        return v * (v.square() @ suppression + smoothing).rsqrt()

    states: list[Tensor] = []
    for row in inputs.unbind(0):
        gates = normalized(torch.unflatten(row + hidden @ weight_hh.t(), -1, (4, -1)))
        enter, keep, candidate, leave = gates.unbind(-2)
        cell = keep.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
        hidden = leave.sigmoid() * normalized(cell).tanh()
        states.append(hidden)
    return torch.stack(states), cell


def divisive_lstm(
    inputs: Tensor,
    weight_hh: Tensor,
    hidden: Tensor,
    cell: Tensor,
    *,
    sigma: float,
    window: int,
    suppression_window: int,
) -> tuple[Tensor, Tensor]:
    r"""Run an LSTM whose five non-linearities have divisive normalization.

    It computes a layer of `farfield.nn.NormalizedLSTM` with `DivisiveNorm1d`.

    Args:
        inputs: $W_x x_t + b$ of all steps, `(time, batch, 4 H)`.
        weight_hh: $W_h$, `(4 H, H)`.
        hidden: The hidden state before the first step, `(batch, H)`.
        cell: The cell before the first step.
        sigma: The constant, whose square is added to the power.
        window: Number of units in the summation field.
        suppression_window: Number of units in the suppression field.

    Returns:
        The hidden state after each step, `(time, batch, H)`, and the last cell.

    Reference:
        ren2017, equations 6, 7 and 16 to 20.
    """
    smoothing, windows = sigma**2, (window, suppression_window)
    if is_rewritten():
        return _plain(inputs, weight_hh, hidden, cell, smoothing=smoothing, windows=windows)
    # torch leaves `apply` untyped.
    states: Tensor
    last: Tensor
    states, last = _ByHand.apply(  # type: ignore[no-untyped-call]
        inputs, weight_hh, hidden, cell, smoothing, windows
    )
    return states, last


# 1.4 times as fast as autograd for 20 sequences of 20 steps and 200 units.
class _ByHand(torch.autograd.Function):
    """The values of `_plain`; not for the transformations of `torch.func`."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        weight_hh: Tensor,
        hidden: Tensor,
        cell: Tensor,
        smoothing: float,
        windows: tuple[int, int],
    ) -> tuple[Tensor, Tensor]:
        time, batch, size = (*inputs.shape[:2], hidden.shape[-1])
        added = inputs.new_tensor(smoothing)
        over_gates, over_cells = (
            [_WindowSums(rows, size, window, inputs) for window in windows]
            for rows in (4 * batch, batch)
        )
        states, cells = inputs.new_empty(2, time + 1, batch, size).unbind(0)
        states[0], cells[0] = hidden, cell
        # Of gates and cell: the centered activations, and the reciprocal roots.
        gate_parts = inputs.new_empty(2, time, 4 * batch, size)
        cell_parts = inputs.new_empty(2, time, batch, size)
        gates = inputs.new_empty(time, batch, 4, size)
        squashed = inputs.new_empty(time, batch, size)
        for t in range(time):
            z = add_product(inputs[t], states[t], weight_hh.t())
            scaled = _normalized(z.view(-1, size), added, over_gates, gate_parts[:, t])
            scaled = scaled.view(batch, 4, size)
            enter, keep, candidate, leave = torch.sigmoid(scaled, out=gates[t]).unbind(1)
            torch.tanh(scaled[:, 2], out=candidate)
            torch.mul(keep, cells[t], out=cells[t + 1]).addcmul_(enter, candidate)
            scaled = _normalized(cells[t + 1], added, over_cells, cell_parts[:, t])
            torch.mul(torch.tanh(scaled, out=squashed[t]), leave, out=states[t + 1])
        ctx.save_for_backward(
            inputs,
            weight_hh,
            hidden,
            cell,
            states,
            cells,
            gate_parts,
            cell_parts,
            gates,
            squashed,
        )
        ctx.smoothing, ctx.windows = smoothing, windows
        return states[1:].clone(), cells[-1].clone()

    @staticmethod
    def backward(ctx: Any, of_states: Tensor, of_last: Tensor) -> tuple[Tensor | None, ...]:
        given, saved = ctx.saved_tensors[:4], ctx.saved_tensors[4:]
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            plain = partial(_plain, smoothing=ctx.smoothing, windows=ctx.windows)
            again = differentiable_gradients(plain, given, [of_states, of_last])
            return (*again, None, None)
        weight_hh = given[1]
        states, cells, gate_parts, cell_parts, gates, squashed = saved
        time, batch, _, size = gates.shape
        over_gates, over_cells = (
            [_WindowSums(rows, size, window, gates, turned=True) for window in ctx.windows]
            for rows in (4 * batch, batch)
        )
        of_inputs = torch.empty_like(gates)
        of_hidden, of_cell = torch.zeros_like(cells[0]), of_last.clone()
        slopes = _slopes(gates)
        of_squashed = gates[:, :, 3] * (1 - squashed.square())
        for t in reversed(range(time)):
            of_hidden = of_hidden + of_states[t]
            of_scaled = of_hidden * of_squashed[t]
            of_cell = of_cell + _unnormalized(of_scaled, over_cells, cell_parts[:, t])
            enter, keep, candidate, _ = gates[t].unbind(1)
            own = torch.stack(
                (of_cell * candidate, of_cell * cells[t], of_cell * enter, of_hidden * squashed[t]),
                dim=1,
            ).mul_(slopes[t])
            of_gates = _unnormalized(own.view(-1, size), over_gates, gate_parts[:, t])
            of_inputs[t] = of_gates.view(batch, 4, size)
            of_cell = of_cell * keep
            of_hidden = product(of_gates.view(batch, -1), weight_hh)
        rows = of_inputs.view(time * batch, -1)
        of_weight = product(rows.t(), states[:-1].reshape(-1, size))
        return of_inputs.view(time, batch, -1), of_weight, of_hidden, of_cell, None, None


@final
class _WindowSums:
    """Sums over windows of the numbers in rows, by running sums.

    These are in float64, so that nothing is lost in their differences. A product with ones around
    the diagonal, as in `normalized_vectors`, takes twice as long for so many rows.

    Args:
        rows: Number of rows.
        size: Numbers of a row.
        window: Numbers of a window.
        like: Tensor of the type and device of the sums.
        turned: Whether each number is added to the windows that it lies in, as gradients are.
    """

    def __init__(
        self, rows: int, size: int, window: int, like: Tensor, *, turned: bool = False
    ) -> None:
        before = window // 2 if turned else (window - 1) // 2
        # Zeros before the first number, its running sums, and the last of these after the last.
        sums = like.new_zeros(rows, size + window, dtype=torch.float64)
        parts = [before + 1, size, window - before - 1]
        _, self._sums, self._beyond = torch.split(sums, parts, dim=1)
        self._total = self._sums[:, -1:]
        self._until, self._from = sums[:, window:], sums[:, :size]
        self._found = like.new_empty(rows, size)
        self.share = 1 / window

    def __call__(self, z: Tensor) -> Tensor:
        """Sum over the window of each number; the next call overwrites the result."""
        torch.cumsum(z, 1, dtype=torch.float64, out=self._sums)
        self._beyond.copy_(self._total)
        return torch.sub(self._until, self._from, out=self._found)


def _normalized(z: Tensor, smoothing: Tensor, sums: list[_WindowSums], parts: Tensor) -> Tensor:
    """Normalize rows; write centered activations and reciprocal roots into `parts`."""
    (summation, suppression), (v, root) = sums, parts.unbind(0)
    torch.sub(z, summation(z), alpha=summation.share, out=v)
    torch.add(smoothing, suppression(v * v), alpha=suppression.share, out=root).rsqrt_()
    return v * root


def _unnormalized(gradient: Tensor, sums: list[_WindowSums], parts: Tensor) -> Tensor:
    """Compute the gradient of rows from the gradient of the normalized rows."""
    (summation, suppression), (v, root) = sums, parts.unbind(0)
    along = (gradient * v).mul_(root).mul_(root).mul_(root)
    of_v = torch.addcmul(gradient * root, v, suppression(along), value=-suppression.share)
    return of_v.sub_(summation(of_v), alpha=summation.share)


def _slopes(gates: Tensor) -> Tensor:
    """Compute the derivative of the non-linearity of each gate from its values."""
    slopes = gates * (1 - gates)
    slopes[:, :, 2] = 1 - gates[:, :, 2].square()
    return slopes
