"""Group normalization with the smoothing constant of divisive normalization."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import Fold, over_channel_groups
from farfield.nn._norm._smoothed_norm import SmoothedNorm


@final
class GroupNorm(SmoothedNorm):
    r"""Normalize an image over its places and groups of its channels, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over all places and the channels of a group. It is `torch.nn.GroupNorm` with
    $\sigma^2$ for its `eps`, which here can be learned. One group is the layer normalization of
    ren2017 for images.

    Args:
        num_groups: Number of groups of consecutive channels.
        num_channels: Number of channels.
        sigma: The constant $\sigma$, whose square is added to the variance; at first, if it is
            learned. The paper smooths with 0.25 to 1; 0.01 is what its released code adds else.
        learned_sigma: Whether $\sigma$ is learned, one number for the layer.
        affine: Whether gain and shift of each channel are learned.
        device: Where its tensors are.
        dtype: Of its parameters.

    Shape:
        `(batch, channel, *place)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The constant, a parameter with `learned_sigma`.

    Raises:
        ValueError: If an argument is out of range or the channels are others.

    Reference:
        ren2017, table 1 and section 3.2 (LN-s); Wu and He 2018.
    """

    feature_axis = 1

    @check_arguments
    def __init__(
        self,
        num_groups: Size,
        num_channels: Size,
        *,
        sigma: NonNegativeFloat = 0.01,
        learned_sigma: bool = False,
        affine: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if num_channels % num_groups:
            raise ValueError(
                f"num_groups must divide num_channels={num_channels}, got num_groups={num_groups}"
            )
        super().__init__(
            num_channels,
            affine=affine,
            sigma=sigma,
            learned_sigma=learned_sigma,
            device=device,
            dtype=dtype,
        )
        self.num_groups, self.num_channels = num_groups, num_channels

    def _field(self, z: Tensor) -> Fold:
        return over_channel_groups(self.num_groups)(z)

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        return F.group_norm(z, self.num_groups, self.weight, self.bias, eps)
