"""The periods of sequences that repeat themselves."""

from __future__ import annotations

from typing import Final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

FEWEST: Final = 4
"""Steps of a period, and periods of a sequence, at least."""
SIGNIFICANT: Final = 3.0
"""Standard deviations between a correlation that counts and 0."""
LONGER: Final = 1.0 + 1e-4
"""Least ratio of the correlation of a longer period to the one of a shorter: rounding alone makes
none of twice a period."""


def periods(x: Float[Tensor, "batch time feature"]) -> Int64[Tensor, " batch"]:
    r"""Find the period of every sequence that repeats itself, in steps; 0 where there is none.

    $$c_t = x_t - \overline{x}, \qquad
      \rho(d) = \frac{T}{T - d} \frac{\sum_t c_t \cdot c_{t + d}}{\sum_t |c_t|^2}, \qquad
      n = \frac{\big(\sum_t |c_t|^2\big)^2}{\sum_t |c_t|^4}$$

    Of all $d \ge 4$ that divide the $T$ steps into at least four parts, the one with the largest
    $\rho$ is the period, and the shortest of those alike, if $\rho \sqrt n > 3$: three standard
    deviations, were the steps drawn independently. $n$ counts the steps at which something
    happens, so that a few symbols close to each other in a long silence are no rhythm.

    Args:
        x: The sequences.

    Reference:
        Farfield's own, for pictures read in rows as in lamb2022, section 8.4.1.
    """
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    x = x - x[:, :1]  # a constant sequence becomes 0, and so does its mean, without rounding error
    centered = x - x.mean(1, keepdim=True)
    energy = centered.square().sum(2)
    total = energy.sum(1)
    found = torch.zeros(len(x), dtype=torch.int64, device=x.device)
    steps = x.shape[1]
    # n, and the largest correlation so far that counts
    busy = total.square() / energy.square().sum(1)
    best = SIGNIFICANT / busy.sqrt()
    for lag in range(FEWEST, steps // FEWEST + 1):
        if steps % lag:
            continue
        shared = (centered[:, lag:] * centered[:, :-lag]).sum((1, 2))
        correlation = shared / total * (steps / (steps - lag))
        counts = correlation > LONGER * best  # never where nothing happens: 0 / 0
        found = torch.where(counts, lag, found)
        best = best.maximum(correlation)
    return found
