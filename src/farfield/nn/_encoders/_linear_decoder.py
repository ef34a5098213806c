"""The decoder that goes with a linear encoder: one linear layer."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import PositiveFloat, Size, check_arguments
from farfield.functional import uninitialized


@final
class LinearDecoder(nn.Module):
    """A linear layer, folded into an item: logits of its pixels, or what else its numbers are.

    The way back from `LinearEncoder`, with a bias.

    Args:
        item_shape: Shape of an item.
        in_features: Size of what is decoded.
        bound: First weights are uniform between −`bound` and `bound`.
        first_bias: What the biases start from. Where most numbers of an item are alike, as the
            pixels of a dark frame, a bias near their logit spares training a long plateau.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

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

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        in_features: Size,
        *,
        bound: PositiveFloat = 0.1,
        first_bias: float = 0.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = tuple(item_shape)
        self.in_features = in_features
        self.output = uninitialized(nn.Linear, in_features, math.prod(item_shape))
        nn.init.uniform_(self.output.weight, -bound, bound, generator=generator)
        nn.init.constant_(self.output.bias, first_bias)
        self.to(device=device, dtype=dtype)

    def forward(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*shape"]:
        """Decode every embedding."""
        if z.ndim == 0 or z.shape[-1] != self.in_features:
            raise ValueError(
                f"z must have in_features={self.in_features} features, got shape {tuple(z.shape)}"
            )
        return self.output(z).unflatten(-1, self.item_shape)
