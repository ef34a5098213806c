"""Graded changes of tables, column by column, and reweighting of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from farfield.analysis._shifts._items import Items, is_frame
from farfield.analysis._shifts._shift import Shift

Draw = np.random.Generator
Column = NDArray[np.float64]

LEAST_ROWS = 50
"""Least effective number of rows of a reweighted table."""


def table_shifts(
    items: Items, x: Any, y: NDArray[Any] | None = None, columns: Sequence[str] = ()
) -> list[Shift]:
    """Return the shifts that a table can have.

    Args:
        items: Columns and spread of the table.
        x: The rows, which decide how far they can be reweighted.
        y: Class of each row; None if rows have no classes.
        columns: Names of numeric columns that are shifted one by one; all if empty.

    Raises:
        ValueError: If a column is unknown.
    """
    unknown = [name for name in columns if name not in (*items.columns, *items.words)]
    if unknown:
        known = ", ".join(map(str, (*items.columns, *items.words)))
        raise ValueError(f"columns must be of the table ({known}), got {unknown[0]!r}")
    chosen = [name for name in items.columns if not columns or name in columns]
    shifts = [one for name in chosen for one in _column_shifts(items, name)]
    if len(items.columns) > 1:
        shifts += [
            _of_columns(items, f"all{sign}", "sd", 4, items.columns, change)
            for sign, change in _CHANGES.items() if sign in "+-"
        ]  # fmt: skip
        shifts += [
            _of_columns(items, f"all{sign}", "doublings", 7, items.columns, change)
            for sign, change in _CHANGES.items() if sign in "×÷"
        ]  # fmt: skip
    if items.columns:
        shifts.append(_of_columns(items, "noise", "sd", 4, items.columns, _noisy, "detail"))
    shifts.append(
        Shift(name="missing", unit="of the cells", end=1, group="detail",
              change=lambda x, d, g: _missing(items, x, d, g))
    )  # fmt: skip
    for name in items.words:
        if not columns or name in columns:
            shifts.append(_unseen(name))
    for name in chosen:
        values = np.asarray(_column(items, x, name), float)
        shifts += [one for sign in (1, -1) if (one := _more_of(name, values, sign)) is not None]
    if y is not None:
        shifts += [one for kind in np.unique(y) if (one := _more_of_class(kind, y)) is not None]
    return shifts


Change = Callable[[Column, float, float, Draw], Column]

_CHANGES: dict[str, Change] = {
    "+": lambda v, d, sd, _: v + d * sd,
    "-": lambda v, d, sd, _: v - d * sd,
    "×": lambda v, d, _sd, _: v * 2**d,
    "÷": lambda v, d, _sd, _: v * 2**-d,
}
"""Changes of a column, by the sign behind its name."""


def _noisy(v: Column, d: float, sd: float, g: Draw) -> Column:
    return v + d * sd * g.standard_normal(len(v))


def _column_shifts(items: Items, name: str) -> list[Shift]:
    """Return the four shifts of one column."""
    return [
        _of_columns(
            items, f"{name}{sign}", *(("sd", 6.0) if sign in "+-" else ("doublings", 7.0)), (name,),
            change,
        )
        for sign, change in _CHANGES.items()
    ]  # fmt: skip


def _of_columns(
    items: Items,
    name: str,
    unit: str,
    end: float,
    columns: Sequence[str],
    change: Change,
    group: Any = "light",
) -> Shift:
    """Make a shift that changes some numeric columns."""

    def changed(x: Any, d: float, g: Draw) -> Any:
        for column in columns:
            spread = float(items.spread[items.columns.index(column)])
            _put(items, x, column, change(_column(items, x, column), d, spread, g))
        return x

    return Shift(name=name, unit=unit, end=end, group=group, change=changed)


def _column(items: Items, x: Any, name: str) -> NDArray[Any]:
    """Return a numeric column as numbers."""
    found = x[name].to_numpy(float) if is_frame(x) else x[:, items.columns.index(name)]
    return np.asarray(found, np.float64)


def _put(items: Items, x: Any, name: str, values: NDArray[Any]) -> None:
    """Set a numeric column; integers of an array are rounded, a frame's column becomes float."""
    if is_frame(x):
        x[name] = values
    else:
        x[:, items.columns.index(name)] = values.round() if items.is_whole else values


def _missing(items: Items, x: Any, d: float, g: Draw) -> Any:
    """Set a share of the cells of every column to its median, or to its commonest category."""
    for name in (*items.columns, *items.words):
        lost = g.random(len(x)).argsort().argsort() < round(d * len(x))
        if name in items.columns:
            center = items.center[items.columns.index(name)]
            _put(items, x, name, np.where(lost, center, _column(items, x, name)))
        else:
            x[name] = x[name].where(~lost, x[name].mode().iloc[0])
    return x


def _unseen(name: str) -> Shift:
    """Make a shift that gives rows a category that no row of training has."""

    def changed(x: Any, d: float, g: Draw) -> Any:
        lost = g.random(len(x)).argsort().argsort() < round(d * len(x))
        x[name] = x[name].astype(object).where(~lost, "a category never seen")
        return x

    return Shift(
        name=f"{name}: unseen category", unit="of the rows", end=1, group="who", change=changed
    )


def _weights(z: Column, t: float) -> Column:
    logits = t * z
    weights: Column = np.exp(logits - logits.max())
    return weights / weights.mean()


def effective_number(weights: Column) -> float:
    r"""Compute the number of rows of equal weight that vary as much: $(\sum w)^2 / \sum w^2$.

    Args:
        weights: Weight of each row.
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def _more_of(name: str, values: Column, sign: int) -> Shift | None:
    r"""Make a shift to rows with larger or smaller values, by weights $\propto e^{t z}$.

    The strength is the change of the mean in standard deviations. It ends where the effective
    number of rows is below `LEAST_ROWS`; None if that is so from the beginning.
    """
    spread = values.std()
    if len(values) < 2 * LEAST_ROWS or not spread > 0 or not np.isfinite(values).all():
        return None
    z = sign * (values - values.mean()) / spread

    def moved(t: float) -> float:
        return float((_weights(z, t) * z).mean())

    largest = _largest(lambda t: effective_number(_weights(z, t)) - LEAST_ROWS)

    def change(_x: Any, d: float, _: Draw) -> Column:
        return _weights(z, float(brentq(lambda t: moved(t) - d, 0, 1.01 * largest + 1e-9)))

    end = moved(largest)
    label = f"more of {name}{'+' if sign > 0 else '-'}"
    return Shift(name=label, unit="sd", end=end, group="who", change=change, reweights=True)


def _largest(excess: Callable[[float], float]) -> float:
    """Return the number at which a decreasing function is 0, at most 100."""
    high = 1.0
    while excess(high) > 0 and high < 100:
        high *= 2
    return float(brentq(excess, 0, high)) if excess(high) < 0 else high


def _more_of_class(kind: Any, y: NDArray[Any]) -> Shift | None:
    """Make a shift to more rows of a class; the strength is the growth of its share."""
    members = y == kind
    share = members.mean()
    if members.sum() < LEAST_ROWS or share > 0.95:
        return None

    def weighted(d: float) -> Column:
        target = share + d
        return np.where(members, target / share, (1 - target) / (1 - share))

    top = 0.99 - share
    room = _largest_share(weighted, top)
    return Shift(
        name=f"more of class {kind}", unit="of the rows", end=room, group="who",
        change=lambda _x, d, _: weighted(d), reweights=True,
    )  # fmt: skip


def _largest_share(weighted: Callable[[float], Column], top: float) -> float:
    """Return the largest growth of a share that leaves enough effective rows."""
    if effective_number(weighted(top)) >= LEAST_ROWS:
        return float(top)
    return float(brentq(lambda d: effective_number(weighted(d)) - LEAST_ROWS, 0, top))
