"""The clipped losses of proximal policy optimization."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def clipped_policy_loss(
    log_probs: Float[Tensor, "*batch"],
    old_log_probs: Float[Tensor, "*batch"],
    advantages: Float[Tensor, "*batch"],
    *,
    clip: float,
) -> Float[Tensor, "*batch"]:
    r"""The worse of the plain and of the clipped importance-weighted advantage, negated.

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
    r"""The larger of the squared errors of a value and of its clipped change, halved.

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
