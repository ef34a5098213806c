"""Forecast of scores at a regime that is farther from training than all that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from farfield._text import fixed
from farfield.metrics import Interval

Scores = Mapping[float, float | Sequence[float]]
"""Score by the distance from training; several are of several networks."""

EXPONENT: Final = 1.5
"""Growth of the loss of skill with the distance."""

MOST: Final = 4.0
"""Greatest ratio of distances; the loss of skill does not grow beyond."""

LEAST: Final = 0.02
"""Least skill that is divided by."""

BELOW: Final = 0.35
"""Skill between the lower end and the forecast, for each doubling of the distance, at least one."""

ABOVE: Final = 0.12
"""Skill between the forecast and the upper end, for each doubling of the distance, at least one."""


@final
@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Forecast scores at one distance, best first.

    Args:
        at: The distance.
        after: Greatest distance that was measured.
        scores: Forecast score of each model.
        intervals: Interval of each score that holds nine of ten.
    """

    at: float
    after: float
    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]

    @property
    def best(self) -> str:
        """Name of the model with the best forecast."""
        return next(iter(self.scores))

    def __str__(self) -> str:
        lines = [f"| model | forecast at {self.at:g} | 90 % |", "|---|--:|--:|"]
        for name, score in self.scores.items():
            ends = self.intervals[name]
            interval = f"{fixed(ends.low, 3)} to {fixed(ends.high, 3)}"
            lines.append(f"| {name} | {fixed(score, 3)} | {interval} |")
        return "\n".join(lines)


def forecast(
    scores: Mapping[str, Scores], *, at: float, floor: float = 0.0, best: float = 1.0
) -> Forecast:
    r"""Predict the scores of models at a distance from their scores at smaller distances.

    With the skill $s = (\mathrm{score} - \mathrm{floor}) / (\mathrm{best} - \mathrm{floor})$ at
    distance 0 and at the greatest measured distance $d$, a model keeps the share
    $r = s(d) / s(0)$ of its skill, and all models together, by their means, the share $R$. With
    $r$ between $R / 3$ and 1, the forecast at $D$ is

    $$ s(D) = s(d) \, (r^{3/4} R^{1/4})^k, \qquad k = \min(D / d, 4)^{1.5} - 1, $$

    so that models nearly keep the order that they have at $d$; regimes between gained nothing. The
    constants and the width of the intervals were chosen on half of the tasks of
    `benchmarks/results/forecast`, which has rank correlation and coverage on the other half. There
    scores are accuracies: intervals do not hold for errors without a bound.

    Args:
        scores: For each model, score by distance from training; distance 0 is the validation. The
            scores of several networks are a sequence. All models have the same distances.
        at: The distance, greater than all of them, in the same unit.
        floor: Score of answers that ignore the problem.
        best: Best possible score, above `floor`.

    Returns:
        Score and interval of each model, best first.

    Raises:
        ValueError: If there is no model, the models have other distances than 0 and one or more
            below `at`, a score is not finite, or `best` is not above `floor`.

    Example:
        >>> found = forecast(
        ...     {"esbn": {0: 0.99, 10: 0.98, 20: 0.95}, "lstm": {0: 0.99, 10: 0.85, 20: 0.6}},
        ...     at=40,
        ...     floor=0.5,
        ... )
        >>> found.best
        'esbn'
    """
    distances = _checked(scores, at)
    if not (math.isfinite(floor) and math.isfinite(best) and best > floor):
        raise ValueError(f"best must be finite and above floor, got {best} and {floor}")
    last, reach = distances[-1], best - floor
    near, far = (
        (np.array([_mean(one[d], name) for name, one in scores.items()]) - floor) / reach
        for d in (0.0, last)
    )
    skill = _skill(near, far, at / last)
    doublings = max(1.0, math.log2(at / last))
    worst = min(0.0, -floor / reach, float(skill.min()))  # scores below 0 are not forecast
    low = np.maximum(skill - BELOW * doublings, worst)
    high = np.minimum(skill + ABOVE * doublings, 1.0)
    order = sorted(range(len(skill)), key=lambda n: (-skill[n], -far[n]))
    names = list(scores)
    return Forecast(
        at=at,
        after=last,
        scores={names[n]: float(floor + reach * skill[n]) for n in order},
        intervals={
            names[n]: Interval(
                low=float(floor + reach * low[n]),
                high=float(floor + reach * max(high[n], skill[n])),
            )
            for n in order
        },
    )


def _skill(
    near: NDArray[np.float64], far: NDArray[np.float64], ratio: float
) -> NDArray[np.float64]:
    """Compute the skill of each model at `ratio` times the last measured distance.

    Args:
        near: Skill at distance 0.
        far: Skill at the last measured distance.
        ratio: The distance by the last measured one.
    """
    together = float(np.clip(far.mean() / max(near.mean(), LEAST), LEAST, 1))
    alone = np.clip(far / np.maximum(near, LEAST), together / 3, 1)
    return far * (alone**0.75 * together**0.25) ** (min(ratio, MOST) ** EXPONENT - 1)


def _checked(scores: Mapping[str, Scores], at: float) -> list[float]:
    """Return the distances, ascending."""
    if not scores:
        raise ValueError("scores must hold at least one model, got none")
    first, *others = ({*map(float, one)} for one in scores.values())
    if any(one != first for one in others):
        raise ValueError("scores must have the same distances for all models")
    distances = sorted(first)
    if len(distances) < 2 or distances[0] != 0:
        raise ValueError(f"scores must have distance 0 and one above, got {distances}")
    if not (math.isfinite(at) and at > distances[-1]):
        raise ValueError(f"at must be finite and above {distances[-1]:g}, got {at}")
    return distances


def _mean(values: float | Sequence[float], name: str) -> float:
    found = np.atleast_1d(np.asarray(values, np.float64))
    if not found.size or not np.isfinite(found).all():
        raise ValueError(f"scores must be finite, got {values} of {name}")
    return float(found.mean())
