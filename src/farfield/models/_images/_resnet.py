"""The residual networks of CIFAR, with any normalizer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Unpack, final

from torch import nn

from farfield.core.internal import Depth, FactoryOptions, Size, take_factory_arguments
from farfield.models._images._maps import normalizer_of
from farfield.models._images._residual import Group, ResidualBlock, ResidualNetwork, Window
from farfield.nn import MapNormalizer

_BATCH_NORM: Final = MapNormalizer(affine=True)


@final
class ResNet(ResidualNetwork):
    """A thin residual network of small images that normalizes before every ReLU.

    A stem of 3×3, three groups of as many blocks, of which the second and third halve the sides and
    double the channels, a last normalizer with its ReLU, and a linear layer on the mean of each
    channel over the image. A block normalizes and activates before each of its two convolutions of
    3×3, none of which has a bias. `PreActResNet` has four groups, four times as many channels, and
    batch normalization alone.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        depth: Number of layers, $6n + 2$ for $n$ blocks a group.
        width: Channels of the stem and of the first group.
        normalizer: Function that makes a normalizer from a number of channels and the side of a
            window; None for no normalizers.
        windows: Sides of the windows of the normalizers, pixels: of that behind the stem, and of
            those of each group; the last normalizer has that of the last group.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        mixing_layers: The first two groups.

    Raises:
        ValueError: If a number is out of range, there is no network of such a depth, or the images
            are not square or have another shape.

    Reference:
        He et al. 2016, section 4.2; ren2017, section 4.1. The order within a block is that of He et
        al. 2016b, as in the released code of ren2017. Shortcuts between groups are convolutions of
        1×1; the papers do not describe those of ren2017.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        depth: Depth = 32,
        width: Size = 16,
        normalizer: Callable[[int, int], nn.Module] | None = _BATCH_NORM,
        windows: tuple[Size, Size, Size, Size] = (7, 5, 5, 5),
        **options: Unpack[FactoryOptions],
    ) -> None:
        generator = options["generator"]
        num_blocks, rest = divmod(depth - 2, 6)
        if num_blocks < 1 or rest:
            raise ValueError(f"depth must be 6n + 2, as 32, got {depth}")

        norm = partial(normalizer_of, normalizer)
        groups: list[Group] = []
        for number, window in enumerate(windows[1:]):
            own = width * 2**number
            blocks = [
                (Window(own, 3, 2 if number and not k else 1), Window(own, 3, 1))
                for k in range(num_blocks)
            ]
            block = partial(ResidualBlock, norm=partial(norm, window=window), generator=generator)
            groups.append((block, blocks))
        super().__init__(
            item_shape,
            num_outputs,
            Window(width, 3, 1),
            groups,
            final_norm=partial(norm, window=windows[-1]),
            generator=generator,
        )
        self.set_submodule("group1.0.norms.0", norm(width, windows[0]))
