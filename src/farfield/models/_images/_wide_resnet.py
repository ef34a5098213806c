"""Wide residual networks, for small images."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Unpack, final

from torch import nn

from farfield.core.internal import (
    Depth,
    Dropout,
    FactoryOptions,
    Limits,
    NonNegativeFloat,
    Size,
    take_factory_arguments,
)
from farfield.models._images._residual import Group, ResidualBlock, ResidualNetwork, Window

_STEM: Final = 16
"""Channels of the stem."""


@final
class WideResNet(ResidualNetwork):
    """A residual network of few layers with many channels.

    A stem of 3×3 with 16 channels, three groups of blocks with 16, 32 and 64 times `widen_factor`
    channels, batch normalization, activation, and a linear layer on the mean of each channel over
    the image. The second and third group each halve the sides. A block has two convolutions of 3×3.

    The default is the network of the released code of lamb2022: all convolutions have biases, the
    second one of a block takes the stride, a shortcut that is a convolution reads the block's input
    unchanged, and the last normalization has a momentum of 0.9. With `published`, the network is
    that of Zagoruyko and Komodakis: no convolution has a bias, the first one of a block takes the
    stride, such a shortcut reads the activated input, as in `PreActResNet`, and all momenta are
    torch's 0.1. First weights are torch's in both. At depth 28 with ten times the channels and ten
    classes, the default has 36,489,290 parameters and the published network 36,479,194.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        depth: Number of layers, $6n + 4$ for $n$ blocks a group. $6n + 2$ is the same network
            without its shortcuts in the count, so that the paper's 20 is 22.
        widen_factor: Times as many channels as a narrow network has.
        negative_slope: Slope of the activations below 0: 0.01 for interpolation consistency in the
            released code, 0 for manifold mixup.
        dropout: Probability that a number between the convolutions of a block is dropped in
            training.
        final_momentum: Share of the newest batch in the running averages of the last normalization;
            `None` for 0.9, as in the released code, or for 0.1 with `published`.
        published: Whether biases, strides, shortcuts and momenta are those of Zagoruyko and
            Komodakis.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        mixing_layers: The first two groups: the paper's layer $k$ is the $k$-th of them, and those
            and the input are its eligible layers.

    Raises:
        ValueError: If a number is out of range, there is no network of such a depth, or the images
            are not square or have another shape.

    Reference:
        Zagoruyko and Komodakis 2016; lamb2022, sections 4.5.1 and 6.3.2.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        depth: Depth = 28,
        widen_factor: Size = 10,
        negative_slope: NonNegativeFloat = 0.0,
        dropout: Dropout = 0.0,
        final_momentum: Annotated[float, Limits(above=0, at_most=1)] | None = None,
        published: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        generator = options["generator"]
        num_blocks, rest = divmod(depth - 2, 6)
        if num_blocks < 1 or rest not in (0, 2):
            raise ValueError(f"depth must be 6n + 4 or 6n + 2, as 28 or 20, got {depth}")
        block = partial(
            ResidualBlock,
            bias=not published,
            negative_slope=negative_slope,
            dropout=dropout,
            activates_shortcut=published,
            generator=generator,
        )
        groups: list[Group] = []
        for number in range(3):
            width = _STEM * widen_factor * 2**number
            strides = [(1, 2) if number and not k else (1, 1) for k in range(num_blocks)]
            blocks = [
                [Window(width, 3, stride) for stride in (pair[::-1] if published else pair)]
                for pair in strides
            ]
            groups.append((block, blocks))
        momentum = (0.1 if published else 0.9) if final_momentum is None else final_momentum
        super().__init__(
            item_shape,
            num_outputs,
            Window(_STEM, 3, 1),
            groups,
            final_norm=partial(nn.BatchNorm2d, momentum=momentum),
            bias=not published,
            negative_slope=negative_slope,
            generator=generator,
        )
