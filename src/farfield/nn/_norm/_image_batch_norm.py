"""Batch normalization of images with the smoothing constant of divisive normalization."""

from __future__ import annotations

from typing import Annotated, Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Limits, NonNegativeFloat, Size, check_arguments
from farfield.functional import field_centre, field_norm, over_images
from farfield.nn._norm._gain_and_shift import (
    as_number,
    check_channels,
    constant,
    gain_and_shift,
    scaled_and_shifted,
)


@final
class ImageBatchNorm(nn.Module):
    r"""Normalize every channel over the images of a batch and their places, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over all images and places. It is `torch.nn.BatchNorm2d` with $\sigma^2$ for its
    `eps`, which here can be learned. In evaluation mode running averages take the place of the
    batch. It loads the state of `torch.nn.BatchNorm2d`, which loads its own: torch counts batches
    besides, for averages without `momentum`, and that is left out.

    Args:
        num_channels: Number of channels.
        sigma: The constant $\sigma$, whose square is added to the variance; at first, if it is
            learned. The paper smooths with 0.25 to 1; 0.01 is what its released code adds else.
        learned_sigma: Whether $\sigma$ is learned, one number for the layer.
        affine: Whether gain and shift of each channel are learned.
        momentum: Share of the newest batch in the running averages.
        device: Where its tensors are.
        dtype: Of its parameters.

    Shape:
        `(batch, channel, *place)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The constant, a parameter with `learned_sigma`.
        running_mean: Running average of the mean, starts at 0.
        running_var: Running average of the variance, starts at 1.

    Raises:
        ValueError: If an argument is out of range or the channels are others.

    Reference:
        ren2017, table 1 and section 3.2 (BN-s).
    """

    running_mean: Tensor
    running_var: Tensor

    @check_arguments
    def __init__(
        self,
        num_channels: Size,
        *,
        sigma: NonNegativeFloat = 0.01,
        learned_sigma: bool = False,
        affine: bool = True,
        momentum: Annotated[float, Limits(above=0, at_most=1)] = 0.1,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_channels = num_channels
        self.momentum = momentum
        self.weight, self.bias = gain_and_shift(num_channels, affine=affine)
        self.sigma = constant(sigma, learned_sigma=learned_sigma)
        self.register_buffer("running_mean", torch.zeros(num_channels))
        self.register_buffer("running_var", torch.ones(num_channels))
        # torch leaves this untyped.
        self.register_load_state_dict_pre_hook(_leave_out_count)  # type: ignore[no-untyped-call]
        self.to(device=device, dtype=dtype)

    def forward(
        self, z: Float[Tensor, "batch channel *place"]
    ) -> Float[Tensor, "batch channel *place"]:
        """Normalize the activations; in training mode the running averages move on."""
        check_channels(z, self.num_channels)
        averages = (self.running_mean, self.running_var)
        if not isinstance(self.sigma, Tensor):
            return F.batch_norm(
                z,
                *averages,
                self.weight,
                self.bias,
                self.training,
                self.momentum,
                self.sigma**2,
            )
        eps = self.sigma.square()
        if self.training:
            F.batch_norm(z.detach(), *averages, training=True, momentum=self.momentum)
            scaled = field_norm(z, over_images, eps=eps)
        else:
            mean, variance = (average.reshape(-1, *[1] * (z.ndim - 2)) for average in averages)
            scaled = (z - mean) * (variance + eps).rsqrt()
        return scaled_and_shifted(scaled, self.weight, self.bias, channel_axis=1)

    def centre(
        self, z: Float[Tensor, "batch channel *place"]
    ) -> Float[Tensor, "batch channel *place"]:
        """The activations without their mean, before anything is divided."""
        check_channels(z, self.num_channels)
        if self.training:
            return field_centre(z, over_images)
        return z - self.running_mean.reshape(-1, *[1] * (z.ndim - 2))

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.num_channels}, sigma={as_number(self.sigma):g}, "
            f"learned_sigma={isinstance(self.sigma, Tensor)}, affine={self.weight is not None}, "
            f"momentum={self.momentum}"
        )


def _leave_out_count(
    module: nn.Module, state: dict[str, Any], prefix: str, *_others: object
) -> None:
    """Leave out the number of batches, which torch's state has and this one has no use for."""
    del module
    state.pop(f"{prefix}num_batches_tracked", None)
