"""Lines of code, and scripts of them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Unpack, final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import (
    Depth,
    FactoryOptions,
    Size,
    check_arguments,
    take_factory_arguments,
)
from farfield.functional.internal import (
    LineParameters,
    LineRules,
    ScriptParameters,
    ScriptRules,
    ScriptTrace,
    folded_query,
    line_of_code,
    script,
    script_trace,
)
from farfield.nn._interpreter._modulated import ModAttn, ModMLP, RelativePosition
from farfield.nn._interpreter._syntax import Instructions, Syntax
from farfield.nn._interpreter._type_inference import TypeInference, attention_bias


@final
class LineOfCode(nn.Module):
    r"""A layer of a Transformer in a stream for each function, programmed by its code.

    $$a_{ui} = x_{ui} + C_{ui} \, \mathrm{ModAttn}(\{\mathrm{LN}(x_{uj})\}_j; c_u, \{C_{uj}\}_j),
      \qquad y_{ui} = a_{ui} + C_{ui} \, \mathrm{ModMLP}(\mathrm{LN}(a_{ui}); c_u)$$

    An element that a function has no access to stays unchanged.

    Args:
        num_features: Number of features of an element.
        code_size: Numbers in a code.
        instructions: Parts of the line; None is `Instructions()`, the text's.
        grid: Rows and columns of patches, which are the last elements, row by row; None where
            elements have no positions.

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

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        code_size: Size,
        *,
        instructions: Instructions | None = None,
        grid: tuple[Size, Size] | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
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

    def functional(
        self,
        codes: Float[Tensor, "function code"],
        num_items: int,
        *,
        shared: bool = False,
        mask: Tensor | None = None,
    ) -> tuple[LineParameters, LineRules]:
        """Build weights for codes and so many elements, for `line_of_code`.

        Args:
            codes: Of the functions.
            num_items: Number of elements of a set.
            shared: Whether all functions have the same elements.
            mask: Which element may not attend to which, `(item, item)`, or terms added to scores.
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
        """Compute terms added to scores before scaling, from positions and a mask."""
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
        """Check whether fewer multiplications are needed with the elements themselves as keys."""
        features, size = self.attention.value.in_features, self.attention.key_size
        return features * (features + num_items) < size * (2 * features + num_items)

    def forward(
        self,
        x: Float[Tensor, "_ batch item feature"],
        compatibility: Float[Tensor, "function batch item"],
        codes: Float[Tensor, "function code"],
        key_padding_mask: Bool[Tensor, "batch item"] | None = None,
    ) -> Float[Tensor, "function batch item feature"]:
        """Compute the elements of each stream after the line."""
        parameters, rules = self.functional(codes, x.shape[-2], shared=len(x) == 1)
        return line_of_code(x, compatibility, parameters, rules, key_padding_mask)


@final
class Script(nn.Module):
    r"""Functions that elements find by their type, and that are called again and again.

    $$\{x_i\}_i \leftarrow \mathrm{Interpreter}(\{x_j\}_j, \{c_u\}_u, \{C_{uj}\}_{u,j}), \qquad
      C_{uj} = \mathrm{TypeMatching}(s_u, x_j)$$

    A function is a signature $s_u$ and a code $c_u$; all else is shared by the functions, so that
    their number can change after training.

    Args:
        num_features: Number of features of an element.
        num_functions: Number of functions.
        num_iterations: How many times they are called.
        num_lines: Lines of code of a call.
        syntax: Parts of the script; None is `Syntax()`.
        grid: Rows and columns of patches, which are the last elements, row by row; None where
            elements have no positions.

    Shape:
        `(batch, item, num_features)`, a mask `(batch, item)`, True for padding, and a mask of
        attention `(item, item)`; out as in.

    Attributes:
        num_fixed: How many of the first functions no longer learn.
        signatures: `(function, type)`, from a normal distribution; a buffer where they are not
            learned.
        codes: `(function, code)`, likewise.
        bandwidth: $\sigma$ of the kernel; a buffer where it is not learned.
        typing: The `TypeInference`.
        lines: Each a `LineOfCode`.

    Raises:
        ValueError: If sizes do not fit together, or the elements have another shape.

    Reference:
        gondal2021, section 2, equations 2, 3 and 11 to 14.
    """

    signatures: Tensor
    codes: Tensor
    bandwidth: Tensor

    @take_factory_arguments()
    def __init__(
        self,
        num_features: Size,
        num_functions: Size = 5,
        num_iterations: Depth = 8,
        num_lines: Depth = 1,
        *,
        syntax: Syntax | None = None,
        grid: tuple[Size, Size] | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.num_features, self.num_iterations = num_features, num_iterations
        self.num_fixed = 0
        self.syntax = own = syntax or Syntax()
        functions, matching = own.functions, own.matching
        code_size = num_features if functions.code_size is None else functions.code_size
        self.typing = TypeInference(
            num_features, matching.type_size, hidden_size=matching.hidden_size, generator=generator
        )
        self.lines = nn.ModuleList(
            LineOfCode(
                num_features,
                code_size,
                instructions=own.instructions,
                grid=grid,
                generator=generator,
            )
            for _ in range(num_lines)
        )
        signatures = torch.empty(num_functions, matching.type_size).normal_(generator=generator)
        codes = torch.empty(num_functions, code_size).normal_(generator=generator)
        self._set("signatures", signatures, learned=functions.learned_signatures)
        self._set("codes", codes, learned=functions.learned_codes)
        bandwidth = torch.tensor(float(matching.bandwidth))
        self._set("bandwidth", bandwidth, learned=matching.learned_bandwidth)

    @property
    def num_functions(self) -> int:
        """Number of functions."""
        return len(self.signatures)

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Bool[Tensor, "batch item"] | None = None,
        num_iterations: int | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "batch item feature"]:
        """Compute the elements after all iterations."""
        return script(
            x,
            self.functional(x.shape[-2], mask=mask),
            self.rules,
            self.num_iterations if num_iterations is None else num_iterations,
            key_padding_mask=key_padding_mask,
            keep=self._kept(x),
        )

    def trace(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Bool[Tensor, "batch item"] | None = None,
        num_iterations: int | None = None,
        *,
        mask: Tensor | None = None,
    ) -> ScriptTrace:
        """Compute internal values of each iteration, without dropout of functions."""
        return script_trace(
            x,
            self.functional(x.shape[-2], mask=mask),
            self.rules,
            self.num_iterations if num_iterations is None else num_iterations,
            key_padding_mask=key_padding_mask,
        )

    def functional(self, num_items: int, *, mask: Tensor | None = None) -> ScriptParameters:
        """Build the weights for so many elements, for `farfield.functional.internal.script`.

        Args:
            num_items: Number of elements of a set.
            mask: Which element may not attend to which, `(item, item)`, or terms added to scores.
        """
        signatures, codes = (self._partly_fixed(each) for each in (self.signatures, self.codes))
        lines = [
            line.functional(codes, num_items, shared=number == 0, mask=mask)  # type: ignore[operator]
            for number, line in enumerate(self.lines)
        ]
        return ScriptParameters(
            self.typing.functional(),
            signatures,
            self.bandwidth,
            tuple(parameters for parameters, _ in lines),
        )

    def _partly_fixed(self, rows: Tensor) -> Tensor:
        """Return parameters of functions, without gradients for the first of them if frozen."""
        if not self.num_fixed:
            return rows
        return torch.cat((rows[: self.num_fixed].detach(), rows[self.num_fixed :]))

    @property
    def rules(self) -> ScriptRules:
        """Options without weights."""
        own, line = self.syntax, next(iter(self.lines))
        return ScriptRules(
            line=line.rules,  # type: ignore[arg-type]
            truncation=own.matching.truncation,
            straight_through=own.matching.straight_through,
            outer_residual=own.outer_residual,
            sums_changes=own.changes_are_summed,
            eps=own.matching.eps,
        )

    @torch.no_grad()
    @check_arguments
    def add_functions(
        self, number: Size, *, freeze: bool = False, generator: torch.Generator | None = None
    ) -> None:
        """Append new functions; an optimizer has to be made anew.

        Args:
            number: How many.
            freeze: Whether all that was there is fixed from now on: the functions, by gradients
                that are 0, and the weights that all share, which ask for none any more. Weight
                decay would shrink the former all the same.

        Raises:
            ValueError: If `number` is below 1.
        """
        if freeze:
            self.num_fixed = self.num_functions
            self.requires_grad_(False)
            for own in (self.signatures, self.codes):
                own.requires_grad_(isinstance(own, nn.Parameter))
        for name in ("signatures", "codes"):
            old: Tensor = getattr(self, name)
            new = torch.empty(number, old.shape[1]).normal_(generator=generator)
            self._replace(name, torch.cat((old, new.to(old))))

    @torch.no_grad()
    def remove_functions(self, which: Sequence[int]) -> None:
        """Take functions away; an optimizer has to be made anew.

        Args:
            which: Their numbers, from 0.

        Raises:
            ValueError: If one of them is not an integer, does not exist or is named twice, or none
                would be left.
        """
        try:
            named = [_number_of(function) for function in which]
        except TypeError as error:
            raise ValueError(f"which must hold numbers of functions, got {which!r}") from error
        number, gone = self.num_functions, set(named)
        if len(gone) < len(named) or not gone <= set(range(number)):
            raise ValueError(
                f"which must name functions once each, by numbers 0 to {number - 1}, got {named}"
            )
        if len(gone) == number:
            raise ValueError(f"which must leave a function, got all of them: {named}")
        left = [function for function in range(number) if function not in gone]
        self.num_fixed -= sum(function < self.num_fixed for function in gone)
        for name in ("signatures", "codes"):
            old: Tensor = getattr(self, name)
            self._replace(name, old[left].clone())

    def _set(self, name: str, tensor: Tensor, *, learned: bool) -> None:
        if learned:
            self.register_parameter(name, nn.Parameter(tensor))
        else:
            self.register_buffer(name, tensor)

    def _replace(self, name: str, tensor: Tensor) -> None:
        """Put a tensor where there is one, learned or not, and frozen or not, as that is."""
        old: Tensor = getattr(self, name)
        self._set(name, tensor, learned=isinstance(old, nn.Parameter))
        getattr(self, name).requires_grad_(old.requires_grad)

    def _kept(self, x: Tensor) -> Tensor | None:
        """Draw a mask of the functions kept for each set, in training with dropout."""
        dropout = self.syntax.functions.dropout
        if not self.training or not dropout:
            return None
        return F.dropout(x.new_ones(self.num_functions, len(x)), dropout).sign()


def _number_of(function: object) -> int:
    """Return the index of a function; raise `TypeError` for booleans and other types."""
    is_true_or_false = isinstance(function, Tensor) and function.dtype == torch.bool
    if is_true_or_false or isinstance(function, (bool, np.bool_)):
        raise TypeError(f"function must be an integer, got {function!r}")
    return operator.index(function)  # type: ignore[arg-type]
