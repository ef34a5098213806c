"""The Transformer encoder of a Vision Transformer: a set in, a set out."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Depth, Size, check_arguments
from farfield.functional import fan_in_uniform_, self_attention, uninitialized, xavier_uniform_
from farfield.nn._input_checks import check_dtype
from farfield.nn._interpreter._sets import attention_bias, check_set, of_one_set, padding_of


@final
class PreNormTransformer(nn.Module):
    r"""Let the elements of a set attend to each other, block by block.

    $$u = x + W_o \, \mathrm{Attention}(\mathrm{LN}(x)), \qquad
      y = u + W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(u))$$

    in each block, and a last $\mathrm{LN}$: what a Vision Transformer does with its patches. It is
    `torch.nn.TransformerEncoder` with `norm_first`, GELU and no dropout, with first weights from a
    generator of one's own. `NeuralInterpreter` has functions that choose their elements instead.

    Args:
        num_features: Features of an element.
        num_layers: Number of blocks.
        num_heads: Number of attention heads; must divide `num_features`.
        feedforward_size: Hidden units of the network behind attention; None is `num_features`.
            With 192 features, 8 blocks and this width a Vision Transformer has the 1.8 million
            parameters of gondal2021.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, item, num_features)` to the same; the mask is `(batch, item)`. One set may stand
        without the axis of the batch.

    Attributes:
        blocks: The blocks.
        norm: The last layer normalization.

    Raises:
        ValueError: If a size is below 1, the heads do not divide `num_features`, or the set or the
            mask has another shape.

    Reference:
        Dosovitskiy et al. 2021, equations 2 and 3; gondal2021, section 4.2 (Baseline).
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        num_layers: Depth = 8,
        num_heads: Size = 4,
        feedforward_size: Size | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        width = num_features if feedforward_size is None else feedforward_size
        if num_features % num_heads:
            raise ValueError(f"num_heads must divide num_features={num_features}, got {num_heads}")
        self.num_features = num_features
        self.blocks = nn.ModuleList(
            _Block(num_features, num_heads, width, generator) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(num_features)
        self.to(device=device, dtype=dtype)

    def forward(
        self,
        x: Float[Tensor, "*batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
    ) -> Float[Tensor, "*batch item feature"]:
        """Encode the elements of every set.

        Args:
            x: The sets.
            key_padding_mask: True where there is no element but padding, which no element attends
                to; None for sets without padding.
            mask: `(item, item)`: True where an element does not attend to another, or added to the
                scores.
            src_key_padding_mask: `key_padding_mask` by the name that an encoder of torch has.
        """
        key_padding_mask = padding_of(key_padding_mask, src_key_padding_mask)
        if x.ndim == 2:
            return of_one_set(self, x, key_padding_mask, mask=mask)
        check_set(x, self.num_features, key_padding_mask)
        check_dtype(x, self)
        added = None if mask is None else attention_bias(mask, x.shape[1], x.dtype)
        for block in self.blocks:
            x = block(x, key_padding_mask, added)
        return self.norm(x)


class _Block(nn.Module):
    """Attention and a network for each element, each added to what it is given."""

    def __init__(
        self,
        size: int,
        num_heads: int,
        feedforward_size: int,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention_in = xavier_uniform_(uninitialized(nn.Linear, size, 3 * size), generator)
        self.attention_out = fan_in_uniform_(uninitialized(nn.Linear, size, size), generator)
        self.fc1 = fan_in_uniform_(uninitialized(nn.Linear, size, feedforward_size), generator)
        self.fc2 = fan_in_uniform_(uninitialized(nn.Linear, feedforward_size, size), generator)

    def forward(self, x: Tensor, padding: Tensor | None, added: Tensor | None) -> Tensor:
        gathered = self_attention(
            self.norm1(x),
            self.attention_in.weight,
            self.attention_in.bias,
            num_heads=self.num_heads,
            key_padding_mask=padding,
            added=added,
        )
        x = x + self.attention_out(gathered)
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))
