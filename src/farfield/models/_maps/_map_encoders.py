"""Encoders of images as maps."""

from __future__ import annotations

import math
from typing import Final, Unpack, cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, FactoryOptions, Size, take_factory_arguments
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

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        width: Size = 24,
        scales: Depth = 4,
        convolutions: Size = 1,
        **options: Unpack[FactoryOptions],
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
            layer = convolution(
                channels, outputs, 3, stride=stride, bias=True, generator=options["generator"]
            )
            name = f"layer{number + 1}"
            self.add_module(name, nn.Sequential(layer, nn.ReLU(), nn.BatchNorm2d(outputs)))
            self.state_layers[name] = channels = outputs
        self.out_shape = (channels, last, last)

    def forward(
        self, items: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch channel height width"]:
        """Compute maps of every image."""
        maps = F.pad(maps_of(items, self.item_shape), self.border)
        for name in self.state_layers:
            maps = self.get_submodule(name)(maps)
        return maps


_BLOCKS: Final = 3
_LAYERS_OF_A_STEP: Final = 2


@final
class DenseMaps(nn.Module):
    r"""Maps of an image by a DenseNet, in which every layer reads all layers of its block.

    $$x_{l + 1} = x_l \parallel W_2 * \phi(\mathrm{BN}(W_1 * \phi(\mathrm{BN}(x_l))))$$

    with $W_1$ of 1×1 and four times, $W_2$ of 3×3 and once `growth_rate` channels. A stem of 3×3
    with twice as many channels, and three blocks; between two of them, half of the channels are
    kept by a convolution of 1×1, and the mean of every 2×2 positions. A layer of `NFM` reads all
    before it too, but chooses among them.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        depth: Number of layers, $6n + 4$ for $n$ steps a block; the output layer counts.
        growth_rate: Channels that a step adds.

    Shape:
        `(batch, *item_shape)` to `(batch, *out_shape)`.

    Attributes:
        out_shape: Channels, height and width of the maps, whose sides are a quarter of the image's.

    Raises:
        ValueError: If a number is out of range, there is no network of such a depth, or images are
            not square or have another shape.

    Reference:
        Huang et al. 2017; lamb2022, section 10.4.7, which says the depth alone.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        depth: Depth = 16,
        growth_rate: Size = 12,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        steps, rest = divmod(depth - 4, _BLOCKS * _LAYERS_OF_A_STEP)
        if rest or steps < 1:
            raise ValueError(f"depth must be 6n + 4, as 10, 16 or 22, got {depth}")
        self.item_shape = tuple(item_shape)
        channels = 2 * growth_rate
        self.stem = convolution(
            num_channels_of(self.item_shape, least_side=4), channels, 3, generator=generator
        )
        self.blocks, self.transitions = nn.ModuleList(), nn.ModuleList()
        for block in range(_BLOCKS):
            if block:
                self.transitions.append(_activated(channels, channels // 2, 1, generator))
                channels //= 2
            inner = [
                nn.Sequential(
                    _activated(channels + k * growth_rate, 4 * growth_rate, 1, generator),
                    _activated(4 * growth_rate, growth_rate, 3, generator),
                )
                for k in range(steps)
            ]
            self.blocks.append(nn.ModuleList(inner))
            channels += steps * growth_rate
        self.norm = nn.BatchNorm2d(channels)
        side = self.item_shape[-1] // 2 // 2
        self.out_shape = (channels, side, side)

    def forward(
        self, items: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch channel height width"]:
        """Compute maps of every image."""
        maps = self.stem(maps_of(items, self.item_shape))
        for number, block in enumerate(self.blocks):
            if number:
                maps = F.avg_pool2d(self.transitions[number - 1](maps), 2)
            for step in cast("nn.ModuleList", block):
                maps = torch.cat((maps, step(maps)), dim=1)
        return F.relu(self.norm(maps))


def _activated(
    in_channels: int, out_channels: int, kernel_size: int, generator: torch.Generator | None
) -> nn.Sequential:
    """Build a convolution of normalized and activated maps."""
    layer = convolution(in_channels, out_channels, kernel_size, generator=generator)
    return nn.Sequential(nn.BatchNorm2d(in_channels), nn.ReLU(), layer)


_TINY = 1e-6
"""Share of a window without objects, so that its color is a number."""


@final
class OutlineMaps(nn.Module):
    """Three kinds of maps of objects on a plain background: position, color, shape.

    A pixel belongs to an object if it differs from the median of the border. The first map is the
    share of object pixels in each window; the next ones are their mean color; the others are
    convolutions of the outline, in which every object has the same color. Learned features of
    shapes so hold in any color, whichever pairs of the two training has.

    Args:
        item_shape: Channels, height and width of a square image.
        width: Channels of the first scale of the convolutions.
        scales: Number of scales; a window is as large as a position of the last one.
        convolutions: Number of convolutions at each scale.
        colors: Whether convolutions read the colors too: a control.

    Shape:
        `(batch, *item_shape)` to `(batch, *out_shape)`.

    Attributes:
        features: The convolutions.
        out_shape: Channels, height and width of all maps.

    Raises:
        ValueError: If a number is below 1, or images are not square or have another shape.

    Reference:
        Made for lamb2022, section 10.4.3 and Table 7.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        width: Size = 12,
        scales: Depth = 2,
        convolutions: Size = 2,
        colors: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape, self.window, self.colors = tuple(item_shape), 2**scales, colors
        channels = num_channels_of(self.item_shape)
        self.features = ConvMaps(
            self.item_shape if colors else self.item_shape[-2:],
            width=width,
            scales=scales,
            convolutions=convolutions,
            generator=options["generator"],
        )
        features, height, columns = self.features.out_shape
        self.out_shape = (1 + channels + features, height, columns)

    def forward(
        self, items: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch channel height width"]:
        """Compute maps of every image."""
        contrast = maps_of(items, self.item_shape)
        contrast = contrast - _border_median(contrast)
        outline = (contrast != 0).any(1, keepdim=True).to(items.dtype)
        seen = F.pad(torch.cat((outline, contrast), dim=1), self.features.border)
        share, color = F.avg_pool2d(seen, self.window).tensor_split((1,), dim=1)
        shown = contrast if self.colors else outline[:, 0]
        features = self.features(shown.reshape(len(items), *self.features.item_shape))
        return torch.cat((share, color / (share + _TINY), features), dim=1)


def _border_median(maps: Tensor) -> Tensor:
    """Compute the median of the border of each map: `(batch, channel, 1, 1)`."""
    sides = (maps[:, :, 0], maps[:, :, -1], maps[:, :, :, 0], maps[:, :, :, -1])
    return torch.cat(sides, dim=2).median(dim=2).values[:, :, None, None]
