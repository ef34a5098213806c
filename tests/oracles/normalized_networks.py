"""Loops in float64, from the descriptions of the networks that ren2017 puts normalizers into.

Nothing here imports the package. `training` is whether batch normalization takes the statistics of
the batch; otherwise it takes those of the state.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracles.image_networks import convolve, leaky, linear, mean_over_image, shape
from oracles.normalizers import divisive_norm

Array = np.ndarray
State = dict[str, Array]
Norm = Callable[[Array, str, int], Array]
"""From maps, the name of a normalizer and the side of its window to what is normalized."""


def normalizer(field: str | None, sigma: float, state: State, training: bool) -> Norm:
    """ren2017, table 1 with equations 3 and 4, gain and shift as in section 2.1."""

    def normalized(x: Array, name: str, window: int) -> Array:
        own = float(state.get(f"{name}.sigma", sigma))
        if field == "window":
            sides = (window, window)
            out = np.stack([divisive_norm(image, sides, sides, own)[1] for image in x])
        else:
            mean, square = np.empty_like(x), np.empty_like(x)
            for place in np.ndindex(x.shape[:2]):
                some = x[:, place[1]] if field == "batch" else x[place[0]]
                mean[place] = sum(some.flat) / some.size
                square[place] = sum((number - mean[place].flat[0]) ** 2 for number in some.flat)
                square[place] /= some.size
                if field == "batch" and not training:
                    mean[place] = state[f"{name}.running_mean"][place[1]]
                    square[place] = state[f"{name}.running_var"][place[1]]
            out = (x - mean) / np.sqrt(own**2 + square)
        if f"{name}.weight" in state:
            gain, shift = (state[f"{name}.{kind}"] for kind in ("weight", "bias"))
            out = out * gain[:, None, None] + shift[:, None, None]
        return out

    return normalized if field else lambda x, _name, _window: x


def pool(maps: Array, take: Callable[[Array], float]) -> Array:
    """Windows of 3×3 two pixels apart from the first pixel on, cut off at the border."""
    count, channels, height, width = maps.shape
    out = np.empty((count, channels, height // 2, width // 2))
    for n, c, y, x in np.ndindex(out.shape):
        out[n, c, y, x] = take(maps[n, c, 2 * y : 2 * y + 3, 2 * x : 2 * x + 3])
    return out


def quick_cnn(images: Array, state: State, norm: Norm) -> Array:
    """ren2017, table 2."""
    maps = shape(images)
    for k, (window, take) in enumerate(zip((5, 3, 3), (np.max, np.mean, np.mean), strict=True)):
        weight, bias = (state[f"convolutions.{k}.{kind}"] for kind in ("weight", "bias"))
        maps = convolve(maps, weight, bias, 1, 2)
        maps = pool(leaky(norm(maps, f"norms.{k}", window)), take)
    hidden = linear(maps.reshape(len(maps), -1), state["hidden.weight"], state["hidden.bias"])
    return linear(hidden, state["output.weight"], state["output.bias"])


def resnet(images: Array, blocks: int, state: State, norm: Norm) -> Array:
    """He et al. 2016, section 4.2, in the order of He et al. 2016b."""
    maps = convolve(shape(images), state["stem.weight"], None, 1, 1)
    for group in (1, 2, 3):
        for block in range(blocks):
            at = f"group{group}.{block}"
            first = 7 if (group, block) == (1, 0) else 5
            stride = 2 if group > 1 and block == 0 else 1
            read = leaky(norm(maps, f"{at}.norms.0", first))
            skipped = maps
            if f"{at}.shortcut.weight" in state:
                skipped = convolve(read, state[f"{at}.shortcut.weight"], None, stride)
            inner = convolve(read, state[f"{at}.convolutions.0.weight"], None, stride, 1)
            inner = leaky(norm(inner, f"{at}.norms.1", 5))
            maps = skipped + convolve(inner, state[f"{at}.convolutions.1.weight"], None, 1, 1)
    maps = leaky(norm(maps, "final_norm", 5))
    return linear(mean_over_image(maps), state["output.weight"], state["output.bias"])


def srcnn(images: Array, state: State, norm: Norm, padded: bool) -> Array:
    """ren2017, section 4.3; images are (batch, height, width)."""
    maps = images[:, None]
    for k, side in enumerate((9, 5, 5)):
        weight, bias = (state[f"convolutions.{k}.{kind}"] for kind in ("weight", "bias"))
        maps = convolve(maps, weight, bias, 1, side // 2 if padded else 0)
        maps = leaky(norm(maps, f"norms.{k}", 5)) if k < 2 else maps
    return maps[:, 0]
