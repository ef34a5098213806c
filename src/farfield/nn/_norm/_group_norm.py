"""Group normalization with the smoothing constant of divisive normalization."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import field_centre, field_norm, over_channel_groups
from farfield.nn._norm._gain_and_shift import (
    as_number,
    check_channels,
    constant,
    gain_and_shift,
    scaled_and_shifted,
)


@final
class GroupNorm(nn.Module):
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
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_groups must divide num_channels={num_channels}, got num_groups={num_groups}"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.weight, self.bias = gain_and_shift(num_channels, affine=affine)
        self.sigma = constant(sigma, learned_sigma=learned_sigma)
        self.to(device=device, dtype=dtype)

    def forward(
        self, z: Float[Tensor, "batch channel *place"]
    ) -> Float[Tensor, "batch channel *place"]:
        """Normalize the activations."""
        check_channels(z, self.num_channels)
        if not isinstance(self.sigma, Tensor):
            return F.group_norm(z, self.num_groups, self.weight, self.bias, self.sigma**2)
        scaled = field_norm(z, over_channel_groups(self.num_groups), eps=self.sigma.square())
        return scaled_and_shifted(scaled, self.weight, self.bias, channel_axis=1)

    def centre(
        self, z: Float[Tensor, "batch channel *place"]
    ) -> Float[Tensor, "batch channel *place"]:
        """The activations without the mean of their field, before anything is divided."""
        return field_centre(z, over_channel_groups(self.num_groups))

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.num_groups}, {self.num_channels}, sigma={as_number(self.sigma):g}, "
            f"learned_sigma={isinstance(self.sigma, Tensor)}, affine={self.weight is not None}"
        )
