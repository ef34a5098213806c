"""Networks over sets, element by element in float64, from the papers' equations alone.

Nothing here imports the package. A set is (item, feature); `state` holds a module's parameters by
name.
"""

from __future__ import annotations

import math

import numpy as np

from oracles.sequence_layers import applied, gelu, normed
from oracles.webb2021 import dot, relu, sigmoid, softmax

Array = np.ndarray
State = dict[str, Array]


def part(state: State, name: str) -> State:
    """The parameters of a part, by their names in it."""
    return {
        key[len(name) + 1 :]: value for key, value in state.items() if key.startswith(name + ".")
    }


def transformer_block(x: Array, heads: int, state: State) -> Array:
    """Dosovitskiy et al. 2021, equations 2 and 3."""
    width = x.shape[1] // heads
    rows = [applied(state, "attention_in", normed(state, "norm1", element)) for element in x]
    out = []
    for i, element in enumerate(x):
        gathered = []
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            queries, keys, values = (
                [row[part * x.shape[1] : (part + 1) * x.shape[1]][own] for row in rows]
                for part in range(3)
            )
            weights = softmax([dot(queries[i], key) / math.sqrt(width) for key in keys])
            gathered.append(sum(w * value for w, value in zip(weights, values, strict=True)))
        u = element + applied(state, "attention_out", np.concatenate(gathered))
        hidden = gelu(applied(state, "fc1", normed(state, "norm2", u)))
        out.append(u + applied(state, "fc2", hidden))
    return np.array(out)


def transformer(x: Array, heads: int, layers: int, state: State) -> Array:
    for layer in range(layers):
        x = transformer_block(x, heads, part(state, f"blocks.{layer}"))
    return np.array([normed(state, "norm", element) for element in x])


def patches(image: Array, side: int) -> Array:
    """Rows of pixels of each patch, (patch, side · side · channel)."""
    channels, height, width = image.shape
    corners = [(y, x) for y in range(0, height, side) for x in range(0, width, side)]
    places = [(y, x, c) for y in range(side) for x in range(side) for c in range(channels)]
    return np.array([[image[c, top + y, left + x] for y, x, c in places] for top, left in corners])


def wren(z: Array, state: State) -> float:
    """barrett2018, section 4.2."""
    length = len(z)
    tagged = [np.concatenate((row, np.eye(length)[i])) for i, row in enumerate(z)]
    panels = [applied(state, "panel", row) for row in tagged]
    total = np.zeros(len(state["pair.2.bias"]))
    weight = np.concatenate((state["first.weight"], state["second.weight"]), axis=1)
    for one in panels:
        for other in panels:
            hidden = relu(weight @ np.concatenate((one, other)) + state["first.bias"])
            for layer in range(3):
                hidden = relu(applied(state, f"pair.{layer}", hidden))
            total = total + hidden
    for layer in range(2):
        total = relu(applied(state, f"hidden.{layer}", total))
    return float(applied(state, "output", total)[0])


def network(state: State, name: str, x: Array) -> Array:
    hidden = relu(applied(state, f"{name}.0", x))
    return relu(applied(state, f"{name}.2", hidden))


def rule(first: Array, second: Array, state: State) -> Array:
    """hu2021: the rule of two rows of three panels, from three levels."""
    cells = np.concatenate([network(state, "cell", panel) for panel in (*first, *second)])
    fused = relu(applied(state, "cells", cells))
    rows = [network(state, "individual", np.concatenate(list(row))) for row in (first, second)]
    individual = relu(applied(state, "individuals", np.concatenate(rows)))
    ecological = network(state, "ecological", np.concatenate([*first, *second]))
    for number, level in enumerate((individual, ecological)):
        gate = sigmoid(applied(state, f"gates.{number}", np.concatenate((fused, level))))
        fused = gate * fused + (1 - gate) * level
    return applied(state, "output", fused)


def sran(z: Array, state: State) -> float:
    rows = [z[:3], z[3:6], z[6:]]
    wanted = rule(rows[0], rows[1], state)
    found = (rule(rows[0], rows[2], state) + rule(rows[1], rows[2], state)) / 2
    return -float(np.mean((wanted - found) ** 2))
