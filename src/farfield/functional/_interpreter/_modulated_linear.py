"""Linear layers that are programmed by the code of a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear


class ModulatedLayer(NamedTuple):
    """A modulated linear layer whose codes are fixed.

    Attributes:
        weight: One for each function, by `modulated_weight`: (function, out, in).
        bias: Shared by the functions: (out); or None for zeros.

    Reference:
        gondal2021, section 2, equation 4.
    """

    weight: Tensor
    bias: Tensor | None = None


def modulated_weight(
    weight: Float[Tensor, "out in"],
    code_weight: Float[Tensor, "in code"],
    codes: Float[Tensor, "function code"],
) -> Float[Tensor, "function out in"]:
    r"""The weight that a shared one becomes under the code of each function.

    $$W_u = W \, \mathrm{diag}(\mathrm{LN}(W_c c_u))$$

    so that $W_u x = W (x \odot \mathrm{LN}(W_c c_u))$ for every element $x$, whatever their number.

    Args:
        weight: $W$.
        code_weight: $W_c$.
        codes: $c$, one for each function.

    Raises:
        ValueError: If there is one input only, which a layer normalization makes 0.

    Reference:
        gondal2021, section 2, equation 4.
    """
    if weight.shape[-1] < 2:
        raise ValueError(
            f"weight must have at least 2 inputs, got {weight.shape[-1]}: layer normalization "
            "makes a single one 0"
        )
    return weight * F.layer_norm(linear(codes, code_weight), weight.shape[-1:]).unsqueeze(-2)


def modulated_linear(
    x: Float[Tensor, "_ *row in"], layer: ModulatedLayer
) -> Float[Tensor, "function *row out"]:
    r"""The layer of each function on its elements: $y_{ui} = W_u x_{ui} + b$.

    Args:
        x: Elements by function; with a first axis of length 1 all functions have the same.
        layer: The layer.

    Raises:
        ValueError: If `x` is for another number of functions, or has another width.

    Reference:
        gondal2021, section 2, equation 4.
    """
    functions, outputs, inputs = layer.weight.shape
    if x.shape[0] not in (1, functions) or x.shape[-1] != inputs:
        raise ValueError(
            f"x must be (function, …, {inputs}) for {functions} functions, or for 1 where all "
            f"have the same, got shape {tuple(x.shape)}"
        )
    if x.shape[0] == 1:
        bias = None if layer.bias is None else layer.bias.repeat(functions)
        found = linear(x[0], layer.weight.flatten(0, 1), bias)
        return torch.unflatten(found, -1, (functions, outputs)).movedim(-2, 0)
    pairs = zip(x.unbind(0), layer.weight.unbind(0), strict=True)
    return torch.stack([linear(own, weight, layer.bias) for own, weight in pairs])


def modulated_mlp(
    x: Float[Tensor, "_ *row in"], layers: Sequence[ModulatedLayer]
) -> Float[Tensor, "function *row out"]:
    """Modulated linear layers one after another, with a GELU between any two.

    Args:
        x: As in `modulated_linear`.
        layers: The layers.

    Reference:
        gondal2021, section 2, equation 5.
    """
    first, *others = layers
    x = modulated_linear(x, first)
    for layer in others:
        x = modulated_linear(F.gelu(x), layer)
    return x
