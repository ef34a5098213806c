"""The encoder of what agents see: images and views with their channels first."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar, Final, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import as_fractions, kaiming_normal_, uninitialized

VIEWS: Final = ((16, 2, 1), (32, 2, 1), (64, 2, 1))
"""Channels, side and stride of the convolutions for views of 7×7 cells."""


@final
class PlanesEncoder(nn.Module):
    """Convolutions and a layer, each with a ReLU, on an item with its channels first.

    Those by default are for views of 7×7 cells. For images of 84×84 of Atari, as in the released
    code of lamb2022: `PlanesEncoder((4, 84, 84), convolutions=((32, 8, 4), (64, 4, 2), (32, 3, 1)),
    out_features=512)`.

    Args:
        item_shape: Channels, height and width of an item.
        convolutions: Channels, side and stride of each convolution, without padding.
        out_features: Size of an embedding.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`.

    Attributes:
        layers: The convolutions, Kaiming normal, biases 0.
        output: The layer behind them.

    Raises:
        ValueError: If `item_shape` has not three sizes, or nothing is left after the convolutions.

    Reference:
        lamb2022, section 8.4.3.
    """

    is_pure: ClassVar[bool] = True

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (19, 7, 7),
        *,
        convolutions: tuple[tuple[Size, Size, Size], ...] = VIEWS,
        out_features: Size = 128,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if len(item_shape) != 3:
            raise ValueError(f"item_shape must be (channel, height, width), got {item_shape}")
        self.item_shape, self.out_features = tuple(item_shape), out_features
        sides = self.item_shape[1:]
        for _, kernel, stride in convolutions:
            sides = tuple((side - kernel) // stride + 1 for side in sides)
        if min(sides) < 1:
            raise ValueError(
                f"convolutions must leave something of {item_shape}, got {convolutions}"
            )
        channels = [item_shape[0], *(own for own, _, _ in convolutions)]
        self.layers = nn.ModuleList(
            kaiming_normal_(uninitialized(nn.Conv2d, *pair, kernel, stride), generator)
            for pair, (_, kernel, stride) in zip(pairwise(channels), convolutions, strict=True)
        )
        rows = channels[-1] * math.prod(sides)
        layer = uninitialized(nn.Linear, rows, out_features)
        self.output = kaiming_normal_(layer, generator)
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        if items.shape[1:] != self.item_shape:
            raise ValueError(
                f"items must be (item, {', '.join(map(str, self.item_shape))}), "
                f"got shape {tuple(items.shape)}"
            )
        maps = as_fractions(items, self.output.weight.dtype)
        for layer in self.layers:
            maps = F.relu(layer(maps))
        return F.relu(self.output(maps.flatten(1)))
