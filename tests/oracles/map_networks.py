"""Loops in float64, from the descriptions of the networks that answer from maps of an image.

Nothing here imports the package. `training` is whether batch normalization takes the statistics of
the batch; otherwise it takes those of the state.
"""

from __future__ import annotations

import math

import numpy as np

from oracles.image_networks import (
    Array,
    State,
    batch_norm,
    convolve,
    leaky,
    linear,
    mean_over_image,
    shape,
)


def conv_maps(images: Array, scales: int, convolutions: int, state: State, training: bool) -> Array:
    """lamb2022, section 10.4.3: convolution, ReLU, batch normalization; half the side a scale."""
    maps = shape(images)
    side = maps.shape[-1]
    bordered = math.ceil(side / 2**scales) * 2**scales
    before = (bordered - side) // 2
    around = np.zeros((*maps.shape[:2], bordered, bordered))
    around[:, :, before : before + side, before : before + side] = maps
    maps = around
    for number in range(scales * convolutions):
        name = f"layer{number + 1}"
        stride = 2 if number % convolutions == 0 else 1
        weight, bias = state[f"{name}.0.weight"], state[f"{name}.0.bias"]
        maps = batch_norm(
            leaky(convolve(maps, weight, bias, stride, 1)), state, f"{name}.2", training
        )
    return maps


def dense_maps(images: Array, steps: int, state: State, training: bool) -> Array:
    """Huang et al. 2017, with bottlenecks and half of the channels kept between blocks."""

    def activated(x: Array, name: str) -> Array:
        weight = state[f"{name}.2.weight"]
        padding = weight.shape[-1] // 2
        found = leaky(batch_norm(x, state, f"{name}.0", training))
        return convolve(found, weight, None, 1, padding)

    maps = convolve(shape(images), state["stem.weight"], None, 1, 1)
    for block in range(3):
        if block:
            maps = halved(activated(maps, f"transitions.{block - 1}"))
        for step in range(steps):
            at = f"blocks.{block}.{step}"
            maps = np.concatenate([maps, activated(activated(maps, f"{at}.0"), f"{at}.1")], axis=1)
    return leaky(batch_norm(maps, state, "norm", training))


def halved(maps: Array) -> Array:
    """The mean of every 2×2 positions; a last odd row or column counts for nothing."""
    height, width = (side // 2 for side in maps.shape[-2:])
    found = np.zeros((*maps.shape[:2], height, width))
    for y in range(height):
        for x in range(width):
            found[:, :, y, x] = maps[:, :, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2].mean((2, 3))
    return found


def answered(x: Array, state: State, name: str) -> Array:
    """Two hidden layers of ReLU units and a linear layer; dropout counts for nothing in a test."""
    for layer in (0, 2):
        x = leaky(linear(x, state[f"{name}.{layer}.weight"], state[f"{name}.{layer}.bias"]))
    return linear(x, state[f"{name}.5.weight"], state[f"{name}.5.bias"])


def mlp_reader(maps: Array, question: Array, pooled: bool, state: State) -> Array:
    """Santoro et al. 2017, the network CNN_MLP."""
    read = mean_over_image(maps) if pooled else maps.reshape(len(maps), -1)
    return answered(np.concatenate([read, question], axis=1), state, "layers")


def objects(maps: Array) -> list[Array]:
    """What stands at each position of one image, with its row and column from −1 to 1."""
    _, height, width = maps.shape
    return [
        np.array([*maps[:, y, x], 2 * y / (height - 1) - 1, 2 * x / (width - 1) - 1])
        for y in range(height)
        for x in range(width)
    ]


def rn_reader(maps: Array, question: Array, relation_layers: int, state: State) -> Array:
    """Santoro et al. 2017, equation 1: all pairs in both orders, each with itself."""
    weight = np.concatenate(
        [state["first.weight"], state["second.weight"], state["asked.weight"]], axis=1
    )
    sums = []
    for one, asked in zip(maps, question, strict=True):
        total = 0.0
        for first in objects(one):
            for second in objects(one):
                pair = leaky(weight @ np.concatenate([first, second, asked]) + state["first.bias"])
                for layer in range(relation_layers - 1):
                    name = f"pair.{2 * layer}"
                    pair = leaky(state[f"{name}.weight"] @ pair + state[f"{name}.bias"])
                total = total + pair
        sums.append(total)
    return answered(np.array(sums), state, "layers")


def presence_reader(maps: Array, question: Array, state: State) -> Array:
    """Logits of the probability that a thing is at any position, where all are independent."""
    answers = []
    for one, asked in zip(maps, question, strict=True):
        z = np.array([[*position, *asked] for position in one.reshape(len(one), -1).T])
        hidden = leaky(linear(z, state["hidden.0.weight"], state["hidden.0.bias"]))
        scores = np.exp(linear(hidden, state["output.weight"], state["output.bias"]))
        shown = (scores / scores.sum(1, keepdims=True))[:, :-1]
        missing = np.prod(1 - shown, axis=0)
        answers.append(np.log((1 - missing) / missing))
    return np.array(answers)


def outline_maps(
    images: Array, scales: int, convolutions: int, colors: bool, state: State, training: bool
) -> Array:
    """Share of objects, their mean color, and convolutions of their outline."""
    maps = shape(images)
    count, channels, side, _ = maps.shape
    contrast, outline = np.zeros_like(maps), np.zeros((count, 1, side, side))
    for n in range(count):
        for c in range(channels):
            one = maps[n, c]
            border = sorted([*one[0], *one[-1], *one[:, 0], *one[:, -1]])
            contrast[n, c] = one - border[(len(border) - 1) // 2]
        outline[n, 0] = np.any(contrast[n] != 0, axis=0)
    own = {name.removeprefix("features."): value for name, value in state.items()}
    features = conv_maps(contrast if colors else outline, scales, convolutions, own, training)
    window, out = 2**scales, features.shape[-1]
    before = (out * window - side) // 2
    found = np.zeros((count, 1 + channels, out, out))
    for n in range(count):
        for y in range(side):
            for x in range(side):
                at = (y + before) // window, (x + before) // window
                found[n, 0][at] += outline[n, 0, y, x] / window**2
                for c in range(channels):
                    found[n, 1 + c][at] += contrast[n, c, y, x] / window**2
    found[:, 1:] /= found[:, :1] + 1e-6
    return np.concatenate([found, features], axis=1)


def weighed(scores: Array, share: Array, values: Array) -> Array:
    """Mean of values, with the weights of a softmax over scores times shares."""
    weights = np.exp(scores) * np.maximum(share, 1e-6)
    return (weights / weights.sum()) @ values


def object_reader(
    maps: Array,
    question: Array,
    sizes: tuple[int, int],
    options: tuple[bool, bool, bool],
    state: State,
) -> Array:
    """Two reads: of the named object, and of another one."""
    (name_size, color_size), (whole_question, relations, whole_objects) = sizes, options
    reads = []
    for one, asked in zip(maps, question, strict=True):
        flat = one.reshape(len(one), -1)
        share, colors = flat[0], flat[1 : 1 + color_size].T
        values = np.array(objects(one[1 + color_size :]))
        if whole_objects:
            share, values = pooled(share, colors, values)
        hidden = leaky(linear(colors, state["key.0.0.weight"], state["key.0.0.bias"]))
        keys = hidden @ state["key.1.weight"].T
        query = state["query.weight"] @ asked[:name_size]
        subject = weighed(keys @ query, share, values)
        rest = asked if whole_question else asked[name_size:]
        if not relations:
            reads.append([*subject, *rest])
            continue
        scale = (np.array(one.shape[1:]) - 1) / 2
        away = [(((z[-2:] - subject[-2:]) * scale) ** 2).sum() + 1e-2 for z in values]
        others = np.array([[*z, math.sqrt(d)] for z, d in zip(values, away, strict=True)])
        given = state["named.weight"] @ subject + state["named.bias"]
        pairs = leaky(given + others @ state["other.weight"].T)
        pairs = leaky(linear(pairs, state["pair.0.weight"], state["pair.0.bias"]))
        query = state["asked.weight"] @ rest + state["asked.bias"]
        other = weighed(pairs @ query / math.sqrt(len(query)), share, values)
        total = sum(m * h for m, h in zip(share, pairs, strict=True))
        total = total if whole_objects else total / 36
        reads.append([*subject, *other, *total, *rest])
    return answered(np.array(reads), state, "layers")


def pooled(share: Array, colors: Array, values: Array) -> tuple[Array, Array]:
    """Share of a position in an object of its color, and the mean of the object's values."""
    shares, means = np.zeros_like(share), np.zeros_like(values)
    for i, own in enumerate(colors):
        alike = [
            m * math.exp(-sum((own - other) ** 2) / 0.01)
            for m, other in zip(share, colors, strict=True)
        ]
        shares[i] = share[i] / max(sum(alike), 4.0)
        means[i] = sum(a * v for a, v in zip(alike, values, strict=True)) / sum(alike)
    return shares, means
