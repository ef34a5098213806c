"""Layers and attention that a code modulates."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple, Unpack, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from farfield.core.internal import FactoryOptions, NonNegativeFloat, Size, take_factory_arguments
from farfield.functional.internal import (
    ModulatedLayer,
    RelativePositionParameters,
    modulated_attention,
    modulated_linear,
    modulated_mlp,
    modulated_weight,
    relative_position_scores,
)


@final
class RelativePosition(nn.Module):
    r"""Scores for the way from one patch to another, rows and columns apart.

    $$r_{uhij} = a_h \cdot R_{\rho_j - \rho_i} + \alpha_h \cdot c_u
      + b_h \cdot K_{\kappa_j - \kappa_i} + \beta_h \cdot c_u$$

    where $R$ and $K$ are embeddings of distances between rows and between columns. Elements before
    the patches, such as CLS tokens, have 0 from and to all.

    Args:
        grid: Rows and columns of patches.
        num_heads: Number of heads.
        key_size: Numbers in an embedding of a distance.
        code_size: Numbers in a code.
        generator: Where the first weights are drawn from, embeddings from a normal distribution and
            the others as torch's linear layers do; None is torch's global generator.

    Shape:
        Codes `(function, code_size)` to `(function, num_heads, item, item)`.

    Attributes:
        row_embedding: $R$: `(2 · rows − 1, key_size)`.
        column_embedding: $K$: `(2 · columns − 1, key_size)`.
        row_head: $a$: `(num_heads, key_size)`.
        column_head: $b$: `(num_heads, key_size)`.
        row_code: $\alpha$: `(num_heads, code_size)`.
        column_code: $\beta$: `(num_heads, code_size)`.

    Raises:
        ValueError: If a size is below 1, or there are fewer elements than patches.

    Reference:
        gondal2021, section 4.2, after the released code.
    """

    @take_factory_arguments()
    def __init__(
        self,
        grid: tuple[Size, Size],
        num_heads: Size,
        key_size: Size,
        code_size: Size,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        rows, columns = self.grid = grid

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(shape).normal_(generator=generator))

        def linear(inputs: int) -> nn.Parameter:
            bound = inputs**-0.5
            made = torch.empty(num_heads, inputs)
            return nn.Parameter(made.uniform_(-bound, bound, generator=generator))

        self.row_embedding = drawn(2 * rows - 1, key_size)
        self.column_embedding = drawn(2 * columns - 1, key_size)
        self.row_head, self.column_head = linear(key_size), linear(key_size)
        self.row_code, self.column_code = linear(code_size), linear(code_size)

    def forward(
        self, codes: Float[Tensor, "function code"], num_items: int
    ) -> Float[Tensor, "function head item item"]:
        """Compute scores among so many elements, of which the last are the patches, row by row."""
        rows, columns = self.grid
        if num_items < rows * columns:
            raise ValueError(
                f"x must have at least {rows * columns} elements, the patches of a grid of {rows} "
                f"× {columns}, and others before them; got {num_items}"
            )
        parameters = RelativePositionParameters(
            self.row_embedding,
            self.column_embedding,
            self.row_head,
            self.column_head,
            self.row_code,
            self.column_code,
        )
        return relative_position_scores(codes, parameters, num_items - rows * columns)

    def extra_repr(self) -> str:
        """Format the grid for `print`."""
        return f"grid={self.grid}"


@final
class ModLin(nn.Module):
    r"""A linear layer whose inputs are scaled by a code.

    $$y_u = W (x_u \odot \mathrm{LN}(W_c c_u)) + b$$

    The weights $W \, \mathrm{diag}(\mathrm{LN}(W_c c_u))$ are formed once for each function, so
    that its cost beyond that of `torch.nn.Linear` does not grow with the number of elements.

    Args:
        in_features: Number of features of an element.
        out_features: Number of features that come out.
        code_size: Numbers in a code.
        bias: Whether there is a $b$; its first value is 0.
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

    @take_factory_arguments()
    def __init__(
        self,
        in_features: Size,
        out_features: Size,
        code_size: Size,
        *,
        bias: bool = True,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
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

    def layer(self, codes: Float[Tensor, "function code"]) -> ModulatedLayer:
        """Build the layer for these codes, for `farfield.functional`."""
        return ModulatedLayer(modulated_weight(self.weight, self.code_weight, codes), self.bias)

    def forward(
        self, x: Float[Tensor, "_ *row in"], codes: Float[Tensor, "function code"]
    ) -> Float[Tensor, "function *row out"]:
        """Compute outputs of each function for its elements."""
        return modulated_linear(x, self.layer(codes))

    def extra_repr(self) -> str:
        """Format the sizes for `print`."""
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

    Shape:
        As of `ModLin`.

    Attributes:
        layers: The layers.

    Raises:
        ValueError: If there are fewer than two sizes, or as in `ModLin`.

    Reference:
        gondal2021, section 2, equation 5.
    """

    @take_factory_arguments()
    def __init__(
        self,
        sizes: tuple[Size, ...],
        code_size: Size,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        if len(sizes) < 2:
            raise ValueError(f"sizes must name the features in and out at least, got {sizes}")
        self.layers = nn.ModuleList(
            ModLin(inputs, outputs, code_size, generator=options["generator"])
            for inputs, outputs in pairwise(sizes)
        )

    def modulated(self, codes: Float[Tensor, "function code"]) -> tuple[ModulatedLayer, ...]:
        """Build the layers for these codes, for `farfield.functional`."""
        return tuple(layer.layer(codes) for layer in self.layers)  # type: ignore[operator]

    def forward(
        self, x: Float[Tensor, "_ *row in"], codes: Float[Tensor, "function code"]
    ) -> Float[Tensor, "function *row out"]:
        """Compute outputs of each function for its elements."""
        return modulated_mlp(x, self.modulated(codes))


def _uniform(shape: tuple[int, int], generator: torch.Generator | None) -> nn.Parameter:
    """Initialize all layers as torch does linear layers."""
    bound = 1 / math.sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))


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

    with the values that `farfield.functional.internal.modulated_attention` gathers as $\tilde y$.
    Queries and keys have no bias, as in the released code.

    Args:
        num_features: Number of features of an element.
        code_size: Numbers in a code.
        num_heads: Number of heads; must divide `num_features`.
        key_size: Numbers in a query or key of one head; None shares the features among the heads.
        eps: Added to the sums of attention weights.

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

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        code_size: Size,
        *,
        num_heads: Size = 4,
        key_size: Size | None = None,
        eps: NonNegativeFloat = 1e-6,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
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

    def modulated(self, codes: Float[Tensor, "function code"]) -> AttentionLayers:
        """Build the layers for these codes, for `farfield.functional`."""
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
        """Compute attention of each element in each function."""
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
        """Format the options for `print`."""
        return f"num_heads={self.num_heads}, key_size={self.key_size}, eps={self.eps}"
