"""Scripts of lines of code, and the types that route elements to functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core.internal import Depth, kind_of
from farfield.functional._autograd._products import is_autocast, is_transformed, linear
from farfield.functional._interpreter._line_of_code import LineParameters, LineRules, run_line

_LEAST_BANDWIDTH = 1e-3
"""Below it a kernel would over- or underflow in float32, and its gradients with it."""
_MOST_BANDWIDTH = 1e6


class TypingParameters(NamedTuple):
    """Weights of a type inference: a layer normalization and a network with one hidden layer.

    Attributes:
        norm_weight: (feature).
        norm_bias: (feature).
        hidden_weight: (hidden, feature).
        hidden_bias: (hidden).
        out_weight: (type, hidden).
        out_bias: (type).

    Reference:
        gondal2021, section 2.
    """

    norm_weight: Tensor
    norm_bias: Tensor
    hidden_weight: Tensor
    hidden_bias: Tensor
    out_weight: Tensor
    out_bias: Tensor


def type_inference(
    x: Float[Tensor, "*batch feature"], parameters: TypingParameters
) -> Float[Tensor, "*batch type"]:
    r"""Infer the type of every element, before it is brought to length 1.

    $$t_i = W_2 \, \mathrm{GELU}(W_1 \, \mathrm{LN}(x_i) + b_1) + b_2$$

    Args:
        x: The elements.
        parameters: The weights.

    Reference:
        gondal2021, section 2, equation 2; the form of the network is the released code's.
    """
    normal = F.layer_norm(x, x.shape[-1:], parameters.norm_weight, parameters.norm_bias)
    hidden = F.gelu(linear(normal, parameters.hidden_weight, parameters.hidden_bias))
    return linear(hidden, parameters.out_weight, parameters.out_bias)


def type_distance(
    types: Float[Tensor, "*batch type"], signatures: Float[Tensor, "function type"]
) -> Float[Tensor, "function ..."]:
    r"""Compute distances of signatures of functions from types of elements, 0 to 2.

    $$d(s_u, t_i) = 1 - \frac{s_u \cdot t_i}{|s_u| |t_i|}$$

    Args:
        types: $t$, of any length.
        signatures: $s$, of any length.

    Reference:
        gondal2021, section 2, equation 2.
    """
    cosine = linear(F.normalize(types, dim=-1), F.normalize(signatures, dim=-1))
    return (1 - cosine).movedim(-1, 0)


def truncated_kernel(
    distance: Float[Tensor, "*shape"],
    bandwidth: Float[Tensor, ""],
    *,
    truncation: float = 2.0,
    straight_through: bool = False,
) -> Float[Tensor, "*shape"]:
    r"""Compute the match of function and element by their distance: falling, and 0 from $\tau$ on.

    At $\tau = 2$, the distance of opposite directions, nothing is cut.

    $$k(d) = \begin{cases} e^{-d / \sigma} & d < \tau \\ 0 & \text{otherwise} \end{cases}$$

    The inequality in the text is the other way round, which would let a function look only at
    elements of other types; this kernel follows the text's words. The bandwidth is 0.001 where a
    parameter has become smaller, with the gradient that it has there, so that the kernel is finite
    whatever the parameter is. It can still die: with a small bandwidth it lies far below the
    $\epsilon$ of `compatibilities` wherever types are not close to a signature, and with it the
    compatibilities and all gradients.

    Args:
        distance: $d$.
        bandwidth: $\sigma$.
        truncation: $\tau$, above 0 and at most 2.
        straight_through: Whether gradients reach also pairs that are cut, which the
            released code calls masked; by default they have a gradient of zero.

    Raises:
        ValueError: If `truncation` is not in (0, 2].

    Reference:
        gondal2021, section 2, equation 3.
    """
    check_truncation(truncation)
    bounded = bandwidth.clamp(-_MOST_BANDWIDTH, _MOST_BANDWIDTH)
    positive = bounded.detach().clamp(min=_LEAST_BANDWIDTH) + (bounded - bounded.detach())
    kernel = (-distance / positive).exp()
    # Rounding puts opposite directions a little beyond 2.
    cut = kernel if truncation == 2 else torch.where(distance < truncation, kernel, 0.0)
    return kernel + (cut - kernel).detach() if straight_through else cut


def check_truncation(truncation: float) -> None:
    """Raise `ValueError` unless a truncation is a distance between directions.

    Args:
        truncation: Of `truncated_kernel`.
    """
    if not isinstance(truncation, Real) or not 0 < truncation <= 2:
        raise ValueError(
            "truncation must be a distance above 0 and at most 2, "
            f"got {truncation!r}; 2 cuts nothing"
        )


def compatibilities(
    kernel: Float[Tensor, "function ..."], *, eps: float = 1e-6
) -> Float[Tensor, "function ..."]:
    r"""Compute shares of the functions in each element: 0 to 1, with a sum of almost 1, or of 0.

    $$C_{ui} = \frac{k_{ui}}{\epsilon + \sum_v k_{vi}}$$

    Args:
        kernel: $k$, how well each function matches.
        eps: $\epsilon$.

    Reference:
        gondal2021, section 2, equation 3.
    """
    return kernel / (kernel.sum(0, keepdim=True) + eps)


def type_matching(
    types: Float[Tensor, "*batch item type"],
    signatures: Float[Tensor, "function type"],
    bandwidth: Float[Tensor, ""],
    *,
    truncation: float = 2.0,
    straight_through: bool = False,
    eps: float = 1e-6,
    keep: Float[Tensor, "function ..."] | None = None,
) -> Float[Tensor, "function *batch item"]:
    """Compute the compatibility of each function with each element, in the type of `types`.

    `compatibilities` of `truncated_kernel` of `type_distance`, computed in float32 at least.

    Args:
        types: Of the elements, of any length.
        signatures: Of the functions, of any length.
        bandwidth: As in `truncated_kernel`.
        truncation: As in `truncated_kernel`.
        straight_through: As in `truncated_kernel`.
        eps: As in `compatibilities`.
        keep: 0 where a function is not there for a set, else 1; None is all ones.

    Raises:
        ValueError: If `truncation` is not in (0, 2].

    Reference:
        gondal2021, section 2, equations 2, 3 and 13.
    """
    dtype = torch.promote_types(types.dtype, torch.float32)
    kernel = truncated_kernel(
        type_distance(types.to(dtype), signatures.to(dtype)),
        bandwidth.to(dtype),
        truncation=truncation,
        straight_through=straight_through,
    )
    if keep is not None:
        kernel = kernel * keep.to(dtype).unsqueeze(-1)
    return compatibilities(kernel, eps=eps).to(types.dtype)


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
        straight_through: Whether gradients reach also pairs that the kernel cuts.
        outer_residual: Whether outputs of functions are added to the elements, or replace them.
        sums_changes: Whether the functions' changes $y_{ui} - x_i$ are summed up, or their
            outputs, $y_{ui}$, which contain the element itself.
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
    r"""Apply all functions to every element at once and join their outputs.

    $$y_i = x_i + \sum_u C_{ui} \,
      (\mathrm{LOC}_{n} \circ … \circ \mathrm{LOC}_1)(\{x_j\}_j; c_u, \{C_{uj}\}_j)$$

    An element that no function has access to stays unchanged.

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
    r"""Run function iterations: infer types, match them and call functions, several times.

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
    """Run `script` and return its internal values call by call.

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
    """Run iteration after iteration, with compatibilities (function, batch, item)."""
    is_traced = torch.compiler.is_compiling() and not torch.compiler.is_exporting()
    iterate = _REGION if is_traced and not (is_transformed() or is_autocast()) else _iterate
    for _ in range(_ITERATIONS.take("num_iterations", num_iterations)):
        step = iterate(x, parameters, rules, key_padding_mask, keep)
        yield step
        x = step.outputs


def _iterate(
    x: Tensor,
    parameters: ScriptParameters,
    rules: ScriptRules,
    key_padding_mask: Tensor | None,
    keep: Tensor | None,
) -> ScriptTrace:
    """Run one iteration, with compatibilities (function, batch, item)."""
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
    return ScriptTrace(x, types, compatibility)


_REGION = torch.compiler.nested_compile_region(_iterate)
"""`_iterate`, which `torch.compile` compiles once for all iterations."""
