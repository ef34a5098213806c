"""A line of code as a module."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import LineParameters, LineRules, folded_query, line_of_code
from farfield.nn._interpreter._mod_attn import ModAttn
from farfield.nn._interpreter._mod_lin import ModMLP
from farfield.nn._interpreter._relative_position import RelativePosition
from farfield.nn._interpreter._sets import attention_bias
from farfield.nn._interpreter._syntax import Instructions


@final
class LineOfCode(nn.Module):
    r"""A layer of a Transformer in a stream for each function, programmed by its code.

    $$a_{ui} = x_{ui} + C_{ui} \, \mathrm{ModAttn}(\{\mathrm{LN}(x_{uj})\}_j; c_u, \{C_{uj}\}_j),
      \qquad y_{ui} = a_{ui} + C_{ui} \, \mathrm{ModMLP}(\mathrm{LN}(a_{ui}); c_u)$$

    An element that a function has no access to stays as it is.

    Args:
        num_features: Number of features of an element.
        code_size: Numbers in a code.
        instructions: What it is made of; None is `Instructions()`, the text's.
        grid: Rows and columns of patches, which are the last elements, row by row; None where
            elements have no positions.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        Elements `(function, batch, item, num_features)`, or `(1, …)` where all functions have the
        same; compatibilities `(function, batch, item)`; codes `(function, code_size)`; a mask
        `(batch, item)` that is True for padding. Out: `(function, batch, item, num_features)`.

    Attributes:
        norm1: Before attention.
        attention: The attention.
        position: Relative positions, or None.
        norm2: Before the network.
        mlp: The network for each element.

    Raises:
        ValueError: If sizes do not fit together, or there are fewer elements than patches.

    Reference:
        gondal2021, section 2, equations 9 and 10.
    """

    position: RelativePosition | None

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        code_size: Size,
        *,
        instructions: Instructions | None = None,
        grid: tuple[Size, Size] | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.instructions = own = instructions or Instructions()
        self.norm1 = nn.LayerNorm(num_features)
        self.attention = ModAttn(
            num_features,
            code_size,
            num_heads=own.num_heads,
            key_size=own.key_size,
            eps=own.eps,
            generator=generator,
        )
        self.position = None
        if grid is not None:
            keys = self.attention.key_size
            self.position = RelativePosition(
                grid, own.num_heads, keys, code_size, generator=generator
            )
        self.norm2 = nn.LayerNorm(num_features)
        hidden = num_features if own.hidden_size is None else own.hidden_size
        self.mlp = ModMLP((num_features, hidden, num_features), code_size, generator=generator)
        self.to(device=device, dtype=dtype)

    def functional(
        self,
        codes: Float[Tensor, "function code"],
        num_items: int,
        *,
        shared: bool = False,
        mask: Tensor | None = None,
    ) -> tuple[LineParameters, LineRules]:
        """Weights for these codes and so many elements, for `farfield.functional.line_of_code`.

        Args:
            codes: Of the functions.
            num_items: Number of elements of a set.
            shared: Whether all functions have the same elements.
            mask: Which element may not attend to which, `(item, item)`, or what is added to scores.
        """
        layers = self.attention.modulated(codes)
        query, key = layers.query, layers.key
        folds = shared and self._folds(num_items)
        parameters = LineParameters(
            self.norm1.weight,
            self.norm1.bias,
            folded_query(query, key, self.attention.num_heads) if folds else query,
            None if folds else key,
            layers.value,
            layers.out,
            self.norm2.weight,
            self.norm2.bias,
            self.mlp.modulated(codes),
            self._position_scores(codes, num_items, mask),
        )
        return parameters, self.rules

    def _position_scores(self, codes: Tensor, num_items: int, mask: Tensor | None) -> Tensor | None:
        """Terms added to scores before scaling, by positions and by a mask."""
        scores = None if self.position is None else self.position(codes, num_items)
        if mask is None:
            return scores
        # Some way from the least number, as products are added to it.
        added = attention_bias(mask, num_items, codes.dtype) * self.attention.key_size**0.5
        added = added.clamp(min=torch.finfo(codes.dtype).min / 4)
        if scores is None:
            return added.expand(len(codes), self.instructions.num_heads, -1, -1)
        return scores + added

    @property
    def rules(self) -> LineRules:
        """Options without weights."""
        own, size = self.instructions, self.attention.key_size
        return LineRules(num_heads=own.num_heads, key_size=size, residual=own.residual, eps=own.eps)

    def _folds(self, num_items: int) -> bool:
        """True if it takes fewer multiplications to have the elements themselves as keys."""
        features, size = self.attention.value.in_features, self.attention.key_size
        return features * (features + num_items) < size * (2 * features + num_items)

    def forward(
        self,
        x: Float[Tensor, "_ batch item feature"],
        compatibility: Float[Tensor, "function batch item"],
        codes: Float[Tensor, "function code"],
        key_padding_mask: Bool[Tensor, "batch item"] | None = None,
    ) -> Float[Tensor, "function batch item feature"]:
        """The elements of each stream after the line."""
        parameters, rules = self.functional(codes, x.shape[-2], shared=len(x) == 1)
        return line_of_code(x, compatibility, parameters, rules, key_padding_mask)
