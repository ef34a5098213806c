"""The encoder of colored objects that visual analogies are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Unpack, cast, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import (
    Overlay,
    as_fractions,
    differing,
    is_recorded,
    is_transformed,
    linear,
    overlay_convolution,
    uninitialized,
    xavier_layer,
    xavier_uniform_,
)
from farfield.nn._encoders._encoders import check_items

_CHANNELS = 32
_STRIDES = 16


@final
class AnalogyEncoder(nn.Module):
    """Four convolutions, two layers with a ReLU each, and a linear layer without one.

    Convolutions of 4×4 with stride 2, padding 1 and 32 channels halve the image four times; two
    layers of `hidden_size` units and a linear one of `out_features` follow. `ConvEncoder` halves
    three times and ends in a ReLU; here the embedding may have any sign, as inputs of a
    normalizer should.

    Args:
        item_shape: Height, width and channels of an image; sides are multiples of 16 pixels.
        hidden_size: Units of each of the two layers.
        coordinates: Whether two channels are added to the image that say where each pixel lies,
            as the paper's supplement suggests (Liu et al. 2018).

    Shape:
        `(item, height, width, channel)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`.

    Attributes:
        convolutions: The four convolutions.
        layers: The two layers of `hidden_size` units.
        output: The linear layer.

    Raises:
        ValueError: If a side is not a positive multiple of 16, or a size is below 1.

    Reference:
        webb2020, section 4.1.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (128, 128, 3),
        *,
        out_features: Size = 256,
        hidden_size: Size = 256,
        coordinates: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if len(item_shape) != 3 or any(s % _STRIDES for s in item_shape[:2]):
            raise ValueError(
                "item_shape must be (height, width, channel) with sides that are multiples of "
                f"{_STRIDES} (four halvings), got {item_shape}"
            )
        self.item_shape = tuple(item_shape)
        self.out_features = out_features
        self.coordinates = coordinates
        height, width, channels = item_shape
        pixels = (height // _STRIDES) * (width // _STRIDES) * _CHANNELS
        self.convolutions = nn.ModuleList(
            _convolution(number, generator)
            for number in (channels + 2 * coordinates, *[_CHANNELS] * 3)
        )
        self.layers = nn.ModuleList(
            xavier_layer(number, hidden_size, generator) for number in (pixels, hidden_size)
        )
        self.output = xavier_layer(hidden_size, out_features, generator)

    def forward(
        self, items: Shaped[Tensor, "item height width channel"]
    ) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        maps = self._overlay(items)
        for convolution in cast("Iterable[nn.Conv2d]", self.convolutions):
            maps = overlay_convolution(
                maps, convolution.weight, convolution.bias, stride=2, padding=1
            )
            maps = Overlay(maps.base.relu(), maps.window.relu(), maps.top, maps.left)
        hidden = maps.whole().flatten(1)
        for layer in cast("Iterable[nn.Linear]", self.layers):
            hidden = torch.relu(linear(hidden, layer.weight, layer.bias))
        return linear(hidden, self.output.weight, self.output.bias)

    def _overlay(self, items: Shaped[Tensor, "item height width channel"]) -> Overlay:
        """Split images into the first image and the window in which other images differ."""
        down, across = slice(0, self.item_shape[0]), slice(0, self.item_shape[1])
        # Pixels that all images share are those of the first; each has separate gradients.
        alone = items.requires_grad and torch.is_grad_enabled()
        if not (alone or is_transformed() or is_recorded()) and len(items):
            down, across = differing((items.amax(0) != items.amin(0)).any(-1))
        dtype = self.output.weight.dtype
        base, window = (
            as_fractions(part, dtype).permute(0, 3, 1, 2)
            for part in (items[:1], items[:, down, across])
        )
        if self.coordinates:
            places = map_coordinates(base)
            base = torch.cat([base, places.expand(len(base), -1, -1, -1)], dim=1)
            places = places[:, down, across].expand(window.shape[0], -1, -1, -1)
            window = torch.cat([window, places], dim=1)
        return Overlay(base, window, down.start, across.start)

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return (
            f"item_shape={self.item_shape}, out_features={self.out_features}, "
            f"coordinates={self.coordinates}"
        )


def map_coordinates(
    maps: Float[Tensor, "item channel height width"],
) -> Float[Tensor, "2 height width"]:
    """Return row and column of every pixel, from 0 to 1."""
    down, across = (
        torch.linspace(0, 1, side, dtype=maps.dtype, device=maps.device) for side in maps.shape[-2:]
    )
    return torch.stack(torch.meshgrid(down, across, indexing="ij"))


def _convolution(in_channels: int, generator: torch.Generator | None) -> nn.Conv2d:
    layer = uninitialized(nn.Conv2d, in_channels, _CHANNELS, kernel_size=4, stride=2, padding=1)
    return xavier_uniform_(layer, generator)
