"""All shifts that items can have, by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from farfield.analysis._shifts._images import image_shifts
from farfield.analysis._shifts._items import Items
from farfield.analysis._shifts._series import series_shifts, set_shifts, symbol_shifts
from farfield.analysis._shifts._shift import Shift
from farfield.analysis._shifts._tables import table_shifts
from farfield.analysis._shifts._text import text_shifts


def shifts_of(
    items: Items, x: Any, y: NDArray[Any] | None = None, columns: Sequence[str] = ()
) -> list[Shift]:
    """Return the shifts that items of a kind can have.

    Args:
        items: Kind, axes, range and spread of the items.
        x: The items.
        y: Classes of the items; None if they have none.
        columns: Columns of a table that are shifted one by one; all if empty.

    Raises:
        ValueError: If a column is unknown, or items that are no table have columns.
    """
    if items.kind == "table":
        return table_shifts(items, x, None if y is None or y.dtype.kind == "f" else y, columns)
    if columns:
        raise ValueError(f"columns are of tables, got {columns[0]!r} for {items.kind}")
    if items.kind == "text":
        return text_shifts()
    by_kind = {
        "images": image_shifts,
        "series": series_shifts,
        "set": set_shifts,
        "symbols": symbol_shifts,
    }
    return by_kind[items.kind](items)
