"""Loops in float64, from the descriptions of adversarial networks, their losses and scores.

Nothing here imports the package.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import sqrtm

from oracles.image_networks import Array, State, batch_norm, convolve, leaky, linear


def doubled(maps: Array) -> Array:
    """Bilinear interpolation to twice the sides, with pixels as squares: 1/4 and 3/4."""
    for axis in (2, 3):
        side = maps.shape[axis]
        rows = []
        for row in range(2 * side):
            near, other = row // 2, row // 2 + (1 if row % 2 else -1)
            other = min(max(other, 0), side - 1)
            rows.append(0.75 * maps.take(near, axis) + 0.25 * maps.take(other, axis))
        maps = np.stack(rows, axis)
    return maps


def halved(maps: Array) -> Array:
    """Mean of each square of 2 × 2; an odd last row or column is left out."""
    rows, columns = maps.shape[2] // 2, maps.shape[3] // 2
    out = np.empty((*maps.shape[:2], rows, columns))
    for y in range(rows):
        for x in range(columns):
            out[:, :, y, x] = maps[:, :, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2].mean((2, 3))
    return out


def generator(
    noise: Array, stages: int, blocks: int, side: int, state: State, training: bool
) -> Array:
    """Miyato et al. 2018, table 3a."""

    def convolved(x: Array, name: str) -> Array:
        kernel = state[f"{name}.weight"]
        return convolve(x, kernel, state[f"{name}.bias"], 1, kernel.shape[-1] // 2)

    def activated(x: Array, name: str) -> Array:
        return leaky(batch_norm(x, state, name, training))

    maps = linear(noise, state["body.seed.0.weight"], state["body.seed.0.bias"])
    maps = maps.reshape(len(noise), -1, 4, 4)
    for stage in range(stages):
        for block in range(blocks):
            at = f"body.stages.{stage}.{block}"
            inner = activated(maps, f"{at}.norms.0")
            if block == 0:
                inner, maps = doubled(inner), convolved(doubled(maps), f"{at}.shortcut")
            inner = convolved(inner, f"{at}.convolutions.0")
            inner = convolved(activated(inner, f"{at}.norms.1"), f"{at}.convolutions.1")
            maps = maps + inner
    maps = convolved(activated(maps, "norm"), "output")
    start = (maps.shape[-1] - side) // 2
    middle = maps[:, :, start : start + side, start : start + side]
    return (1 + np.tanh(middle)) / 2


def spectral_weight(state: State, name: str) -> Array:
    """Weights over u W v, with the vectors of the state (Miyato et al. 2018, equation 8)."""
    at = f"{name}.parametrizations.weight"
    weight, u, v = state[f"{at}.original"], state[f"{at}.0._u"], state[f"{at}.0._v"]
    rows = weight.reshape(len(weight), -1)
    size = sum(u[i] * rows[i, j] * v[j] for i in range(len(u)) for j in range(len(v)))
    return weight / size


def discriminator(images: Array, state: State) -> dict[str, Array]:
    """Features, scores and projections in evaluation (Miyato et al. 2018, table 3b)."""

    def convolved(x: Array, name: str) -> Array:
        kernel = spectral_weight(state, name)
        return convolve(x, kernel, state[f"{name}.bias"], 1, kernel.shape[-1] // 2)

    def layer(x: Array, name: str) -> Array:
        return linear(x, spectral_weight(state, name), state[f"{name}.bias"])

    maps = 2 * images - 1
    for at, halves in {"local.0": 1, "local.1": 1, "local.2": 0, "whole": 0}.items():
        if at == "whole":
            places = maps
        read = maps if at == "local.0" else leaky(maps)
        inner = convolved(leaky(convolved(read, f"{at}.first")), f"{at}.second")
        if halves:
            # The first block of the original means before its shortcut, which is the same.
            skipped = halved(maps) if at == "local.0" else maps
            skipped = convolved(skipped, f"{at}.shortcut")
            maps = halved(inner) + (skipped if at == "local.0" else halved(skipped))
        else:
            maps = inner + maps
    whole = leaky(maps).sum((2, 3))
    found = {"places": places, "whole": whole, "scores": layer(whole, "output")[:, 0]}
    if "rotation.bias" in state:
        found["rotations"] = layer(whole, "rotation")
    if "local_projection.hidden.bias" in state:
        at = "local_projection"
        hidden = leaky(convolved(places, f"{at}.hidden"))
        local = convolved(hidden, f"{at}.output") + convolved(places, f"{at}.shortcut")
        found["local"] = local.reshape(*local.shape[:2], -1)
        at = "whole_projection"
        hidden = leaky(layer(whole, f"{at}.hidden"))
        found["global"] = layer(hidden, f"{at}.output") + layer(whole, f"{at}.shortcut")
    return found


def info_nce(local: Array, whole: Array) -> float:
    """Lee et al. 2021, equation 6: local is (batch, feature, place)."""
    count, _, places = local.shape
    losses = []
    for b in range(count):
        others = sum(
            np.exp(local[c, :, p] @ whole[b]) for c in range(count) if c != b for p in range(places)
        )
        for p in range(places):
            own = np.exp(local[b, :, p] @ whole[b])
            losses.append(-np.log(own / (own + others)))
    return float(np.mean(losses))


def turned(images: Array) -> tuple[Array, list[int]]:
    """The first quarter of a batch as it is, the others turned once, twice and three times."""
    turns = [i * 4 // len(images) for i in range(len(images))]
    found = [*images]
    for number, turn in enumerate(turns):
        for _ in range(turn):  # what was right is then at the top
            columns = reversed(range(images.shape[3]))
            found[number] = np.stack([found[number][:, :, column] for column in columns], 1)
    return np.stack(found), turns


def cross_entropy(logits: Array, classes: list[int]) -> float:
    losses = [np.log(sum(np.exp(row))) - row[k] for row, k in zip(logits, classes, strict=True)]
    return float(np.mean(losses))


def discriminator_loss(real: Array, fake: Array) -> float:
    """Miyato et al. 2018, equation 16."""
    return float(np.mean([max(0, 1 - d) for d in real]) + np.mean([max(0, 1 + d) for d in fake]))


def frechet_distance(first: Array, second: Array) -> float:
    """Heusel et al. 2017, equation 6, with unbiased covariances."""
    one, two = (np.atleast_2d(np.cov(rows, rowvar=False)) for rows in (first, second))
    shift = first.mean(0) - second.mean(0)
    return float(shift @ shift + np.trace(one + two - 2 * sqrtm(one @ two).real))


def inception_score(logits: Array, splits: int) -> float:
    """Salimans et al. 2016, with parts of consecutive images."""
    found = []
    for part in np.array_split(logits, splits):
        shares = np.array([np.exp(row) / sum(np.exp(row)) for row in part])
        mean = shares.mean(0)
        found.append(np.exp(np.mean([sum(p * np.log(p / mean)) for p in shares])))
    return float(np.mean(found))
