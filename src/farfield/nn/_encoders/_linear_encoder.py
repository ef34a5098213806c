"""The encoder of symbols and of small vectors: one linear layer."""

from __future__ import annotations

import math
from typing import ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import PositiveFloat, Size, check_arguments
from farfield.functional import as_fractions, uninitialized


@final
class LinearEncoder(nn.Module):
    """A linear layer without bias on the flat item.

    For items that are one-hot vectors this is `torch.nn.Embedding`: a vector for each symbol.

    Args:
        item_shape: Shape of an item.
        out_features: Size of an embedding.
        bound: First weights are uniform between −`bound` and `bound`.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

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

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        out_features: Size = 600,
        bound: PositiveFloat = 0.1,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = tuple(item_shape)
        self.out_features = out_features
        layer = uninitialized(nn.Linear, math.prod(item_shape), out_features, bias=False)
        self.weight = layer.weight
        nn.init.uniform_(self.weight, -bound, bound, generator=generator)
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        if items.shape[1:] != self.item_shape:
            raise ValueError(
                f"items must be (item, {', '.join(map(str, self.item_shape))}), "
                f"got shape {tuple(items.shape)}"
            )
        return nn.functional.linear(as_fractions(items, self.weight.dtype).flatten(1), self.weight)
