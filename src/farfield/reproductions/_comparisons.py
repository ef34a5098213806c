"""Comparisons of several cells: ratios, differences, orders, counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float64

from farfield._text import fixed
from farfield.core import stream
from farfield.experiments import Experiment
from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import Summary, measure_of
from farfield.records import Record
from farfield.reproductions._claims import Claim
from farfield.reproductions._published import Published

DRAWS = 20_000
"""Draws behind an interval."""

Values = Float64[np.ndarray, " draw"]
"""Number, as often as it was drawn."""

Find = Callable[[Claim], Sequence[Record]]
"""Function from a claim to the records to judge it by."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """The mean of some cells, as one quantity in the published unit.

    Args:
        claims: The cells.
        error: Whether the error, one less the score, is meant, as in "test error".
        parts: Whether the standard deviation over the parts of a network's score is meant, e.g.
            over the functions of `r2/function-21` and its like, in place of the score.

    Raises:
        ValueError: If there is no cell.
    """

    claims: tuple[Claim, ...]
    error: bool = False
    parts: bool = False

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError("claims must not be empty")

    @property
    def published(self) -> float | None:
        """Mean of the cells as published; `None` where one of them is not."""
        numbers = [claim.published for claim in self.claims]
        means = [number.mean for number in numbers if isinstance(number, Published)]
        if self.parts or len(means) < len(numbers):
            return None
        pairs = zip(self.claims, means, strict=True)
        return float(np.mean([self._turned(claim, mean) for claim, mean in pairs]))

    def ours(self, find: Find) -> list[tuple[float, Summary]]:
        """Compute the mean over the cells of each experiment, and the experiment's weight.

        Cells that the same networks answer are averaged network by network.

        Args:
            find: The records of a claim.

        Raises:
            KeyError: If a score is not in its record.
        """
        groups: dict[str, list[list[float]]] = {}
        for claim in self.claims:
            records = sorted(find(claim), key=lambda record: record.seed)
            values = [self._turned(claim, self._value(claim, record)) for record in records]
            groups.setdefault(claim.experiment.key, []).append(values)
        return [
            (len(rows) / len(self.claims), mean_and_standard_error(np.mean(rows, axis=0).tolist()))
            for rows in groups.values()
        ]

    def _value(self, claim: Claim, record: Record) -> float:
        """Count the number of one network."""
        scale = claim.published.scale
        if not self.parts:
            return scale * record.final(claim.regime, claim.metric)
        found = [
            score.value
            for score in record.scores
            if (score.step, score.regime) == (record.steps, claim.regime)
            and score.metric.startswith(f"{claim.metric}/")
        ]
        if len(found) < 2:
            raise KeyError(f"no parts of {claim.metric} in {record.key}")
        return scale * float(np.std(found, ddof=1))

    def _turned(self, claim: Claim, value: float) -> float:
        """Return one less the score where the error is meant, else the score."""
        if not self.error or measure_of(claim.metric).lower_is_better:
            return value
        return claim.published.scale - value


Of = Callable[[Cells], Values]
"""Function from cells to their values, draw by draw."""


@final
@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One quantity over another, e.g. two errors.

    Args:
        first: The quantity.
        second: Divisor.
    """

    first: Cells
    second: Cells
    neutral: ClassVar[float | None] = 1.0

    @property
    def cells(self) -> tuple[Cells, ...]:
        """Quantities of the comparison."""
        return (self.first, self.second)

    def value(self, of: Of) -> Values:
        """Compute the ratio."""
        return of(self.first) / of(self.second)

    def text(self, value: float) -> str:
        """Format the ratio, e.g. `0.58 ×`."""
        return f"{fixed(value, 2)} ×"


@final
@dataclass(frozen=True, kw_only=True)
class Gap:
    """One quantity less another.

    Args:
        first: The quantity.
        second: Quantity to subtract.
        digits: Digits that are written after the point.
    """

    first: Cells
    second: Cells
    digits: int = 1
    neutral: ClassVar[float | None] = 0.0

    @property
    def cells(self) -> tuple[Cells, ...]:
        """Quantities of the comparison."""
        return (self.first, self.second)

    def value(self, of: Of) -> Values:
        """Compute the difference."""
        return of(self.first) - of(self.second)

    def text(self, value: float) -> str:
        """Format the difference, e.g. `+0.1`."""
        return f"{'+' * (value >= 0)}{fixed(value, self.digits)}".replace("-", "−")


@final
@dataclass(frozen=True, kw_only=True)
class Single:
    """One quantity by itself.

    Args:
        only: The quantity.
        digits: Digits that are written after the point.
    """

    only: Cells
    digits: int
    neutral: ClassVar[float | None] = None

    @property
    def cells(self) -> tuple[Cells, ...]:
        """Quantity of the comparison."""
        return (self.only,)

    def value(self, of: Of) -> Values:
        """Compute the quantity."""
        return of(self.only)

    def text(self, value: float) -> str:
        """Format the quantity."""
        return fixed(value, self.digits)


@final
@dataclass(frozen=True, kw_only=True)
class Wins:
    """Number of contests in which a quantity is above all of its rivals.

    Args:
        contests: The quantity and its rivals, each time.
    """

    contests: tuple[tuple[Cells, ...], ...]
    neutral: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        if any(len(contest) < 2 for contest in self.contests):
            raise ValueError("contests must have a quantity and a rival each")

    @property
    def cells(self) -> tuple[Cells, ...]:
        """Quantities of the comparison."""
        return tuple(one for contest in self.contests for one in contest)

    def value(self, of: Of) -> Values:
        """Compute the number of contests won."""
        margins = [
            np.min([of(first) - of(rival) for rival in rivals], axis=0)
            for first, *rivals in self.contests
        ]
        won = np.sum(np.asarray(margins) > 0, axis=0, dtype=np.float64)
        return np.where(np.isnan(margins).any(0), np.nan, won)

    def text(self, value: float) -> str:
        """Format the count, e.g. `4 of 6`."""
        return f"{value:g} of {len(self.contests)}"


@final
@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Number of parameters of a network.

    Args:
        experiment: Experiment of its training.
    """

    experiment: Experiment
    cells: ClassVar[tuple[Cells, ...]] = ()
    neutral: ClassVar[float | None] = None

    def value(self, _of: Of) -> Values:
        """Compute the number of parameters."""
        return np.asarray([_parameters(self.experiment)], dtype=np.float64)

    def text(self, value: float) -> str:
        """Format the number, e.g. `0.63 M`."""
        return f"{fixed(value / 1e6, 2)} M"


Comparison = Ratio | Gap | Single | Wins | Parameters
"""Comparison that a statement makes."""


@cache
def _parameters(experiment: Experiment) -> int:
    network = experiment.model.build(experiment.task, stream(0, "parameters"))
    return sum(parameter.numel() for parameter in network.parameters())


def as_published(comparison: Comparison) -> float | None:
    """Count the number from the published cells; `None` where they are not all published.

    Args:
        comparison: Comparison to compute.
    """
    means = {id(one): one.published for one in comparison.cells}
    if any(mean is None for mean in means.values()):
        return None
    return float(comparison.value(lambda cells: np.asarray([means[id(cells)]], np.float64))[0])


def as_measured(comparison: Comparison, find: Find) -> tuple[float, Values]:
    """Count the number from our means, and from draws of their sampling distribution.

    Each experiment's mean is drawn around ours as its standard error and number of networks let it
    be (Student's t); draws of one network are nan, since nobody knows its spread.

    Args:
        comparison: Comparison to compute.
        find: The records of a claim.
    """
    found = {id(one): one.ours(find) for one in comparison.cells}
    means = {
        name: np.asarray([sum(weight * summary.mean for weight, summary in parts)])
        for name, parts in found.items()
    }
    generator = stream(0, "statement").numpy()
    drawn = {name: _draws(parts, generator) for name, parts in found.items()}
    value = float(comparison.value(lambda cells: means[id(cells)])[0])
    return value, comparison.value(lambda cells: drawn[id(cells)])


def _draws(parts: Iterable[tuple[float, Summary]], generator: np.random.Generator) -> Values:
    total = np.zeros(DRAWS)
    for weight, summary in parts:
        noise = generator.standard_t(max(1, summary.count - 1), DRAWS)
        total += weight * (summary.mean + summary.standard_error * noise)
    return total
