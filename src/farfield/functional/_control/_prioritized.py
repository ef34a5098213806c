"""Rows drawn in proportion to their priorities, and the weights that make up for it."""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor


def prioritized_rows(
    priorities: Float64[Tensor, " row"], uniform: Float64[Tensor, " batch"]
) -> Int64[Tensor, " batch"]:
    r"""Rows drawn in proportion to their priorities, one from each of as many equal shares.

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
    r"""Weights that make up for rows drawn with other probabilities; the largest is 1.

    $$w_k = \left(\frac{P_k}{\min_j P_j}\right)^{-\beta}$$

    Args:
        probabilities: With which each was drawn, $P_k$, up to a common factor.
        exponent: Share $\beta$ of the difference that is made up for, 0…1.

    Reference:
        lamb2022, section 10.4.5; Schaul et al. 2016, section 3.4.
    """
    return (probabilities / probabilities.min()) ** -exponent
