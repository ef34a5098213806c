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
    each time, however far it goes; features of convolutions and pooling do not.
    `torch.nn.AdaptiveAvgPool2d` keeps the sum of a map and drops where it was.

    Args:
        maps: The maps $m$, channels last.
        rows: Coordinate $y$ of each row.
        columns: Coordinate $x$ of each column.
        eps: Added to the variances, so that the spread of a single point has a gradient.

    Returns:
        $\bar x, \bar y, s_x, s_y, \ell$ of every map, in its dtype; summed in at least float32.

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
    dtype, wide = maps.dtype, torch.promote_types(maps.dtype, torch.float32)
    maps, rows, columns = (x.to(wide) for x in (maps, rows, columns))
    weight = maps.abs()
    whole = weight.sum((-3, -2)) + _TINY
    level = (weight * maps).sum((-3, -2)) / whole
    y, spread_y = _along(weight.sum(-2) / whole.unsqueeze(-2), rows, eps)
    x, spread_x = _along(weight.sum(-3) / whole.unsqueeze(-2), columns, eps)
    return torch.stack([x, y, spread_x, spread_y, level], dim=-2).to(dtype)


def silhouette_moments(
    across: Float[Tensor, "*batch width feature"],
    down: Float[Tensor, "*batch height feature"],
    rows: Float[Tensor, " height"],
    columns: Float[Tensor, " width"],
    *,
    eps: float = 1e-8,
) -> Float[Tensor, "*batch 5 feature"]:
    r"""Center, spread and level of every map, from its largest value in each row and column.

    $$a_x = \max_y m_{yx}, \quad d_y = \max_x m_{yx}, \qquad
      p_x = \frac{a_x}{\sum a}, \qquad
      \bar x = \sum p\, x, \qquad
      s_x = \sqrt{\sum p\, (x - \bar x)^2 + \epsilon}, \qquad
      \ell = \sum p\, a$$

    and $\bar y$, $s_y$ likewise from $d$. They go in equal steps with an object as those of
    `spatial_moments` do, and are unchanged where a part of it is hidden that leaves something
    to be seen of each of its rows and columns.

    Args:
        across: The largest value of each column of the maps, 0 or above.
        down: The largest value of each row.
        rows: Coordinate $y$ of each row.
        columns: Coordinate $x$ of each column.
        eps: Added to the variances, so that the spread of a single point has a gradient.

    Returns:
        $\bar x, \bar y, s_x, s_y, \ell$ of every map, in its dtype; summed in at least float32.

    Raises:
        ValueError: If there is not one coordinate a row and one a column.

    Reference:
        Made for webb2020's analogies in clutter.
    """
    if rows.shape != down.shape[-2:-1] or columns.shape != across.shape[-2:-1]:
        raise ValueError(
            f"rows and columns must have one coordinate each for {down.shape[-2]} values down and "
            f"{across.shape[-2]} across, got {len(rows)} and {len(columns)}"
        )
    dtype, wide = across.dtype, torch.promote_types(across.dtype, torch.float32)
    across, down, rows, columns = (x.to(wide) for x in (across, down, rows, columns))
    share_x, share_y = (
        profile / (profile.sum(-2, keepdim=True) + _TINY) for profile in (across, down)
    )
    x, spread_x = _along(share_x, columns, eps)
    y, spread_y = _along(share_y, rows, eps)
    level = (share_x * across).sum(-2)
    return torch.stack([x, y, spread_x, spread_y, level], dim=-2).to(dtype)


def _along(
    share: Float[Tensor, "*batch position feature"],
    position: Float[Tensor, " position"],
    eps: float,
) -> tuple[Float[Tensor, "*batch feature"], Float[Tensor, "*batch feature"]]:
    """Center and spread along one axis."""
    position = position.unsqueeze(-1)
    center = (share * position).sum(-2)
    variance = (share * (position - center.unsqueeze(-2)).square()).sum(-2)
    return center, (variance + eps).sqrt()
