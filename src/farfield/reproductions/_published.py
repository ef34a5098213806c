"""A published number and what it means, and what stands in its place where none is printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, final

from farfield.metrics import Summary

SCALES: Final[dict[str, float]] = {"percent": 100.0, "fraction": 1.0}
"""What a score of 1 is printed as, by unit."""


FEWEST: Final = 3
"""Networks of ours that a verdict takes at least: fewer do not tell how far they scatter."""


@final
@dataclass(frozen=True, kw_only=True)
class Published:
    """One number as a paper prints it, with what it takes to compare another with it.

    Args:
        mean: The mean, as printed.
        spread: What stands behind ±, as printed, in the same unit; `None` where nothing does, and
            the mean is compared as if it were exact.
        spread_kind: What the spread is, of the mean or over the networks.
        runs: Number of trained networks behind it.
        decimals: Digits printed after the point, of the mean and of the spread.
        unit: Unit of both.
        selection: Which weights were scored, and how they were chosen.
        split: Which problems they were scored on.

    Raises:
        ValueError: If the runs are below 1, or below 2 beside a standard deviation over them, the
            spread is negative, or the digits given do not suffice to print the number.
    """

    mean: float
    spread: float | None
    spread_kind: Literal["standard error", "standard deviation"]
    runs: int
    decimals: tuple[int, int]
    unit: Literal["percent", "fraction"]
    selection: str
    split: str

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs must be at least 1, got {self.runs}")
        if self._is_deviation and self.runs < 2:
            raise ValueError("runs must be at least 2 beside a standard deviation, got 1")
        if self.spread is not None and not self.spread >= 0:
            raise ValueError(f"spread must be at least 0, got {self.spread}")
        for name, digits in zip(("mean", "spread"), self.decimals, strict=True):
            value = getattr(self, name)
            if value is not None and (digits < 0 or round(value, digits) != value):
                raise ValueError(
                    f"decimals must give the digits printed of the {name} {value}, got {digits}"
                )

    @property
    def scale(self) -> float:
        """What a score of 1 is printed as."""
        return SCALES[self.unit]

    @property
    def needed(self) -> int:
        """Networks of ours behind a verdict: as many as in print, and three at least."""
        return max(self.runs, FEWEST)

    @property
    def summary(self) -> Summary:
        """The number as a summary of its networks, with the rounding of print."""
        mean_half, spread_half = (0.5 * 10.0**-digits for digits in self.decimals)
        return Summary(
            mean=self.mean,
            standard_error=self.standard_error,
            count=self.runs,
            mean_rounding=mean_half,
            error_rounding=0.0 if self.spread is None else spread_half / self._divisor,
        )

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, or 0 where no spread is printed."""
        return 0.0 if self.spread is None else self.spread / self._divisor

    @property
    def _is_deviation(self) -> bool:
        return self.spread is not None and self.spread_kind == "standard deviation"

    @property
    def _divisor(self) -> float:
        """What a spread as printed is divided by to give the standard error."""
        return math.sqrt(self.runs) if self._is_deviation else 1.0

    def __str__(self) -> str:
        """The number as printed, e.g. `99.7 ± 0.1`, `99.7 ± 0.3 SD`, or `99.7` without a spread."""
        mean_digits, spread_digits = self.decimals
        kind = " SD" if self._is_deviation else ""
        spread = "" if self.spread is None else f" ± {self.spread:.{spread_digits}f}{kind}"
        return f"{self.mean:.{mean_digits}f}{spread}"


@final
@dataclass(frozen=True, kw_only=True)
class Unpublished:
    """Stands where no paper prints a number: ours is shown as it is, or judged by a goal.

    Args:
        runs: Number of networks to train.
        decimals: Digits shown after the point, of the mean and of the standard error.
        unit: Unit of both.
        selection: Which weights are scored, and how they are chosen.
        split: Which problems they are scored on.
        goal: What the whole interval of the mean is to reach, fixed before the run: the least
            score, or the largest error; `None` for no goal.

    Raises:
        ValueError: If there are fewer than 2 runs.
    """

    runs: int
    selection: str
    split: str
    decimals: tuple[int, int] = (1, 1)
    unit: Literal["percent", "fraction"] = "percent"
    goal: float | None = None

    def __post_init__(self) -> None:
        if self.runs < 2:
            raise ValueError(f"runs must be at least 2, got {self.runs}")

    @property
    def scale(self) -> float:
        """What a score of 1 is shown as."""
        return SCALES[self.unit]

    @property
    def needed(self) -> int:
        """Networks behind a verdict."""
        return self.runs
