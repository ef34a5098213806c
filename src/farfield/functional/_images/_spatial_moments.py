"""Spatial moments of a map: position, width and strength."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

_TINY = 1e-9
"""Weight of an empty map, so that its moments are numbers."""


def spatial_moments(
    maps: Float[Tensor, "*batch height width feature"],
    rows: Float[Tensor, " height"],
    columns: Float[Tensor, " width"],
    *,
    eps: float = 1e-8,
) -> Float[Tensor, "*batch 5 feature"]:
    r"""Center, spread and level of every map, each point weighted by its magnitude.

    $$p_{yx} = \frac{|m_{yx}|}{\sum |m|}, \qquad
      \bar x = \sum p\, x, \qquad
      s_x = \sqrt{\sum p\, (x - \bar x)^2 + \epsilon}, \qquad
      \ell = \sum p\, m$$

    and $\bar y$, $s_y$ likewise. If a picture is moved, widened or brightened by a step, and then
    by a step again, the moments of a map that is zero off the object change by the same amount
    each time, however far it goes; what convolutions and pooling make of it does not.
    `torch.nn.AdaptiveAvgPool2d` keeps the sum of a map and drops where it was.

    Args:
        maps: The maps $m$, channels last.
        rows: Coordinate $y$ of each row.
        columns: Coordinate $x$ of each column.
        eps: Added to the variances, so that the spread of a single point has a gradient.

    Returns:
        $\bar x, \bar y, s_x, s_y, \ell$ of every map.

    Raises:
        ValueError: If there is not one coordinate a row and one a column.

    Reference:
        Levine et al. 2016 (spatial softmax, the center alone); made for webb2020, supplement 4.
    """
    if rows.shape != maps.shape[-3:-2] or columns.shape != maps.shape[-2:-1]:
        raise ValueError(
            f"rows and columns must have one coordinate each for {tuple(maps.shape[-3:-1])} "
            f"(height, width), got {len(rows)} and {len(columns)}"
        )
    weight = maps.abs()
    whole = weight.sum((-3, -2)) + _TINY
    level = (weight * maps).sum((-3, -2)) / whole
    y, spread_y = _along(weight.sum(-2) / whole.unsqueeze(-2), rows, eps)
    x, spread_x = _along(weight.sum(-3) / whole.unsqueeze(-2), columns, eps)
    return torch.stack([x, y, spread_x, spread_y, level], dim=-2)


def _along(
    share: Float[Tensor, "*batch place feature"], place: Float[Tensor, " place"], eps: float
) -> tuple[Float[Tensor, "*batch feature"], Float[Tensor, "*batch feature"]]:
    """Center and spread along one axis."""
    place = place.unsqueeze(-1)
    center = (share * place).sum(-2)
    variance = (share * (place - center.unsqueeze(-2)).square()).sum(-2)
    return center, (variance + eps).sqrt()
