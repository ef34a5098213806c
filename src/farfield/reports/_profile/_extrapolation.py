"""Extrapolation profile of a user's experiment: score against distance."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from farfield._text import fixed
from farfield.experiments import Perturbation
from farfield.experiments.internal import restore
from farfield.metrics import Interval, mean_and_standard_error
from farfield.metrics.internal import Measure, measure_of
from farfield.records import Record
from farfield.records.internal import DIVERGED
from farfield.reports._report._levels import LOSS
from farfield.reports._report._tabular import Tabular
from farfield.tasks import Environment, Regime, Task
from farfield.tasks.internal import NoMemoryLoss, metric_of, no_memory_loss

ACCURACY: Final = measure_of("accuracy")
"""Default metric."""


@final
@dataclass(frozen=True, kw_only=True)
class Point:
    """Scores of networks at one distance from training, as recorded.

    Args:
        distance: How far it lies from training.
        unit: Unit of the distance.
        values: Score of each network that did not diverge.
        floor: Expected score of an answer that ignores the problem.
        measure: Measure of the score.
        losses: Loss of every network, where the task gives the loss without memory.
        no_memory: That least loss without memory.
        diverged: Seed of each network that diverged, with the step since which its loss is not
            finite.
        seeds: Seed of each network that did not diverge, in the order of the values.
    """

    regime: str
    distance: float
    unit: str
    values: tuple[float, ...]
    floor: float
    measure: Measure = ACCURACY
    losses: tuple[float, ...] = ()
    no_memory: float = math.nan
    diverged: tuple[tuple[int, int], ...] = ()
    seeds: tuple[int, ...] = ()

    @property
    def by_seed(self) -> dict[int, float]:
        """Score by seed, of each network that did not diverge."""
        return dict(zip(self.seeds, self.values, strict=True))

    @property
    def skill(self) -> tuple[float, ...]:
        """Score of each network, 0 at the floor and 1 for the best; empty for unbounded scores."""
        reach = self.measure.best - self.floor
        if not math.isfinite(reach) or reach == 0:
            return ()
        return tuple((value - self.floor) / reach for value in self.values)

    @property
    def mean(self) -> float:
        """Mean over the networks that did not diverge; not a number where all did."""
        return mean_and_standard_error(self.values).mean if self.values else math.nan

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; not a number for a single network."""
        if len(self.values) < 2:
            return float("nan")
        return mean_and_standard_error(self.values).standard_error

    @property
    def cells(self) -> tuple[str, ...]:
        """Point in words and numbers, under the headings of a profile."""
        written, unit = self.measure.written, self.measure.unit
        spread = f" ± {written(self.standard_error)}" if len(self.values) > 1 else ""
        mean, worst = DIVERGED, DIVERGED
        if self.values:
            mean = f"{written(self.mean)}{spread}{unit}"
            worst = f"{written(self.measure.worst(self.values))}{unit}"
        return (
            self.regime,
            f"{self.distance:g} {self.unit}",
            mean,
            worst,
            f"{written(self.floor, 0 if self.measure.percent else 1)}{unit}",
            *self._loss_cells,
            self._networks,
        )

    @property
    def interval(self) -> Interval | None:
        """Interval of the mean, as recorded; `None` for fewer than two networks."""
        return self.measure.interval(self.values) if len(self.values) > 1 else None

    @property
    def fields(self) -> dict[str, Any]:
        """Point as plain values by name, scores as recorded."""
        interval = self.interval
        return {
            "regime": self.regime,
            "distance": self.distance,
            "unit": self.unit,
            "metric": self.measure.name,
            "mean": self.mean,
            "standard_error": self.standard_error,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "networks": len(self.values),
            "diverged": len(self.diverged),
            "floor": self.floor,
        }

    @property
    def _networks(self) -> str:
        """Format the number of networks, and the number that diverged."""
        kept, gone = len(self.values), len(self.diverged)
        return f"{kept} of {kept + gone}, {gone} diverged" if gone else str(kept)

    @property
    def _loss_cells(self) -> tuple[str, ...]:
        if not self.losses:
            return ()
        finite = [loss for loss in self.losses if math.isfinite(loss)]
        mean = fixed(statistics.fmean(finite), 4) if finite else DIVERGED
        return mean, fixed(self.no_memory, 4)


@final
@dataclass(frozen=True, kw_only=True)
class ExtrapolationProfile:
    """Score against distance from training, shown as a Markdown table.

    Args:
        task: Name of the task.
        points: Training first, then by growing distance.
    """

    task: str
    points: tuple[Point, ...]

    def __str__(self) -> str:
        return "\n".join([str(self.tabular), *self._notes])

    def _repr_html_(self) -> str:
        """Format the profile in HTML, as a notebook shows it."""
        notes = "".join(f"<p>{html.escape(note.strip())}</p>" for note in self._notes)
        return f"{self.tabular._repr_html_()}{notes}"

    @property
    def tabular(self) -> Tabular:
        """Points as a table, a row for each."""
        measure = self.points[0].measure
        worst = "highest" if measure.lower_is_better else "lowest"
        score = f"{measure.label} ± standard error"
        losses = ("loss", "without memory") if self.points[0].losses else ()
        head = ("regime", "distance", score, worst, "floor", *losses, "networks")
        return Tabular(
            headings=head,
            cells=tuple(point.cells for point in self.points),
            values=tuple({"task": self.task, **point.fields} for point in self.points),
        )

    @property
    def _notes(self) -> list[str]:
        """Networks that diverged, a paragraph each, in training or in some regimes alone."""
        where: dict[tuple[int, int], list[str]] = {}
        for point in self.points:
            for network in point.diverged:
                where.setdefault(network, []).append(point.regime)
        return [
            f"\nSeed {seed} diverged ({', '.join(regimes)}): no finite loss since step {step:,}."
            for (seed, step), regimes in where.items()
        ]


def extrapolation_profile(
    task: Task,
    records: Sequence[Record],
    perturbations: Sequence[Perturbation] = (),
    *,
    regimes: Collection[str] | None = None,
) -> ExtrapolationProfile:
    """Score against distance, from the records of one experiment.

    Args:
        task: The task of the experiment.
        records: One record a network.
        perturbations: Those of the experiment; their regimes follow those of the task.
        regimes: Names of the regimes to show; all if `None`.

    Raises:
        ValueError: If there are no records.
    """
    if not records:
        raise ValueError("records must hold at least one record, got none: run the experiment")
    losses = _losses(task, records)
    before = {regime: regime.name for regime in task.regimes}
    before |= {change.regime: change.of for change in perturbations}
    points = (
        _point(task, regime, of, records, losses.get(regime.name, ()))
        for regime, of in before.items()
        if regimes is None or regime.name in regimes
    )
    return ExtrapolationProfile(task=task.name, points=tuple(points))


def recorded_profile(records: Sequence[Record]) -> ExtrapolationProfile:
    """Score against distance, from the records alone: the task is made again from them.

    Args:
        records: The records of one experiment, one a network.

    Raises:
        ValueError: If there are no records, or the task is of a class that is not Farfield's.
    """
    described = records[0].experiment if records else {}
    try:
        task, changes = (restore(described.get(part, [])) for part in ("task", "perturbations"))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"records must be of a task of Farfield's, got {records[0].task} "
            f"({error}); extrapolation_profile(task, records) takes your own"
        ) from error
    return extrapolation_profile(task, records, changes)


def _point(
    task: Task, regime: Regime, of: str, records: Sequence[Record], losses: tuple[float, ...]
) -> Point:
    """Return the point of one regime, with the floor of the task's regime `of`."""
    metric, name = metric_of(task), regime.name
    since = {record.seed: record.diverged(name) for record in records}
    kept = [record for record in records if since[record.seed] is None]
    return Point(
        regime=name,
        distance=regime.distance,
        unit=regime.unit,
        values=tuple(r.final(name, metric) for r in kept),
        floor=task.chance(of),
        measure=measure_of(metric, share=not isinstance(task, Environment)),
        losses=losses,
        no_memory=no_memory_loss(task, name),
        diverged=tuple((seed, step) for seed, step in since.items() if step is not None),
        seeds=tuple(r.seed for r in kept),
    )


def _losses(task: Task, records: Sequence[Record]) -> dict[str, tuple[float, ...]]:
    """Return the loss of each network by regime; empty if any or the least is not known."""
    if not isinstance(task, NoMemoryLoss):
        return {}
    try:
        return {
            regime.name: tuple(record.final(regime.name, LOSS) for record in records)
            for regime in task.regimes
        }
    except KeyError:
        return {}
