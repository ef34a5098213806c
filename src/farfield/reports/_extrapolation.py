"""How far networks hold: score against distance, for experiments of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from farfield.metrics import mean_and_standard_error
from farfield.records import Record
from farfield.tasks import Task


@final
@dataclass(frozen=True, kw_only=True)
class Point:
    """What networks score at one distance from training, as fractions.

    Args:
        regime: Name of the regime.
        distance: How far it lies from training.
        unit: Unit of the distance.
        values: Accuracy of each network.
        floor: Expected accuracy of an answer that ignores the problem.
    """

    regime: str
    distance: float
    unit: str
    values: tuple[float, ...]
    floor: float

    @property
    def mean(self) -> float:
        """Mean over the networks."""
        return mean_and_standard_error(self.values).mean

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; not a number for a single network."""
        if len(self.values) < 2:
            return float("nan")
        return mean_and_standard_error(self.values).standard_error


@final
@dataclass(frozen=True, kw_only=True)
class ExtrapolationProfile:
    """Score against distance: the curve that Farfield is about. Prints as a Markdown table.

    Args:
        task: Name of the task.
        points: Training first, then by growing distance.
    """

    task: str
    points: tuple[Point, ...]

    def __str__(self) -> str:
        head = ("regime", "distance", "accuracy ± standard error", "lowest", "floor", "networks")
        lines = [_line(head), _line(["---"] * len(head))]
        lines += [
            _line(
                (
                    point.regime,
                    f"{point.distance:g} {point.unit}",
                    f"{100 * point.mean:.1f} ± {100 * point.standard_error:.1f} %",
                    f"{100 * min(point.values):.1f} %",
                    f"{100 * point.floor:.0f} %",
                    str(len(point.values)),
                )
            )
            for point in self.points
        ]
        return "\n".join(lines)


def extrapolation_profile(task: Task, records: Sequence[Record]) -> ExtrapolationProfile:
    """Score against distance, from the records of one experiment.

    Args:
        task: The task of the experiment.
        records: One record a network.

    Raises:
        ValueError: If there is no record.
    """
    if not records:
        raise ValueError("records must hold at least one record, got none: run the experiment")
    return ExtrapolationProfile(
        task=task.name,
        points=tuple(
            Point(
                regime=regime.name,
                distance=regime.distance,
                unit=regime.unit,
                values=tuple(record.final(regime.name) for record in records),
                floor=task.chance(regime.name),
            )
            for regime in task.regimes
        ),
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
