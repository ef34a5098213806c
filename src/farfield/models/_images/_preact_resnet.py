"""Residual networks with pre-activation, for small images."""

from __future__ import annotations

from functools import partial
from typing import Final, Unpack, final

from torch import nn

from farfield.core.internal import Depth, Dropout, FactoryOptions, Size, take_factory_arguments
from farfield.models._images._residual import Group, ResidualBlock, ResidualNetwork, Window

_BLOCKS: Final = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}
"""Blocks of each group, by depth."""


@final
class PreActResNet(ResidualNetwork):
    """A residual network that normalizes and activates before every convolution.

    A stem of 3×3, four groups of blocks, and a linear layer on the mean of each channel over the
    image. The second, third and fourth group each halve the sides and have twice the channels of
    the group before. A block has two convolutions of 3×3, or at depth 50 three of 1×1, 3×3 and 1×1,
    the last with four times the channels; none has a bias. `WideResNet` has three groups, and more
    channels in each.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        depth: Number of layers: 18, 34 or 50.
        width: Channels of the stem and of the first group.
        dropout: Probability that a number between the convolutions of a block is dropped in
            training.
        stem_stride: Pixels from one window of the stem to the next: 2 for Tiny-ImageNet.
        final_norm: Whether the maps of the last group are normalized and activated, as He et al.
            2016b do; the released code of lamb2022 leaves that out.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        out_features: Numbers in an answer, which may be an embedding.
        mixing_layers: The first two groups: the paper's layer $k$ is the $k$-th of them, and those
            and the input are its eligible layers.

    Raises:
        ValueError: If a size is below 1, there is no network of such a depth, or the images are not
            square or have another shape.

    Reference:
        He et al. 2016b; lamb2022, section 4.5.1. For images of 32×32, whose last maps are 4×4, the
        mean over the image is the released pooling of 4×4.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        depth: Depth = 18,
        width: Size = 64,
        dropout: Dropout = 0.0,
        stem_stride: Size = 1,
        final_norm: bool = True,
        **options: Unpack[FactoryOptions],
    ) -> None:
        generator = options["generator"]
        if depth not in _BLOCKS:
            raise ValueError(f"depth must be 18, 34 or 50, got {depth}")
        block = partial(ResidualBlock, dropout=dropout, generator=generator)
        groups: list[Group] = []
        for number, count in enumerate(_BLOCKS[depth]):
            strides = [2 if number and not k else 1 for k in range(count)]
            groups.append((block, [_windows(depth, width * 2**number, by) for by in strides]))
        super().__init__(
            item_shape,
            num_outputs,
            Window(width, 3, stem_stride),
            groups,
            final_norm=nn.BatchNorm2d if final_norm else None,
            generator=generator,
        )
        self.out_features = num_outputs


def _windows(depth: int, width: int, stride: int) -> tuple[Window, ...]:
    """List the convolutions of a block."""
    if depth < 50:
        return Window(width, 3, stride), Window(width, 3, 1)
    return Window(width, 1, 1), Window(width, 3, stride), Window(4 * width, 1, 1)
