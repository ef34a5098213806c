"""Neural Interpreters for one set, loop by loop in float64, after gondal2021, section 2.

Nothing here imports the package. `w` holds the arrays of a script by name: `signatures` (function,
type), `codes` (function, code), `bandwidth`; `typing.norm.weight`, `typing.hidden.weight`, … of the
type inference; `lines.0.norm1.weight`, `lines.0.attention.query.weight`, `….code_weight`, `….bias`,
`lines.0.mlp.layers.0.weight`, `lines.0.position.row_embedding`, … of each line of code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Weights = dict[str, Array]


@dataclass(frozen=True)
class Options:
    """What is no weight; the text's by default."""

    num_heads: int
    truncation: float
    num_lines: int = 1
    grid: tuple[int, int] | None = None
    residual: bool = True
    outer_residual: bool = True
    sums_changes: bool = False
    eps: float = 1e-6


def dot(first: Array, second: Array) -> float:
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


def times(weight: Array, x: Array, bias: Array | None = None) -> Array:
    shift = np.zeros(len(weight)) if bias is None else bias
    return np.array([dot(row, x) + b for row, b in zip(weight, shift, strict=True)])


def gelu(x: Array) -> Array:
    return np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x])


def layer_norm(x: Array, weight: Array | None = None, bias: Array | None = None) -> Array:
    mean = math.fsum(x) / len(x)
    variance = math.fsum((v - mean) ** 2 for v in x) / len(x)
    normal = np.array([(v - mean) / math.sqrt(variance + 1e-5) for v in x])
    return normal if weight is None else normal * weight + bias


def type_of(x: Array, w: Weights) -> Array:
    normal = layer_norm(x, w["typing.norm.weight"], w["typing.norm.bias"])
    hidden = gelu(times(w["typing.hidden.weight"], normal, w["typing.hidden.bias"]))
    return times(w["typing.out.weight"], hidden, w["typing.out.bias"])


def distance(signature: Array, kind: Array) -> float:
    """Equation 2."""
    lengths = math.sqrt(dot(signature, signature)) * math.sqrt(dot(kind, kind))
    return 1 - dot(signature, kind) / lengths


def compatibility(signatures: Array, types: list[Array], sigma: float, options: Options) -> Array:
    """Equation 3, its inequality the right way round: by function and element."""
    kernel = np.zeros((len(signatures), len(types)))
    for u, signature in enumerate(signatures):
        for i, kind in enumerate(types):
            d = distance(signature, kind)
            kernel[u, i] = math.exp(-d / sigma) if d < options.truncation else 0.0
    shares = np.zeros_like(kernel)
    for i in range(len(types)):
        whole = options.eps + math.fsum(kernel[:, i])
        for u in range(len(signatures)):
            shares[u, i] = kernel[u, i] / whole
    return shares


def mod_lin(x: Array, code: Array, w: Weights, name: str) -> Array:
    """Equation 4."""
    scale = layer_norm(times(w[f"{name}.code_weight"], code))
    return times(w[f"{name}.weight"], x * scale, w.get(f"{name}.bias"))


def position_score(
    i: int, j: int, h: int, n: int, code: Array, w: Weights, name: str, options: Options
) -> float:
    """From patch to patch; elements before the patches have 0."""
    rows, columns = options.grid
    first, second = i - (n - rows * columns), j - (n - rows * columns)
    if first < 0 or second < 0:
        return 0.0
    down = second // columns - first // columns
    right = second % columns - first % columns
    return (
        dot(w[f"{name}.row_head"][h], w[f"{name}.row_embedding"][down + rows - 1])
        + dot(w[f"{name}.row_code"][h], code)
        + dot(w[f"{name}.column_head"][h], w[f"{name}.column_embedding"][right + columns - 1])
        + dot(w[f"{name}.column_code"][h], code)
    )


def mod_attn(
    xs: list[Array], shares: Array, code: Array, w: Weights, name: str, options: Options
) -> list[Array]:
    """Equations 6 to 8 in one function, given its compatibilities with the elements."""
    n, heads = len(xs), options.num_heads
    parts = {}
    for kind in ("query", "key", "value"):
        wide = [mod_lin(x, code, w, f"{name}.attention.{kind}") for x in xs]
        parts[kind] = [np.split(row, heads) for row in wide]
    gathered = []
    for i in range(n):
        by_head = []
        for h in range(heads):
            query = parts["query"][i][h]
            scores = []
            for j in range(n):
                score = dot(query, parts["key"][j][h])
                if options.grid is not None:
                    score += position_score(i, j, h, n, code, w, f"{name}.position", options)
                scores.append(score / math.sqrt(len(query)))
            powers = [math.exp(score - max(scores)) for score in scores]
            whole = math.fsum(powers)
            weights = [shares[i] * shares[j] * powers[j] / whole for j in range(n)]
            row = options.eps + math.fsum(weights)
            by_head.append(sum(weights[j] / row * parts["value"][j][h] for j in range(n)))
        gathered.append(mod_lin(np.concatenate(by_head), code, w, f"{name}.attention.out"))
    return gathered


def line_of_code(
    xs: list[Array], shares: Array, code: Array, w: Weights, name: str, options: Options
) -> list[Array]:
    """Equations 9 and 10 in one function."""
    normal = [layer_norm(x, w[f"{name}.norm1.weight"], w[f"{name}.norm1.bias"]) for x in xs]
    attended = mod_attn(normal, shares, code, w, name, options)
    found = []
    for x, share, told in zip(xs, shares, attended, strict=True):
        a = share * told + (x if options.residual else 0)
        hidden = layer_norm(a, w[f"{name}.norm2.weight"], w[f"{name}.norm2.bias"])
        hidden = gelu(mod_lin(hidden, code, w, f"{name}.mlp.layers.0"))
        b = share * mod_lin(hidden, code, w, f"{name}.mlp.layers.1")
        found.append(b + (a if options.residual else 0))
    return found


def interpreter(xs: list[Array], shares: Array, w: Weights, options: Options) -> list[Array]:
    """Equation 11."""
    streams = []
    for own, code in zip(shares, w["codes"], strict=True):
        stream = xs
        for line in range(options.num_lines):
            stream = line_of_code(stream, own, code, w, f"lines.{line}", options)
        streams.append(stream)
    found = []
    for i, x in enumerate(xs):
        y = np.array(x) if options.outer_residual else np.zeros(len(x))
        for u, stream in enumerate(streams):
            y = y + shares[u, i] * (stream[i] - (x if options.sums_changes else 0))
        found.append(y)
    return found


def script(
    x: Array, w: Weights, num_iterations: int, options: Options
) -> tuple[list[list[Array]], list[Array]]:
    """Equations 12 to 14: elements and compatibilities of every iteration."""
    elements, shares, xs = [], [], list(x)
    for _ in range(num_iterations):
        types = [type_of(row, w) for row in xs]
        shares.append(compatibility(w["signatures"], types, float(w["bandwidth"]), options))
        xs = interpreter(xs, shares[-1], w, options)
        elements.append(xs)
    return elements, shares
