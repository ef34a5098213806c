"""Recurrent cells with normalizers, step by step in float64, after ren2017 alone.

Nothing here imports the package. `norms` maps a place to a function of one vector; a place that is
missing is left as it is. Weights stand gate under gate.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Array = np.ndarray
Norms = dict[str, Callable[[Array], Array]]


def layer_norm(x: Array, gain: Array, shift: Array, eps: float) -> Array:
    """Over the numbers of one vector."""
    mean = math.fsum(x) / len(x)
    variance = math.fsum((number - mean) ** 2 for number in x) / len(x)
    return np.array(
        [
            g * (number - mean) / math.sqrt(variance + eps) + b
            for number, g, b in zip(x, gain, shift, strict=True)
        ]
    )


def divisive_norm(x: Array, window: int, sigma: float) -> Array:
    """Equations 6 and 7 over an odd window of one vector; what lies outside is zero."""
    radius, n = window // 2, len(x)
    around = [range(max(0, j - radius), min(n, j + radius + 1)) for j in range(n)]
    v = [x[j] - math.fsum(x[k] for k in around[j]) / window for j in range(n)]
    squares = [math.fsum(v[k] ** 2 for k in around[j]) / window for j in range(n)]
    return np.array([v[j] / math.sqrt(sigma**2 + squares[j]) for j in range(n)])


def sigmoid(x: Array) -> Array:
    return np.array([1 / (1 + math.exp(-number)) for number in x])


def tanh(x: Array) -> Array:
    return np.array([math.tanh(number) for number in x])


def projected(x: Array, weight: Array, bias: Array) -> Array:
    return np.array([math.fsum(row * x) + b for row, b in zip(weight, bias, strict=True)])


def at(norms: Norms, place: str, x: Array) -> Array:
    return norms[place](x) if place in norms else x


def rnn(xs: Array, w: dict[str, Array], norms: Norms, state: list[Array]) -> list[list[Array]]:
    """Equations 8 to 11, with tanh; the states after every step."""
    (h,), states = state, []
    for x in xs:
        from_x = at(norms, "input", projected(x, w["weight_ih"], w["bias_ih"]))
        from_h = at(norms, "hidden", projected(h, w["weight_hh"], w["bias_hh"]))
        h = tanh(at(norms, "sum", from_x + from_h))
        states.append([h])
    return states


def lstm(
    xs: Array,
    w: dict[str, Array],
    norms: Norms,
    state: list[Array],
    forget_bias: float = 0.0,
    forget_bias_normalized: bool = False,
    carry_normalized: bool = False,
) -> list[list[Array]]:
    """Equations 16 to 20; rows stand as input, forget, candidate, output gate."""
    (h, c), states, n = state, [], len(state[0])
    for x in xs:
        from_x = at(norms, "input", projected(x, w["weight_ih"], w["bias_ih"]))
        from_h = at(norms, "hidden", projected(h, w["weight_hh"], w["bias_hh"]))
        total = from_x + from_h
        i = sigmoid(at(norms, "input_gate", total[:n]))
        before, behind = (forget_bias, 0) if forget_bias_normalized else (0, forget_bias)
        f = sigmoid(at(norms, "forget_gate", total[n : 2 * n] + before) + behind)
        g = tanh(at(norms, "candidate", total[2 * n : 3 * n]))
        o = sigmoid(at(norms, "output_gate", total[3 * n :]))
        new = f * c + i * g
        normed = at(norms, "cell", new)
        h = o * tanh(normed)
        c = normed if carry_normalized else new
        states.append([h, c])
    return states


def gru(xs: Array, w: dict[str, Array], norms: Norms, state: list[Array]) -> list[list[Array]]:
    """Cho et al. 2014 with torch's reset gate; rows stand as reset, update gate, candidate."""
    (h,), states, n = state, [], len(state[0])
    for x in xs:
        from_x = at(norms, "input", projected(x, w["weight_ih"], w["bias_ih"]))
        from_h = at(norms, "hidden", projected(h, w["weight_hh"], w["bias_hh"]))
        r = sigmoid(at(norms, "reset_gate", from_x[:n] + from_h[:n]))
        z = sigmoid(at(norms, "update_gate", from_x[n : 2 * n] + from_h[n : 2 * n]))
        new = tanh(at(norms, "candidate", from_x[2 * n :] + r * from_h[2 * n :]))
        h = np.array([(1 - z[k]) * new[k] + z[k] * h[k] for k in range(n)])
        states.append([h])
    return states


def layer_norm_lstm(
    xs: Array, kernel: Array, gains: Array, shifts: Array, hidden_size: int
) -> list[list[Array]]:
    """TensorFlow's `LayerNormBasicLSTMCell` from zeros, forget bias 1.

    `kernel` is ([input, hidden], 4 × hidden), its columns input gate, candidate, forget gate,
    output gate; `gains` and `shifts` are in that order, the state's last.
    """
    n, states = hidden_size, []
    h, c = np.zeros(n), np.zeros(n)
    for x in xs:
        joined = np.concatenate([x, h])
        total = [math.fsum(joined * kernel[:, column]) for column in range(4 * n)]
        parts = [np.array(total[k * n : (k + 1) * n]) for k in range(4)]
        i, j, f, o = (layer_norm(parts[k], gains[k], shifts[k], 1e-12) for k in range(4))
        c = layer_norm(c * sigmoid(f + 1) + sigmoid(i) * tanh(j), gains[4], shifts[4], 1e-12)
        h = tanh(c) * sigmoid(o)
        states.append([h, c])
    return states
