"""Attention among the elements that a function has access to, programmed by its code."""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import ModulatedLayer, modulated_attention, modulated_linear
from farfield.nn._interpreter._mod_lin import ModLin


class AttentionLayers(NamedTuple):
    """The layers of a `ModAttn` for some codes."""

    query: ModulatedLayer
    key: ModulatedLayer
    value: ModulatedLayer
    out: ModulatedLayer


@final
class ModAttn(nn.Module):
    r"""Self-attention in a stream for each function, by its code and among its elements.

    $$q, k, v = \mathrm{ModLin}_{q, k, v}(x; c_u), \qquad
      y_u = \mathrm{ModLin}(\tilde y_u; c_u)$$

    with what `farfield.functional.modulated_attention` gathers as $\tilde y$. Queries and keys have
    no bias, as in the released code.

    Args:
        num_features: Number of features of an element.
        code_size: Numbers in a code.
        num_heads: Number of heads; must divide `num_features`.
        key_size: Numbers in a query or key of one head; None shares the features among the heads.
        eps: Added to the sums of attention weights.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        Elements `(function, batch, item, num_features)`, or `(1, …)` where all functions have the
        same; compatibilities `(function, batch, item)`; codes `(function, code_size)`; a mask
        `(batch, item)` that is True for padding. Out: `(function, batch, item, num_features)`.

    Attributes:
        query: Layer of the queries.
        key: Layer of the keys.
        value: Layer of the values.
        out: The last layer.

    Raises:
        ValueError: If the heads do not divide the width.

    Reference:
        gondal2021, section 2, equations 6 to 8.
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        code_size: Size,
        *,
        num_heads: Size = 4,
        key_size: Size | None = None,
        eps: NonNegativeFloat = 1e-6,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if num_features % num_heads:
            raise ValueError(
                f"num_heads must divide the {num_features} features of an element, got "
                f"num_heads={num_heads}"
            )
        self.num_heads, self.eps = num_heads, eps
        self.key_size = num_features // num_heads if key_size is None else key_size
        keys = num_heads * self.key_size
        sizes = (num_features, num_features, code_size)
        self.query = ModLin(num_features, keys, code_size, bias=False, generator=generator)
        self.key = ModLin(num_features, keys, code_size, bias=False, generator=generator)
        self.value = ModLin(*sizes, generator=generator)
        self.out = ModLin(*sizes, generator=generator)
        self.to(device=device, dtype=dtype)

    def modulated(self, codes: Float[Tensor, "function code"]) -> AttentionLayers:
        """The layers for these codes, for `farfield.functional`."""
        return AttentionLayers(
            *(layer.layer(codes) for layer in (self.query, self.key, self.value, self.out))
        )

    def forward(
        self,
        x: Float[Tensor, "_ batch item feature"],
        compatibility: Float[Tensor, "function batch item"],
        codes: Float[Tensor, "function code"],
        key_padding_mask: Bool[Tensor, "batch item"] | None = None,
    ) -> Float[Tensor, "function batch item feature"]:
        """Attention of each element in each function."""
        layers = self.modulated(codes)
        gathered = modulated_attention(
            modulated_linear(x, layers.query),
            modulated_linear(x, layers.key),
            modulated_linear(x, layers.value),
            compatibility,
            num_heads=self.num_heads,
            key_padding_mask=key_padding_mask,
            eps=self.eps,
        )
        return modulated_linear(gathered, layers.out)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"num_heads={self.num_heads}, key_size={self.key_size}, eps={self.eps}"
