"""Loops over single numbers in float64, written from the equations of webb2020 and webb2021.

Nothing here imports the package. Parameters are plain arrays, laid out as the equations read them.
"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def relu(x: Array) -> Array:
    return np.where(x > 0, x, 0.0)


def sigmoid(x: float | Array) -> float | Array:
    return 1.0 / (1.0 + np.exp(-x))


def dot(x: Array, y: Array) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    out = np.array([dot(row, x) for row in weight])
    return out if bias is None else out + bias


def context_norm(
    z: Array,
    gain: Array,
    shift: Array,
    segments: list[list[int]],
    correction: int,
    eps: float,
) -> Array:
    """webb2020, equations 1 to 3, over each segment; z is (time, feature)."""
    out = np.full(z.shape, np.nan)
    for segment in segments:
        for k in range(z.shape[1]):
            values = [float(z[j, k]) for j in segment]
            mu = math.fsum(values) / len(values)
            squares = math.fsum((value - mu) ** 2 for value in values)
            sigma = math.sqrt(squares / (len(values) - correction) + eps)
            for j in segment:
                out[j, k] = gain[k] * (z[j, k] - mu) / sigma + shift[k]
    return out


def convolution(maps: Array, weight: Array, bias: Array) -> Array:
    """4×4, stride 2, padding 1; maps is (channel, height, width)."""
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1)))
    height, width = maps.shape[1] // 2, maps.shape[2] // 2
    out = np.zeros((len(weight), height, width))
    for y in range(height):
        for x in range(width):
            patch = padded[:, 2 * y : 2 * y + 4, 2 * x : 2 * x + 4]
            for c, kernel in enumerate(weight):
                out[c, y, x] = (patch * kernel).sum() + bias[c]
    return out


def conv_encoder(image: Array, state: dict[str, Array]) -> Array:
    """Appendix A.3.1."""
    maps = image[None]
    for name in ("conv1", "conv2", "conv3"):
        maps = relu(convolution(maps, state[f"{name}.weight"], state[f"{name}.bias"]))
    return layers(maps.reshape(-1), state, ["fc1", "fc2"])


def layers(x: Array, state: dict[str, Array], names: list[str]) -> Array:
    for name in names:
        x = relu(linear(x, state[f"{name}.weight"], state[f"{name}.bias"]))
    return x


def lstm_step(x: Array, h: Array, c: Array, state: dict[str, Array]) -> tuple[Array, Array]:
    a = linear(x, state["weight_ih"], state["bias_ih"])
    a = a + linear(h, state["weight_hh"], state["bias_hh"])
    new_h, new_c = np.empty_like(h), np.empty_like(c)
    size = len(h)
    for n in range(size):
        i, f, g, o = a[n], a[size + n], a[2 * size + n], a[3 * size + n]
        new_c[n] = sigmoid(f) * c[n] + sigmoid(i) * math.tanh(g)
        new_h[n] = sigmoid(o) * math.tanh(new_c[n])
    return new_h, new_c


def lstm(inputs: Array, state: dict[str, Array]) -> Array:
    size = state["weight_hh"].shape[1]
    h, c = np.zeros(size), np.zeros(size)
    states = []
    for x in inputs:
        h, c = lstm_step(x, h, c, state)
        states.append(h)
    return np.array(states)


def softmax(scores: list[float]) -> list[float]:
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def esbn(z: Array, state: dict[str, Array]) -> Array:
    return esbn_and_keys(z, state)[0]


def esbn_and_keys(z: Array, state: dict[str, Array]) -> tuple[Array, Array, Array]:
    """Algorithm 1 with one more step after the last place; z is (time, feature).

    Without `confidence_gain` nothing is told of confidence; with `default_key` the memory starts
    with one entry, which the first place does not read. Beside the answer the keys written and
    those retrieved, the latter without confidence and gate.
    """
    told = "confidence_gain" in state
    controller = {
        name.removeprefix("controller."): array
        for name, array in state.items()
        if name.startswith("controller.")
    }
    size = controller["weight_hh"].shape[1]
    h, c = np.zeros(size), np.zeros(size)
    k_r = np.zeros(controller["weight_ih"].shape[1])
    keys: list[Array] = []
    values: list[Array] = []
    written, retrieved = [], []
    if "default_key" in state:
        keys.append(state["default_key"])
        values.append(state["default_value"])
    for t in range(len(z)):
        h, c = lstm_step(k_r, h, c, controller)
        k_w = relu(linear(h, state["key.weight"], state["key.bias"]))
        g = sigmoid(linear(h, state["gate.weight"], state["gate.bias"])[0])
        k_r, sum_of_keys = np.zeros_like(k_r), np.zeros(len(k_w))
        if t > 0:
            scores = [dot(v, z[t]) for v in values]
            for w, s, k in zip(softmax(scores), scores, keys, strict=True):
                entry = list(k)
                if told:
                    gain, bias = state["confidence_gain"][0], state["confidence_bias"][0]
                    entry.append(sigmoid(gain * s + bias))
                k_r = k_r + g * w * np.array(entry)
                sum_of_keys = sum_of_keys + w * k
        keys.append(k_w)
        values.append(z[t])
        written.append(k_w)
        retrieved.append(sum_of_keys)
    h, c = lstm_step(k_r, h, c, controller)
    answer = linear(h, state["output.weight"], state["output.bias"])
    return answer, np.array(written), np.array(retrieved)


def layer_norm(x: Array, gain: Array, shift: Array) -> Array:
    mu = math.fsum(x) / len(x)
    variance = math.fsum((value - mu) ** 2 for value in x) / len(x)
    return gain * (x - mu) / math.sqrt(variance + 1e-5) + shift


def position(t: int, k: int, num_features: int) -> float:
    """Vaswani et al. 2017, section 3.5."""
    angle = t / 10_000 ** (2 * (k // 2) / num_features)
    return math.sin(angle) if k % 2 == 0 else math.cos(angle)


def attention(x: Array, weight: Array, bias: Array, num_heads: int) -> Array:
    """Heads side by side, before the output layer; x is (time, feature)."""
    length, d = x.shape
    size = d // num_heads
    all_three = np.array([linear(row, weight, bias) for row in x])
    out = np.empty_like(x)
    for head in range(num_heads):
        at = slice(head * size, (head + 1) * size)
        q, k, v = (all_three[:, n * d : (n + 1) * d][:, at] for n in range(3))
        for t in range(length):
            w = softmax([dot(q[t], k[u]) / math.sqrt(size) for u in range(length)])
            out[t, at] = sum(w[u] * v[u] for u in range(length))
    return out


def transformer(z: Array, state: dict[str, Array], num_heads: int) -> Array:
    """Appendix A.3.9; z is (time, feature)."""

    def apply(name: str, x: Array) -> Array:
        return linear(x, state[f"{name}.weight"], state[f"{name}.bias"])

    def norm(name: str, x: Array) -> Array:
        return layer_norm(x, state[f"{name}.weight"], state[f"{name}.bias"])

    length, d = z.shape
    x = np.array([[z[t, k] + position(t, k, d) for k in range(d)] for t in range(length)])
    gathered = attention(x, state["attention_in.weight"], state["attention_in.bias"], num_heads)
    encoded = []
    for t in range(length):
        u = norm("norm1", x[t] + apply("attention_out", gathered[t]))
        v = norm("norm2", u + apply("fc2", relu(apply("fc1", u))))
        encoded.append(norm("norm3", v) if "norm3.weight" in state else v)
    average = sum(encoded) / length
    return apply("output", relu(apply("hidden", average)))
