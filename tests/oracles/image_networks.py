"""Loops in float64, from the descriptions of the networks that classify images and vectors.

Nothing here imports the package. `training` is whether batch normalization takes the statistics of
the batch; otherwise it takes those of the state.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
State = dict[str, Array]
EPS = 1e-5
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}


def convolve(
    maps: Array, weight: Array, bias: Array | None = None, stride: int = 1, padding: int = 0
) -> Array:
    """Maps are (batch, channel, height, width)."""
    count, _, height, width = maps.shape
    outputs, _, side, _ = weight.shape
    around = np.zeros((*maps.shape[:2], height + 2 * padding, width + 2 * padding))
    around[:, :, padding : padding + height, padding : padding + width] = maps
    rows = (height + 2 * padding - side) // stride + 1
    columns = (width + 2 * padding - side) // stride + 1
    out = np.zeros((count, outputs, rows, columns))
    for o in range(outputs):
        for y in range(rows):
            for x in range(columns):
                top, left = y * stride, x * stride
                window = around[:, :, top : top + side, left : left + side]
                out[:, o, y, x] = (window * weight[o]).sum((1, 2, 3))
        out[:, o] += 0.0 if bias is None else bias[o]
    return out


def batch_norm(x: Array, state: State, name: str, training: bool) -> Array:
    """`x` is (batch, channel, ...)."""
    out = np.empty_like(x)
    for c in range(x.shape[1]):
        mean, variance = state[f"{name}.running_mean"][c], state[f"{name}.running_var"][c]
        if training:
            mean = sum(x[:, c].flat) / x[:, c].size
            variance = sum((value - mean) ** 2 for value in x[:, c].flat) / x[:, c].size
        out[:, c] = (x[:, c] - mean) / np.sqrt(variance + EPS)
        out[:, c] = state[f"{name}.weight"][c] * out[:, c] + state[f"{name}.bias"][c]
    return out


def leaky(x: Array, slope: float = 0.0) -> Array:
    return np.where(x > 0, x, slope * x)


def linear(x: Array, weight: Array, bias: Array) -> Array:
    return np.array([[sum(row * w) + b for w, b in zip(weight, bias, strict=True)] for row in x])


def mean_over_image(maps: Array) -> Array:
    return np.array([[sum(one.flat) / one.size for one in channels] for channels in maps])


def shape(images: Array) -> Array:
    return images[:, None] if images.ndim == 3 else images


def preact_resnet(
    images: Array, depth: int, stem_stride: int, state: State, training: bool
) -> Array:
    """He et al. 2016b, figure 4e and table 1, with the stem of small images."""

    def activated(x: Array, name: str) -> Array:
        return leaky(batch_norm(x, state, name, training))

    maps = convolve(shape(images), state["stem.weight"], None, stem_stride, 1)
    for group, blocks in enumerate(BLOCKS[depth], 1):
        for block in range(blocks):
            at = f"group{group}.{block}"
            stride = 2 if group > 1 and block == 0 else 1
            strides = (stride, 1) if depth < 50 else (1, stride, 1)
            skipped, read = maps, activated(maps, f"{at}.norms.0")
            if f"{at}.shortcut.weight" in state:
                skipped = convolve(read, state[f"{at}.shortcut.weight"], None, stride)
            for k, step in enumerate(strides):
                read = activated(maps, f"{at}.norms.{k}")
                kernel = state[f"{at}.convolutions.{k}.weight"]
                maps = convolve(read, kernel, None, step, kernel.shape[-1] // 2)
            maps = maps + skipped
    if "final_norm.weight" in state:
        maps = activated(maps, "final_norm")
    return linear(mean_over_image(maps), state["output.weight"], state["output.bias"])


def wide_resnet(
    images: Array, blocks: int, slope: float, state: State, training: bool, published: bool = False
) -> Array:
    """Zagoruyko and Komodakis 2016, table 1; else strides, shortcuts and biases as released."""

    def convolved(x: Array, name: str, stride: int, padding: int) -> Array:
        bias = None if published else state[f"{name}.bias"]
        return convolve(x, state[f"{name}.weight"], bias, stride, padding)

    def activated(x: Array, name: str) -> Array:
        return leaky(batch_norm(x, state, name, training), slope)

    maps = convolved(shape(images), "stem", 1, 1)
    for group in (1, 2, 3):
        for block in range(blocks):
            at = f"group{group}.{block}"
            stride = 2 if group > 1 and block == 0 else 1
            first, second = (stride, 1) if published else (1, stride)
            read = activated(maps, f"{at}.norms.0")
            inner = convolved(read, f"{at}.convolutions.0", first, 1)
            inner = convolved(activated(inner, f"{at}.norms.1"), f"{at}.convolutions.1", second, 1)
            if block == 0 and f"{at}.shortcut.weight" in state:
                maps = convolved(read if published else maps, f"{at}.shortcut", stride, 0)
            maps = maps + inner
    maps = activated(maps, "final_norm")
    return linear(mean_over_image(maps), state["output.weight"], state["output.bias"])


def normalized_weight(state: State, name: str) -> Array:
    """Salimans and Kingma 2016, equation 2, for each unit."""
    lengths = state[f"{name}.parametrizations.weight.original0"]
    directions = state[f"{name}.parametrizations.weight.original1"]
    return np.array(
        [
            g.item() * v / np.sqrt(sum(number**2 for number in v.flat))
            for g, v in zip(lengths, directions, strict=True)
        ]
    )


def largest(maps: Array) -> Array:
    """Maximum of each square of 2 × 2; an odd last row or column is left out."""
    rows, columns = maps.shape[2] // 2, maps.shape[3] // 2
    out = np.empty((*maps.shape[:2], rows, columns))
    for y in range(rows):
        for x in range(columns):
            out[:, :, y, x] = maps[:, :, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2].max((2, 3))
    return out


def cnn13(images: Array, state: State, training: bool) -> Array:
    """Laine and Aila 2017, the table of the network, without its noise."""
    maps = shape(images)
    for group, paddings in {1: (1, 1, 1), 2: (1, 1, 1), 3: (0, 0, 0)}.items():
        for k, padding in enumerate(paddings):
            layer, norm = (f"group{group}.{3 * k + part}" for part in (0, 1))
            weight, bias = normalized_weight(state, layer), state[f"{layer}.bias"]
            maps = convolve(maps, weight, bias, 1, padding)
            maps = leaky(batch_norm(maps, state, norm, training), 0.1)
        maps = maps if group == 3 else largest(maps)
    weight = normalized_weight(state, "output")
    return linear(mean_over_image(maps), weight, state["output.bias"])


def mlp(
    vectors: Array, layers: int, bottleneck: int | None, state: State, batch_norms: bool
) -> Array:
    """Figure 1 of lamb2022, chapter 4: `bottleneck` is the position of the linear layer."""
    hidden = vectors.reshape(len(vectors), -1)
    for k in range(layers):
        at = f"layers.{k}"
        hidden = linear(hidden, state[f"{at}.0.weight"], state[f"{at}.0.bias"])
        if batch_norms:
            hidden = batch_norm(hidden, state, f"{at}.1", True)
        if k != bottleneck:
            hidden = leaky(hidden)
    return linear(hidden, state["output.weight"], state["output.bias"])
