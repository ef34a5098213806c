"""Recurrent layer that can hold its state for as long as nothing happens."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import (
    Dropout,
    FractionBelowOne,
    NonNegativeInt,
    Size,
    take_factory_arguments,
)
from farfield.functional.internal import holding_recurrence, linear, uninitialized
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State

HOLD = 2.0
"""First bias of the gates: most groups hold most of their state at first (z = 5/6)."""
SPREAD = 2.0
"""Standard deviation, over inputs of length 1, of their first contributions to the gates."""
GROUPS = 32
"""Number of groups, where none is given and the units divide into as many."""


@final
class HoldingRNN(SequenceLayer):
    r"""Recurrent layer with groups of units that hold their state exactly, or change together.

    $$z_t = \min(1, \max(0, \tfrac12 + (W_z x_t + U h_{t-1} + b) / 6)), \qquad
      c_t = N(A h_{t-1} + W x_t), \qquad
      h_t = z_t h_{t-1} + (1 - z_t) c_t$$

    with one number of $z$ for each group and $N(c) = c / \sqrt{\overline{c^2} + 10^{-6}}$ dividing
    by the root of the mean square over all units. Like the mechanisms of `RIMs`, groups that an
    input does not concern keep their state; unlike there, no fixed number of groups has to be
    active, and the gates are learned by gradients. The gates of a GRU are sigmoids, which never
    reach 1: after T steps a fraction $z^T$ of its state is left. Here a gate reaches 1, and the
    state after ten thousand steps equals the state after one.

    Beside the groups there can be units that sum inputs through separate gates:

    $$g_t = \min(1, \max(0, \tfrac12 + (W_g x_t + b_g) / 6)), \qquad
      s_t = s_{t-1} + g_t \cdot V x_t$$

    Neither their gates nor the groups read the sums or the held state, so that a sum means the
    same after any number of steps.

    Args:
        num_groups: Number of groups of units, each with a gate; where the default does not divide
            the units, the largest number below it that does.
        num_sums: Number of the hidden units that are sums.
        dropout: Probability that an element of the held state is dropped from an output in
            training; sums are never dropped, so that they stay exact. Drawn from torch's global
            generator.
        min_added: Least value of the gate of a sum, other than 0; None is `min_update`. The leak
            of a smaller value is too little to be seen in training.
        min_update: Least fraction of a unit that a step can change, other than 0. At 0 a gate can
            come arbitrarily close to 1, and the leak is too little to be seen in training and too
            much after ten thousand steps.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of `(1, batch, hidden_size)`.
        Out: the states after every step in the form of the input, and the last one.

    Attributes:
        weight_ih: $W$, $V$, $W_z$ and $W_g$ below each other.
        weight_hh: $A$ above $U$; $A$ is orthogonal at first.
        bias: $b$ before $b_g$.
        added: Module that the gates of the sums pass through, `(time, batch, num_sums)`, for an
            objective that penalizes summation (`farfield.objectives.ActivationL1`).

    Raises:
        ValueError: If a size is below 1, the units do not divide into the groups, `min_update` or
            `min_added` is not in [0, 1), or the input or the state has another shape.

    Reference:
        lamb2022, section 8.2: mechanisms that are not active keep their state. The layer itself is
        Farfield's own.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_groups: Size = GROUPS,
        num_sums: NonNegativeInt = 0,
        dropout: Dropout = 0.0,
        min_added: FractionBelowOne | None = None,
        min_update: FractionBelowOne = 0.0,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
        generator = options["generator"]
        self.held_size = hidden_size - num_sums
        if num_groups == GROUPS and self.held_size > 0:
            num_groups = next(n for n in range(GROUPS, 0, -1) if self.held_size % n == 0)
        if self.held_size < num_groups or self.held_size % num_groups:
            less = f" without num_sums={num_sums}" if num_sums else ""
            raise ValueError(
                f"hidden_size{less} must be a multiple of num_groups={num_groups}, "
                f"got {hidden_size}"
            )
        self.min_added = min_update if min_added is None else min_added
        self.num_groups = num_groups
        self.num_sums = num_sums
        self.dropout = dropout
        self.min_update = min_update
        held, rows = self.held_size, hidden_size + num_groups + num_sums
        self.weight_ih = uninitialized(nn.Linear, input_size, rows, bias=False).weight
        self.weight_hh = uninitialized(nn.Linear, held, held + num_groups, bias=False).weight
        self.bias = nn.Parameter(torch.tensor([HOLD] * num_groups + [-HOLD] * num_sums))
        self.added = nn.Identity()
        with torch.no_grad():
            nn.init.normal_(self.weight_ih[:hidden_size], std=1.0, generator=generator)
            nn.init.normal_(self.weight_ih[hidden_size:], std=SPREAD, generator=generator)
            nn.init.orthogonal_(self.weight_hh[:held], generator=generator)
            spread = 0.3 / math.sqrt(held)
            nn.init.normal_(self.weight_hh[held:], std=spread, generator=generator)

    def _first_state(self, x: Tensor) -> State:
        return (x.new_zeros(1, x.shape[1], self.hidden_size),)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        units = (self.held_size, self.num_sums)
        gates = (self.num_groups, self.num_sums)
        u, entering, holding, adding = torch.split_with_sizes(
            linear(x, self.weight_ih), (*units, *gates), dim=-1
        )
        bias, low = self.bias.split_with_sizes(gates)
        before, sums = state[0][0].split_with_sizes(units, dim=-1)
        held = holding_recurrence(
            u, holding + bias, self.weight_hh, before, min_update=self.min_update
        )
        gate = F.hardtanh(adding + low + 3.0, 0.0, 6.0) / 6.0
        gate = self.added(torch.where(gate < self.min_added, 0.0, gate))
        sums = sums + (gate * entering).cumsum(0)
        outputs = torch.cat([F.dropout(held, self.dropout, self.training), sums], dim=-1)
        return outputs, (torch.cat([held[-1:], sums[-1:]], dim=-1),)

    def extra_repr(self) -> str:
        """Format the sizes for `print`."""
        sizes = f"{super().extra_repr()}, num_groups={self.num_groups}"
        sizes += f", num_sums={self.num_sums}" if self.num_sums else ""
        sizes += f", dropout={self.dropout:g}" if self.dropout else ""
        return f"{sizes}, min_update={self.min_update:g}" if self.min_update else sizes
