"""Encoders of small gray images: each distinct item to one embedding."""

from __future__ import annotations

import math
from typing import ClassVar, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import kaiming_normal_, relu_layer, uninitialized

_CHANNELS = 32
_STRIDES = 8


class GrayEncoder(nn.Module):
    """Base of encoders of gray images: a subclass builds its layers, and embeds checked images.

    Args:
        item_shape: Height and width of an image in pixels.

    Shape:
        `(item, height, width)` to `(item, out_features)`.

    Raises:
        ValueError: If a side or `out_features` is below 1.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (32, 32),
        *,
        out_features: Size = 128,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape = check_item_shape(item_shape)
        self.out_features = out_features
        self._build(options["generator"])

    def _build(self, generator: torch.Generator | None) -> None:
        """Build the layers for `item_shape` and `out_features`."""
        raise NotImplementedError

    def _embed(self, items: Tensor) -> Tensor:
        """Embed images of the right shape."""
        raise NotImplementedError

    def forward(self, items: Float[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        return self._embed(items)


@final
class ConvEncoder(GrayEncoder):
    """Three convolutions and two layers, each with a ReLU, the last one included.

    Convolutions of 4×4 with stride 2, padding 1 and 32 channels halve the image three times;
    layers of 256 and `out_features` units follow.

    Args:
        item_shape: Height and width of an image in pixels, each a multiple of 8.

    Attributes:
        conv1, conv2, conv3: The convolutions.
        fc1, fc2: The layers.

    Raises:
        ValueError: If a side is not a positive multiple of 8, or `out_features` is below 1.

    Reference:
        webb2021, appendix A.3.1.
    """

    is_pure: ClassVar[bool] = True

    def _build(self, generator: torch.Generator | None) -> None:
        if any(side % _STRIDES for side in self.item_shape):
            raise ValueError(
                f"item_shape must have sides that are multiples of {_STRIDES} (three halvings), "
                f"got {self.item_shape}"
            )
        rows = math.prod(side // _STRIDES for side in self.item_shape) * _CHANNELS
        self.conv1 = _convolution(1, generator)
        self.conv2 = _convolution(_CHANNELS, generator)
        self.conv3 = _convolution(_CHANNELS, generator)
        self.fc1 = relu_layer(rows, 256, generator)
        self.fc2 = relu_layer(256, self.out_features, generator)

    def _embed(self, items: Tensor) -> Tensor:
        # Strides with the channels last: convolutions take a sixth less time on a CPU.
        maps = items.unsqueeze(-1).permute(0, 3, 1, 2)
        for convolution in (self.conv1, self.conv2, self.conv3):
            maps = torch.relu(convolution(maps))
        return torch.relu(self.fc2(torch.relu(self.fc1(maps.flatten(1)))))


@final
class MLPEncoder(GrayEncoder):
    """Three layers of 512, 256 and `out_features` units on the flat image, each with a ReLU.

    Attributes:
        fc1, fc2, fc3: The layers.

    Reference:
        webb2021, appendix A.5.4.
    """

    is_pure: ClassVar[bool] = True

    def _build(self, generator: torch.Generator | None) -> None:
        self.fc1 = relu_layer(math.prod(self.item_shape), 512, generator)
        self.fc2 = relu_layer(512, 256, generator)
        self.fc3 = relu_layer(256, self.out_features, generator)

    def _embed(self, items: Tensor) -> Tensor:
        hidden = torch.relu(self.fc2(torch.relu(self.fc1(items.flatten(1)))))
        return torch.relu(self.fc3(hidden))


@final
class RandomEncoder(GrayEncoder):
    """One random layer with a ReLU that is never trained.

    A score that a reasoner reaches on it owes nothing to learned features. Gradients reach the
    items alone.

    Args:
        generator: Where the weights are drawn from; None is torch's global generator.

    Attributes:
        weight: Buffer of `(out_features, height · width)`, Kaiming normal.
        bias: Buffer of `(out_features,)`, zero.

    Reference:
        webb2021, appendix A.5.4.
    """

    weight: Tensor
    bias: Tensor

    def _build(self, generator: torch.Generator | None) -> None:
        drawn = relu_layer(math.prod(self.item_shape), self.out_features, generator)
        self.register_buffer("weight", drawn.weight.detach())
        self.register_buffer("bias", drawn.bias.detach())

    def _embed(self, items: Tensor) -> Tensor:
        return torch.relu(F.linear(items.flatten(1), self.weight, self.bias))


def _convolution(in_channels: int, generator: torch.Generator | None) -> nn.Conv2d:
    layer = uninitialized(nn.Conv2d, in_channels, _CHANNELS, kernel_size=4, stride=2, padding=1)
    return kaiming_normal_(layer, generator)


def check_item_shape(item_shape: tuple[int, ...]) -> tuple[int, int]:
    """Return height and width of a gray image, if it is one."""
    if len(item_shape) != 2:
        raise ValueError(f"item_shape must be (height, width), got {item_shape}")
    return (item_shape[0], item_shape[1])


def check_color_shape(item_shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return height, width and channels of a color image, if it is one."""
    if len(item_shape) != 3:
        raise ValueError(f"item_shape must be (height, width, channel), got {item_shape}")
    return (item_shape[0], item_shape[1], item_shape[2])


def check_items(items: Tensor, item_shape: tuple[int, ...]) -> None:
    """Raise `ValueError` unless `items` are images of a shape."""
    if tuple(items.shape[1:]) != item_shape:
        shape = ", ".join(map(str, ("item", *item_shape)))
        raise ValueError(f"items must be ({shape}), got shape {tuple(items.shape)}")


def image_shape(item_shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return channels, height and width of an image, or raise `ValueError`."""
    if len(item_shape) not in (2, 3):
        raise ValueError(
            f"item_shape must be (channel, height, width) or (height, width), got {item_shape}"
        )
    *channels, height, width = item_shape
    return (channels or [1])[0], height, width


def coordinates(
    item_shape: tuple[int, ...], like: Tensor
) -> tuple[Float[Tensor, " height"], Float[Tensor, " width"]]:
    """Return the coordinate of each row and each column, in lengths of the longer side."""
    rows, columns = (
        torch.arange(side, dtype=like.dtype, device=like.device) / max(item_shape[:2])
        for side in item_shape[:2]
    )
    return rows, columns
