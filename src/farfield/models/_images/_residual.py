"""Residual blocks that normalize and activate before they convolve."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.functional.internal import default_layer
from farfield.models._images._maps import convolution, maps_of, num_channels_of


class Window(NamedTuple):
    """A convolution of a block.

    Attributes:
        channels: Channels that it gives.
        side: Side of its window.
        stride: Pixels from one window to the next.
    """

    channels: int
    side: int
    stride: int


@final
class ResidualBlock(nn.Module):
    r"""Convolutions of normalized and activated maps, added to a shortcut.

    $$y = s(x) + u_n(\dots u_1(x)), \qquad u_i(x) = W_i * \phi(N_i(x))$$

    with normalizers $N_i$ and $s$ the identity, or a convolution of 1×1 where the shape changes, of
    $x$ or of the input of $W_1$.

    Args:
        in_channels: Channels of $x$.
        windows: The convolutions.
        norm: Function that makes a normalizer from a number of channels.
        bias: Whether convolutions add a number to each channel.
        negative_slope: Slope of the activation below 0.
        dropout: Probability that a number between two convolutions is dropped in training.
        activates_shortcut: Whether the convolution of the shortcut reads the input of $W_1$.

    Reference:
        He et al. 2016b, figure 1b; lamb2022, section 4.5.1.
    """

    def __init__(
        self,
        in_channels: int,
        windows: Sequence[Window],
        *,
        norm: Callable[[int], nn.Module] = nn.BatchNorm2d,
        bias: bool = False,
        negative_slope: float = 0.0,
        dropout: float = 0.0,
        activates_shortcut: bool = True,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        sizes = (in_channels, *(window.channels for window in windows))
        self.norms = nn.ModuleList(norm(channels) for channels in sizes[:-1])
        self.convolutions = nn.ModuleList(
            convolution(*pair, window.side, stride=window.stride, bias=bias, generator=generator)
            for pair, window in zip(itertools.pairwise(sizes), windows, strict=True)
        )
        self.stride = max(window.stride for window in windows)
        self.shortcut = None
        if self.stride != 1 or sizes[0] != sizes[-1]:
            self.shortcut = convolution(sizes[0], sizes[-1], 1, bias=bias, generator=generator)
        self.negative_slope, self.dropout = negative_slope, dropout
        self.activates_shortcut = activates_shortcut

    def forward(
        self, maps: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch _ _ _"]:
        """Add the convolutions to the shortcut."""
        norm, *norms = self.norms
        convolve, *others = self.convolutions
        read = self._activated(norm(maps))
        inner = convolve(read)
        for norm, convolve in zip(norms, others, strict=True):
            inner = F.dropout(inner, self.dropout, self.training)
            inner = convolve(self._activated(norm(inner)))
        if self.shortcut is None:
            return inner + maps
        # Pixels are taken before the convolution and not by its stride: with AVX2 and fewer than
        # eight channels oneDNN then writes outside its memory (github.com/uxlfoundation/oneDNN,
        # issue 6035).
        direct = read if self.activates_shortcut else maps
        return inner + self.shortcut(direct[..., :: self.stride, :: self.stride])

    def _activated(self, maps: Tensor) -> Tensor:
        return F.leaky_relu(maps, self.negative_slope)


Block = Callable[[int, Sequence[Window]], ResidualBlock]
"""Function that makes a block from the channels that it reads and its convolutions."""


Group = tuple[Block, Sequence[Sequence[Window]]]
"""Function that makes the blocks of a group, and the convolutions of each block."""


@final
class MeanOfMaps(nn.Module):
    """Mean of each channel over the image; `nn.AdaptiveAvgPool2d(1)` is slow under `vmap`."""

    def forward(
        self, maps: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch channel"]:
        """Average the maps of every image."""
        return maps.mean((-2, -1))


class ResidualNetwork(nn.Module):
    """Classifier of images: a stem, groups of residual blocks, and a linear layer on mean maps.

    The stem is a convolution of 3×3. The maps of the last group are normalized and activated, if
    there is a normalizer, and averaged over the image.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        num_outputs: Number of outputs.
        stem: Convolution of the stem.
        groups: Groups of blocks.
        final_norm: Function that makes the last normalizer from its number of channels; or None.
        bias: Whether the stem has biases.
        negative_slope: Slope of the last activation below 0.

    Attributes:
        mixing_layers: The first two groups.

    Raises:
        ValueError: If images are not square.
    """

    mixing_layers: ClassVar[tuple[str, ...]] = ("group1", "group2")

    def __init__(
        self,
        item_shape: tuple[int, ...],
        num_outputs: int,
        stem: Window,
        groups: Sequence[Group],
        *,
        final_norm: Callable[[int], nn.Module] | None,
        bias: bool = False,
        negative_slope: float = 0.0,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.item_shape, self.negative_slope = tuple(item_shape), negative_slope
        channels, stride = num_channels_of(self.item_shape), stem.stride
        self.stem = convolution(
            channels, stem.channels, stem.side, stride=stride, bias=bias, generator=generator
        )
        self._groups = tuple(f"group{number + 1}" for number in range(len(groups)))
        channels = stem.channels
        for name, (block, blocks) in zip(self._groups, groups, strict=True):
            group = nn.Sequential()
            for windows in blocks:
                group.append(block(channels, windows))
                channels = windows[-1].channels
            self.add_module(name, group)
        self.final_norm = None if final_norm is None else final_norm(channels)
        self.pool = MeanOfMaps()
        self.output = default_layer(channels, num_outputs, generator)

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every image."""
        maps = self.stem(maps_of(items, self.item_shape))
        for name in self._groups:
            maps = self.get_submodule(name)(maps)
        if self.final_norm is not None:
            maps = F.leaky_relu(self.final_norm(maps), self.negative_slope)
        return self.output(self.pool(maps))
