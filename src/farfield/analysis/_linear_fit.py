"""A straight line through points, and their mean along it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class LinearFit(NamedTuple):
    """The straight line nearest to points, by squared distance of the heights.

    Attributes:
        slope: Rise of the line for each unit of the values.
        intercept: Its height at 0.
        share: Share of the variance of the heights that the line accounts for, R²: 1 where the
            points lie on it, 0 where it is level. Heights that do not vary have a share of 0.
    """

    slope: float
    intercept: float
    share: float


def linear_fit(values: Float[Tensor, " batch"], heights: Float[Tensor, " batch"]) -> LinearFit:
    r"""The least-squares line of heights over values, in float64.

    $$\hat h = a v + b, \qquad R^2 = \frac{\operatorname{cov}(v, h)^2}
    {\operatorname{var}(v) \operatorname{var}(h)}$$

    Args:
        values: Where the points stand.
        heights: How high.

    Raises:
        ValueError: If the numbers of values and heights differ, a number is not finite, or the
            values do not vary.
    """
    if values.shape != heights.shape:
        raise ValueError(f"heights must be as many as values ({len(values)}), got {len(heights)}")
    if not (values.isfinite().all() and heights.isfinite().all()):
        raise ValueError("values and heights must be finite, got some that are not")
    v, h = (part.double() - part.double().mean() for part in (values, heights))
    spread, height, both = ((v * v).sum(), (h * h).sum(), (v * h).sum())
    if not spread > 0:
        raise ValueError("values must vary, got the same one throughout")
    slope = float(both / spread)
    return LinearFit(
        slope=slope,
        intercept=float(heights.double().mean()) - slope * float(values.double().mean()),
        share=float(both.square() / (spread * height)) if height > 0 else 0.0,
    )


def mean_line(
    values: Float[Tensor, " batch"], heights: Float[Tensor, " batch"], num_bins: int
) -> Float[Tensor, "2 _"]:
    """Mean value and mean height of the points in bins of equal width, empty ones left out.

    Values that are fewer than the bins and evenly spaced have a bin each: the line then goes
    through the mean height at each value.

    Args:
        values: Where the points stand.
        heights: How high.
        num_bins: Bins between the least and the largest value.

    Raises:
        ValueError: If there are no bins or no points.
    """
    if num_bins < 1 or not len(values):
        raise ValueError(
            "num_bins and the number of values must be at least 1, "
            f"got {num_bins} and {len(values)}"
        )
    low, high = values.double().aminmax()
    width = (high - low).clamp(min=torch.finfo(torch.float64).tiny)
    bins = ((values.double() - low) / width * num_bins).long().clamp(max=num_bins - 1)
    counts = torch.bincount(bins, minlength=num_bins)
    sums = [torch.bincount(bins, part.double(), num_bins) for part in (values, heights)]
    full = counts > 0
    return torch.stack(sums)[:, full] / counts[full]
