"""Advantages and clipped losses of policy gradients."""

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
    r"""Estimate generalized advantages: discounted sums of one-step errors of the values.

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


def clipped_policy_loss(
    log_probs: Float[Tensor, "*batch"],
    old_log_probs: Float[Tensor, "*batch"],
    advantages: Float[Tensor, "*batch"],
    *,
    clip: float,
) -> Float[Tensor, "*batch"]:
    r"""Take the worse of the plain and the clipped importance-weighted advantage, negated.

    $$-\min\left(\rho A,\; \mathrm{clip}(\rho, 1 - \epsilon, 1 + \epsilon)\, A\right), \qquad
      \rho = \exp(\log \pi - \log \pi')$$

    Args:
        log_probs: Log-probability $\log \pi$ of each action.
        old_log_probs: Log-probability $\log \pi'$ of it when it was taken.
        advantages: Advantage $A$ of it.
        clip: The bound $\epsilon$ of the change of the ratio.

    Reference:
        lamb2022, section 8.4.3; Schulman et al. 2017, equation 7.
    """
    ratio = (log_probs - old_log_probs).exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def clipped_value_loss(
    values: Float[Tensor, "*batch"],
    old_values: Float[Tensor, "*batch"],
    returns: Float[Tensor, "*batch"],
    *,
    clip: float,
) -> Float[Tensor, "*batch"]:
    r"""Take the larger of the squared errors of a value and of its clipped change, halved.

    $$\tfrac12 \max\left((V - R)^2,\;
      (V' + \mathrm{clip}(V - V', -\epsilon, \epsilon) - R)^2\right)$$

    Args:
        values: Value $V$ of each state.
        old_values: Value $V'$ of it when it was met.
        returns: Return $R$ that the value is to be.
        clip: The bound $\epsilon$ of the change of a value.

    Reference:
        The released code of lamb2022, which has it from OpenAI's implementation of PPO.
    """
    clipped = old_values + (values - old_values).clamp(-clip, clip)
    return torch.maximum((values - returns).square(), (clipped - returns).square()) / 2
