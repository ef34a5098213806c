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
