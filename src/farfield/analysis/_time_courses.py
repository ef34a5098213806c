"""Training accuracy against updates, over several networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from farfield.metrics import mean_and_standard_error
from farfield.records import Record
from farfield.tasks import TRAINING


@final
@dataclass(frozen=True, kw_only=True)
class TimeCourse:
    """Accuracy on training problems after growing numbers of updates, as fractions.

    Args:
        steps: Updates done, ascending.
        means: Mean over the networks after each.
        standard_errors: Standard error of each mean; nan for a single network.
        count: Number of networks.
    """

    steps: tuple[int, ...]
    means: tuple[float, ...]
    standard_errors: tuple[float, ...]
    count: int

    def settled(self, level: float) -> int | None:
        """Updates after which the mean first stays at or above a level to the end of training.

        None if the last mean lies below it.

        Args:
            level: The accuracy to reach, in 0…1.
        """
        below = [place for place, mean in enumerate(self.means) if not mean >= level]
        first = below[-1] + 1 if below else 0
        return self.steps[first] if first < len(self.steps) else None


def time_course(records: Sequence[Record]) -> TimeCourse:
    """The mean training curve of the networks of one experiment.

    A point for each number of updates after which every network has an accuracy on training
    problems; records made before curves were kept have only the last.

    Args:
        records: One record a network.

    Raises:
        ValueError: If there is no record, the records are of several experiments, or no number of
            updates is common to all.
    """
    if len({record.key for record in records}) != 1:
        raise ValueError(
            "records must be of one experiment, at least one, "
            f"got {sorted({record.key for record in records})}"
        )
    curves = [
        {
            score.step: score.value
            for score in record.scores
            if (score.regime, score.metric) == (TRAINING, "accuracy")
        }
        for record in records
    ]
    steps = tuple(sorted(set.intersection(*(set(curve) for curve in curves))))
    if not steps:
        raise ValueError(f"records of {records[0].key} must share a point of their training curves")
    summaries = [mean_and_standard_error([curve[step] for curve in curves]) for step in steps]
    return TimeCourse(
        steps=steps,
        means=tuple(summary.mean for summary in summaries),
        standard_errors=tuple(summary.standard_error for summary in summaries),
        count=len(records),
    )
