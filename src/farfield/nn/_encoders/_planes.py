"""Encoders of images as planes of positions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar, Final, Unpack, final

from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import (
    NFMRules,
    as_fractions,
    kaiming_normal_,
    relu_layer,
    uninitialized,
)
from farfield.nn._encoders._encoders import check_items
from farfield.nn._nfm._multi_pass import LayerRead, MultiPass

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

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`.

    Attributes:
        layers: The convolutions, Kaiming normal, biases 0.
        output: The layer behind them.

    Raises:
        ValueError: If `item_shape` is not three sizes, or nothing is left by the convolutions.

    Reference:
        lamb2022, section 8.4.3.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (19, 7, 7),
        *,
        convolutions: tuple[tuple[Size, Size, Size], ...] = VIEWS,
        out_features: Size = 128,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if len(item_shape) != 3:
            raise ValueError(
                f"item_shape must be (channel, height, width), got {item_shape}; choose another "
                "encoder for items that are no images, e.g. LinearEncoder for vectors"
            )
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
        self.output = relu_layer(rows, out_features, generator)

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        maps = as_fractions(items, self.output.weight.dtype)
        for layer in self.layers:
            maps = F.relu(layer(maps))
        return F.relu(self.output(maps.flatten(1)))


@final
class PlanesNFMEncoder(nn.Module):
    """A `PlanesEncoder` in several passes, with neural function modules after its convolutions.

    In the last pass each convolution reads the outputs of all convolutions so far, in this pass and
    in earlier passes. At first that adds nothing: it embeds as the `PlanesEncoder` of the same
    generator.

    Args:
        item_shape: Channels, height and width of an item.
        convolutions: Channels, side and stride of each convolution, without padding.
        rules: The options of reads; None is `NFMRules(key_size=32, value_size=32, top_k=4,
            space_to_depth=False)`, the numbers of the text, with maps brought to one size by their
            nearest neighbors, as the sides of convolutions without padding are no multiples.
        passes: Number of passes.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`.

    Attributes:
        core: The encoder in its passes.

    Raises:
        ValueError: As `PlanesEncoder`, or if there is no pass.

    Reference:
        lamb2022, section 10.4.5.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (19, 7, 7),
        *,
        convolutions: tuple[tuple[Size, Size, Size], ...] = VIEWS,
        out_features: Size = 128,
        rules: NFMRules | None = None,
        passes: Depth = 2,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        encoder = PlanesEncoder(
            item_shape, convolutions=convolutions, out_features=out_features, generator=generator
        )
        self.out_features = out_features
        self.core = MultiPass(
            encoder,
            tuple(f"layers.{number}" for number in range(len(convolutions))),
            tuple(channels for channels, _, _ in convolutions),
            passes=passes,
            rules=rules or NFMRules(key_size=32, value_size=32, top_k=4, space_to_depth=False),
            generator=generator,
        )

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        found: Tensor = self.core(items)
        return found

    def trace(self, items: Shaped[Tensor, "item ..."]) -> tuple[LayerRead, ...]:
        """Return the reads of the convolutions, as in `MultiPass.trace`."""
        return self.core.trace(items)
