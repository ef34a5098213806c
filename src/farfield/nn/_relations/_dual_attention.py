"""Dual attention: heads that read objects beside heads that read relations and symbols."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Depth, FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import default_layer
from farfield.nn._input_checks import check_dtype
from farfield.nn._interpreter._type_inference import check_set
from farfield.nn._relations._relational_attention import hidden_pairs, relations_of, split_heads
from farfield.nn._relations._symbols import SymbolLibrary


@final
class DualAttention(nn.Module):
    r"""Attend by heads of two kinds: some read the objects, others their relations and symbols.

    $$\alpha^h = \mathrm{softmax}\big(x W_q^h (x W_k^h)^\top / \sqrt{d_h}\big), \qquad
      r_{ij} = \big(\langle W_{q,\ell}^{rel} x_i, W_{k,\ell}^{rel} x_j \rangle / \sqrt{d_r}
      \big)_{\ell \le R}$$

    $$a_i^h = \sum_j \alpha_{ij}^h \, W_v^h x_j \quad \text{(object heads)}, \qquad
      a_i^h = \sum_j \alpha_{ij}^h \, (W_r^h r_{ij} + W_s^h s_j) \quad \text{(relational heads)}$$

    Attention chooses a pair, and a relational head sends the relations of the pair. The heads of
    each kind have a separate output projection; object heads come first. `nn.MultiheadAttention`
    has object heads alone.

    Args:
        num_features: Number of features of objects and symbols.
        num_heads: Number of object heads.
        num_relational_heads: Number of relational heads.
        num_relations: $R$, the relations of a pair; that of relational heads if None.
        symmetric: Whether both sides of a relation have one map.

    Shape:
        Objects `(batch, item, num_features)` and symbols of the same shape, to the same.

    Attributes:
        query, key, value, output: Layers of the object heads.
        relational_query, relational_key: Layers of the attention of relational heads.
        first, second: Layers of the two sides of relations; `second` is None if `symmetric`.
        relation: $W_r$, `(head, feature, relation)`.
        symbol, relational_output: $W_s$ and the output layer of relational heads.

    Raises:
        ValueError: If a number is out of range, the heads do not divide `num_features`, the
            relations do not divide the width of the relational heads, or an input has another
            shape.

    Reference:
        lafferty2024, section 2.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        num_heads: Size = 2,
        num_relational_heads: Size = 2,
        num_relations: Size | None = None,
        symmetric: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        heads = num_heads + num_relational_heads
        if num_features % heads:
            raise ValueError(
                "num_heads and num_relational_heads together must divide "
                f"num_features={num_features}, got {num_heads} and {num_relational_heads}"
            )
        width = num_features // heads
        relational = width * num_relational_heads
        relations = num_relational_heads if num_relations is None else num_relations
        if relational % relations:
            raise ValueError(
                f"num_relations must divide the {relational} features of the relational heads, "
                f"got {relations}"
            )
        self.num_features, self.num_relations = num_features, relations
        self.num_heads, self.num_relational_heads = num_heads, num_relational_heads

        def layer(out_features: int, in_features: int = num_features) -> nn.Linear:
            return default_layer(in_features, out_features, generator, bias=False)

        own = width * num_heads
        self.query, self.key, self.value = layer(own), layer(own), layer(own)
        self.output = layer(own, own)
        self.relational_query, self.relational_key = layer(relational), layer(relational)
        self.first = layer(relational)
        self.second = None if symmetric else layer(relational)
        self.relation = nn.Parameter(
            torch.empty(num_relational_heads, width, relations, device="cpu")
        )
        nn.init.kaiming_uniform_(self.relation, a=math.sqrt(5), generator=generator)
        self.symbol, self.relational_output = layer(relational), layer(relational, relational)

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        symbols: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "batch item feature"]:
        """Attend in all heads.

        Args:
            x: The objects.
            symbols: A symbol for each object.
            key_padding_mask: True where there is no object but padding; None for no padding.
            mask: `(item, item)`: True where the first object does not read the second.
        """
        check_set(x, self.num_features, key_padding_mask)
        check_dtype(x, self)
        hidden = hidden_pairs(x, key_padding_mask, mask)
        attention = relations_of(
            self.relational_query(x), self.relational_key(x), self.num_relational_heads, hidden
        )
        relation = torch.einsum("bhij, bijr -> bihr", attention, self.relations(x))
        sent = torch.einsum("bihr, hkr -> bihk", relation, self.relation)
        read = attention @ split_heads(self.symbol(symbols), self.num_relational_heads)
        relational = self.relational_output((sent + read.transpose(1, 2)).flatten(2))
        attention = relations_of(self.query(x), self.key(x), self.num_heads, hidden)
        own = attention @ split_heads(self.value(x), self.num_heads)
        return torch.cat((self.output(own.transpose(1, 2).flatten(2)), relational), dim=-1)

    def relations(
        self, x: Float[Tensor, "batch item feature"]
    ) -> Float[Tensor, "batch item item _"]:
        """Compute the relations $r$ of all pairs, the reading object first."""
        sides = (self.first, self.second or self.first)
        first, second = (split_heads(side(x), self.num_relations) for side in sides)
        return (first @ second.mT / math.sqrt(first.shape[-1])).movedim(1, -1)


@final
class DualAttentionTransformer(nn.Module):
    r"""Let objects attend to objects and to relations, block by block.

    $$u = x + \mathrm{DualAttention}(\mathrm{LN}(x), s), \qquad
      y = u + W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(u))$$

    in each block. The symbols $s$ follow from the first objects and serve all blocks.
    `PreNormTransformer` has object heads alone.

    Args:
        num_features: Number of features of objects and symbols.
        symbols: Function that makes the symbols from `num_features`, e.g. `SymbolLibrary`, or a
            `Spec` of one; a layer from objects to one symbol each.
        num_layers: Number of blocks.
        num_heads: Number of object heads.
        num_relational_heads: Number of relational heads.
        num_relations: Relations of a pair; that of relational heads if None.
        feedforward_size: Hidden units of the MLP; `num_features` if None.
        norm_first: Whether layers are normalized before attention and MLP, or after the sums.
        symmetric: Whether both sides of a relation have one map.

    Shape:
        `(batch, item, num_features)` to the same.

    Attributes:
        symbols: The symbols.
        blocks: The blocks.

    Raises:
        ValueError: If a number is out of range, or the heads do not divide `num_features`.

    Reference:
        lafferty2024, section 3.
    """

    @take_factory_arguments()
    def __init__(  # noqa: PLR0913 — sizes of a Transformer and of relations
        self,
        num_features: Size,
        *,
        symbols: Callable[[int], nn.Module] = SymbolLibrary,
        num_layers: Depth = 2,
        num_heads: Size = 2,
        num_relational_heads: Size = 2,
        num_relations: Size | None = None,
        feedforward_size: Size | None = None,
        norm_first: bool = True,
        symmetric: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.num_features = num_features
        self.symbols = symbols(num_features)
        width = num_features if feedforward_size is None else feedforward_size
        self.blocks = nn.ModuleList(
            _Block(
                DualAttention(
                    num_features,
                    num_heads=num_heads,
                    num_relational_heads=num_relational_heads,
                    num_relations=num_relations,
                    symmetric=symmetric,
                    generator=generator,
                ),
                width,
                norm_first,
                generator,
            )
            for _ in range(num_layers)
        )

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "batch item feature"]:
        """Encode the objects of every set.

        Args:
            x: The objects.
            key_padding_mask: True where there is no object but padding; None for no padding.
            mask: `(item, item)`: True where the first object does not read the second.
        """
        check_set(x, self.num_features, key_padding_mask)
        symbols = self.symbols(x)
        for block in self.blocks:
            x = block(x, symbols, key_padding_mask, mask=mask)
        return x


class _Block(nn.Module):
    """Attention of two kinds and an MLP, each added to its input."""

    def __init__(
        self,
        attention: DualAttention,
        feedforward_size: int,
        norm_first: bool,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        size = attention.num_features
        self.norm_first, self.attention = norm_first, attention
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.fc1 = default_layer(size, feedforward_size, generator)
        self.fc2 = default_layer(feedforward_size, size, generator)

    def forward(
        self, x: Tensor, symbols: Tensor, padding: Tensor | None = None, *,
        mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Transform the objects."""
        if self.norm_first:
            x = x + self.attention(self.norm1(x), symbols, padding, mask=mask)
            return x + self._mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x, symbols, padding, mask=mask))
        return self.norm2(x + self._mlp(x))

    def _mlp(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))
