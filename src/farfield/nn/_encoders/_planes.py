"""Encoders of images as planes of positions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final, Protocol, final, runtime_checkable

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core.internal import Depth, Size, check_arguments
from farfield.functional.internal import (
    NFMRules,
    as_fractions,
    kaiming_normal_,
    relu_layer,
    uninitialized,
)
from farfield.nn._encoders._encoders import check_items
from farfield.nn._nfm._multi_pass import LayerRead, MultiPass


@runtime_checkable
class Placement(Protocol):
    """Placement of normalizers in a recurrent cell, with their widths.

    A normalizer can precede each non-linearity, by the name of the non-linearity in the cell, and
    each of the two projections with the gates side by side, `"input"` for $W_x x_t$ and `"hidden"`
    for $W_h h_{t-1}$. Names left out get no normalizer, so any other choice is a class with this
    method.

    Reference:
        ren2017, section 4.2 and appendix B, which have two of them.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Return the number of features of each normalizer, by name.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class PerNonlinearity:
    r"""A normalizer before each non-linearity, on the summed input of that one alone.

    $$\bar\sigma(x) = \sigma(N(x)), \qquad \overline{\tanh}(x) = \tanh(N(x))$$

    replace $\sigma$ and $\tanh$, with a normalizer $N$ for each: five in an LSTM
    (input gate, forget gate, candidate, output gate, new cell), three in a GRU (reset gate, update
    gate, candidate), one in a plain recurrent network. `PerProjection` normalizes all gates
    together, before the sum.

    Reference:
        ren2017, equations 10, 11, 19 and 20.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Return the width of the hidden state for each non-linearity.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
        """
        return dict.fromkeys((*gates, *carried), hidden_size)


@final
@dataclass(frozen=True, kw_only=True)
class PerProjection:
    r"""The classical placement: a normalizer on each projection, gates side by side.

    $$h_t = g(N_x(W_x x_t + b_x) + N_h(W_h h_{t-1} + b_h))$$

    with the inputs $g$ of all gates as one vector, and in an LSTM another normalizer on the new
    cell before its $\tanh$. `PerNonlinearity` has a normalizer for each gate, after the sum.

    Reference:
        ren2017, section 4.2 and equation 9, and the last paragraph of appendix B.
    """

    def widths(
        self, gates: Sequence[str], carried: Sequence[str], hidden_size: int
    ) -> Mapping[str, int]:
        """Return the width of all gates for the projections, of the hidden state for the cell.

        Args:
            gates: Names of the non-linearities that the projections feed, in their order.
            carried: Names of the non-linearities that the carried state feeds.
        """
        projections = dict.fromkeys(("input", "hidden"), len(gates) * hidden_size)
        return projections | dict.fromkeys(carried, hidden_size)


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
        self.to(device=device, dtype=dtype)

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

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (19, 7, 7),
        *,
        convolutions: tuple[tuple[Size, Size, Size], ...] = VIEWS,
        out_features: Size = 128,
        rules: NFMRules | None = None,
        passes: Depth = 2,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        encoder = PlanesEncoder(
            item_shape,
            convolutions=convolutions,
            out_features=out_features,
            generator=generator,
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
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        found: Tensor = self.core(items)
        return found

    def trace(self, items: Shaped[Tensor, "item ..."]) -> tuple[LayerRead, ...]:
        """Return the reads of the convolutions, as in `MultiPass.trace`."""
        return self.core.trace(items)
