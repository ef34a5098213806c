"""Encoders and decoders of one layer."""

from __future__ import annotations

import math
from typing import ClassVar, Unpack, final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, PositiveFloat, Size, take_factory_arguments
from farfield.functional.internal import as_fractions, uninitialized
from farfield.nn._encoders._encoders import check_items


@final
class LinearEncoder(nn.Module):
    """A linear layer without bias on the flat item.

    For items that are one-hot vectors this is `torch.nn.Embedding`: a vector for each symbol.

    Args:
        item_shape: Shape of an item.
        bound: Initial weights are uniform between −`bound` and `bound`.

    Shape:
        `(item, *item_shape)`, floating-point or uint8 of 0…255 as fractions, to
        `(item, out_features)`.

    Attributes:
        weight: The weights, `(out_features, features of an item)`.

    Raises:
        ValueError: If a size is below 1, `bound` is not positive, or the items have another shape.

    Reference:
        lamb2022, section 8.4.1; the bound is that of the released code.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        out_features: Size = 600,
        bound: PositiveFloat = 0.1,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape = tuple(item_shape)
        self.out_features = out_features
        layer = uninitialized(nn.Linear, math.prod(item_shape), out_features, bias=False)
        self.weight = layer.weight
        nn.init.uniform_(self.weight, -bound, bound, generator=options["generator"])

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        return nn.functional.linear(as_fractions(items, self.weight.dtype).flatten(1), self.weight)


@final
class LinearDecoder(nn.Module):
    """A linear layer, folded into an item: logits of its pixels, or other numbers.

    The way back from `LinearEncoder`, with a bias.

    Args:
        item_shape: Shape of an item.
        in_features: Number of features that are decoded.
        bound: Initial weights are uniform between −`bound` and `bound`.
        first_bias: First value of the biases. Where most numbers of an item are alike, as the
            pixels of a dark frame, a bias near their logit spares training a long plateau.

    Shape:
        `(*batch, in_features)` to `(*batch, *item_shape)`.

    Attributes:
        output: The layer.

    Raises:
        ValueError: If a size is below 1, `bound` is not positive, `first_bias` not finite, or the
            input of another size.

    Reference:
        lamb2022, section 8.4.2, which says nothing of its decoder; this one is Farfield's choice.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        in_features: Size,
        *,
        bound: PositiveFloat = 0.1,
        first_bias: float = 0.0,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape = tuple(item_shape)
        self.in_features = in_features
        self.output = uninitialized(nn.Linear, in_features, math.prod(item_shape))
        nn.init.uniform_(self.output.weight, -bound, bound, generator=options["generator"])
        nn.init.constant_(self.output.bias, first_bias)

    def forward(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*shape"]:
        """Decode every embedding."""
        if z.ndim == 0 or z.shape[-1] != self.in_features:
            raise ValueError(
                f"z must have in_features={self.in_features} features, got shape {tuple(z.shape)}"
            )
        return self.output(z).unflatten(-1, self.item_shape)


@final
class WordEncoder(nn.Module):
    """A learned vector for each word of a vocabulary.

    It is `torch.nn.Embedding` for items that are numbers of words. `LinearEncoder` does the same
    for symbols as one-hot vectors, which a large vocabulary has no memory for.

    Args:
        num_outputs: Number of words.
        bound: Initial weights are uniform between −`bound` and `bound`.

    Shape:
        `(item, 1)`, integers, to `(item, out_features)`.

    Attributes:
        weight: The vectors, `(num_outputs, out_features)`.

    Raises:
        ValueError: If a size is below 1, `bound` is not positive, or the items are no numbers of
            words.

    Reference:
        ren2017, section 4.2; sizes and bound are those of the released code.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        num_outputs: Size,
        *,
        out_features: Size = 200,
        bound: PositiveFloat = 0.1,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.num_outputs, self.out_features = num_outputs, out_features
        self.weight = nn.Parameter(torch.empty(num_outputs, out_features))
        nn.init.uniform_(self.weight, -bound, bound, generator=options["generator"])

    def forward(self, items: Int[Tensor, "item 1"]) -> Float[Tensor, "item feature"]:
        """Embed every word."""
        if items.ndim != 2 or items.shape[1] != 1 or items.is_floating_point():
            raise ValueError(
                "items must be numbers of words, integers of (item, 1), "
                f"got {items.dtype} of shape {tuple(items.shape)}"
            )
        return F.embedding(items[:, 0], self.weight)

    def extra_repr(self) -> str:
        """Return the sizes, for `print`."""
        return f"{self.num_outputs}, {self.out_features}"
