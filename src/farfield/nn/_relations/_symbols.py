"""Symbols of objects: by position, by distance, or retrieved from a library."""

from __future__ import annotations

import math
from typing import Unpack, final

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import default_layer, sinusoidal_position
from farfield.nn._interpreter._type_inference import check_set


def _normal(generator: torch.Generator | None, *shape: int) -> nn.Parameter:
    """Build a parameter of standard normal numbers."""
    return nn.Parameter(torch.randn(shape, generator=generator, device="cpu"))


def sinusoidal_halves(length: int, width: int, like: Tensor) -> Float[Tensor, "item feature"]:
    """Compute sinusoidal positions with all sines first, as the original in TensorFlow has them.

    Args:
        length: Number of positions.
        width: Number of features.
        like: Tensor whose type and device the result has.
    """
    waves = sinusoidal_position(length, width, dtype=like.dtype, device=like.device)
    return torch.cat((waves[:, 0::2], waves[:, 1::2]), dim=1)


@final
class PositionalSymbols(nn.Module):
    r"""Give every object the symbol of its position, a row of a learned table.

    Args:
        num_features: Number of features of an object and of a symbol.
        num_symbols: Number of rows of the table, and largest number of objects.
        sinusoidal: Whether symbols are multiplied by $\sqrt d$ and sines and cosines of the
            position, two halves, are added, as in the released code.

    Shape:
        `(batch, item, num_features)` to the same.

    Attributes:
        symbols: The table; normal at first, with standard deviation 1.

    Raises:
        ValueError: If a number is below 1, or there are more objects than symbols.

    Reference:
        altabaa2024, section 2.3.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        num_symbols: Size = 64,
        sinusoidal: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.num_features, self.sinusoidal = num_features, sinusoidal
        self.symbols = _normal(options["generator"], num_symbols, num_features)

    def forward(
        self, x: Float[Tensor, "batch item feature"]
    ) -> Float[Tensor, "batch item feature"]:
        """Look up the symbols of the positions."""
        check_set(x, self.num_features, None)
        length, most = x.shape[1], len(self.symbols)
        if length > most:
            raise ValueError(f"x must have at most num_symbols={most} objects, got {length}")
        symbols = self.symbols[:length]
        if self.sinusoidal:
            waves = sinusoidal_halves(length, self.num_features, symbols)
            symbols = symbols * math.sqrt(self.num_features) + waves
        return symbols.repeat(len(x), 1, 1)


@final
class RelativeSymbols(nn.Module):
    r"""Give every pair of objects the symbol of its distance, $s_{ij} = S_{\mathrm{clip}(j - i)}$.

    Args:
        num_features: Number of features of an object and of a symbol.
        reach: Largest distance with a separate symbol; farther pairs share the last one.

    Shape:
        `(batch, item, num_features)` to `(batch, item, item, num_features)`, the reading object
        first.

    Attributes:
        symbols: The table of 2 `reach` + 1 rows; Xavier uniform at first.

    Raises:
        ValueError: If a number is below 1.

    Reference:
        lafferty2024, section 2.3.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        reach: Size = 16,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.num_features, self.reach = num_features, reach
        self.symbols = nn.Parameter(torch.empty(2 * reach + 1, num_features, device="cpu"))
        nn.init.xavier_uniform_(self.symbols, generator=options["generator"])

    def forward(
        self, x: Float[Tensor, "batch item feature"]
    ) -> Float[Tensor, "batch item item feature"]:
        """Look up the symbols of the distances."""
        check_set(x, self.num_features, None)
        position = torch.arange(x.shape[1], device=x.device)
        distance = (position - position.unsqueeze(1)).clamp(-self.reach, self.reach)
        return self.symbols[distance + self.reach].repeat(len(x), 1, 1, 1)


@final
class SymbolLibrary(nn.Module):
    r"""Retrieve the symbol of every object from a learned library, by attention to its templates.

    $$s_i = \mathrm{softmax}(q(x_i) \, T^\top / \sqrt{d_h}) \, S$$

    in each head, with templates $T$ and symbols $S$. `PositionalSymbols` do not depend on the
    objects at all, and end with their table; a library serves any number of objects.

    Args:
        num_features: Number of features of an object and of a symbol.
        num_symbols: Number of templates, and of symbols.
        num_heads: Number of heads; must divide `num_features`.
        bias: Whether the query has biases; the original in TensorFlow has none.

    Shape:
        `(batch, item, num_features)` to the same.

    Attributes:
        templates, symbols: The library; both normal at first, with standard deviation 1.
        query: Linear layer on objects.

    Raises:
        ValueError: If a number is below 1, or the heads do not divide `num_features`.

    Reference:
        lafferty2024, section 2.3 (symbolic attention); altabaa2024.
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        num_symbols: Size = 16,
        num_heads: Size = 1,
        bias: bool = True,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if num_features % num_heads:
            raise ValueError(f"num_heads must divide num_features={num_features}, got {num_heads}")
        self.num_features, self.num_heads = num_features, num_heads
        self.templates = _normal(generator, num_symbols, num_features)
        self.symbols = _normal(generator, num_symbols, num_features)
        self.query = default_layer(num_features, num_features, generator, bias=bias)

    def forward(
        self, x: Float[Tensor, "batch item feature"]
    ) -> Float[Tensor, "batch item feature"]:
        """Retrieve the symbols of all objects."""
        check_set(x, self.num_features, None)
        query, template, symbol = (
            rearrange(one, "... item (head key) -> ... head item key", head=self.num_heads)
            for one in (self.query(x), self.templates, self.symbols)
        )
        chosen = F.softmax(query @ template.mT / math.sqrt(query.shape[-1]), dim=-1)
        return rearrange(chosen @ symbol, "... head item key -> ... item (head key)")
