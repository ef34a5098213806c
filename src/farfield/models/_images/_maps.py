"""Images as maps of channels, and the convolutions that read them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.functional.internal import fan_in_uniform_, uninitialized


def num_channels_of(item_shape: tuple[int, ...], *, least_side: int = 1) -> int:
    """Return the number of channels of a square image: one if it is gray.

    Args:
        item_shape: `(channel, height, width)`, or `(height, width)` of a gray image.
        least_side: Least height and width.

    Raises:
        ValueError: If it is anything else.
    """
    sides = set(item_shape[-2:])
    if len(item_shape) not in (2, 3) or len(sides) != 1 or sides.pop() < least_side:
        raise ValueError(
            "item_shape must be (channel, height, width), or (height, width) of a gray image, "
            f"square and of at least {least_side} × {least_side} pixels, got {item_shape}; "
            "BottleneckMLP (mlp) takes items of any shape"
        )
    return item_shape[0] if len(item_shape) == 3 else 1


def maps_of(
    items: Float[Tensor, "batch ..."], item_shape: tuple[int, ...]
) -> Float[Tensor, "batch channel height width"]:
    """Convert images to maps, gray images with one channel.

    Args:
        items: The images.
        item_shape: Shape of each.

    Raises:
        ValueError: If their shape is another.
    """
    check_items(items, item_shape)
    pixels = items.movedim(1, -1) if len(item_shape) == 3 else items.unsqueeze(-1)
    # Strides with the channels last: convolutions take a fifth less time on a CPU.
    return pixels.contiguous().movedim(-1, 1)


def check_items(items: Tensor, item_shape: tuple[int, ...]) -> None:
    """Raise `ValueError` unless items are of a shape.

    Args:
        item_shape: Shape of each.
    """
    if items.shape[1:] != item_shape:
        raise ValueError(
            f"items must be (batch, {', '.join(map(str, item_shape))}), "
            f"got shape {tuple(items.shape)}"
        )


Normalizer = Callable[[int, int], nn.Module]
"""Function from a number of channels and the side of a window to a normalizer of maps."""


def normalizer_of(normalizer: Normalizer | None, channels: int, window: int) -> nn.Module:
    """Build the normalizer of maps; without one, the identity.

    Args:
        normalizer: Function that makes the normalizer; or None.
        channels: Number of channels.
        window: Side of the window, pixels.
    """
    return nn.Identity() if normalizer is None else normalizer(channels, window)


def convolution(
    in_channels: int,
    out_channels: int,
    kernel_size: int,
    *,
    stride: int = 1,
    padding: int | None = None,
    bias: bool = False,
    generator: torch.Generator | None,
) -> nn.Conv2d:
    """Build a convolution with torch's first weights.

    Args:
        in_channels: Channels that are read.
        out_channels: Channels that are given.
        kernel_size: Side of the window.
        stride: Pixels from one window to the next.
        padding: Pixels of zeros around the maps; `None` for as many as keep their size.
        bias: Whether a number is added to each channel.
    """
    padding = kernel_size // 2 if padding is None else padding
    layer = uninitialized(
        nn.Conv2d, in_channels, out_channels, kernel_size, stride, padding, bias=bias
    )
    return fan_in_uniform_(layer, generator)
