"""Kind, axes, range and spread of items, found from an array or a data frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

ItemKind = Literal["images", "series", "table", "set", "text", "symbols"]
"""Kind of items."""

AXES: Final[dict[str, tuple[str, ...]]] = {
    "height": ("images",),
    "time": ("series", "symbols"),
    "element": ("set",),
    "column": ("table",),
}
"""Kinds of items that have an axis, by its name."""

WORDS: Final = ("channel", "height", "width", "time", "feature", "element", "column")
"""Names of axes, beside the axis of the items themselves."""


@final
@dataclass(frozen=True, kw_only=True)
class Items:
    """Meaning of the numbers of items.

    Args:
        kind: Kind of the items.
        axes: Names of the axes of an item.
        shape: Sizes of the axes of an item.
        low: Least value that a pixel can have.
        high: Largest value that a pixel can have.
        center: Median of each feature, column or channel.
        spread: Robust standard deviation of each feature, column or channel.
        columns: Names of numeric columns of a table.
        words: Names of other columns of a table.
        is_whole: Whether items are integers.
    """

    kind: ItemKind
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    low: float = 0.0
    high: float = 1.0
    center: NDArray[np.float64]
    spread: NDArray[np.float64]
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    is_whole: bool = False

    def __str__(self) -> str:
        sizes = f"{' × '.join(map(str, self.shape))} ({', '.join(self.axes)})"
        if self.kind == "images":
            return f"images of {sizes}, values {self.low:g}…{self.high:g}"
        if self.kind == "table":
            return f"a table of {len(self.columns) + len(self.words)} columns"
        return "text" if self.kind == "text" else f"{self.kind} of {sizes}"


def is_frame(x: Any) -> bool:
    """Check whether items are a data frame of pandas."""
    return hasattr(x, "columns") and hasattr(x, "iloc")


def describe_items(
    x: Any, *, kind: str | None = None, axes: str | None = None, training: Any = None
) -> Items:
    """Find kind, axes, range and spread of items.

    Args:
        x: Items: an array whose first axis is the items, or a data frame of pandas.
        kind: Kind of the items; found from type and shape if None.
        axes: Names of the axes, e.g. `"item time feature"`; found if None and only one is possible.
        training: Items of training, whose range and spread are taken; those of `x` if None.

    Raises:
        ValueError: If kind or axes are unknown or unclear, or items are not of the kind.
    """
    if is_frame(x):
        return _table_of_frame(x, x if training is None else training)
    if not isinstance(x, np.ndarray):
        raise ValueError(f"items must be an array or a data frame, got {type(x).__name__}")
    if not len(x):
        raise ValueError("items must be at least 1, got 0")
    names = _named(x, axes) if axes else _guessed(x, kind)
    found = kind or _kind_of(x, names)
    if found not in get_args(ItemKind):
        raise ValueError(f"kind must be images, series, table, set, text or symbols, got {found!r}")
    known = x if training is None else np.asarray(training)
    if found == "text":
        return Items(kind="text", axes=(), shape=(), center=np.zeros(1), spread=np.ones(1))
    if found == "symbols":
        least, most = float(known.min()), float(known.max())
        zeros = np.zeros(1)
        return Items(
            kind="symbols", axes=names, shape=x.shape[1:], low=least, high=most, center=zeros,
            spread=zeros, is_whole=True,
        )  # fmt: skip
    if known.dtype.kind not in "fiub" or not np.isfinite(known[:1000]).any():
        raise ValueError(f"items must be numbers, got an array of {known.dtype}")
    last = _feature_axis(names)
    center, spread = _spread(np.asarray(known), None if last is None else last + 1)
    low, high = _range(known)
    columns = tuple(str(j) for j in range(x.shape[1])) if found == "table" else ()
    return Items(
        kind=found,  # type: ignore[arg-type]
        axes=names,
        shape=x.shape[1:],
        low=low,
        high=high,
        center=center,
        spread=spread,
        columns=columns,
        is_whole=x.dtype.kind in "iub",
    )


def _table_of_frame(x: Any, training: Any) -> Items:
    """Describe a data frame; booleans and texts are categories."""
    numeric = [name for name in x.columns if x[name].dtype.kind in "fiu"]
    words = [name for name in x.columns if name not in numeric]
    values = np.stack([training[name].to_numpy(float) for name in numeric], 1) if numeric else None
    center, spread = (np.zeros(0), np.zeros(0)) if values is None else _spread(values, 1)
    return Items(
        kind="table",
        axes=("column",),
        shape=(len(x.columns),),
        center=center,
        spread=spread,
        columns=tuple(numeric),
        words=tuple(words),
    )


def _named(x: NDArray[Any], axes: str) -> tuple[str, ...]:
    """Return the names of the axes that a user gave, without the first."""
    first, *names = axes.split() or [""]
    unknown = [name for name in names if name not in WORDS]
    if first != "item" or unknown or len(set(names)) != len(names) or len(names) != x.ndim - 1:
        raise ValueError(
            f"axes must be item and {x.ndim - 1} of {', '.join(WORDS)}, each once, for an array of "
            f"shape {x.shape}, got {axes!r}"
        )
    if ("height" in names) != ("width" in names):
        raise ValueError(f"axes must have height and width or neither, got {axes!r}")
    return tuple(names)


def _guessed(x: NDArray[Any], kind: str | None) -> tuple[str, ...]:
    """Guess the names of the axes by type and shape, where only one reading is possible."""
    if x.dtype.kind in "UT" or (x.dtype == object and isinstance(x.flat[0], str)):
        return ()
    if x.ndim == 2:
        is_time = kind in ("symbols", "series") or (x.dtype.kind in "iu" and kind is None)
        return ("time",) if is_time else ("column",)
    if x.ndim == 4 and kind in (None, "images"):
        sizes = x.shape[1:]
        if sizes[2] in (1, 3, 4) and sizes[0] not in (1, 3, 4):
            return ("height", "width", "channel")
        if sizes[0] in (1, 3, 4) and sizes[2] not in (1, 3, 4):
            return ("channel", "height", "width")
    if x.ndim == 3 and (kind == "images" or (x.dtype == np.uint8 and kind is None)):
        return ("height", "width")
    readings = {
        3: ('"item time feature"', '"item channel time"', '"item height width"',
            '"item element feature"'),
        4: ('"item height width channel"', '"item channel height width"'),
    }.get(x.ndim, ('"item column"',))  # fmt: skip
    raise ValueError(
        f"axes must be given for an array of {x.dtype} of shape {x.shape}: {' or '.join(readings)}"
    )


def _kind_of(x: NDArray[Any], names: tuple[str, ...]) -> str:
    """Return the kind of items with these axes."""
    if not names and x.ndim == 1 and x.dtype.kind not in "fiub":
        return "text"
    for axis, kinds in AXES.items():
        if axis in names:
            return kinds[x.dtype.kind in "iu" and len(names) == 1 and len(kinds) > 1]
    raise ValueError(
        f"axes must have height, time, element or column, got {' '.join(('item', *names))!r}"
    )


def _feature_axis(names: tuple[str, ...]) -> int | None:
    """Return the position of the axis of features, channels or columns; None without one."""
    return next(
        (names.index(one) for one in ("feature", "channel", "column") if one in names), None
    )


def _spread(
    values: NDArray[Any], axis: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute median and robust standard deviation of each feature; the plain one where it is 0."""
    table = values.reshape(-1, 1) if axis is None else np.moveaxis(values, axis, -1)
    table = table.reshape(-1, table.shape[-1]).astype(np.float64)
    center = np.nanmedian(table, 0)
    spread = 1.4826 * np.nanmedian(np.abs(table - center), 0)
    return center, np.where(spread > 0, spread, np.nanstd(table, 0))


def _range(values: NDArray[Any]) -> tuple[float, float]:
    """Return the range that pixels can have: of bytes, of fractions, or the one observed."""
    if values.dtype == np.uint8:
        return 0.0, 255.0
    least, largest = float(np.nanmin(values)), float(np.nanmax(values))
    return (0.0, 1.0) if least >= 0 and largest <= 1 else (least, largest)
