"""Forecasts at the end of each shift from strengths up to its half, beside the measured scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from farfield._text import fixed
from farfield.analysis import forecast
from farfield.reports import Tabular
from farfield.suites._profile._curves import Curve

MOST_ROWS: Final = 12
"""Most rows of a printed table."""

HEADINGS = ("shift", "unit", "measured to", "end", "forecast", "90 %", "measured", "inside")


def forecasts_of(curves: Iterable[Curve], floor: float) -> Tabular:
    """Predict the accuracy at the end of each shift from its strengths up to half of the end.

    Shifts that reweight items, and shifts without a strength up to the half, have no row.

    Args:
        curves: Curves of accuracy.
        floor: Accuracy of answers that ignore the item.
    """
    cells, values = [], []
    for curve in curves:
        *_, end = curve.strengths
        near = {
            strength: float(score)
            for strength, score in zip(curve.strengths, curve.means, strict=True)
            if strength <= end / 2
        }
        if len(near) < 2 or curve.weights is not None:
            continue
        found = forecast({curve.name: near}, at=end, floor=floor)
        score, interval = found.scores[curve.name], found.intervals[curve.name]
        measured = float(curve.means[-1])
        is_inside = interval.low <= measured <= interval.high
        values.append(
            {"shift": curve.name, "unit": curve.unit, "measured_to": found.after, "end": end,
             "forecast": score, "low": interval.low, "high": interval.high, "measured": measured,
             "inside": is_inside}
        )  # fmt: skip
        cells.append(
            (curve.name, curve.unit, f"{found.after:.3g}", f"{end:.3g}", fixed(score, 2),
             f"{fixed(interval.low, 2)} to {fixed(interval.high, 2)}", fixed(measured, 2),
             "yes" if is_inside else "no")
        )  # fmt: skip
    return Tabular(headings=HEADINGS, cells=tuple(cells), values=tuple(values))


def in_words(forecasts: Tabular) -> str:
    """Format the first rows of a table of forecasts, and count the intervals that hold.

    Args:
        forecasts: The table.

    Returns:
        Markdown; nothing for an empty table.
    """
    if not forecasts.cells:
        return ""
    inside = sum(row["inside"] for row in forecasts.values)
    shown = Tabular(headings=HEADINGS, cells=forecasts.cells[:MOST_ROWS], values=())
    more = len(forecasts.cells) - MOST_ROWS
    hidden = f" {more} more rows are in forecasts.csv." if more > 0 else ""
    return (
        f"{shown}\n\n{inside} of {len(forecasts.cells)} measured scores at the end of a shift are "
        f"in the interval that was forecast from its first half.{hidden}"
    )
