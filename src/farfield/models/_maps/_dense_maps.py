"""Densely connected convolutions."""

from __future__ import annotations

from typing import Final, cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Depth, Size, check_arguments
from farfield.models._images._maps import convolution, maps_of, num_channels_of

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
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

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

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        depth: Depth = 16,
        growth_rate: Size = 12,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
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
        self.to(device=device, dtype=dtype)

    def forward(
        self, items: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch channel height width"]:
        """Maps of every image."""
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
    """A convolution of what is normalized and activated."""
    layer = convolution(in_channels, out_channels, kernel_size, generator=generator)
    return nn.Sequential(nn.BatchNorm2d(in_channels), nn.ReLU(), layer)
