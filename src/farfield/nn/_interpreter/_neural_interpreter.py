"""Neural Interpreters, and the Transformer beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import (
    Depth,
    FactoryOptions,
    Size,
    check_arguments,
    take_factory_arguments,
)
from farfield.functional.internal import ScriptTrace, default_layer, self_attention, xavier_layer
from farfield.nn._input_checks import check_dtype
from farfield.nn._interpreter._script import Script
from farfield.nn._interpreter._syntax import Syntax
from farfield.nn._interpreter._type_inference import (
    attention_bias,
    check_set,
    of_one_set,
    padding_of,
)


@final
class PreNormTransformer(nn.Module):
    r"""Let the elements of a set attend to each other, block by block.

    $$u = x + W_o \, \mathrm{Attention}(\mathrm{LN}(x)), \qquad
      y = u + W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(u))$$

    in each block, and a last $\mathrm{LN}$: as a Vision Transformer treats its patches. It is
    `torch.nn.TransformerEncoder` with `norm_first`, GELU and no dropout, with first weights from a
    generator of one's own. `NeuralInterpreter` has functions that choose their elements instead.

    Args:
        num_features: Features of an element.
        num_layers: Number of blocks.
        num_heads: Number of attention heads; must divide `num_features`.
        feedforward_size: Hidden units of the network behind attention; None is `num_features`.
            With 192 features, 8 blocks and this width a Vision Transformer has the 1.8 million
            parameters of gondal2021.

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

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        *,
        num_layers: Depth = 8,
        num_heads: Size = 4,
        feedforward_size: Size | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        width = num_features if feedforward_size is None else feedforward_size
        if num_features % num_heads:
            raise ValueError(f"num_heads must divide num_features={num_features}, got {num_heads}")
        self.num_features = num_features
        self.blocks = nn.ModuleList(
            _Block(num_features, num_heads, width, options["generator"]) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(num_features)

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
    """Attention and a network for each element, each added to its input."""

    def __init__(
        self, size: int, num_heads: int, feedforward_size: int, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention_in = xavier_layer(size, 3 * size, generator)
        self.attention_out = default_layer(size, size, generator)
        self.fc1 = default_layer(size, feedforward_size, generator)
        self.fc2 = default_layer(feedforward_size, size, generator)

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


@final
class NeuralInterpreter(nn.Module):
    r"""Functions that are found by type and called by attention, for `nn.TransformerEncoder`.

    $$\mathrm{NeuralInterpreter}(\{x_i\}_i) =
      (\mathrm{Script}_{n_s} \circ … \circ \mathrm{Script}_1)(\{x_i\}_i)$$

    In every iteration of a script each element gets a type $t_i$ and goes through the functions
    whose signature $s_u$ is near, in proportion to their compatibility; one and the same
    interpreter runs them, as their codes $c_u$ say:

    $$C_{ui} = \frac{k_{ui}}{\epsilon + \sum_v k_{vi}}, \qquad
      k_{ui} = \begin{cases} e^{-d_{ui} / \sigma} & d_{ui} < \tau \\ 0 & \text{otherwise}
      \end{cases}, \qquad d_{ui} = 1 - s_u \cdot t_i$$

    $$y_i = x_i + \sum_u C_{ui} \,
      (\mathrm{LOC}_{n} \circ … \circ \mathrm{LOC}_1)(\{x_j\}_j; c_u, \{C_{uj}\}_j)$$

    A line of code gives the element itself with its change, so that in equation 11 as
    published an element about doubles in every iteration, and eight of them, the number here,
    cannot be trained. By default changes by functions are summed up, $\sum_u C_{ui} (y_{ui} -
    x_i)$, and the element is there once; for an element that has its functions the
    released code has the same sum. `syntax=Syntax.printed()` is the equation as published.

    Beside a Transformer encoder its size does not grow with its depth, which is the number of
    iterations, nor but by two vectors with the number of functions: both can be changed after
    training (`num_iterations`, `add_functions`, `remove_functions`), and the state of a network is
    loaded into one of as many functions as it has then. Functions' weights are formed once per
    call, not once per element.

    Args:
        num_features: Number of features of an element.
        num_functions: Number of functions of a script.
        num_iterations: How many times a script calls them.
        num_lines: Lines of code of a call.
        num_scripts: Number of scripts.
        syntax: Parts of the scripts; None is `Syntax()`, the text's where that can be trained.
            `Syntax.printed()` is that of the text, `Syntax.released()` that of the released code.
        grid: Rows and columns of image patches, which are the last elements, row by row, behind
            those that are no patches; None where elements have no positions.

    Shape:
        Sets `(batch, item, num_features)` and a mask `(batch, item)`, True for padding, or one set
        without the axis of the batch; out as in, with zeros for padding, which changes nothing for
        the others. A `mask` of attention `(item, item)` is True where an element does not attend to
        another, or added to the scores, as of `torch.nn.TransformerEncoder`.

    Attributes:
        scripts: Each a `Script`.

    Raises:
        ValueError: If sizes do not fit together, or a set or a mask has another shape.

    Reference:
        gondal2021, section 2.

    Example:
        >>> layer = NeuralInterpreter(32, num_functions=4, num_iterations=2)
        >>> layer(torch.rand(2, 9, 32)).shape
        torch.Size([2, 9, 32])
    """

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        num_functions: Size = 5,
        num_iterations: Depth = 8,
        num_lines: Depth = 1,
        num_scripts: Depth = 1,
        *,
        syntax: Syntax | None = None,
        grid: tuple[Size, Size] | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.num_features, self.num_lines, self.grid = num_features, num_lines, grid
        self.syntax = syntax or Syntax()
        self.scripts = nn.ModuleList(
            Script(
                num_features,
                num_functions,
                num_iterations,
                num_lines,
                syntax=self.syntax,
                grid=grid,
                generator=options["generator"],
            )
            for _ in range(num_scripts)
        )

    @classmethod
    def released(
        cls,
        num_features: int,
        *,
        grid: tuple[int, int] | None = None,
        generator: torch.Generator | None = None,
    ) -> NeuralInterpreter:
        """Build the interpreter of gondal2021's released code in any size: `Syntax.released()`.

        Args:
            num_features: Number of features of an element.
            grid: Rows and columns of image patches; None where elements have no positions.
        """
        return cls(num_features, syntax=Syntax.released(), grid=grid, generator=generator)

    @classmethod
    def released_digits(cls, *, generator: torch.Generator | None = None) -> NeuralInterpreter:
        """Build the interpreter of the released settings: CLS tokens, then 8 × 8 patches of digits.

        With its image patches, its CLS token and head, and with unused parts of the released
        network, it has 643,059 parameters.
        """
        return cls(192, syntax=Syntax.released(), grid=(8, 8), generator=generator)

    @property
    def num_functions(self) -> int:
        """Number of functions of each script."""
        return self._first.num_functions

    @property
    def num_iterations(self) -> int:
        """Number of iterations of each script; can be set after training."""
        return self._first.num_iterations

    @num_iterations.setter
    @check_arguments
    def num_iterations(self, num_iterations: Depth) -> None:
        for script in self._each():
            script.num_iterations = num_iterations

    def forward(
        self,
        x: Float[Tensor, "*batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        num_iterations: int | None = None,
    ) -> Float[Tensor, "*batch item feature"]:
        """Compute the elements after all scripts.

        Args:
            x: The sets.
            key_padding_mask: True for padding.
            mask: Which element does not attend to which.
            src_key_padding_mask: `key_padding_mask` by the name that an encoder of torch has.
            num_iterations: How many iterations, if others than the module's.
        """
        key_padding_mask = padding_of(key_padding_mask, src_key_padding_mask)
        if x.ndim == 2:
            return of_one_set(self, x, key_padding_mask, mask=mask, num_iterations=num_iterations)
        x = self._checked(x, key_padding_mask)
        for script in self._each():
            x = script(x, key_padding_mask, num_iterations, mask=mask)
        if key_padding_mask is None:
            return x
        return x.masked_fill(key_padding_mask.unsqueeze(-1), 0.0)

    def trace(
        self,
        x: Float[Tensor, "*batch item feature"],
        key_padding_mask: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        num_iterations: int | None = None,
    ) -> tuple[ScriptTrace, ...]:
        """Compute the routing of each element in every iteration, without dropout of functions.

        Args:
            x: The set.
            key_padding_mask: True for padding.
            mask: As in a call.
            num_iterations: As in a call.

        Returns:
            A trace for each script; that of one set, without an axis for the batch, has none
            either.
        """
        if x.ndim == 2:
            padding = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
            found = self.trace(x.unsqueeze(0), padding, mask=mask, num_iterations=num_iterations)
            return tuple(ScriptTrace(*(part.squeeze(1) for part in each)) for each in found)
        x = self._checked(x, key_padding_mask)
        traces: list[ScriptTrace] = []
        for script in self._each():
            traces.append(script.trace(x, key_padding_mask, num_iterations, mask=mask))
            x = traces[-1].outputs[-1]
        return tuple(traces)

    def add_functions(
        self, number: int, *, freeze: bool = False, generator: torch.Generator | None = None
    ) -> None:
        """Append new functions to every script; an optimizer has to be made anew.

        Args:
            number: How many.
            freeze: Whether all that was there is fixed from now on, and the new functions learn
                alone, as where gondal2021 adapts by them: gradients of older functions are 0, and
                weights that all functions share ask for none. Weight decay shrinks older ones all
                the same.

        Raises:
            ValueError: If `number` is below 1.
        """
        for script in self._each():
            script.add_functions(number, freeze=freeze, generator=generator)

    def remove_functions(self, which: Sequence[int]) -> None:
        """Take functions away from every script; an optimizer has to be made anew.

        Args:
            which: Their numbers, from 0.

        Raises:
            ValueError: If one of them is not there or named twice, or none would be left.
        """
        for script in self._each():
            script.remove_functions(which)

    @property
    def _first(self) -> Script:
        return self._each()[0]

    def _each(self) -> list[Script]:
        return list(self.scripts)  # type: ignore[arg-type]

    def _checked(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Set padding elements to zeros."""
        check_set(x, self.num_features, mask)
        check_dtype(x, self)
        return x if mask is None else x.masked_fill(mask.unsqueeze(-1), 0.0)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return (
            f"{self.num_features}, num_functions={self.num_functions}, "
            f"num_iterations={self.num_iterations}, num_lines={self.num_lines}, "
            f"grid={self.grid}, {self.syntax}"
        )
