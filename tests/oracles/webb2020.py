"""Loops over single numbers in float64, written from webb2020, sections 3.2 and 4.1.

Nothing here imports the package. Nothing is shared between candidates: every image of every
sequence is encoded anew, 28 for a problem of three premises and seven candidates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracles.webb2021 import convolution, linear, relu, sigmoid

Array = np.ndarray
State = dict[str, Array]


def analogy_encoder(image: Array, state: State) -> Array:
    """One image `(height, width, channel)` of 0…1."""
    return small_network(image.transpose(2, 0, 1), state, convolutions=4)


def small_network(maps: Array, state: State, convolutions: int) -> Array:
    """Some convolutions, two layers and a linear one."""
    for number in range(convolutions):
        weight, bias = (state[f"convolutions.{number}.{name}"] for name in ("weight", "bias"))
        maps = relu(convolution(maps, weight, bias))
    hidden = maps.reshape(-1)
    for number in range(2):
        weight, bias = (state[f"layers.{number}.{name}"] for name in ("weight", "bias"))
        hidden = relu(linear(hidden, weight, bias))
    return linear(hidden, state["output.weight"], state["output.bias"])


def lstm_score(z: Array, state: State, tagged: bool) -> float:
    """The score of one sequence `(time, feature)`."""
    size = state["weight_hh"].shape[1]
    h, c = np.zeros(size), np.zeros(size)
    for place, x in enumerate(z):
        tag = [float(place == other) for other in range(len(z))] if tagged else []
        pre = linear(np.array([*tag, *x]), state["weight_ih"], state["bias"])
        pre = pre + linear(h, state["weight_hh"])
        i, f, g, o = pre[:size], pre[size : 2 * size], pre[2 * size : 3 * size], pre[3 * size :]
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return float(linear(h, state["output.weight"], state["output.bias"])[0])


def scores(
    images: Array,
    index: list[int],
    num_candidates: int,
    encode: Callable[[Array], Array],
    context: Callable[[Array], Array],
    score: Callable[[Array], float],
) -> list[float]:
    """The scores of one problem, candidate by candidate."""
    premises, candidates = index[:-num_candidates], index[-num_candidates:]
    found = []
    for candidate in candidates:
        sequence = np.stack([encode(images[item]) for item in [*premises, candidate]])
        found.append(score(context(sequence)))
    return found


def panel_encoder(image: Array, state: State) -> Array:
    """One grey image `(height, width)` of 0…1; 3×3, stride 2, padding 1, point by point."""
    maps = image[None]
    for number in range(4):
        weight, bias = (state[f"convolutions.{number}.{name}"] for name in ("weight", "bias"))
        _, height, width = maps.shape
        found = np.zeros((len(weight), (height + 1) // 2, (width + 1) // 2))
        for channel, row, column in np.ndindex(found.shape):
            total = bias[channel]
            for down, across in np.ndindex(3, 3):
                y, x = 2 * row + down - 1, 2 * column + across - 1
                if 0 <= y < height and 0 <= x < width:
                    total += weight[channel, :, down, across] @ maps[:, y, x]
            found[channel, row, column] = max(total, 0.0)
        maps = found
    return maps.reshape(-1)


def rnn_score(z: Array, state: State) -> float:
    """The score of one sequence `(time, feature)`."""
    h = np.zeros(len(state["hidden.weight"]))
    for x in z:
        driven = linear(x, state["input.weight"], state["input.bias"])
        h = np.tanh(driven + linear(h, state["hidden.weight"], state["hidden.bias"]))
    return float(linear(h, state["output.weight"], state["output.bias"])[0])


def standardized(x: Array) -> Array:
    centered = x - x.mean()
    return centered / np.sqrt((centered**2).mean() + 1e-12)


def layer_norm_lstm_score(z: Array, state: State, forget_bias: float) -> float:
    """The score of one sequence, by an LSTM whose gates and cell are layer-normalized."""
    size = state["cell.weight_hh_l0"].shape[1]
    h, c = np.zeros(size), np.zeros(size)

    def normalized(place: str, x: Array) -> Array:
        name = f"cell.normalizers.0.{place}"
        return standardized(x) * state[f"{name}.weight"] + state[f"{name}.bias"]

    for x in z:
        pre = linear(x, state["cell.weight_ih_l0"]) + linear(h, state["cell.weight_hh_l0"])
        i, f, g, o = (pre[n * size : (n + 1) * size] for n in range(4))
        keep = sigmoid(normalized("forget_gate", f) + forget_bias)
        enter = sigmoid(normalized("input_gate", i))
        c = normalized("cell", keep * c + enter * np.tanh(normalized("candidate", g)))
        h = sigmoid(normalized("output_gate", o)) * np.tanh(c)
    return float(linear(h, state["output.weight"], state["output.bias"])[0])


def spatial_moments(
    maps: Array, rows: list[float], columns: list[float], eps: float
) -> list[list[float]]:
    """Center x and y, spread x and y, and level of each map `(height, width, feature)`."""
    found = []
    for m in np.moveaxis(maps, 2, 0):
        points = [
            (abs(float(m[i, j])), float(m[i, j]), y, x)
            for i, y in enumerate(rows)
            for j, x in enumerate(columns)
        ]
        whole = sum(weight for weight, *_ in points)
        center_x = sum(weight * x for weight, _, _, x in points) / whole
        center_y = sum(weight * y for weight, _, y, _ in points) / whole
        variance_x = sum(weight * (x - center_x) ** 2 for weight, _, _, x in points) / whole
        variance_y = sum(weight * (y - center_y) ** 2 for weight, _, y, _ in points) / whole
        level = sum(weight * value for weight, value, _, _ in points) / whole
        found.append(
            [center_x, center_y, (variance_x + eps) ** 0.5, (variance_y + eps) ** 0.5, level]
        )
    return np.array(found).T.tolist()


def won(picture: Array, colors: Array, number: int) -> Array:
    """How far map `number` exceeds all others at each pixel, `(height, width)`."""
    found = np.zeros(picture.shape[:2])
    for place in np.ndindex(*found.shape):
        answers = [float(color @ picture[place]) for color in colors]
        others = [answer for other, answer in enumerate(answers) if other != number]
        found[place] = max(0.0, answers[number] - max(others))
    return found


def silhouette_moments(map_: Array, rows: list[float], columns: list[float], eps: float) -> Array:
    """Center x and y, spread x and y, and level, from the largest value of each line of a map."""
    found = []
    for axis, line in ((0, columns), (1, rows)):
        profile = [float(value) for value in map_.max(axis)]
        whole = sum(profile) + 1e-9
        center = sum(value * place for value, place in zip(profile, line, strict=True)) / whole
        squares = [
            value * (place - center) ** 2 for value, place in zip(profile, line, strict=True)
        ]
        level = sum(value * value for value in profile) / whole
        found.append((center, (sum(squares) / whole + eps) ** 0.5, level))
    (x, spread_x, level), (y, spread_y, _) = found
    return np.array([x, y, spread_x, spread_y, level])
