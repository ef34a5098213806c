"""Quantiles of returns: their loss, and those that a double estimate aims at."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def quantile_huber_loss(
    values: Float[Tensor, "*batch quantile"],
    fractions: Float[Tensor, "*batch quantile"],
    targets: Float[Tensor, "*batch sample"],
    *,
    threshold: float = 1.0,
) -> Float[Tensor, "*batch"]:
    r"""Quantile regression with Huber's loss, over all pairs of a quantile and a sample.

    $$\sum_i \frac{1}{N'} \sum_j \left|\tau_i - [\delta_{ij} < 0]\right|
      \frac{\ell_\kappa(\delta_{ij})}{\kappa}, \qquad \delta_{ij} = y_j - q_i, \qquad
      \ell_\kappa(\delta) = \begin{cases} \delta^2 / 2 & |\delta| \le \kappa \\
      \kappa\, (|\delta| - \kappa / 2) & \text{else} \end{cases}$$

    Args:
        values: Quantiles $q_i$.
        fractions: Fraction $\tau_i$ in 0…1 that each is to have below it.
        targets: Samples $y_j$ of what they are quantiles of, $N'$ of them.
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
    r"""Quantiles of the action that is best by the mean of others: double Q-learning.

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
