"""Sequence layers since 2023 step by step in float64, for one sequence, from their equations alone.

Nothing here imports the package. A sequence is (time, feature), or (time, head, feature) where the
heads are apart; `state` holds a module's parameters by name.
"""

from __future__ import annotations

import math

import numpy as np

from oracles.sequence_layers import applied, below, gelu
from oracles.webb2021 import sigmoid
from oracles.webb2021_rivals import softplus

Array = np.ndarray
State = dict[str, Array]


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


def root_mean_square(x: Array, gain: Array) -> Array:
    return gain * x / math.sqrt(math.fsum(x * x) / len(x) + 1e-5)


def centered(x: Array, gain: Array) -> Array:
    mean = math.fsum(x) / len(x)
    variance = math.fsum((x - mean) ** 2) / len(x)
    return gain * (x - mean) / math.sqrt(variance + 1e-5)


def block_linear(x: Array, weight: Array) -> Array:
    size = weight.shape[2]
    return np.concatenate([weight[n] @ x[n * size : (n + 1) * size] for n in range(len(weight))])


def convolution(xs: Array, weight: Array, bias: Array | None) -> Array:
    out = np.zeros_like(xs)
    size = weight.shape[1]
    for t, feature in np.ndindex(xs.shape):
        out[t, feature] = 0 if bias is None else bias[feature]
        for back in range(min(size, t + 1)):
            out[t, feature] += weight[feature, size - 1 - back] * xs[t - back, feature]
    return out


# --- Recurrences of one head ---------------------------------------------------------------------


def gated_linear_attention(
    q: Array, k: Array, v: Array, log_decay: Array, memory: Array
) -> tuple[Array, Array]:
    out = []
    for t in range(len(q)):
        memory = np.exp(log_decay[t])[:, None] * memory + np.outer(k[t], v[t])
        out.append(memory.T @ q[t] / math.sqrt(len(q[t])))
    return np.array(out), memory


def gated_delta_rule(
    q: Array, k: Array, v: Array, rate: Array, log_decay: Array | None, memory: Array
) -> tuple[Array, Array]:
    out = []
    for t in range(len(q)):
        if log_decay is not None:
            memory = math.exp(log_decay[t]) * memory
        memory = memory + rate[t] * np.outer(k[t], v[t] - memory.T @ k[t])
        out.append(memory.T @ q[t] / math.sqrt(len(q[t])))
    return np.array(out), memory


def mlstm(
    q: Array,
    k: Array,
    v: Array,
    gates: tuple[Array, Array],
    begun: tuple[Array, Array, float],
    *,
    exponential: bool = False,
) -> tuple[Array, Array, Array, float]:
    memory, normalizer, m = begun
    out = []
    for t in range(len(q)):
        enter, forget = gates[0][t], gates[1][t] if exponential else log_sigmoid(gates[1][t])
        before, m = m, max(forget + m, enter)
        keep, write = math.exp(forget + before - m), math.exp(enter - m)
        key = k[t] / math.sqrt(len(k[t]))
        memory = keep * memory + write * np.outer(key, v[t])
        normalizer = keep * normalizer + write * key
        divisor = max(abs(float(normalizer @ q[t])), math.exp(-m)) + 1e-6
        out.append(memory.T @ q[t] / divisor)
    return np.array(out), memory, normalizer, m


def slstm(
    inputs: Array,
    weight: Array,
    begun: tuple[Array, Array, Array, Array],
    *,
    exponential: bool = False,
) -> tuple[Array, ...]:
    h, c, n, m = (part.copy() for part in begun)
    width, out = len(h), []
    for entering in inputs:
        gates = entering + weight @ h
        h = h.copy()
        for j in range(width):
            i, f, z, o = (gates[part * width + j] for part in range(4))
            f = f if exponential else log_sigmoid(f)
            before, m[j] = m[j], max(f + m[j], i)
            keep, write = math.exp(f + before - m[j]), math.exp(i - m[j])
            c[j] = keep * c[j] + write * math.tanh(z)
            n[j] = keep * n[j] + write
            h[j] = c[j] / n[j] / (1 + math.exp(-o))
        out.append(h)
    return np.array(out), h, c, n, m


def selective_scan(
    xs: Array,
    steps: Array,
    rate: Array,
    enter: Array,
    leave: Array,
    state: Array,
    *,
    negative: bool = False,
    euler: bool = False,
) -> tuple[Array, Array]:
    state, out = state.copy(), np.zeros_like(xs)
    for t, feature in np.ndindex(xs.shape):
        for n in range(rate.shape[1]):
            product = steps[t, feature] * rate[feature, n]
            factor = 2 * math.exp(product) - 1 if negative else math.exp(product)
            held = steps[t, feature] if euler else math.expm1(product) / rate[feature, n]
            state[feature, n] = factor * state[feature, n] + held * enter[t, n] * xs[t, feature]
            out[t, feature] += leave[t, n] * state[feature, n]
    return out, state


# --- Layers --------------------------------------------------------------------------------------


def layer(xs: Array, state: State, num_layers: int, mixer, *, centers: bool, gelus: bool) -> Array:
    """Residual blocks between a linear layer and a normalization.

    Args:
        mixer: Function of the normalized sequence and the parameters of the mixer.
        centers: Whether means are subtracted.
        gelus: Whether the gate of the network is a GELU.
    """
    normed = centered if centers else root_mean_square
    xs = np.array([applied(state, "encode", x) for x in xs])
    for number in range(num_layers):
        own = below(state, f"blocks.{number}")
        entering = np.array([normed(x, own["norm1.weight"]) for x in xs])
        xs = xs + mixer(entering, below(own, "mixer"))
        if "norm2.weight" in own:
            for t in range(len(xs)):
                both = applied(own, "feedforward.enter", normed(xs[t], own["norm2.weight"]))
                gate, value = both[: len(both) // 2], both[len(both) // 2 :]
                hidden = (gelu(gate) if gelus else silu(gate)) * value
                xs[t] = xs[t] + applied(own, "feedforward.leave", hidden)
    return np.array([normed(x, state["norm.weight"]) for x in xs])


def heads(rows: Array, number: int) -> Array:
    return rows.reshape(len(rows), number, -1)


def each(state: State, name: str, xs: Array) -> Array:
    return np.array([applied(state, name, x) for x in xs])


def gla_mixer(xs: Array, own: State, num_heads: int, normalizer: float) -> Array:
    q, k, v = (heads(each(own, name, xs), num_heads) for name in ("query", "key", "value"))
    logits = heads(each(own, "decay_out", each(own, "decay_in", xs)), num_heads)
    decay = np.vectorize(log_sigmoid)(logits) / normalizer
    gate, rows = silu(each(own, "gate", xs)), []
    for head in range(num_heads):
        first = np.zeros((q.shape[2], v.shape[2]))
        found, _ = gated_linear_attention(q[:, head], k[:, head], v[:, head], decay[:, head], first)
        rows.append([root_mean_square(o, own["norm.weight"]) for o in found])
    joined = np.concatenate(np.array(rows), axis=1)
    return each(own, "out", joined * gate)


def delta_mixer(xs: Array, own: State, num_heads: int, *, gated: bool, negative: bool) -> Array:
    parts = np.concatenate([each(own, name, xs) for name in ("query", "key", "value")], axis=1)
    parts = silu(convolution(parts, own["convolution.weight"], None))
    keys = len(own["query.weight"])
    q, k, v = (
        heads(part, num_heads)
        for part in (parts[:, :keys], parts[:, keys : 2 * keys], parts[:, 2 * keys :])
    )
    rates = np.array([sigmoid(row) for row in each(own, "rate", xs)]) * (2 if negative else 1)
    rows = []
    for head in range(num_heads):
        decay = None
        if gated:
            steps = [softplus(a + own["step_bias"][head]) for a in each(own, "decay", xs)[:, head]]
            decay = -math.exp(own["log_rate"][head]) * np.array(steps)
        unit = [
            np.array([x / math.sqrt(math.fsum(x * x) + 1e-6) for x in part[:, head]])
            for part in (q, k)
        ]
        first = np.zeros((q.shape[2], v.shape[2]))
        found, _ = gated_delta_rule(*unit, v[:, head], rates[:, head], decay, first)
        rows.append([root_mean_square(o, own["norm.weight"]) for o in found])
    joined = np.concatenate(np.array(rows), axis=1)
    return each(own, "out", joined * silu(each(own, "gate", xs)) if gated else joined)


def head_norm(rows: list[Array], gain: Array) -> Array:
    """(head, time, feature) to (time, head · feature)."""
    normed = np.array([[centered(x, np.ones(len(x))) for x in head] for head in rows])
    return np.concatenate(normed, axis=1) * gain


def mlstm_mixer(xs: Array, own: State, num_heads: int, first: float = -math.inf) -> Array:
    both = each(own, "up", xs)
    inner = both.shape[1] // 2
    u, gate = both[:, :inner], both[:, inner:]
    c = silu(convolution(u, own["convolution.weight"], own["convolution.bias"]))
    q, k = (np.array([block_linear(x, own[name]) for x in c]) for name in ("query", "key"))
    v = np.array([block_linear(x, own["value"]) for x in u])
    joined = np.concatenate((q, k, v), axis=1)
    gates = [joined @ own[f"{name}_weight"].T + own[f"{name}_bias"] for name in ("input", "forget")]
    rows, width = [], inner // num_heads
    for head in range(num_heads):
        columns = slice(head * width, (head + 1) * width)
        begun = (np.zeros((width, width)), np.zeros(width), first)
        pair = (gates[0][:, head], gates[1][:, head])
        found, *_ = mlstm(q[:, columns], k[:, columns], v[:, columns], pair, begun)
        rows.append(found)
    out = head_norm(rows, own["norm.weight"]) + own["skip"] * c
    return each(own, "down", out * silu(gate))


def slstm_mixer(xs: Array, own: State, num_heads: int, *, exponential: bool = False) -> Array:
    c = silu(convolution(xs, own["convolution.weight"], own["convolution.bias"]))
    width, rows = xs.shape[1] // num_heads, []
    for head in range(num_heads):
        columns = slice(head * width, (head + 1) * width)
        entering = []
        for early, late in zip(c[:, columns], xs[:, columns], strict=True):
            parts = [own[name][head] @ early for name in ("input", "forget")]
            parts += [own[name][head] @ late for name in ("cell", "output")]
            entering.append(np.concatenate(parts) + own["bias"][head])
        zeros = np.zeros(width)
        begun = (zeros, zeros, zeros, np.full(width, -math.inf))
        found, *_ = slstm(
            np.array(entering), own["recurrent"][head], begun, exponential=exponential
        )
        rows.append(found)
    return head_norm(rows, own["norm.weight"])


def mamba_mixer(
    xs: Array, own: State, numbers: int, *, negative: bool = False, euler: bool = False
) -> Array:
    both = each(own, "up", xs)
    inner = both.shape[1] // 2
    u, gate = both[:, :inner], both[:, inner:]
    c = silu(convolution(u, own["convolution.weight"], own["convolution.bias"]))
    parts = each(own, "select", c)
    rank = parts.shape[1] - 2 * numbers
    steps = np.vectorize(softplus)(each(own, "step", parts[:, :rank]))
    y, _ = selective_scan(
        c,
        steps,
        -np.exp(own["log_rate"]),
        parts[:, rank : rank + numbers],
        parts[:, rank + numbers :],
        np.zeros((inner, numbers)),
        negative=negative,
        euler=euler,
    )
    return each(own, "out", (y + own["skip"] * c) * silu(gate))
