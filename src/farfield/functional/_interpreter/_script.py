"""A script of a Neural Interpreter: its functions, called again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Depth, kind_of
from farfield.functional._interpreter._line_of_code import LineParameters, LineRules, run_line
from farfield.functional._interpreter._type_matching import (
    TypingParameters,
    type_inference,
    type_matching,
)

_ITERATIONS = kind_of(Depth)


class ScriptParameters(NamedTuple):
    """Weights of a script.

    Attributes:
        typing: With which types are inferred.
        signatures: Of the functions: (function, type).
        bandwidth: Of the kernel, a number.
        lines: Lines of code, their weights formed for these functions.

    Reference:
        gondal2021, section 2.
    """

    typing: TypingParameters
    signatures: Tensor
    bandwidth: Tensor
    lines: tuple[LineParameters, ...]


@final
@dataclass(frozen=True, kw_only=True)
class ScriptRules:
    r"""Rules of a script: its options without weights.

    Args:
        line: Rules of a line of code.
        truncation: $\tau$ of the kernel.
        straight_through: Whether gradients reach also what the kernel cuts.
        outer_residual: Whether what the functions give is added to the elements, or replaces them.
        sums_changes: Whether the functions' changes $y_{ui} - x_i$ are summed up, or what they
            give, $y_{ui}$, in which the element itself is contained.
        eps: $\epsilon$ of the compatibilities.

    Reference:
        gondal2021, section 2, equations 3 and 11.
    """

    line: LineRules
    truncation: float = 2.0
    straight_through: bool = False
    outer_residual: bool = True
    sums_changes: bool = False
    eps: float = 1e-6


class ScriptTrace(NamedTuple):
    """Internal values of a script, call by call.

    Attributes:
        outputs: The elements after every iteration: (iteration, batch, item, feature).
        types: Their types before it, of length 1: (iteration, batch, item, type).
        compatibility: Which function has access to which: (iteration, batch, function, item).

    Reference:
        gondal2021, section 2; figures 3 and 4.
    """

    outputs: Tensor
    types: Tensor
    compatibility: Tensor


def interpreter(
    x: Float[Tensor, "batch item feature"],
    compatibility: Float[Tensor, "function batch item"],
    lines: Sequence[LineParameters],
    rules: ScriptRules,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
) -> Float[Tensor, "batch item feature"]:
    r"""Every element through all functions at once, and what comes out of them together.

    $$y_i = x_i + \sum_u C_{ui} \,
      (\mathrm{LOC}_{n} \circ … \circ \mathrm{LOC}_1)(\{x_j\}_j; c_u, \{C_{uj}\}_j)$$

    An element that no function has access to stays as it is.

    Args:
        x: The elements.
        compatibility: $C$.
        lines: Weights of the lines of code, for these functions.
        rules: The rest; without `outer_residual` an element without function becomes 0.
        key_padding_mask: True where an element is padding.

    Reference:
        gondal2021, section 2, equation 11.
    """
    streams = x.unsqueeze(0)
    for number, line in enumerate(lines, start=1):
        streams = run_line(
            streams,
            compatibility,
            line,
            rules.line,
            key_padding_mask,
            summed=number == len(lines),
        )
    found = streams[0]
    if rules.sums_changes:
        found = found - compatibility.sum(0).unsqueeze(-1) * x
    return x + found if rules.outer_residual else found


def script(
    x: Float[Tensor, "batch item feature"],
    parameters: ScriptParameters,
    rules: ScriptRules,
    num_iterations: int,
    *,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
    keep: Float[Tensor, "function batch"] | None = None,
) -> Float[Tensor, "batch item feature"]:
    r"""Function iterations: types are inferred and matched and functions called, several times.

    $$\{x_i\}_i \leftarrow \mathrm{Interpreter}(\{x_j\}_j, \{c_u\}_u, \{C_{uj}\}_{u,j}), \qquad
      C_{uj} = \mathrm{TypeMatching}(s_u, x_j)$$

    Args:
        x: The elements.
        parameters: The weights, the same in every iteration.
        rules: The rest.
        num_iterations: How many times.
        key_padding_mask: True where an element is padding.
        keep: 0 where a function is not there for a set, else 1; None is all ones.

    Raises:
        ValueError: If `num_iterations` is not an integer ≥ 1.

    Reference:
        gondal2021, section 2, equations 12 to 14.
    """
    for step in _walk(x, parameters, rules, num_iterations, key_padding_mask, keep):
        x = step.outputs
    return x


def script_trace(
    x: Float[Tensor, "batch item feature"],
    parameters: ScriptParameters,
    rules: ScriptRules,
    num_iterations: int,
    *,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
) -> ScriptTrace:
    """`script`, with its internal values call by call.

    Args:
        x: As in `script`.
        parameters: As in `script`.
        rules: As in `script`.
        num_iterations: As in `script`.
        key_padding_mask: As in `script`.

    Raises:
        ValueError: As in `script`.

    Reference:
        gondal2021, section 2; figures 3 and 4.
    """
    steps = list(_walk(x, parameters, rules, num_iterations, key_padding_mask, None))
    return ScriptTrace(
        torch.stack([step.outputs for step in steps]),
        torch.stack([F.normalize(step.types, dim=-1) for step in steps]),
        torch.stack([step.compatibility.transpose(0, 1) for step in steps]),
    )


def _walk(
    x: Tensor,
    parameters: ScriptParameters,
    rules: ScriptRules,
    num_iterations: int,
    key_padding_mask: Tensor | None,
    keep: Tensor | None,
) -> Iterator[ScriptTrace]:
    """Iteration after iteration, with compatibilities (function, batch, item)."""
    for _ in range(_ITERATIONS.take("num_iterations", num_iterations)):
        types = type_inference(x, parameters.typing)
        compatibility = type_matching(
            types,
            parameters.signatures,
            parameters.bandwidth,
            truncation=rules.truncation,
            straight_through=rules.straight_through,
            eps=rules.eps,
            keep=keep,
        )
        if key_padding_mask is not None:
            compatibility = compatibility.masked_fill(key_padding_mask, 0.0)
        x = interpreter(x, compatibility, parameters.lines, rules, key_padding_mask)
        yield ScriptTrace(x, types, compatibility)
