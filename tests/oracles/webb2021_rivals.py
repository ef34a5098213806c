"""Loops over single numbers in float64, from the equations of the models that ESBN is set beside.

Nothing here imports the package. Parameters are plain arrays, laid out as the equations read them.
"""

from __future__ import annotations

import math

import numpy as np

from oracles.webb2021 import Array, dot, linear, lstm_step, relu, sigmoid, softmax


def tagged(z: Array, position_tags: bool) -> Array:
    """Each embedding with its place behind it; z is (time, feature)."""
    return np.array([[*row, float(t)] if position_tags else row for t, row in enumerate(z)])


def apply(state: dict[str, Array], name: str, x: Array) -> Array:
    return linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))


def relation_net(z: Array, state: dict[str, Array], position_tags: bool) -> Array:
    """Appendix A.3.7."""
    z = tagged(z, position_tags)
    total = np.zeros(len(state["pair2.bias"]))
    for first in z:
        for second in z:
            hidden = relu(apply(state, "pair1", np.concatenate((first, second))))
            total = total + relu(apply(state, "pair2", hidden))
    return apply(state, "output", relu(apply(state, "hidden", total)))


def temporal_relation_net(z: Array, state: dict[str, Array], position_tags: bool) -> Array:
    """Appendix A.3.8; without `pair3` and `triple3` the bare sums are added."""
    z = tagged(z, position_tags)
    length, size = len(z), len(state["pair2.bias"])
    pairs, triples = np.zeros(size), np.zeros(size)
    for i in range(length):
        for j in range(i + 1, length):
            hidden = relu(apply(state, "pair1", np.concatenate((z[i], z[j]))))
            pairs = pairs + relu(apply(state, "pair2", hidden))
            for k in range(j + 1, length):
                hidden = relu(apply(state, "triple1", np.concatenate((z[i], z[j], z[k]))))
                triples = triples + relu(apply(state, "triple2", hidden))
    if "pair3.weight" in state:
        pairs = relu(apply(state, "pair3", pairs))
        triples = relu(apply(state, "triple3", triples))
    return apply(state, "output", relu(apply(state, "hidden", pairs + triples)))


def relation_matrix(z: Array, causal: bool) -> list[list[float]]:
    """Kerg et al. 2022, section 3: weights of all places, or of those up to each."""
    length = len(z)
    return [
        softmax([dot(z[i], z[j]) for j in range(i + 1 if causal else length)])
        for i in range(length)
    ]


def corelnet(z: Array, state: dict[str, Array], causal: bool) -> Array:
    """The matrix row by row, without what a causal one leaves out."""
    entries = np.array([weight for row in relation_matrix(z, causal) for weight in row])
    return apply(state, "output", relu(apply(state, "hidden", entries)))


def deep_sets(z: Array, state: dict[str, Array], maximum: bool) -> Array:
    """Zaheer et al. 2017, section 3: one layer of each embedding, pooled."""
    hidden = [relu(apply(state, "hidden", row)) for row in z]
    pooled = [
        max(unit) if maximum else sum(unit) / len(hidden) for unit in zip(*hidden, strict=True)
    ]
    return apply(state, "output", np.array(pooled))


def pair_attention(z: Array, first: Array, second: Array, key: Array) -> Array:
    """Weights of both queries of all heads: (2, head, time)."""
    size = len(key)
    keys = [linear(row, key) for row in z]
    weights = []
    for query_weight in (first, second):
        queries = linear(z.reshape(-1), query_weight)
        heads = [queries[at : at + size] for at in range(0, len(queries), size)]
        weights.append([softmax([dot(query, k) for k in keys]) for query in heads])
    return np.array(weights)


def predinet(z: Array, state: dict[str, Array]) -> Array:
    """Appendix A.3.10; attended embeddings are compared, their last feature is the place."""
    z = tagged(z, True)
    layers = (state[f"{name}.weight"] for name in ("query1", "query2", "shared_key"))
    heads = []
    for first, second in zip(*pair_attention(z, *layers), strict=True):
        e1 = sum(weight * row for weight, row in zip(first, z, strict=True))
        e2 = sum(weight * row for weight, row in zip(second, z, strict=True))
        heads += [
            *(apply(state, "shared_relation", e1) - apply(state, "shared_relation", e2)),
            e1[-1],
            e2[-1],
        ]
    return apply(state, "output", relu(apply(state, "hidden", np.array(heads))))


def softplus(x: float) -> float:
    return math.log1p(math.exp(-abs(x))) + max(x, 0.0)


def slot_address(
    similarity: list[float],
    previous: list[float],
    strength: float,
    gate: float,
    shift: Array,
    sharpening: float,
) -> list[float]:
    """Graves et al. 2014, equations 5 to 9; turns by -1, 0 and 1 slots."""
    size = len(similarity)
    content = softmax([strength * s for s in similarity])
    mixed = [gate * c + (1 - gate) * p for c, p in zip(content, previous, strict=True)]
    powers = []
    for i in range(size):
        turned = sum(shift[n] * mixed[(i - turn) % size] for n, turn in enumerate((-1, 0, 1)))
        powers.append(turned**sharpening)
    return [power / math.fsum(powers) for power in powers]


def ntm(z: Array, state: dict[str, Array], first_read: bool) -> Array:
    """Appendix A.3.5; both heads start with weights of zero."""
    controller = {
        name.removeprefix("controller."): array
        for name, array in state.items()
        if name.startswith("controller.")
    }
    memory = state["memory"].copy()
    size, hidden = memory.shape[1], controller["weight_hh"].shape[1]
    h, c, r = np.zeros(hidden), np.zeros(hidden), np.zeros(size)
    weights = [[0.0] * len(memory), [0.0] * len(memory)]
    for place, row in enumerate(z):
        h, c = lstm_step(np.concatenate((row, r)), h, c, controller)
        rows = list(apply(state, "heads", h))
        keys = [np.tanh(rows[:size]), np.tanh(rows[size : 2 * size])]
        add, erase = (
            np.tanh(rows[2 * size : 3 * size]),
            sigmoid(np.array(rows[3 * size : 4 * size])),
        )
        scalars = rows[4 * size :]
        found = []
        for head in range(2):
            cosines = [
                dot(keys[head], slot) / math.sqrt(dot(keys[head], keys[head]) * dot(slot, slot))
                for slot in memory
            ]
            found.append(
                slot_address(
                    cosines,
                    weights[head],
                    strength=softplus(scalars[2 + head]),
                    gate=sigmoid(scalars[head]),
                    shift=softmax(scalars[6 + 3 * head : 9 + 3 * head]),
                    sharpening=1 + softplus(scalars[4 + head]),
                )
            )
        if place > 0 or first_read:
            weights[0] = found[0]
            r = sum(weight * slot for weight, slot in zip(weights[0], memory, strict=True))
        weights[1] = found[1]
        for i, weight in enumerate(weights[1]):
            memory[i] = memory[i] * (1 - weight * erase) + weight * add
    h, _ = lstm_step(np.concatenate((np.zeros(z.shape[1]), r)), h, c, controller)
    return apply(state, "output", h)


def memory_activations(key: Array, weights: list[Array]) -> list[Array]:
    """What the network makes of a key, layer by layer; the last layer is linear."""
    activations, x = [], key
    for number, weight in enumerate(weights):
        x = linear(x, weight)
        x = np.tanh(x) if number + 1 < len(weights) else x
        activations.append(x)
    return activations


def memory_written(
    keys: Array, targets: list[list[Array]], rate: float, weights: list[Array]
) -> list[Array]:
    """The weights after one local update; targets are given by head and layer."""
    changed = [weight.copy() for weight in weights]
    for key, aims in zip(keys, targets, strict=True):
        activations = memory_activations(key, weights)
        for layer, before in enumerate([key, *activations[:-1]]):
            for i, aim in enumerate(aims[layer]):
                step = 2 * rate / (len(aims[layer]) * len(keys)) * (activations[layer][i] - aim)
                for j, value in enumerate(before):
                    changed[layer][i, j] -= step * value
    return changed


def mnm(z: Array, state: dict[str, Array]) -> tuple[Array, float]:
    """Appendix A.3.6, MNM-p: the answer and the error of reconstruction."""
    controller = {
        name.removeprefix("controller."): array
        for name, array in state.items()
        if name.startswith("controller.")
    }
    weights = [weight.copy() for weight in state["memory"]]
    size, hidden = len(weights[0]), controller["weight_hh"].shape[1]
    h, c, read = np.zeros(hidden), np.zeros(hidden), np.zeros(size)
    error = 0.0
    for row in [*z, np.zeros(z.shape[1])]:
        h, c = lstm_step(np.concatenate((row, read)), h, c, controller)
        asked = np.tanh(apply(state, "heads", h))
        rate = sigmoid(apply(state, "rate", asked[:size])[0])
        triples = asked[size:].reshape(-1, 3, size)
        values = triples[:, 1]
        targets = [np.split(apply(state, "target", value), 3) for value in values]
        weights = memory_written(triples[:, 0], targets, rate, weights)
        given = [memory_activations(key, weights)[-1] for key in triples[:, 0]]
        squares = [(a - b) ** 2 for a, b in zip(np.ravel(given), np.ravel(values), strict=True)]
        error += math.fsum(squares) / len(squares)
        answers = [memory_activations(key, weights)[-1] for key in triples[:, 2]]
        read = sum(answers) / len(answers)
    both = apply(state, "read_out", np.concatenate((h, read)))
    return apply(state, "output", both), error / len(z)
