"""Neural function modules, loop by loop in float64, after lamb2022, section 10.3.2.

Nothing here imports the package. States are (batch, *position, feature). `w` holds the weights of
a layer by name: `query`, `key` and `value` (head · number, feature), `hidden` and `out` (out, in,
height, width), `gain`, `shift`, `mean`, `var` of the batch normalization, `gamma`; perhaps
`…_bias`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Options:
    """Of a read; those of the released code are the others of each pair."""

    heads: int
    top_k: int | None = None
    temperature: float = 1.0
    null_first: bool = True
    space_to_depth: bool = True
    subtract_next: bool = False


def dot(first: Array, second: Array) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(first, second, strict=True))


def projected(x: Array, w: dict[str, Array], name: str) -> Array:
    """A linear layer at every position."""
    weight = w[name]
    bias = w.get(f"{name}_bias", np.zeros(len(weight)))
    found = np.zeros((*x.shape[:-1], len(weight)))
    for position in np.ndindex(x.shape[:-1]):
        for row in range(len(weight)):
            found[(*position, row)] = dot(weight[row], x[position]) + bias[row]
    return found


def seen_along(own: int, reader: int, position: int, *, space_to_depth: bool) -> list[int]:
    """Where an axis of `own` positions is read from a position of one of `reader`."""
    if not space_to_depth or own < reader:
        return [position * own // reader]
    window = own // reader
    return [position * window + step for step in range(window)]


def seen(
    own: tuple[int, ...], reader: tuple[int, ...], position: tuple[int, ...], options: Options
) -> list[tuple[int, ...]]:
    """All positions of a state that a position of the reader may read, row by row."""
    if not own:
        return [()]
    if not reader:
        reader, position = (1,) * len(own), (0,) * len(own)
    axes = [
        seen_along(a, b, p, space_to_depth=options.space_to_depth)
        for a, b, p in zip(own, reader, position, strict=True)
    ]
    return list(itertools.product(*axes))


def weights_of(scores: list[float], options: Options) -> list[float]:
    """Attention weights of one head at one position."""
    k, entries = options.top_k, len(scores)
    if k is not None and not options.subtract_next:
        order = sorted(range(entries), key=lambda e: (-scores[e], e))
        scores = [score if e in order[:k] else -math.inf for e, score in enumerate(scores)]
    powers = [math.exp(score - max(scores)) for score in scores]
    weights = [power / math.fsum(powers) for power in powers]
    if k is None or not options.subtract_next or entries <= k + 1:
        return weights
    least = sorted(weights, reverse=True)[k] + 1e-7
    above = [max(weight - least, 0.0) for weight in weights]
    return [each / (math.fsum(above) + 1e-7) for each in above]


def read(
    query: Array, written: list[tuple[Array, Array]], options: Options
) -> tuple[Array, list[Array], Array]:
    """Values that are read, weights of every state (…, head, window), and of the null element."""
    heads, places = options.heads, query.shape[:-1]
    number = written[0][1].shape[-1] // heads
    values = np.zeros((*places, heads * number))
    attention = [[[] for _ in np.ndindex(*places, heads)] for _ in written]
    null = np.zeros((*places, heads))
    for step, (batch, *position, head) in enumerate(np.ndindex(*places, heads)):
        own = by_head(query, (batch, *position), head, heads)
        entries = [
            (layer, (batch, *place))
            for layer, (key, _) in enumerate(written)
            for place in seen(key.shape[1:-1], places[1:], tuple(position), options)
        ]
        scores = [
            dot(own, by_head(written[layer][0], place, head, heads)) / options.temperature
            for layer, place in entries
        ]
        at = 0 if options.null_first else len(scores)
        found = weights_of([*scores[:at], 0.0, *scores[at:]], options)
        null[(batch, *position, head)] = found.pop(at)
        for (layer, place), weight in zip(entries, found, strict=True):
            attention[layer][step].append(weight)
            value = by_head(written[layer][1], place, head, heads)
            values[(batch, *position)][head * number : (head + 1) * number] += weight * value
    shaped = [np.array(each).reshape(*places, heads, -1) for each in attention]
    return values, shaped, null


def by_head(x: Array, position: tuple[int, ...], head: int, heads: int) -> Array:
    number = x.shape[-1] // heads
    return x[position][head * number : (head + 1) * number]


def convolution(x: Array, w: dict[str, Array], name: str) -> Array:
    """On maps (batch, height, width, feature), with zeros around them."""
    weight = w[name]
    bias = w.get(f"{name}_bias", np.zeros(len(weight)))
    side = weight.shape[2] // 2
    found = np.zeros((*x.shape[:3], len(weight)))
    for batch, row, column, out in np.ndindex(found.shape):
        total = float(bias[out])
        for up, left in np.ndindex(weight.shape[2:]):
            y, z = row + up - side, column + left - side
            if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
                total += dot(weight[out, :, up, left], x[batch, y, z])
        found[batch, row, column, out] = total
    return found


def normalized(x: Array, w: dict[str, Array], *, training: bool) -> Array:
    """Batch normalization over all but the last axis."""
    found = np.zeros(x.shape)
    for feature in range(x.shape[-1]):
        seen_values = x[..., feature].ravel().tolist()
        mean, var = float(w["mean"][feature]), float(w["var"][feature])
        if training:
            mean = math.fsum(seen_values) / len(seen_values)
            var = math.fsum((v - mean) ** 2 for v in seen_values) / len(seen_values)
        scale = w["gain"][feature] / math.sqrt(var + 1e-5)
        found[..., feature] = (x[..., feature] - mean) * scale + w["shift"][feature]
    return found


def output(
    x: Array, values: Array, w: dict[str, Array], *, training: bool, residual_input: bool = False
) -> Array:
    """The state of a reader with what was read added."""
    given = np.concatenate((values, x), -1) if residual_input else values
    maps = given.reshape(len(x), *x.shape[1:-1], *[1] * (4 - x.ndim), given.shape[-1])
    hidden = np.maximum(normalized(convolution(maps, w, "hidden"), w, training=training), 0.0)
    return x + float(w["gamma"]) * convolution(hidden, w, "out").reshape(x.shape)
