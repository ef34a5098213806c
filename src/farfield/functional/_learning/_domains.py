"""Losses over several training distributions: group weights, variance of risks, IRM, CORAL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from jaxtyping import Float
from torch import Tensor
from torch.func import grad


def group_weights(
    weights: Float[Tensor, " group"], losses: Float[Tensor, " group"], step_size: float
) -> Float[Tensor, " group"]:
    r"""Compute the next weights of groups in distributionally robust optimization.

    $$q_e \leftarrow \frac{q_e\, e^{\eta \ell_e}}{\sum_d q_d\, e^{\eta \ell_d}}$$

    Args:
        weights: Weights before the step; they sum to 1.
        losses: Mean loss of each group. No gradient passes through it.
        step_size: Step size $\eta$.

    Reference:
        Sagawa et al. 2020, algorithm 1.
    """
    return (weights.log() + step_size * losses.detach()).softmax(0)


def risk_variance(losses: Float[Tensor, " group"]) -> Float[Tensor, ""]:
    """Compute the biased variance of the mean losses of groups.

    Args:
        losses: Mean loss of each group.
    """
    return (losses - losses.mean()).square().mean()


def scale_slopes(outputs: Tensor, loss: Callable[[Tensor], Tensor]) -> Float[Tensor, " batch"]:
    r"""Compute the derivative of each problem's loss by a factor of its outputs, at a factor of 1.

    Args:
        outputs: Outputs $f(x_b)$, `(batch, *)`.
        loss: Function from outputs to the loss of each problem, $\ell_b$.
    """

    def total(factors: Tensor) -> Tensor:
        return loss(outputs * factors.reshape(-1, *(1,) * (outputs.ndim - 1))).sum()

    slopes: Tensor = grad(total)(outputs.new_ones(len(outputs)))
    return slopes


def invariance_penalty(slopes: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
    r"""Estimate the squared derivative of a group's risk, as in invariant risk minimization.

    $$\left(\frac{1}{B_0} \sum_{b\ \text{even}} g_b\right)
      \left(\frac{1}{B_1} \sum_{b\ \text{odd}} g_b\right)$$

    The two halves are independent, so that the product has no bias; it may be negative.

    Args:
        slopes: Derivative $g_b$ of each problem's loss by a factor of its outputs, at least two.

    Raises:
        ValueError: If there are fewer than two problems.

    Reference:
        Arjovsky et al. 2019, section 3.2.
    """
    if len(slopes) < 2:
        raise ValueError(f"slopes must be of two problems or more, got {len(slopes)}")
    return slopes[::2].mean() * slopes[1::2].mean()


def covariance_distance(
    groups: Sequence[Float[Tensor, "batch feature"]], *, means: bool = False
) -> Float[Tensor, ""]:
    r"""Compute the mean squared difference of covariances over all pairs of groups.

    $$\frac{2}{E (E - 1)} \sum_{a < b} \frac{1}{d^2} \lVert \Sigma_a - \Sigma_b \rVert_F^2
      \quad \left[+\ \frac{1}{d} \lVert \mu_a - \mu_b \rVert^2\right]$$

    with $\Sigma$ the unbiased covariance and $\mu$ the mean of $d$ features.

    Args:
        groups: Features of each group; two groups or more, of two problems or more.
        means: Whether the means are compared as well.

    Raises:
        ValueError: If there are fewer than two groups, or a group has fewer than two problems.

    Reference:
        Sun and Saenko 2016, equation 1.
    """
    if len(groups) < 2 or min(map(len, groups)) < 2:
        raise ValueError(
            "groups must be two or more, of two problems or more each, "
            f"got sizes {[len(group) for group in groups]}"
        )
    statistics = [_statistics(group) for group in groups]
    total = groups[0].new_zeros(())
    pairs = [*combinations(statistics, 2)]
    for (mean, covariance), (other_mean, other_covariance) in pairs:
        total = total + (covariance - other_covariance).square().mean()
        if means:
            total = total + (mean - other_mean).square().mean()
    return total / len(pairs)


def _statistics(
    features: Float[Tensor, "batch feature"],
) -> tuple[Float[Tensor, " feature"], Float[Tensor, "feature feature"]]:
    """Compute mean and unbiased covariance of features."""
    mean = features.mean(0)
    centered = features - mean
    return mean, centered.T @ centered / (len(features) - 1)
