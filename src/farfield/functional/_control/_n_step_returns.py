"""Returns of the first steps of a stretch, with what follows."""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor


@final
class NStepReturns(NamedTuple):
    r"""Rewards of several steps, and how the value after them counts.

    Attributes:
        returns: Discounted sum of the rewards, $\sum_{k<m} \gamma^k r_k$.
        factors: Factor of the value after them: $\gamma^m$, or 0 where the episode terminated.
        steps: Number $m$ of the steps: all, or those up to the end of the episode.

    Reference:
        lamb2022, section 10.4.5.
    """

    returns: Float[Tensor, "*batch"]
    factors: Float[Tensor, "*batch"]
    steps: Int64[Tensor, "*batch"]


def n_step_returns(
    rewards: Float[Tensor, "*batch time"],
    terminations: Bool[Tensor, "*batch time"],
    truncations: Bool[Tensor, "*batch time"],
    *,
    discount: float,
) -> NStepReturns:
    r"""Return of the steps of a stretch that belong to its first episode.

    $$y = \sum_{k < m} \gamma^k r_k + \gamma^m\, (1 - e_{m-1})\, V$$

    is what the value of its first state is to be, with $V$ the value of the state after $m$ steps,
    $e$ whether a step terminates the episode, and $m$ the number of steps up to the first that
    terminates or truncates it, or of all.

    Args:
        rewards: Reward of each step.
        terminations: Whether the episode terminates with it.
        truncations: Whether it is truncated there: there is a value after it.
        discount: The discount $\gamma$.

    Reference:
        lamb2022, section 10.4.5; Hessel et al. 2018, multi-step learning.
    """
    ended = (terminations | truncations).to(torch.int64).cumsum(-1)
    counts = torch.cat([torch.zeros_like(ended[..., :1]), ended[..., :-1]], dim=-1) == 0
    powers = discount ** torch.arange(rewards.shape[-1] + 1, device=rewards.device).to(rewards)
    steps = counts.sum(-1)
    goes_on = ~(terminations & counts).any(-1)
    returns = (rewards * counts.to(rewards) * powers[:-1]).sum(-1)
    return NStepReturns(returns, powers[steps] * goes_on.to(rewards), steps)
