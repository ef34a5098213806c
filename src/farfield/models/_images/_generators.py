"""Generators of images, and their first weights."""

from __future__ import annotations

import math
from typing import Final, Self, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import NFMRules, uninitialized
from farfield.models._images._maps import num_channels_of
from farfield.nn import MultiPass


@final
class XavierConv2d(nn.Conv2d):
    """A convolution that keeps the size of maps."""

    gain = 1.0

    @classmethod
    def drawn(
        cls,
        in_channels: int,
        out_channels: int,
        side: int,
        *,
        gain: float = 1.0,
        generator: torch.Generator | None,
    ) -> Self:
        """Build the layer with its first weights, and biases of 0.

        Args:
            in_channels: Channels that are read.
            out_channels: Channels that are given.
            side: Side of the window, odd.
            gain: Gain of the distribution.
        """
        layer = uninitialized(cls, in_channels, out_channels, side, padding=side // 2)
        layer.gain = gain
        layer.reset_parameters(generator)
        return layer

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew."""
        _draw(self, self.gain, generator)


@final
class XavierLinear(nn.Linear):
    """A linear layer."""

    @classmethod
    def drawn(
        cls, in_features: int, out_features: int, *, generator: torch.Generator | None
    ) -> Self:
        """Build the layer with its first weights, and biases of 0.

        Args:
            in_features: Numbers that are read.
            out_features: Numbers that are given.
        """
        layer = uninitialized(cls, in_features, out_features)
        layer.reset_parameters(generator)
        return layer

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew."""
        _draw(self, 1.0, generator)


def _draw(layer: nn.Linear | nn.Conv2d, gain: float, generator: torch.Generator | None) -> None:
    nn.init.xavier_uniform_(layer.weight, gain, generator=generator)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


_FIRST_SIDE: Final = 4
_PASSES: Final = 2


@final
class ResNetGenerator(nn.Module):
    r"""Images from noise: a linear layer, residual blocks that double the sides, a convolution.

    The linear layer makes maps of 4 × 4, the first spatial layer. Each block normalizes and
    activates before two convolutions of 3×3, and doubles the sides by bilinear interpolation before
    the first; its shortcut is a convolution of 1×1. Three blocks make images of 32 × 32, and four
    of 64 × 64; of smaller images between these the middle is taken. The last maps are normalized
    and activated before the last convolution, and pixels are $(1 + \tanh) / 2$.

    With `nfm` the layers are run in two passes with separate weights, and in both the first
    spatial layer and each block read the states written before: eight reads where there are three
    blocks. At first that changes nothing; the read of the last block in the first pass never does,
    as a pass starts from the noise and reads the written states.

    Args:
        in_features: Numbers in a vector of noise.
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        width: Channels of all maps.
        blocks: Blocks at each side: 2 doubles the number of layers, and all but the first leave
            the sides unchanged.
        nfm: Options of the neural function modules; None for none.

    Shape:
        `(batch, in_features)` to `(batch, *item_shape)`, fractions of 0…1.

    Raises:
        ValueError: If a size is below 1, or the images are not square.

    Reference:
        Miyato et al. 2018, appendix B.4; lamb2022, section 10.4.1.

    Example:
        >>> generator = ResNetGenerator(16, (1, 28, 28), width=8)
        >>> generator(torch.randn(2, 16)).shape
        torch.Size([2, 1, 28, 28])
    """

    @take_factory_arguments()
    def __init__(
        self,
        in_features: Size,
        item_shape: tuple[Size, ...],
        *,
        width: Size = 256,
        blocks: Size = 1,
        nfm: NFMRules | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        channels, side = num_channels_of(item_shape), item_shape[-1]
        self.in_features, self.item_shape = in_features, tuple(item_shape)
        doublings = max(0, math.ceil(math.log2(side / _FIRST_SIDE)))
        body = _Body(in_features, width, doublings, blocks, generator)
        self.body: nn.Module = body
        if nfm is not None:
            names = ("seed", *(f"stages.{number}" for number in range(doublings)))
            self.body = MultiPass(
                body,
                names,
                (width,) * len(names),
                passes=_PASSES,
                first_reads=True,
                rules=nfm,
                generator=generator,
            )
        self.norm = nn.BatchNorm2d(width)
        self.output = XavierConv2d.drawn(width, channels, 3, generator=generator)

    def forward(self, noise: Float[Tensor, "batch feature"]) -> Float[Tensor, "batch ..."]:
        """Make an image of every vector."""
        if noise.ndim != 2 or noise.shape[1] != self.in_features:
            raise ValueError(
                f"noise must be (batch, {self.in_features}), got shape {tuple(noise.shape)}"
            )
        maps = self.output(F.relu(self.norm(self.body(noise))))
        side = self.item_shape[-1]
        start = (maps.shape[-1] - side) // 2
        middle = maps[..., start : start + side, start : start + side]
        return ((1 + middle.tanh()) / 2).reshape(len(noise), *self.item_shape)


@final
class _Body(nn.Module):
    """From noise to the last maps."""

    def __init__(
        self,
        in_features: int,
        width: int,
        doublings: int,
        blocks: int,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.seed = nn.Sequential(
            XavierLinear.drawn(in_features, width * _FIRST_SIDE**2, generator=generator),
            nn.Unflatten(1, (width, _FIRST_SIDE, _FIRST_SIDE)),
        )
        self.stages = nn.ModuleList(
            nn.Sequential(
                *(_Block(width, doubles=not k, generator=generator) for k in range(blocks))
            )
            for _ in range(doublings)
        )

    def forward(self, noise: Tensor) -> Tensor:
        maps: Tensor = self.seed(noise)
        for stage in self.stages:
            maps = stage(maps)
        return maps


@final
class _Block(nn.Module):
    """Two convolutions of normalized and activated maps, added to a shortcut."""

    def __init__(self, width: int, *, doubles: bool, generator: torch.Generator | None) -> None:
        super().__init__()
        gain = math.sqrt(2)
        self.doubles = doubles
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(2))
        self.convolutions = nn.ModuleList(
            XavierConv2d.drawn(width, width, 3, gain=gain, generator=generator) for _ in range(2)
        )
        self.shortcut = (
            XavierConv2d.drawn(width, width, 1, generator=generator) if doubles else None
        )

    def forward(self, maps: Tensor) -> Tensor:
        first, second = self.convolutions
        inner = first(self._doubled(F.relu(self.norms[0](maps))))
        inner = second(F.relu(self.norms[1](inner)))
        return inner + (maps if self.shortcut is None else self.shortcut(self._doubled(maps)))

    def _doubled(self, maps: Tensor) -> Tensor:
        if not self.doubles:
            return maps
        return F.interpolate(maps, scale_factor=2, mode="bilinear", align_corners=False)
