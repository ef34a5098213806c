"""Forecasts at the farthest regimes of a suite from nearer regimes, beside the measured scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from farfield.analysis import forecast
from farfield.reports import ExtrapolationProfile, Tabular
from farfield.reports.internal import Point

Curves = Mapping[str, Mapping[float, Point]]
"""Point by distance, of each mechanism."""

HEADINGS = (
    "task", "farthest", "forecast", "90 %", "measured", "rank, forecast", "rank, measured",
    "best, forecast", "best, measured",
)  # fmt: skip


def forecasts_of(name: str, profiles: Iterable[tuple[str, ExtrapolationProfile]]) -> Tabular:
    """Predict accuracies at the farthest regime of each task with distance 0 and two beyond.

    Args:
        name: The mechanism that rows are about.
        profiles: Name and profile of every mechanism on every task.
    """
    by_task: dict[str, list[tuple[str, ExtrapolationProfile]]] = {}
    for who, profile in profiles:
        by_task.setdefault(profile.task, []).append((who, profile))
    cells, values = [], []
    for task, found in by_task.items():
        units = {one.unit: None for who, own in found if who == name for one in own.points}
        for unit in units:
            curves = _curves(found, unit, name)
            if len(next(iter(curves.values()), ())) < 3:
                continue
            row = _row(name, curves)
            values.append({"task": task, **row})
            own = curves[name][max(curves[name])]
            written, sign = own.measure.written, own.measure.unit
            cells.append(
                (task, f"{own.distance:g} {unit}", f"{written(row['forecast'])}{sign}",
                 f"{written(row['low'])} to {written(row['high'])}", own.cells[2],
                 f"{row['rank_forecast']} of {len(curves)}", f"{row['rank']} of {len(curves)}",
                 row["best_forecast"], row["best"])
            )  # fmt: skip
    return Tabular(headings=HEADINGS, cells=tuple(cells), values=tuple(values))


def _curves(
    profiles: Iterable[tuple[str, ExtrapolationProfile]], unit: str, name: str
) -> dict[str, dict[float, Point]]:
    """Return the points of each mechanism that has the distances of the named one.

    Distance 0 has one unit of several: it counts for all of them.
    """
    found: dict[str, dict[float, Point]] = {}
    for who, profile in profiles:
        for one in profile.points:
            if one.values and one.measure.percent and (one.distance == 0 or one.unit == unit):
                found.setdefault(who, {})[one.distance] = one
    own = set(found.get(name, ()))
    if 0 not in own:
        return {}
    return {who: points for who, points in found.items() if own == set(points)}


def _row(name: str, curves: Curves) -> dict[str, Any]:
    """Return forecast, measurement and ranks at the farthest distance."""
    points = curves[name]
    *_, at = sorted(points)
    near = {
        who: {d: one.values for d, one in found.items() if d < at} for who, found in curves.items()
    }
    found = forecast(near, at=at, floor=points[at].floor)
    truth = {who: one[at].mean for who, one in curves.items()}
    return {
        "distance": at,
        "unit": points[at].unit,
        "forecast": found.scores[name],
        "low": found.intervals[name].low,
        "high": found.intervals[name].high,
        "measured": points[at].mean,
        "rank_forecast": 1 + list(found.scores).index(name),
        "rank": 1 + sum(one > truth[name] for one in truth.values()),
        "models": len(curves),
        "best_forecast": found.best,
        "best": max(truth, key=truth.__getitem__),
    }
