"""The Abstractor and relational convolution as reasoners, in loops."""

from __future__ import annotations

import numpy as np

from oracles.webb2021 import Array, relu, softmax
from oracles.webb2021_rivals import apply

State = dict[str, Array]


def layer(state: State, name: str, x: Array) -> Array:
    """Apply a linear layer to each object."""
    return np.array([apply(state, name, row) for row in x])


def layer_norm(x: Array, state: State, name: str, eps: float = 1e-5) -> Array:
    rows = []
    for row in x:
        mean = sum(row) / len(row)
        variance = sum((value - mean) ** 2 for value in row) / len(row)
        rows.append((row - mean) / np.sqrt(variance + eps))
    return np.array(rows) * state[f"{name}.weight"] + state[f"{name}.bias"]


def attend(x: Array, symbols: Array, state: State, name: str, heads: int) -> Array:
    query, key = x @ state[f"{name}.query.weight"].T, x @ state[f"{name}.key.weight"].T
    value = symbols @ state[f"{name}.value.weight"].T
    width = query.shape[1] // heads
    read = np.zeros_like(value)
    for head in range(heads):
        own = slice(head * width, (head + 1) * width)
        for i in range(len(x)):
            scores = [query[i, own] @ key[j, own] / np.sqrt(width) for j in range(len(x))]
            for j, weight in enumerate(softmax(scores)):
                read[i, own] += weight * value[j, own]
    return read @ state[f"{name}.output.weight"].T


def abstractor_net(z: Array, state: State, layers: int, heads: int) -> Array:
    """Answer one problem."""
    library, size = "abstractor.symbols", z.shape[1]
    query = layer(state, f"{library}.query", z)
    symbols = []
    for row in query:
        scores = [row @ template / np.sqrt(size) for template in state[f"{library}.templates"]]
        symbols.append(np.array(softmax(scores)) @ state[f"{library}.symbols"])
    s = np.array(symbols)
    for number in range(layers):
        at = f"abstractor.layers.{number}"
        s = layer_norm(s + attend(s, s, state, f"{at}.own", heads), state, f"{at}.norm1")
        s = layer_norm(s + attend(z, s, state, f"{at}.cross", heads), state, f"{at}.norm2")
        hidden = relu(layer(state, f"{at}.fc1", s))
        s = layer_norm(s + layer(state, f"{at}.fc2", hidden), state, f"{at}.norm3")
    hidden = relu(apply(state, "hidden", sum(s) / len(s)))
    return apply(state, "output", hidden)


def relconv_net(z: Array, state: State, group_size: int, relations: int) -> Array:
    """Answer one problem."""
    key = z @ state["groups.key.weight"].T
    members = []
    for query in state["groups.queries"]:
        scores = [query @ one / np.sqrt(key.shape[1]) for one in key]
        members.append(sum(weight * x for weight, x in zip(softmax(scores), z, strict=True)))
    found = []
    for start in range(0, len(members), group_size):
        group = members[start : start + group_size]
        sides = [apply(state, "groups.inside.first", one).reshape(relations, -1) for one in group]
        for weights in state["groups.inside.filters"]:
            total = 0.0
            for a, b, r in np.ndindex(weights.shape):
                total += weights[a, b, r] * (sides[a][r] @ sides[b][r])
            found.append(total)
    hidden = relu(apply(state, "hidden", np.array(found)))
    return apply(state, "output", hidden)
