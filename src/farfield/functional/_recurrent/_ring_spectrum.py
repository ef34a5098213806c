"""Eigenvalues of a linear recurrence, drawn from a ring."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def ring_spectrum(
    size: int,
    *,
    radius: tuple[float, float],
    max_phase: float,
    generator: torch.Generator | None = None,
) -> tuple[Float[Tensor, " feature"], Float[Tensor, " feature"]]:
    r"""Logarithms of decay and phase of eigenvalues spread evenly over a ring of the unit disk.

    $$\lambda = \exp(-e^\nu + i e^\theta), \qquad r_0 \le |\lambda| \le r_1, \qquad
      0 < \arg \lambda \le \theta_1$$

    Whatever becomes of $\nu$, the modulus stays below 1; and close to 1, where memory is long,
    $\nu$ separates what $|\lambda|$ hardly does.

    Args:
        size: Number of eigenvalues.
        radius: The radii $r_0$ and $r_1$ of the ring, from 0 to below 1. An eigenvalue forgets
            half of what it holds in about $0.7 / (1 - |\lambda|)$ steps.
        max_phase: $\theta_1$, in radians.
        generator: Where the draws come from; None is torch's global generator.

    Returns:
        $\nu$ and $\theta$.

    Raises:
        ValueError: If the radii are no ring within the unit disk, or the phase is not positive and
            finite.

    Reference:
        orvieto2023, sections 3.3 and 3.4, lemma 3.2.
    """
    try:
        inner, outer = radius
    except (TypeError, ValueError):
        raise ValueError(f"radius must be two numbers, got {radius!r}") from None
    if not 0 <= inner <= outer < 1 or outer == 0:
        raise ValueError(f"radius must be two numbers, 0 ≤ r0 ≤ r1 < 1 and r1 > 0, got {radius}")
    if not 0 < max_phase < math.inf:
        raise ValueError(f"max_phase must be positive and finite, got {max_phase}")
    # float64, since 1 − |λ|² is a difference of near numbers; 1 − u, since u may be 0.
    area, turn = 1 - torch.rand(2, size, generator=generator, dtype=torch.float64)
    square = inner**2 + area * (outer**2 - inner**2)
    nu, theta = (-0.5 * square.log()).log(), (max_phase * turn).log()
    dtype = torch.get_default_dtype()
    return nu.to(dtype), theta.to(dtype)
