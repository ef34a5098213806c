"""Relational cross-attention and the Abstractor: relations of objects choose symbols."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, Literal, Unpack, final

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import default_layer
from farfield.nn._input_checks import check_dtype
from farfield.nn._interpreter._type_inference import check_set
from farfield.nn._relations._symbols import PositionalSymbols

Activation = Literal["softmax", "sigmoid", "tanh", "relu", "identity"]
_POINTWISE: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "identity": lambda scores: scores,
}


def split_heads(
    x: Float[Tensor, "batch item feature"], num_heads: int
) -> Float[Tensor, "batch head item key"]:
    """Split the features of objects into heads."""
    return rearrange(x, "batch item (head key) -> batch head item key", head=num_heads)


def relations_of(
    query: Float[Tensor, "batch item feature"],
    key: Float[Tensor, "batch item feature"],
    num_heads: int,
    hidden: Tensor | None = None,
    activation: str = "softmax",
) -> Float[Tensor, "batch head item item"]:
    """Relate objects by scaled inner products in each head; hidden pairs have no relation.

    Args:
        query: Queries of the reading objects, heads side by side.
        key: Keys of the objects that are read.
        num_heads: Number of heads.
        hidden: True for pairs that are not related; broadcast to the scores; None for no pair.
        activation: `softmax` over the objects read, or a function of each score.
    """
    query, key = split_heads(query, num_heads), split_heads(key, num_heads)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if activation == "softmax":
        if hidden is not None:
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return F.softmax(scores, dim=-1)
    relations = _POINTWISE[activation](scores)
    return relations if hidden is None else relations.masked_fill(hidden, 0)


def hidden_pairs(x: Tensor, key_padding_mask: Tensor | None, mask: Tensor | None) -> Tensor | None:
    """Join a mask of padding and a mask of pairs: True for pairs without relation.

    Args:
        x: The objects, `(batch, item, feature)`.
        key_padding_mask: True where there is padding, `(batch, item)`.
        mask: True where the first object does not read the second, `(item, item)`.

    Raises:
        ValueError: If `mask` is no bool tensor of that shape.
    """
    items = x.shape[1]
    if mask is not None and (mask.shape != (items, items) or mask.dtype != torch.bool):
        raise ValueError(
            f"mask must be bool of shape {(items, items)}, got {mask.dtype} of {tuple(mask.shape)}"
        )
    if key_padding_mask is None:
        return mask
    padding = key_padding_mask[:, None, None, :]
    return padding if mask is None else padding | mask


@final
class RelationalCrossAttention(nn.Module):
    r"""Read symbols by the relations of objects: attention whose values do not see the objects.

    $$R = \rho\big(x W_q (x W_k)^\top / \sqrt{d_h}\big), \qquad
      y = \mathrm{concat}_h(R_h \, s W_v^h) \, W_o$$

    Queries and keys come from the objects $x$, values from the symbols $s$ only, so that the
    result depends on the objects through their relations alone. `nn.MultiheadAttention` reads
    values of the objects.

    Args:
        num_features: Number of features of objects and symbols.
        num_heads: Number of heads.
        head_size: Numbers of a query, key and value of a head; `num_features / num_heads` if None.
        activation: $\rho$: `softmax` over the objects read; or `sigmoid`, `tanh`, `relu` or
            `identity`, whose sums grow with the number of objects.
        bias: Whether the linear layers have biases.

    Shape:
        Objects `(batch, item, num_features)` and symbols of the same shape, or of `(batch, item,
        item, num_features)`, one for each pair, to `(batch, item, num_features)`.

    Attributes:
        query, key, value, output: The linear layers, heads side by side.

    Raises:
        ValueError: If a number is below 1, the heads do not divide `num_features` where
            `head_size` is None, or objects, symbols or masks have another shape.

    Reference:
        altabaa2024, section 2.2.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        num_heads: Size = 1,
        head_size: Size | None = None,
        activation: Activation = "softmax",
        bias: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if head_size is None and num_features % num_heads:
            raise ValueError(f"num_heads must divide num_features={num_features}, got {num_heads}")
        width = num_features if head_size is None else head_size * num_heads
        self.num_features, self.num_heads, self.activation = num_features, num_heads, activation
        self.query = default_layer(num_features, width, generator, bias=bias)
        self.key = default_layer(num_features, width, generator, bias=bias)
        self.value = default_layer(num_features, width, generator, bias=bias)
        self.output = default_layer(width, num_features, generator, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        symbols: Float[Tensor, "batch item ..."],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "batch item feature"]:
        """Read the symbols.

        Args:
            x: The objects.
            symbols: One symbol for each object, or for each pair of objects.
            key_padding_mask: True where there is no object but padding; None for no padding.
            mask: `(item, item)`: True where the first object does not read the second.
        """
        relations = self.relations(x, key_padding_mask, mask=mask)
        items = x.shape[1]
        pairs = symbols.ndim == x.ndim + 1
        if symbols.shape != (len(x),) + (items,) * (1 + pairs) + (self.num_features,):
            raise ValueError(
                "symbols must be (batch, item, feature) or (batch, item, item, feature) for x of "
                f"shape {tuple(x.shape)}, got {tuple(symbols.shape)}"
            )
        value = rearrange(
            self.value(symbols), "... (head key) -> ... head key", head=self.num_heads
        )
        terms = "bhij, bijhk -> bihk" if pairs else "bhij, bjhk -> bihk"
        read = torch.einsum(terms, relations, value)
        return self.output(read.flatten(2))

    def relations(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "batch head item item"]:
        """Compute the relations $R$ of all pairs of objects, the reading object first."""
        check_set(x, self.num_features, key_padding_mask)
        check_dtype(x, self)
        hidden = hidden_pairs(x, key_padding_mask, mask)
        return relations_of(self.query(x), self.key(x), self.num_heads, hidden, self.activation)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"num_heads={self.num_heads}, activation={self.activation!r}"


@final
class Abstractor(nn.Module):
    r"""Transform symbols by the relations of objects, layer by layer.

    $$s \leftarrow \mathrm{LN}(s + \mathrm{SA}(s)), \qquad
      s \leftarrow \mathrm{LN}(s + \mathrm{RCA}(x, s)), \qquad
      s \leftarrow \mathrm{LN}(s + \mathrm{MLP}(s))$$

    with self-attention of the symbols and `RelationalCrossAttention`; all layers read the same
    objects $x$. The result is the symbols: unlike those of a Transformer, features of objects
    reach it through relations alone.

    Args:
        num_features: Number of features of objects and symbols.
        symbols: Function that makes the symbols from `num_features`, e.g. `PositionalSymbols`,
            `SymbolLibrary` or a `Spec` of one; a layer from objects to symbols.
        num_layers: Number of layers.
        num_heads: Number of heads of both kinds of attention.
        feedforward_size: Hidden units of the MLP; `num_features` if None.
        activation: $\rho$ of relational cross-attention.
        self_attention: Whether symbols attend to each other.
        released: Whether layers are those of the released code: heads as wide as
            `num_features`, biases, `activation` in self-attention too, and 1e-3 for `eps`.

    Shape:
        `(batch, item, num_features)` to the same; symbols of pairs are read by the first layer.

    Attributes:
        symbols: The symbols.
        layers: The layers.

    Raises:
        ValueError: If a number is below 1, or the heads do not divide `num_features`.

    Reference:
        altabaa2024, section 2.4.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        symbols: Callable[[int], nn.Module] = PositionalSymbols,
        num_layers: Depth = 1,
        num_heads: Size = 2,
        feedforward_size: Size | None = None,
        activation: Activation = "softmax",
        self_attention: bool = True,
        released: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.symbols = symbols(num_features)
        width = num_features if feedforward_size is None else feedforward_size
        self.layers = nn.ModuleList(
            _AbstractorLayer(
                num_features,
                num_heads,
                width,
                activation,
                self_attention,
                released,
                options["generator"],
            )
            for _ in range(num_layers)
        )

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
    ) -> Float[Tensor, "batch item feature"]:
        """Transform the symbols of every set of objects.

        Args:
            x: The objects.
            key_padding_mask: True where there is no object but padding; None for no padding.
        """
        check_set(x, self.num_features, key_padding_mask)
        symbols = self.symbols(x)
        for layer in self.layers:
            symbols = layer(x, symbols, key_padding_mask)
        return symbols


class _AbstractorLayer(nn.Module):
    """Self-attention of symbols, relational cross-attention and an MLP, normalized after each."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        feedforward_size: int,
        activation: Activation,
        self_attention: bool,
        released: bool,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        eps = 1e-3 if released else 1e-5

        def attention(activation: Activation) -> RelationalCrossAttention:
            return RelationalCrossAttention(
                size,
                num_heads=num_heads,
                head_size=size if released else None,
                activation=activation,
                bias=released,
                generator=generator,
            )

        self.own = attention(activation if released else "softmax") if self_attention else None
        self.norm1 = nn.LayerNorm(size, eps=eps) if self_attention else None
        self.cross, self.norm2 = attention(activation), nn.LayerNorm(size, eps=eps)
        self.fc1 = default_layer(size, feedforward_size, generator)
        self.fc2 = default_layer(feedforward_size, size, generator)
        self.norm3 = nn.LayerNorm(size, eps=eps)

    def forward(self, x: Tensor, symbols: Tensor, padding: Tensor | None) -> Tensor:
        if symbols.ndim > x.ndim:  # of pairs: nothing to add to, and nothing that could attend
            symbols = self.norm2(self.cross(x, symbols, padding))
        else:
            if self.own is not None and self.norm1 is not None:
                symbols = self.norm1(symbols + self.own(symbols, symbols, padding))
            symbols = self.norm2(symbols + self.cross(x, symbols, padding))
        return self.norm3(symbols + self.fc2(torch.relu(self.fc1(symbols))))
