"""Instance normalization with the smoothing constant of divisive normalization."""

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
class InstanceNorm(SmoothedNorm):
    r"""Normalize every channel of an image over its places, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over the places of one channel of one image. It is `torch.nn.InstanceNorm2d` with
    $\sigma^2$ for its `eps`, which here can be learned.

    Args:
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
        ren2017, section 2.1 and equations 3 and 4.
    """

    feature_axis = 1

    @check_arguments
    def __init__(
        self,
        num_channels: Size,
        *,
        sigma: NonNegativeFloat = 0.01,
        learned_sigma: bool = False,
        affine: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_channels,
            affine=affine,
            sigma=sigma,
            learned_sigma=learned_sigma,
            device=device,
            dtype=dtype,
        )
        self.num_channels = num_channels

    def _field(self, z: Tensor) -> Fold:
        return over_channel_groups(self.num_channels)(z)

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        if z.shape[0] == 0:  # torch's kernel looks at the first image
            return self._scaled_and_shifted(z)
        return F.instance_norm(z, None, None, self.weight, self.bias, True, 0.0, eps)
