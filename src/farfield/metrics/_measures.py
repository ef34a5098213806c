"""Kinds of scores: direction, unit and format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from farfield._text import fixed
from farfield.metrics._intervals import Interval, t_interval


@final
@dataclass(frozen=True, kw_only=True)
class Measure:
    """A kind of score: its name, direction and unit.

    Args:
        name: Name in records, e.g. `"accuracy"`.
        label: In words, e.g. `"mean squared error"`.
        percent: Whether it is a share of 0…1 that is shown in percent.
        lower_is_better: Whether it is an error.
        lowest: The least it can be.
        highest: The most it can be.
    """

    name: str
    label: str
    percent: bool = False
    lower_is_better: bool = False
    lowest: float = 0.0
    highest: float = math.inf

    def written(self, value: float, digits: int = 1) -> str:
        """Format a number in the unit of the display, without the unit.

        Args:
            value: The number, as recorded.
            digits: Digits after the point in percent; other units have three more.
        """
        return fixed(100 * value, digits) if self.percent else fixed(value, digits + 3)

    @property
    def unit(self) -> str:
        """Suffix of a number."""
        return " %" if self.percent else ""

    @property
    def best(self) -> float:
        """Best possible score; infinite where it has no bound."""
        return self.lowest if self.lower_is_better else self.highest

    @property
    def range(self) -> float:
        """Difference of the best and the worst score; infinite where one has no bound."""
        return self.highest - self.lowest

    def interval(
        self, values: Sequence[float], *, scale: float = 1.0, confidence: float = 0.95
    ) -> Interval:
        """Compute the t interval of a mean, cut to the range of the measure.

        Args:
            values: One score per network, times the scale.
            scale: Displayed value of a score of 1.
            confidence: Share of intervals made so that hold the true mean of normal scores.
        """
        found = t_interval(values, confidence)
        return found.cut(scale * self.lowest, scale * self.highest)

    def worst(self, values: tuple[float, ...]) -> float:
        """Find the worst of some scores.

        Args:
            values: At least one.
        """
        return max(values) if self.lower_is_better else min(values)


MEASURES: Final[dict[str, Measure]] = {
    measure.name: measure
    for measure in (
        Measure(name="accuracy", label="accuracy", percent=True, highest=1.0),
        Measure(name="cross-entropy", label="cross-entropy", lower_is_better=True),
        Measure(
            name="ece",
            label="expected calibration error",
            percent=True,
            lower_is_better=True,
            highest=1.0,
        ),
        Measure(name="error", label="error", percent=True, lower_is_better=True, highest=1.0),
        Measure(name="fid", label="Fréchet distance of features", lower_is_better=True),
        Measure(name="is", label="inception score", lowest=1.0),
        Measure(name="length", label="steps of an episode"),
        # The loss of an agent's policy may be below 0.
        Measure(name="loss", label="loss", lower_is_better=True, lowest=-math.inf),
        Measure(name="mse", label="mean squared error", lower_is_better=True),
        Measure(name="nll", label="negative log-likelihood", lower_is_better=True),
        Measure(name="perplexity", label="perplexity", lower_is_better=True, lowest=1.0),
        Measure(name="psnr", label="peak signal-to-noise ratio in decibels", lowest=-math.inf),
        Measure(name="r2", label="coefficient of determination", lowest=-math.inf, highest=1.0),
        Measure(name="return", label="sum of rewards", lowest=-math.inf),
        Measure(name="ssim", label="structural similarity", lowest=-1.0, highest=1.0),
        Measure(name="success", label="success", percent=True, highest=1.0),
        Measure(name="top-5", label="top-5 accuracy", percent=True, highest=1.0),
    )
}
"""Measures by their name in records."""


def measure_of(metric: str, *, share: bool = True) -> Measure:
    """Look up the measure of a metric; for an unknown metric, higher is better.

    Args:
        metric: Name in records; that of a part of the problems follows a slash, `"accuracy/size"`.
        share: Whether an unknown metric counts as a fraction, shown in percent. The score of an
            episode is a number without a bound.
    """
    name = metric.partition("/")[0]
    lowest = 0.0 if share else -math.inf
    known = MEASURES.get(name)
    return known or Measure(
        name=name, label=name, percent=share, lower_is_better=False, lowest=lowest
    )
