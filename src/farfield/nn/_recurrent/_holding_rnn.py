"""A recurrent layer that can hold what it has read for as long as nothing happens."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import check_min_update, holding_recurrence, linear, uninitialized
from farfield.nn._recurrent._sequence_layer import SequenceLayer
from farfield.nn._recurrent._states import State

HOLD = 2.0
"""First bias of the gates: most groups hold most of their state at first (z = 5/6)."""
SPREAD = 2.0
"""Standard deviation, over inputs of length 1, of what they first add to the gates."""


@final
class HoldingRNN(SequenceLayer):
    r"""A recurrent layer whose groups of units hold their state exactly, or move on together.

    $$z_t = \min(1, \max(0, \tfrac12 + (W_z x_t + U h_{t-1} + b) / 6)), \qquad
      c_t = N(A h_{t-1} + W x_t), \qquad
      h_t = z_t h_{t-1} + (1 - z_t) c_t$$

    with one number of $z$ for each group and $N(c) = c / \sqrt{\overline{c^2} + 10^{-6}}$ dividing
    by the root of the mean square over all units. Like the mechanisms of `RIMs`, groups that have
    nothing to do with an input stay as they are; other than there, no fixed number of them has to
    be active, and the gates are learned by gradients. The gates of a GRU are sigmoids, which never
    quite reach 1: of what it holds through T steps a share $z^T$ is left. Here a gate reaches 1,
    and the state after ten thousand steps is that after one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_groups: Number of groups of units, each with a gate.
        min_update: The least share of a group that a step can change, other than nothing. At 0 a
            gate can come as close to 1 as it likes, and what leaks is too little to be seen in
            training and too much after ten thousand steps.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of `(1, batch, hidden_size)`.
        Out: the states after every step in the form of the input, and the last one.

    Attributes:
        weight_ih: $W$ above $W_z$, `(hidden_size + num_groups, input_size)`.
        weight_hh: $A$ above $U$, `(hidden_size + num_groups, hidden_size)`; $A$ is orthogonal at
            first.
        bias: $b$, `(num_groups)`.

    Raises:
        ValueError: If a size is below 1, the units do not divide into the groups, `min_update` is
            not in [0, 1), or the input or the state has another shape.

    Reference:
        lamb2022, section 8.2: mechanisms that are not active stay as they are. The layer itself is
        Farfield's own.
    """

    @check_arguments
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_groups: Size = 32,
        min_update: float = 0.0,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        if hidden_size % num_groups:
            raise ValueError(
                f"hidden_size must be a multiple of num_groups={num_groups}, got {hidden_size}"
            )
        check_min_update(min_update)
        self.num_groups = num_groups
        self.min_update = min_update
        rows = hidden_size + num_groups
        self.weight_ih = uninitialized(nn.Linear, input_size, rows, bias=False).weight
        self.weight_hh = uninitialized(nn.Linear, hidden_size, rows, bias=False).weight
        self.bias = nn.Parameter(torch.full((num_groups,), HOLD))
        with torch.no_grad():
            nn.init.normal_(self.weight_ih[:hidden_size], std=1.0, generator=generator)
            nn.init.normal_(self.weight_ih[hidden_size:], std=SPREAD, generator=generator)
            nn.init.orthogonal_(self.weight_hh[:hidden_size], generator=generator)
            spread = 0.3 / math.sqrt(hidden_size)
            nn.init.normal_(self.weight_hh[hidden_size:], std=spread, generator=generator)
        self.to(device=device, dtype=dtype)

    def _first_state(self, x: Tensor) -> State:
        return (x.new_zeros(1, x.shape[1], self.hidden_size),)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        sizes = (self.hidden_size, self.num_groups)
        inputs, gates = torch.split_with_sizes(linear(x, self.weight_ih), sizes, dim=-1)
        states = holding_recurrence(
            inputs,
            gates + self.bias,
            self.weight_hh,
            state[0][0],
            min_update=self.min_update,
        )
        return states, (states[-1:].clone(),)  # or it would keep all states, and change with them

    def extra_repr(self) -> str:
        """The sizes, for `print`."""
        sizes = f"{super().extra_repr()}, num_groups={self.num_groups}"
        return f"{sizes}, min_update={self.min_update:g}" if self.min_update else sizes
