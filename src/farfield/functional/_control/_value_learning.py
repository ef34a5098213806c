"""Returns, quantiles, noise and priorities of learning values from a memory."""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor
from torch.nn import functional as F


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
    r"""Compute the return of the steps of a stretch that belong to its first episode.

    $$y = \sum_{k < m} \gamma^k r_k + \gamma^m\, (1 - e_{m-1})\, V$$

    is the target of the value of its first state, with $V$ the value of the state after $m$ steps,
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


def quantile_huber_loss(
    values: Float[Tensor, "*batch quantile"],
    fractions: Float[Tensor, "*batch quantile"],
    targets: Float[Tensor, "*batch sample"],
    *,
    threshold: float = 1.0,
) -> Float[Tensor, "*batch"]:
    r"""Compute Huber's loss of quantile regression, over all pairs of a quantile and a sample.

    $$\sum_i \frac{1}{N'} \sum_j \left|\tau_i - [\delta_{ij} < 0]\right|
      \frac{\ell_\kappa(\delta_{ij})}{\kappa}, \qquad \delta_{ij} = y_j - q_i, \qquad
      \ell_\kappa(\delta) = \begin{cases} \delta^2 / 2 & |\delta| \le \kappa \\
      \kappa\, (|\delta| - \kappa / 2) & \text{else} \end{cases}$$

    Args:
        values: Quantiles $q_i$.
        fractions: Fraction $\tau_i$ in 0…1 that each is to have below it.
        targets: Samples $y_j$ of the distribution, $N'$ of them.
        threshold: The error $\kappa$ from which on the loss is linear.

    Reference:
        lamb2022, section 10.4.5; Dabney et al. 2018, equation 3.
    """
    errors = targets.unsqueeze(-2) - values.unsqueeze(-1)
    sizes = errors.abs()
    huber = F.huber_loss(sizes, sizes.new_zeros(()).expand_as(sizes), "none", threshold)
    tilt = (fractions.unsqueeze(-1) - (errors < 0).to(fractions)).abs()
    return (tilt * huber / threshold).mean(-1).sum(-1)


def double_estimate(
    quantiles: Float[Tensor, "*batch quantile class"],
    choosing: Float[Tensor, "*batch sample class"],
) -> Float[Tensor, "*batch quantile"]:
    r"""Select quantiles of the action that is best by the mean of others: double Q-learning.

    $$q_{i a^*}, \qquad a^* = \arg\max_a \sum_j q'_{j a}$$

    Args:
        quantiles: Quantiles $q$ of every action, which are returned for one.
        choosing: Quantiles $q'$ of every action, by whose mean it is chosen; the first of those
            that tie.

    Reference:
        lamb2022, section 10.4.5; van Hasselt et al. 2016, equation 4.
    """
    best = choosing.mean(-2).argmax(-1)
    index = best[..., None, None].expand(*quantiles.shape[:-1], 1)
    return quantiles.gather(-1, index).squeeze(-1)


def noisy_linear(
    x: Float[Tensor, "*batch feature"],
    weight: Float[Tensor, "out feature"],
    bias: Float[Tensor, " out"],
    weight_scale: Float[Tensor, "out feature"],
    bias_scale: Float[Tensor, " out"],
    noise: Float[Tensor, "*_ both"],
) -> Float[Tensor, "*batch out"]:
    r"""Apply a linear layer whose weights and biases have factorized noise of learned size.

    $$y = (W + S \circ f(\epsilon')\, f(\epsilon)^\top)\, x + b + s \circ f(\epsilon')
        = W x + b + f(\epsilon') \circ \left(S\, (f(\epsilon) \circ x) + s\right), \qquad
      f(\epsilon) = \mathrm{sgn}(\epsilon) \sqrt{|\epsilon|}$$

    No matrix of noise is made, so that every row may have separate noise.

    Args:
        x: Inputs.
        weight: Mean $W$ of the weights.
        bias: Mean $b$ of the biases.
        weight_scale: Size $S$ of the noise of each weight.
        bias_scale: Size $s$ of the noise of each bias.
        noise: Standard normal numbers $\epsilon$ for the inputs, then $\epsilon'$ for the outputs:
            for each row of `x`, or for all rows along axes of size 1 or that are left out.

    Reference:
        lamb2022, section 10.4.5; Fortunato et al. 2018, equations 9 to 11.
    """
    shaped = noise.sign() * noise.abs().sqrt()
    inner, outer = shaped.tensor_split([weight.shape[1]], dim=-1)
    return F.linear(x, weight, bias) + outer * F.linear(inner * x, weight_scale, bias_scale)


def prioritized_rows(
    priorities: Float64[Tensor, " row"], uniform: Float64[Tensor, " batch"]
) -> Int64[Tensor, " batch"]:
    r"""Draw rows in proportion to their priorities, one from each of as many equal shares.

    Draw $k$ of $B$ is the row at $(k + u_k) / B$ of the sum of all priorities.

    Args:
        priorities: Of every row, none negative and not all 0. A row of priority 0 is not drawn.
        uniform: Numbers $u_k$ of at least 0 and below 1.

    Reference:
        lamb2022, section 10.4.5; Schaul et al. 2016, section 3.3.
    """
    sums = priorities.cumsum(0)
    points = (torch.arange(len(uniform), device=uniform.device) + uniform) / len(uniform)
    below = sums[-1].nextafter(sums.new_zeros(()))  # a product may round up to the whole sum
    return torch.searchsorted(sums, (points * sums[-1]).minimum(below), right=True)


def importance_weights(
    probabilities: Float[Tensor, " batch"], *, exponent: float
) -> Float[Tensor, " batch"]:
    r"""Weight rows to correct for their probabilities of being drawn; the largest weight is 1.

    $$w_k = \left(\frac{P_k}{\min_j P_j}\right)^{-\beta}$$

    Args:
        probabilities: With which each was drawn, $P_k$, up to a common factor.
        exponent: Share $\beta$ of the difference that is made up for, 0…1.

    Reference:
        lamb2022, section 10.4.5; Schaul et al. 2016, section 3.4.
    """
    return (probabilities / probabilities.min()) ** -exponent
