"""Standardization of images by fixed statistics."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import PositiveFloat, check_arguments
from farfield.functional import as_fractions


@final
class Standardize(nn.Module):
    r"""Subtract a fixed mean from each channel and divide by a fixed deviation.

    $$y_{chw} = \frac{x_{chw} - \mu_c}{\sigma_c}$$

    It learns nothing and estimates nothing, unlike `torch.nn.BatchNorm2d`. In an experiment on
    images, mean and deviation are those of the task; no state dictionary has them.

    Args:
        channel_mean: $\mu$, of values of 0…1.
        channel_std: $\sigma$, likewise.
        device: Where its tensors are.
        dtype: Of its tensors.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to the same in
        floating point.

    Raises:
        ValueError: If there are not as many deviations as means, or images have other channels.

    Reference:
        lamb2022, section 6.3.1.
    """

    is_pure: ClassVar[bool] = True
    mean: Tensor
    std: Tensor

    @check_arguments
    def __init__(
        self,
        channel_mean: tuple[float, ...],
        channel_std: tuple[PositiveFloat, ...],
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if not channel_mean or len(channel_std) != len(channel_mean):
            raise ValueError(
                "channel_mean and channel_std must be a number for each channel, "
                f"got {len(channel_mean)} and {len(channel_std)}"
            )
        for name, row in (("mean", channel_mean), ("std", channel_std)):
            column = torch.tensor(row, device=device, dtype=dtype)[:, None, None]
            self.register_buffer(name, column, persistent=False)

    def forward(
        self, items: Shaped[Tensor, "item channel height width"]
    ) -> Float[Tensor, "item channel height width"]:
        """Standardize every image."""
        if items.ndim != 4 or items.shape[1] != len(self.mean):
            raise ValueError(
                f"items must be (item, {len(self.mean)}, height, width), "
                f"got shape {tuple(items.shape)}"
            )
        return (as_fractions(items, self.mean.dtype) - self.mean) / self.std
