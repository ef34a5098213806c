"""Type inference of elements."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import (
    TypingParameters,
    fan_in_uniform_,
    type_inference,
    uninitialized,
)


@final
class TypeInference(nn.Module):
    r"""Infer the type of each element, which decides the functions that have access to it.

    $$t_i = W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(x_i) + b_1) + b_2$$

    Only its direction counts. The form of the network is the released code's.

    Args:
        num_features: Number of features of an element.
        type_size: Numbers in a type.
        hidden_size: Hidden units; None is `num_features`.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(…, num_features)` to `(…, type_size)`.

    Attributes:
        norm: The layer normalization.
        hidden: The first layer.
        out: The second.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        gondal2021, section 2, equation 2.
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        type_size: Size,
        *,
        hidden_size: Size | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        hidden = num_features if hidden_size is None else hidden_size
        self.norm = nn.LayerNorm(num_features)
        self.hidden = fan_in_uniform_(uninitialized(nn.Linear, num_features, hidden), generator)
        self.out = fan_in_uniform_(uninitialized(nn.Linear, hidden, type_size), generator)
        self.to(device=device, dtype=dtype)

    def functional(self) -> TypingParameters:
        """The weights, for `farfield.functional.type_inference`."""
        return TypingParameters(
            self.norm.weight,
            self.norm.bias,
            self.hidden.weight,
            self.hidden.bias,
            self.out.weight,
            self.out.bias,
        )

    def forward(self, x: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch type"]:
        """The types, of any length."""
        return type_inference(x, self.functional())
