"""Convolutions that halve an image again and again."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Depth, Size, check_arguments
from farfield.models._images._maps import convolution, maps_of, num_channels_of


@final
class ConvMaps(nn.Module):
    """Maps of an image by convolutions, each followed by a ReLU and then batch normalization.

    Each scale has half the sides of the one before and twice the channels; its first convolution
    of 3×3 takes every second position, the others every one. An image whose sides cannot be halved
    so often gets a border of zeros, so that the sides of all maps are multiples of the smaller
    ones, as reads of neural function modules need it.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        width: Channels of the first scale.
        scales: Number of scales.
        convolutions: Number of convolutions at each scale.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, *item_shape)` to `(batch, *out_shape)`.

    Attributes:
        out_shape: Channels, height and width of the maps.
        state_layers: Number of channels of each layer, by its name.

    Raises:
        ValueError: If a number is below 1, or images are not square or have another shape.

    Reference:
        lamb2022, sections 10.4.2 and 10.4.3, which say 24 channels at first and layers that are
        called four times a pass; 48 channels, kernels and steps are those of the released code.
    """

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        width: Size = 24,
        scales: Depth = 4,
        convolutions: Size = 1,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = tuple(item_shape)
        channels, side = num_channels_of(self.item_shape), self.item_shape[-1]
        last = math.ceil(side / 2**scales)
        before = last * 2**scales - side
        self.border = (before // 2, before - before // 2) * 2
        self.state_layers: dict[str, int] = {}
        for number in range(scales * convolutions):
            scale, repeat = divmod(number, convolutions)
            outputs, stride = width * 2**scale, 1 if repeat else 2
            layer = convolution(channels, outputs, 3, stride=stride, bias=True, generator=generator)
            name = f"layer{number + 1}"
            self.add_module(name, nn.Sequential(layer, nn.ReLU(), nn.BatchNorm2d(outputs)))
            self.state_layers[name] = channels = outputs
        self.out_shape = (channels, last, last)
        self.to(device=device, dtype=dtype)

    def forward(
        self, items: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch channel height width"]:
        """Maps of every image."""
        maps = F.pad(maps_of(items, self.item_shape), self.border)
        for name in self.state_layers:
            maps = self.get_submodule(name)(maps)
        return maps
