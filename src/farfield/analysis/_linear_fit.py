"""A straight line through points, and their mean along it."""

from __future__ import annotations

import math
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
    if len(set(values.tolist())) < 2:
        raise ValueError("values must vary, got the same one throughout")
    from scipy.stats import linregress  # noqa: PLC0415 — a quarter of a second to import

    line = linregress(*(part.double().cpu().numpy() for part in (values, heights)))
    return LinearFit(
        slope=float(line.slope),
        intercept=float(line.intercept),
        share=0.0 if math.isnan(line.rvalue) else float(line.rvalue) ** 2,  # nan on a level line
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
    from scipy.stats import binned_statistic  # noqa: PLC0415 — a quarter of a second to import

    places, rises = (part.double().cpu().numpy() for part in (values, heights))
    means = torch.from_numpy(binned_statistic(places, [places, rises], bins=num_bins).statistic)
    return means[:, means[0].isfinite()]
