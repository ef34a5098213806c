"""Speed of learning, and fits of lines."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems
from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import Summary
from farfield.records import Record
from farfield.tasks import TRAINING, ProblemTask
from farfield.training.internal import score_problems


def mean_score(network: nn.Module, task: ProblemTask, problems: Problems) -> float:
    """Average the task's score over problems, without gradients.

    Args:
        network: A trained network.
        task: Whose score.
    """
    scores, _ = score_problems(network, task, problems)
    return float(scores.double().mean())


@final
@dataclass(frozen=True, kw_only=True)
class TimeCourse:
    """A metric of training problems after growing numbers of updates.

    Args:
        steps: Updates done, ascending.
        curves: Values of each network after each.
    """

    steps: tuple[int, ...]
    curves: tuple[tuple[float, ...], ...]

    @property
    def count(self) -> int:
        """Number of networks."""
        return len(self.curves)

    @property
    def means(self) -> tuple[float, ...]:
        """Mean over the networks after each number of updates."""
        return tuple(summary.mean for summary in self._summaries)

    @property
    def standard_errors(self) -> tuple[float, ...]:
        """Standard error of each mean; nan for a single network."""
        return tuple(summary.standard_error for summary in self._summaries)

    @property
    def _summaries(self) -> list[Summary]:
        return [mean_and_standard_error(values) for values in zip(*self.curves, strict=True)]

    def settled(self, level: float, *, falling: bool = False) -> int | None:
        """Find the updates after which the mean stays at or above a level to the end of training.

        None if the last mean lies below it.

        Args:
            level: The value to reach.
            falling: Whether the mean is to stay at or below the level instead, as a loss does.
        """
        return self._settled(self.means, level, falling=falling)

    def median_settled(self, level: float, *, falling: bool = False) -> float | None:
        """Take the median over the networks of the updates after which each stays at a level.

        A network that does not counts as one that takes longer than every other; None if the
        median would be such a one's.

        Args:
            level: The value to reach.
            falling: Whether to stay at or below the level instead of at or above it.
        """
        each = [self._settled(curve, level, falling=falling) for curve in self.curves]
        middle = statistics.median(math.inf if steps is None else steps for steps in each)
        return middle if math.isfinite(middle) else None

    def _settled(self, values: Sequence[float], level: float, *, falling: bool) -> int | None:
        """Find the updates after which values stay at or beyond a level; nan is before any."""
        beyond = [value <= level if falling else value >= level for value in values]
        before = [place for place, reached in enumerate(beyond) if not reached]
        first = before[-1] + 1 if before else 0
        return self.steps[first] if first < len(self.steps) else None


def time_course(records: Sequence[Record], metric: str = "accuracy") -> TimeCourse:
    """Collect the training curves of the networks of one experiment.

    A point for each number of updates after which every network has the metric on training
    problems; records made before curves were kept have only the last.

    Args:
        records: One record a network.
        metric: `"accuracy"`, `"loss"`, or another metric of the task's runs.

    Raises:
        ValueError: If there are no records, they are of several experiments, or no number of
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
            if (score.regime, score.metric) == (TRAINING, metric)
        }
        for record in records
    ]
    steps = tuple(sorted(set.intersection(*(set(curve) for curve in curves))))
    if not steps:
        raise ValueError(f"records of {records[0].key} must share a point of their training curves")
    return TimeCourse(
        steps=steps, curves=tuple(tuple(curve[step] for step in steps) for curve in curves)
    )


class LinearFit(NamedTuple):
    """The straight line nearest to points, by squared distance of the heights.

    Attributes:
        slope: Rise of the line for each unit of the values.
        intercept: Its height at 0.
        share: Share of the variance of the heights that the line accounts for, R²: 1 where the
            points lie on it, 0 where it is level. Heights that do not vary have a share of 0.
    """

    slope: float
    intercept: float
    share: float


def linear_fit(values: Float[Tensor, " batch"], heights: Float[Tensor, " batch"]) -> LinearFit:
    r"""Fit the least-squares line of heights over values, in float64.

    $$\hat h = a v + b, \qquad R^2 = \frac{\operatorname{cov}(v, h)^2}
    {\operatorname{var}(v) \operatorname{var}(h)}$$

    Args:
        values: Where the points stand.
        heights: How high.

    Raises:
        ValueError: If the numbers of values and heights differ, a number is not finite, or the
            values do not vary.
    """
    if values.shape != heights.shape:
        raise ValueError(f"heights must be as many as values ({len(values)}), got {len(heights)}")
    if not (values.isfinite().all() and heights.isfinite().all()):
        raise ValueError("values and heights must be finite, got some that are not")
    if len(set(values.tolist())) < 2:
        raise ValueError("values must vary, got the same one throughout")
    from scipy.stats import linregress  # noqa: PLC0415 — a quarter of a second to import

    line = linregress(*(part.double().cpu().numpy() for part in (values, heights)))
    return LinearFit(
        slope=float(line.slope),
        intercept=float(line.intercept),
        share=0.0 if math.isnan(line.rvalue) else float(line.rvalue) ** 2,  # nan on a level line
    )


def mean_line(
    values: Float[Tensor, " batch"], heights: Float[Tensor, " batch"], num_bins: int
) -> Float[Tensor, "2 _"]:
    """Average values and heights of the points in bins of equal width, without empty bins.

    Values that are fewer than the bins and evenly spaced have a bin each: the line then goes
    through the mean height at each value.

    Args:
        values: Where the points stand.
        heights: How high.
        num_bins: Bins between the least and the largest value.

    Raises:
        ValueError: If there are no bins or no points.
    """
    if num_bins < 1 or not len(values):
        raise ValueError(
            "num_bins and the number of values must be at least 1, "
            f"got {num_bins} and {len(values)}"
        )
    from scipy.stats import binned_statistic  # noqa: PLC0415 — a quarter of a second to import

    places, rises = (part.double().cpu().numpy() for part in (values, heights))
    means = torch.from_numpy(binned_statistic(places, [places, rises], bins=num_bins).statistic)
    return means[:, means[0].isfinite()]
