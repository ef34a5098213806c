"""Loops over single numbers in float64, written from webb2020, sections 2.3, 3.3 and 4.3.

Nothing here imports the package.
"""

from __future__ import annotations

import math

import numpy as np

from oracles.normalizers import context_statistics, location_and_scale, running_context_statistics
from oracles.webb2020 import small_network
from oracles.webb2021 import linear, relu, sigmoid

Array = np.ndarray
State = dict[str, Array]


def frame(x: float, y: float, width: float) -> Array:
    """A white square: a pixel at a time, by its middle."""
    shown = np.zeros((64, 64))
    for row in range(64):
        for column in range(64):
            inside = abs(column + 0.5 - x) <= width / 2 and abs(row + 0.5 - y) <= width / 2
            shown[row, column] = float(inside)
    return shown


def encode(image: Array, state: State) -> Array:
    """One grey frame."""
    own = {name.removeprefix("encoder."): value for name, value in state.items()}
    return small_network(image[None], own, convolutions=3)


def spread_out(maps: Array, weight: Array, bias: Array) -> Array:
    """A transposed convolution of 4 × 4 kernels and stride 2: each input paints its kernel."""
    _, height, width = maps.shape
    out = np.zeros((weight.shape[1], 2 * height + 2, 2 * width + 2))
    for into, row, column in np.ndindex(maps.shape):
        for channel, a, b in np.ndindex(weight.shape[1:]):
            painted = maps[into, row, column] * weight[into, channel, a, b]
            out[channel, 2 * row + a, 2 * column + b] += painted
    return out[:, 1:-1, 1:-1] + bias[:, None, None]


def decode(z: Array, state: State, shape: tuple[int, int]) -> Array:
    """One grey frame from an embedding."""
    hidden = z
    for number in range(3):
        weight, bias = (state[f"decoder.layers.{number}.{n}"] for n in ("weight", "bias"))
        hidden = relu(linear(hidden, weight, bias))
    maps = hidden.reshape(-1, shape[0] // 8, shape[1] // 8)
    for number in range(3):
        weight, bias = (state[f"decoder.convolutions.{number}.{n}"] for n in ("weight", "bias"))
        maps = spread_out(maps, weight, bias)
        maps = relu(maps) if number < 2 else sigmoid(maps)
    return maps[0]


def lstm(z: Array, state: State) -> Array:
    """What follows each place of one sequence `(time, feature)`."""
    cell = {
        name: state[f"predictor.controller.{name}"]
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    }
    size = cell["weight_hh"].shape[1]
    h, c = np.zeros(size), np.zeros(size)
    answers = []
    for x in z:
        pre = linear(x, cell["weight_ih"], cell["bias_ih"])
        pre = pre + linear(h, cell["weight_hh"], cell["bias_hh"])
        i, f, g, o = pre[:size], pre[size : 2 * size], pre[2 * size : 3 * size], pre[3 * size :]
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        answers.append(linear(h, state["predictor.output.weight"], state["predictor.output.bias"]))
    return np.stack(answers)


Statistics = tuple[Array, Array, Array, Array]
"""Location and scale of what is read, then of what is predicted, place by place."""


def over_past(z: Array, correction: int, eps: float) -> Statistics:
    """Of the embeddings up to each place of one sequence."""
    mu, scale = running_context_statistics(z[:-1], correction, eps)
    return mu, scale, mu, scale


def over_sequence(z: Array, correction: int, eps: float, count: int) -> Statistics:
    """Of the first `count` embeddings of one sequence, the same at every place."""
    mu, scale = (
        np.repeat(n, len(z) - 1, axis=0) for n in context_statistics(z[:count], correction, eps)
    )
    return mu, scale, mu, scale


def over_batch(z: Array, correction: int, eps: float) -> Statistics:
    """Of each place over the sequences `(batch, time, feature)`."""
    mu, scale = np.empty(z.shape[1:]), np.empty(z.shape[1:])
    for place, feature in np.ndindex(mu.shape):
        values = [float(number) for number in z[:, place, feature]]
        mu[place, feature], scale[place, feature] = location_and_scale(values, correction, eps)
    return mu[:-1], scale[:-1], mu[1:], scale[1:]


def predictions(z: Array, state: State, statistics: Statistics) -> tuple[Array, Array, Array]:
    """Answers of the predictor, what they should be, and the answers as embeddings."""
    read_mu, read_scale, mu, scale = statistics
    weight = state.get("context.weight", np.ones(z.shape[1]))
    bias = state.get("context.bias", np.zeros(z.shape[1]))
    inputs, targets, back = (np.empty((len(z) - 1, z.shape[1])) for _ in range(3))
    for t, k in np.ndindex(inputs.shape):
        inputs[t, k] = weight[k] * ((z[t, k] - read_mu[t, k]) / read_scale[t, k]) + bias[k]
        targets[t, k] = (z[t + 1, k] - mu[t, k]) / scale[t, k]
    answers = lstm(inputs, state)
    for t, k in np.ndindex(back.shape):
        back[t, k] = scale[t, k] * answers[t, k] + mu[t, k]
    return answers, targets, back


def copy_error(frames: Array) -> float:
    """Mean squared difference of each frame of one sequence from the one before it."""
    return (
        math.fsum(
            (float(later) - float(before)) ** 2
            for later, before in zip(frames[1:].flat, frames[:-1].flat, strict=True)
        )
        / frames[1:].size
    )
