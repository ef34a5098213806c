"""Linear layers that are programmed by the codes of functions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import (
    ModulatedLayer,
    modulated_linear,
    modulated_mlp,
    modulated_weight,
)


@final
class ModLin(nn.Module):
    r"""A linear layer whose inputs are scaled by what a code says.

    $$y_u = W (x_u \odot \mathrm{LN}(W_c c_u)) + b$$

    The weights $W \, \mathrm{diag}(\mathrm{LN}(W_c c_u))$ are formed once for each function, so
    that its cost beyond that of `torch.nn.Linear` does not grow with the number of elements.

    Args:
        in_features: Number of features of an element.
        out_features: Number of features that come out.
        code_size: Numbers in a code.
        bias: Whether there is a $b$; its first value is 0.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from, as torch's linear layers do; None is
            torch's global generator.

    Shape:
        Elements `(function, …, in_features)`, or `(1, …, in_features)` where all functions have the
        same, and codes `(function, code_size)`; out: `(function, …, out_features)`.

    Attributes:
        weight: $W$: `(out_features, in_features)`.
        bias: `(out_features)` or None.
        code_weight: $W_c$: `(in_features, code_size)`.

    Raises:
        ValueError: If a size is below 1, `in_features` below 2, or elements have another width.

    Reference:
        gondal2021, section 2, equation 4.
    """

    bias: nn.Parameter | None

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        out_features: Size,
        code_size: Size,
        *,
        bias: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.code_size = code_size
        if in_features < 2:
            raise ValueError(
                f"in_features must be at least 2, got {in_features}: layer normalization makes a "
                "single one 0"
            )
        self.weight = _uniform((out_features, in_features), generator)
        self.code_weight = _uniform((in_features, code_size), generator)
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None
        self.to(device=device, dtype=dtype)

    def layer(self, codes: Float[Tensor, "function code"]) -> ModulatedLayer:
        """The layer for these codes, for `farfield.functional`."""
        return ModulatedLayer(modulated_weight(self.weight, self.code_weight, codes), self.bias)

    def forward(
        self, x: Float[Tensor, "_ *row in"], codes: Float[Tensor, "function code"]
    ) -> Float[Tensor, "function *row out"]:
        """Outputs of each function for its elements."""
        return modulated_linear(x, self.layer(codes))

    def extra_repr(self) -> str:
        """The sizes, for `print`."""
        return (
            f"{self.in_features}, {self.out_features}, {self.code_size}, "
            f"bias={self.bias is not None}"
        )


@final
class ModMLP(nn.Module):
    r"""Layers that are programmed by a code, with a GELU between any two.

    $$y_u = (\mathrm{ModLin}_L(\cdot; c_u) \circ \mathrm{GELU} \circ … \circ
      \mathrm{ModLin}_1(\cdot; c_u))(x_u)$$

    Args:
        sizes: Number of features before the first layer, after it, and so on.
        code_size: Numbers in a code.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        As of `ModLin`.

    Attributes:
        layers: The layers.

    Raises:
        ValueError: If there are fewer than two sizes, or as in `ModLin`.

    Reference:
        gondal2021, section 2, equation 5.
    """

    @check_arguments
    def __init__(
        self,
        sizes: tuple[Size, ...],
        code_size: Size,
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if len(sizes) < 2:
            raise ValueError(f"sizes must name the features in and out at least, got {sizes}")
        self.layers = nn.ModuleList(
            ModLin(inputs, outputs, code_size, generator=generator)
            for inputs, outputs in pairwise(sizes)
        )
        self.to(device=device, dtype=dtype)

    def modulated(self, codes: Float[Tensor, "function code"]) -> tuple[ModulatedLayer, ...]:
        """The layers for these codes, for `farfield.functional`."""
        return tuple(layer.layer(codes) for layer in self.layers)  # type: ignore[operator]

    def forward(
        self, x: Float[Tensor, "_ *row in"], codes: Float[Tensor, "function code"]
    ) -> Float[Tensor, "function *row out"]:
        """Outputs of each function for its elements."""
        return modulated_mlp(x, self.modulated(codes))


def _uniform(shape: tuple[int, int], generator: torch.Generator | None) -> nn.Parameter:
    """As torch's linear layers begin."""
    bound = 1 / math.sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))
