"""Tables of a comparison for a paper: scores, differences, and aggregates over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from farfield._text import fixed, one_line
from farfield.core import stream
from farfield.metrics import (
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    stratified_bootstrap,
)
from farfield.reports._profile._extrapolation import Point
from farfield.reports._profile._series import FEWEST, networks_note
from farfield.reports._report import _text as text
from farfield.reports._report._tabular import Tabular
from farfield.tasks import TRAINING, VALIDATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farfield.reports._profile._comparison import Comparison

MOST_COLUMNS: Final = 8
"""Most models or regimes that have a column each."""
_MOST_PLACES: Final = 48
"""Most regimes that all have a row."""
FLOOR: Final = "floor (guessing)"
"""Name of the row of the scores of answers that ignore the problem."""
THRESHOLDS: Final = (25, 50, 75)
"""Skills in percent above which networks are counted."""

Place = tuple[str, str]
"""Names of a task and of a regime."""


def scores(comparison: Comparison) -> Tabular:
    """Lay out the means with their standard errors, the best of each regime in bold.

    Args:
        comparison: The models.
    """
    models, places = selected(comparison)
    points = {
        (name, task, regime): point
        for name, task, regime, point in comparison.points
        if name in models and (task, regime) in places
    }
    rows = [
        (name, task, regime, point, _mean(point), point.mean, _rank(point))
        for (name, task, regime), point in points.items()
    ]
    floors = {(task, regime): point for (_, task, regime), point in points.items()}
    for (task, regime), point in floors.items():
        shown = point.measure.written(point.floor, 0 if point.measure.percent else 1)
        rows.append((FLOOR, task, regime, point, shown, point.floor, None))
    counts = {len(point.values) for point in points.values()}
    measures = {point.measure.name: point.measure for point in points.values()}
    measure = next(iter(measures.values()))
    of = f" of {measure.label}{' in %' * measure.percent}" if len(measures) == 1 else ""
    lower = ", lower is better" * (len(measures) == 1 and measure.lower_is_better)
    note = f"Mean ± standard error{of}{lower}; {networks_note(counts)}; best mean in bold."
    return _laid_out(rows, f"{note}{_left_out(comparison, models, places)}")


def differences(comparison: Comparison) -> Tabular:
    """Lay out the differences from the model to compare with, with intervals and pairs.

    Args:
        comparison: The models.
    """
    models, places = selected(comparison)
    points = {(name, *place): point for name, *place, point in comparison.points}
    rows = [
        (pair.first, pair.task, pair.regime, point, pair.written(point.measure),
         pair.difference.value, None)
        for pair in comparison.pairs
        if pair.first in models and (pair.task, pair.regime) in places
        for point in [points[pair.first, pair.task, pair.regime]]
    ]  # fmt: skip
    note = (
        f"Difference of the means from {comparison.against} [95 % interval] (pairs of networks of "
        "one seed)."
    )
    return _laid_out(rows, note)


def aggregates(comparison: Comparison) -> Tabular:
    """Compute mean skill and other aggregates of each model, far from training.

    Args:
        comparison: The models.
    """
    skills: dict[str, dict[Place, tuple[float, ...]]] = {}
    for name, task, regime, point in comparison.points:
        if regime not in (TRAINING, VALIDATION) and point.skill:
            skills.setdefault(name, {})[task, regime] = point.skill
    theirs = skills.get(comparison.against, {})
    every = {place for found in skills.values() for place in found}
    models, _ = selected(comparison)
    rows = [
        _aggregated(name, skills[name], theirs if name != comparison.against else {}, len(every))
        for name in models
        if name in skills
    ]
    thresholds = " / ".join(map(str, THRESHOLDS))
    return Tabular(
        headings=(
            "model", "regimes", "mean skill", "interquartile mean [95 %]",
            f"− {comparison.against} [95 %]", f"P(> {comparison.against}) [95 %]",
            f"networks above {thresholds}",
        ),
        cells=tuple(cells for cells, _ in rows),
        values=tuple(values for _, values in rows),
        note=(
            "Skill in %: 0 is the floor, 100 the best possible score; over all regimes but "
            "training and validation, each of the same weight. Difference of the interquartile "
            f"means, and probability that a network scores higher than one of {comparison.against}"
            ", in the regimes that both have. Intervals: bootstrap of the networks within each "
            f"regime, where all have {FEWEST} or more."
        ),
    )  # fmt: skip


def _aggregated(
    name: str,
    own: dict[Place, tuple[float, ...]],
    theirs: dict[Place, tuple[float, ...]],
    regimes: int,
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Compute the aggregates of one model: its cells and its values."""
    shared = [place for place in own if place in theirs]
    both = [own[place] for place in shared], [theirs[place] for place in shared]
    runs = [*own.values()]
    above = performance_profile(runs, [one / 100 for one in THRESHOLDS])
    values: dict[str, Any] = {
        "model": name,
        "regimes": len(own),
        "mean": float(np.mean([np.mean(one) for one in runs])),
        **_estimated("iqm", interquartile_mean, runs),
        **_estimated("iqm_difference", _iqm_difference, *both),
        **_estimated("improvement", probability_of_improvement, *both),
        **{f"above_{one}": float(share) for one, share in zip(THRESHOLDS, above, strict=True)},
    }
    cells = (
        name,
        str(len(own)) if len(own) == regimes else f"{len(own)} of {regimes}",
        _percent(100 * values["mean"]),
        _with_interval(values, "iqm"),
        _with_interval(values, "iqm_difference", signed=True),
        _with_interval(values, "improvement"),
        " / ".join(fixed(100 * share, 0) for share in above),
    )
    return cells, values


def _iqm_difference(ours: Sequence[Any], theirs: Sequence[Any]) -> float | NDArray[np.float64]:
    return interquartile_mean(ours) - interquartile_mean(theirs)


def _estimated(key: str, statistic: Any, *sides: Sequence[Any]) -> dict[str, Any]:
    """Compute an aggregate and its interval as values, `None` where there is none."""
    value = low = high = None
    if all(sides):
        value = float(statistic(*sides))
        if min(len(runs) for side in sides for runs in side) >= FEWEST:
            generator = stream(0, "aggregates", key).numpy()
            interval = stratified_bootstrap(statistic, *sides, generator=generator)
            low, high = interval.low, interval.high
    return {key: value, f"{key}_low": low, f"{key}_high": high}


def _with_interval(values: dict[str, Any], key: str, *, signed: bool = False) -> str:
    """Format an aggregate in percent with its interval."""
    if values[key] is None:
        return text.MISSING
    ends = [values[key], values[f"{key}_low"], values[f"{key}_high"]]
    write = partial(text.signed, digits=1) if signed else _percent
    shown, *interval = [write(100 * one) for one in ends if one is not None]
    return f"{shown} [{', '.join(interval)}]" if interval else shown


def _percent(value: float) -> str:
    return fixed(value, 1).replace("-", "−")


def selected(comparison: Comparison) -> tuple[list[str], list[Place]]:
    """Choose models and regimes so that a table fits a page.

    Where there are more than eight regimes, those of training and validation are left out; where
    there are more than eight models too, or more than 48 regimes, the regime furthest from training
    represents each task.
    Models are those with results in half of the regimes or more, the best of each regime, and the
    model to compare with.

    Args:
        comparison: The models.

    Returns:
        Names of the models, and of the regimes with their tasks.
    """
    places = [*dict.fromkeys((task, regime) for _, task, regime, _ in comparison.points)]
    if len(places) > MOST_COLUMNS:
        far = [place for place in places if place[1] not in (TRAINING, VALIDATION)]
        places = far or places
    models = _models(comparison, places)
    if len(places) > MOST_COLUMNS < len(models) or len(places) > _MOST_PLACES:
        places = [*dict(places).items()]
        models = _models(comparison, places)
    return models, places


def _models(comparison: Comparison, places: Sequence[Place]) -> list[str]:
    """Choose models with results in half of some regimes, the best of each, and `against`."""
    found: dict[Place, dict[str, float]] = {place: {} for place in places}
    for name, task, regime, point in comparison.points:
        if (task, regime) in found and (rank := _rank(point)) is not None:
            found[task, regime][name] = rank
    best = {max(ranks, key=ranks.__getitem__) for ranks in found.values() if ranks}
    return [
        name
        for name in comparison.names
        if name in best
        or name == comparison.against
        or 2 * sum(name in ranks for ranks in found.values()) >= len(found)
    ]


def _laid_out(rows: Sequence[tuple[str, str, str, Point, str, float, Any]], note: str) -> Tabular:
    """Lay out the rows: models down, or regimes down where these are too many for columns."""
    long = Tabular(
        headings=("model", "task", "regime", "measure", "shown"),
        cells=tuple((*map(one_line, (name, task, regime)), _measure(point), shown)
                    for name, task, regime, point, shown, *_ in rows),
        values=tuple({"number": number, "rank": rank} for *_, number, rank in rows),
        note=note,
    )  # fmt: skip
    found = long.pivot(
        "model", ("task", "regime", "measure"), "shown",
        value="number", best=lambda values: values["rank"],
    )  # fmt: skip
    many = len(found.headings) - 1 > MOST_COLUMNS >= len({name for name, *_ in rows} - {FLOOR})
    return found.transposed("regime") if many else found


def _mean(point: Point) -> str:
    """Format a mean and its standard error without the unit."""
    return point.cells[2].removesuffix(point.measure.unit)


def _rank(point: Point) -> float | None:
    """Round the mean as it prints, so that a tie is a tie; higher is better."""
    if not point.values:
        return None
    return (-1 if point.measure.lower_is_better else 1) * float(point.measure.written(point.mean))


def _measure(point: Point) -> str:
    """Format the measure for a heading, e.g. `accuracy %` or `mse ↓` where lower is better."""
    measure = point.measure
    return f"{measure.name}{' %' * measure.percent}{' ↓' * measure.lower_is_better}"


def _left_out(comparison: Comparison, models: Sequence[str], places: Sequence[Place]) -> str:
    """Say which regimes and how many models are not shown."""
    every = {(task, regime) for _, task, regime, _ in comparison.points}
    count, said = len(comparison.names) - len(models), ""
    if len(places) < len(every):
        furthest = len(places) == len({task for task, _ in every})
        said += (
            " Of each task, the regime furthest from training is shown."
            if furthest
            else " Training and validation are not shown."
        )
    if count:
        said += f" Models with results in fewer than half of the regimes, best in none: {count}."
    return said
