"""Batch normalization of images with the smoothing constant of divisive normalization."""

from __future__ import annotations

from typing import Annotated, Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Limits, NonNegativeFloat, Size, check_arguments
from farfield.functional import field_center, field_norm, over_images
from farfield.nn._norm._normalizer import Normalizer


@final
class ImageBatchNorm(Normalizer):
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
        `(batch, channel, *place)` in and out; vectors `(batch, channel)`, as of one step of a
        recurrent cell, have no places.

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

    feature_axis = 1
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
        super().__init__(
            num_channels,
            affine=affine,
            sigma=sigma,
            learned_sigma=learned_sigma,
            device=device,
            dtype=dtype,
        )
        self.num_channels, self.momentum = num_channels, momentum
        mean = torch.zeros(num_channels, device=device, dtype=dtype)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", torch.ones_like(mean))
        # torch leaves this untyped.
        self.register_load_state_dict_pre_hook(_leave_out_count)  # type: ignore[no-untyped-call]

    def forward(
        self, z: Float[Tensor, "batch channel *place"]
    ) -> Float[Tensor, "batch channel *place"]:
        """Normalize the activations; in training mode the running averages move on."""
        self._check(z)
        averages, eps = (self.running_mean, self.running_var), self._smoothing()
        if not isinstance(eps, Tensor):
            affine = (self.weight, self.bias)
            return F.batch_norm(z, *averages, *affine, self.training, self.momentum, eps)
        if self.training:
            F.batch_norm(z.detach(), *averages, training=True, momentum=self.momentum)
            return self._scaled_and_shifted(field_norm(z, over_images, eps=eps))
        root = (self.running_var + eps).rsqrt().reshape(-1, *[1] * (z.ndim - 2))
        return self._scaled_and_shifted(self.center(z) * root)

    def center(
        self, z: Float[Tensor, "batch channel *place"]
    ) -> Float[Tensor, "batch channel *place"]:
        """The activations without their mean, before anything is divided."""
        self._check(z)
        if self.training:
            return field_center(z, over_images)
        return z - self.running_mean.reshape(-1, *[1] * (z.ndim - 2))

    def _check(self, z: Tensor) -> None:
        """Raise `ValueError` for channels that would broadcast silently."""
        if z.ndim < 2 or z.shape[1] != self.num_channels:
            raise ValueError(
                f"z must be (batch, channel, *place) with num_channels={self.num_channels} "
                f"channels, got shape {tuple(z.shape)}"
            )


def _leave_out_count(
    module: nn.Module, state: dict[str, Any], prefix: str, *_others: object
) -> None:
    """Leave out the number of batches, which torch's state has and this one has no use for."""
    del module
    state.pop(f"{prefix}num_batches_tracked", None)
