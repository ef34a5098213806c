"""Graded changes of series, of sequences of symbols and of sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farfield.analysis._shifts._items import Items
from farfield.analysis._shifts._shift import Change, Group, Shift

Series = NDArray[np.float64]  # (item, time, feature)
Draw = np.random.Generator


def _whole_steps(size: int) -> Callable[[float], float]:
    """Return a function from a share to the nearest share of whole steps or elements."""
    return lambda d: round(d * size) / size


def _cut_steps(length: int) -> Callable[[float], float]:
    """Return a function from a strength to the nearest at which the length is whole steps."""
    return lambda d: length / max(1, round(length / (1 + d))) - 1


def series_shifts(items: Items) -> list[Shift]:
    """Return the shifts that series of this length and spread can have.

    Args:
        items: Axes, size and spread of the series.
    """
    length = items.shape[items.axes.index("time")]
    spread = items.spread
    channels = len(spread)

    def shift(name: str, unit: str, end: float, group: Group, change: Any, **more: Any) -> Shift:
        changed = _on_series(items, change)
        return Shift(name=name, unit=unit, end=end, group=group, change=changed, **more)

    def drift(x: Series, d: float) -> Series:
        return x + d * spread * np.linspace(0, 1, x.shape[1])[:, None]

    shifts = [
        shift("amplitude+", "doublings", 4, "light", lambda x, d, _: x * 2**d),
        shift("amplitude-", "doublings", 4, "light", lambda x, d, _: x * 2**-d),
        shift("offset+", "sd", 4, "light", lambda x, d, _: x + d * spread),
        shift("offset-", "sd", 4, "light", lambda x, d, _: x - d * spread),
        shift("drift+", "sd", 4, "light", lambda x, d, _: drift(x, d)),
        shift("drift-", "sd", 4, "light", lambda x, d, _: drift(x, -d)),
        shift(
            "noise", "sd", 2, "detail", lambda x, d, g: x + d * spread * g.standard_normal(x.shape)
        ),
        shift("speed+", "factor 1 + d", 1, "shape", lambda x, d, _: _resampled(x, 1 + d)),
        shift("speed-", "factor 1 + d", 1, "shape", lambda x, d, _: _resampled(x, 1 / (1 + d))),
        shift(
            "length-", "factor 1 + d", 3, "number",
            lambda x, d, _: x[:, : max(1, round(length / (1 + d)))], snap=_cut_steps(length),
        ),
        shift(
            "length+", "factor 1 + d", 3, "number", lambda x, d, _: _repeated(x, d),
            snap=_whole_steps(length),
        ),
        shift("lag", "of the length", 0.5, "where", _late, snap=_whole_steps(length)),
        shift("missing", "of the steps", 0.95, "detail", _without_steps),
        shift("gap", "of the length", 0.95, "detail", _without_run, snap=_whole_steps(length)),
    ]  # fmt: skip
    if channels > 1:
        shifts.append(
            shift(
                "channels lost", "channels", channels - 1, "detail",
                lambda x, d, g: _without_channels(x, round(d), items.center, g),
                snap=lambda d: float(round(d)),
            )
        )  # fmt: skip
    return shifts


def _on_series(items: Items, change: Callable[[Series, float, Draw], Series]) -> Change:
    """Wrap a change so that it gets `(item, time, feature)`, and gives axes and type back."""
    time = 1 + items.axes.index("time")

    def changed(x: NDArray[Any], strength: float, generator: Draw) -> NDArray[Any]:
        series = np.moveaxis(x, time, 1).astype(np.float64)
        wide = series if x.ndim == 3 else series[..., np.newaxis]
        found = change(wide, strength, generator)
        found = found if x.ndim == 3 else found[..., 0]
        return np.ascontiguousarray(np.moveaxis(found, 1, time).astype(x.dtype))

    return changed


def _repeated(x: NDArray[Any], d: float) -> NDArray[Any]:
    """Lengthen each series by a share of its length: it begins again where it ends."""
    length = x.shape[1]
    return x[:, np.arange(round((1 + d) * length)) % length]


def _resampled(x: Series, speed: float) -> Series:
    """Play each series faster or slower; its last value is held."""
    last = x.shape[1] - 1
    at = np.minimum(np.arange(x.shape[1]) * speed, last)
    before = np.minimum(at.astype(int), max(last - 1, 0))
    part = (at - before)[:, None]
    return (1 - part) * x[:, before] + part * x[:, np.minimum(before + 1, last)]


def _late(x: Series, d: float, _: Draw) -> Series:
    """Move each series to later steps; its first value is held."""
    steps = round(d * x.shape[1])
    return x[:, np.maximum(np.arange(x.shape[1]) - steps, 0)]


def _held(x: Series, is_lost: NDArray[np.bool_]) -> Series:
    """Fill lost steps with the last value that is not lost, or with the first one."""
    steps = np.arange(x.shape[1])
    source = np.maximum.accumulate(np.where(is_lost, -1, steps), axis=1)
    first = np.argmin(is_lost, axis=1)[:, None]
    source = np.where(source < 0, first, source)
    return np.take_along_axis(x, source[..., None], 1)


def _without_steps(x: Series, d: float, g: Draw) -> Series:
    """Drop steps here and there; at least one step is left."""
    rank = g.random(x.shape[:2]).argsort(1).argsort(1)
    return _held(x, rank < min(round(d * x.shape[1]), x.shape[1] - 1))


def _without_run(x: Series, d: float, g: Draw) -> Series:
    """Drop steps in one run."""
    steps = min(round(d * x.shape[1]), x.shape[1] - 1)
    start = (g.random(len(x)) * (x.shape[1] - steps + 1)).astype(int)[:, None]
    at = np.arange(x.shape[1])
    return _held(x, (at >= start) & (at < start + steps))


def _without_channels(x: Series, lost: int, center: NDArray[np.float64], g: Draw) -> Series:
    """Set channels of each series to their median."""
    rank = g.random((len(x), x.shape[2])).argsort(1).argsort(1)
    return np.where((rank < lost)[:, None], center, x)


def symbol_shifts(items: Items) -> list[Shift]:
    """Return the shifts that sequences of symbols can have.

    Args:
        items: Axes, size and range of the symbols.
    """
    length = items.shape[0]
    low, high = int(items.low), int(items.high)

    def replaced(x: NDArray[Any], d: float, g: Draw) -> NDArray[Any]:
        rank = g.random(x.shape).argsort(1).argsort(1)
        other = g.integers(low, high + 1, x.shape)
        return np.where(rank < round(d * length), other, x).astype(x.dtype)

    def late(x: NDArray[Any], d: float, _: Draw) -> NDArray[Any]:
        return x[:, np.maximum(np.arange(length) - round(d * length), 0)]

    def cut(x: NDArray[Any], d: float, _: Draw) -> NDArray[Any]:
        return x[:, : max(1, round(length / (1 + d)))]

    steps = _whole_steps(length)
    return [
        Shift(name="replaced", unit="of the symbols", end=1, group="detail", change=replaced,
              snap=steps),
        Shift(name="lag", unit="of the length", end=0.5, group="where", change=late, snap=steps),
        Shift(name="length-", unit="factor 1 + d", end=3, group="number", change=cut,
              snap=_cut_steps(length)),
        Shift(name="length+", unit="factor 1 + d", end=3, group="number",
              change=lambda x, d, _: _repeated(x, d), snap=steps),
    ]  # fmt: skip


def set_shifts(items: Items) -> list[Shift]:
    """Return the shifts that sets can have: number, strangers and order of the elements.

    Args:
        items: Axes and size of the sets.
    """
    axis = 1 + items.axes.index("element")
    size = items.shape[axis - 1]

    def on_elements(change: Callable[[NDArray[Any], float, Draw], NDArray[Any]]) -> Change:
        def changed(x: NDArray[Any], d: float, g: Draw) -> NDArray[Any]:
            return np.ascontiguousarray(np.moveaxis(change(np.moveaxis(x, axis, 1), d, g), 1, axis))

        return changed

    def taken(x: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(x, index.reshape(*index.shape, *[1] * (x.ndim - 2)), 1)

    def fewer(x: NDArray[Any], d: float, g: Draw) -> NDArray[Any]:
        order = g.random((len(x), size)).argsort(1)[:, : max(1, round((1 - d) * size))]
        return taken(x, np.sort(order, 1))

    def more(x: NDArray[Any], d: float, g: Draw) -> NDArray[Any]:
        again = g.integers(0, size, (len(x), 3 * size))[:, : round(d * size)]
        return np.concatenate([x, taken(x, again)], 1)

    def distracted(x: NDArray[Any], d: float, g: Draw) -> NDArray[Any]:
        other = np.arange(len(x))[:, None] + 1 + g.integers(0, max(1, len(x) - 1), (len(x), size))
        strange = x[other % len(x), g.integers(0, size, (len(x), size))][:, : round(d)]
        return np.concatenate([x, strange], 1)

    def moved(x: NDArray[Any], d: float, g: Draw) -> NDArray[Any]:
        rank = g.random((len(x), size)).argsort(1)
        count = round(d * size)
        index = np.tile(np.arange(size), (len(x), 1))
        chosen = np.sort(rank[:, :count], 1)
        np.put_along_axis(index, chosen, np.roll(chosen, 1, 1), 1)
        return taken(x, index)

    parts: list[tuple[str, str, float, Any, Any]] = [
        ("fewer", "of the elements", 0.9, fewer, _whole_steps(size)),
        ("more", "of the elements", 3, more, _whole_steps(size)),
        ("distractors", "elements", size, distracted, lambda d: float(round(d))),
        ("order", "of the positions moved", 1, moved, _whole_steps(size)),
    ]
    return [
        Shift(name=name, unit=unit, end=end, group="number", change=on_elements(one), snap=snap)
        for name, unit, end, one, snap in parts
    ]
