"""The recurrence whose groups of units can hold their state exactly."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._unroll import Layer, Product, recur

EPS = 1e-6
"""Added to the mean square that candidates are divided by the root of."""


def holding_recurrence(
    inputs: Float[Tensor, "time batch feature"],
    gates: Float[Tensor, "time batch group"],
    weight: Float[Tensor, "_ feature"],
    state: Float[Tensor, "batch feature"],
    *,
    min_update: float = 0.0,
) -> Float[Tensor, "time batch feature"]:
    r"""Run groups of units that change or hold their state: states after every step.

    $$z_t = \min(1, \max(0, \tfrac12 + (g_t + U h_{t-1}) / 6)), \qquad
      c_t = N(A h_{t-1} + u_t), \qquad
      h_t = z_t h_{t-1} + (1 - z_t) c_t$$

    where $N(c) = c / \sqrt{\overline{c^2} + 10^{-6}}$ divides by the root of the mean square over
    all units, and each group of adjacent units has one number of $z$. A group whose gate is at
    1 keeps its state bit for bit, for however long. So does one that is asked to move by less than
    `min_update`: its $z$ is 1, without a gradient.

    Args:
        inputs: $u$, contributions of the input to the candidates.
        gates: $g$, contributions of the input to the gates.
        weight: $A$ above $U$: a row for each unit, then one for each group.
        state: $h_0$.
        min_update: The least that $1 - z$ can be, other than 0.

    Raises:
        ValueError: If there are no steps, the units do not divide into the groups, the weight has
            another number of rows, or `min_update` is not in [0, 1).

    Reference:
        lamb2022, section 8.2: mechanisms that are not active keep their state. The gates are not
        from there.
    """
    units, groups = inputs.shape[-1], gates.shape[-1]
    if len(inputs) == 0:
        raise ValueError("inputs must have at least one step, got 0")
    if units % groups:
        raise ValueError(f"the {units} units must divide into equal groups, got {groups} groups")
    if len(weight) != units + groups:
        raise ValueError(
            f"weight must have {units + groups} rows, one for each unit and group, "
            f"got {len(weight)}"
        )
    if not 0 <= min_update < 1:
        raise ValueError(f"min_update must be at least 0 and below 1, got {min_update}")
    steps = functools.partial(_steps, min_update=min_update)
    return recur(steps, (Layer(weight),), inputs, gates, state)


def _steps(
    products: Sequence[Product],
    inputs: Tensor,
    gates: Tensor,
    state: Tensor,
    *,
    min_update: float,
) -> Tensor:
    units, groups = inputs.shape[-1], gates.shape[-1]
    (product,) = products
    states = []
    for entering, asked in zip(inputs.unbind(0), gates.unbind(0), strict=True):
        moved, held = torch.split_with_sizes(product(state), (units, groups), dim=-1)
        # `F.hardsigmoid`, which has no second derivative.
        gate = F.hardtanh(asked + held + 3.0, 0.0, 6.0) / 6.0
        if min_update:
            gate = torch.where(gate > 1 - min_update, 1.0, gate)
        gate = gate.repeat_interleave(units // groups, dim=-1)
        candidate = F.rms_norm(moved + entering, (units,), eps=EPS)
        # Under `torch.autocast` the outputs of products are narrower.
        state = torch.lerp(candidate.to(state.dtype), state, gate.to(state.dtype))
        states.append(state)
    return torch.stack(states)
