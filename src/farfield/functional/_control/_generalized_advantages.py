"""Advantages of actions over a stretch of steps."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def generalized_advantages(
    rewards: Float[Tensor, "*batch time"],
    values: Float[Tensor, "*batch time"],
    next_values: Float[Tensor, "*batch time"],
    ends: Bool[Tensor, "*batch time"],
    *,
    discount: float,
    decay: float,
) -> Float[Tensor, "*batch time"]:
    r"""Generalized advantage estimates: discounted sums of one-step errors of the values.

    $$\delta_t = r_t + \gamma V'_t - V_t, \qquad
      A_t = \delta_t + \gamma \lambda\, (1 - e_t)\, A_{t+1}$$

    with nothing after the last step. A truncated episode ends and still has a value after its last
    step; one that terminated has none.

    Args:
        rewards: Reward $r_t$ of each step.
        values: Value $V_t$ of the state before the step.
        next_values: Value $V'_t$ of the state after it; 0 where the episode terminated.
        ends: Whether the episode ends with the step, $e_t$.
        discount: The discount $\gamma$.
        decay: Decay $\lambda$ of the errors of later steps.

    Reference:
        lamb2022, section 8.4.3; Schulman et al. 2016, equations 11 to 16.
    """
    errors = rewards + discount * next_values - values
    kept = discount * decay * (~ends).to(errors)
    after, found = torch.zeros_like(errors[..., 0]), list[Tensor]()
    for error, share in zip(reversed(errors.unbind(-1)), reversed(kept.unbind(-1)), strict=True):
        after = error + share * after
        found.append(after)
    return torch.stack(found[::-1], dim=-1)
