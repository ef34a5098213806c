"""Loops over single numbers in float64, from the equations of the models that ESBN is set beside.

Nothing here imports the package. Parameters are plain arrays, laid out as the equations read them.
"""

from __future__ import annotations

import numpy as np

from oracles.webb2021 import Array, dot, linear, relu, softmax


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
