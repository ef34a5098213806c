"""A published number and what it means, and what stands in its place where none is printed."""

from __future__ import annotations

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
        spread_kind: What the spread is.
        runs: Number of trained networks behind it.
        decimals: Digits printed after the point, of the mean and of the spread.
        unit: Unit of both.
        selection: Which weights were scored, and how they were chosen.
        split: Which problems they were scored on.

    Raises:
        ValueError: If the runs are below 1, the spread is negative, or the digits given do not
            suffice to print the number.
    """

    mean: float
    spread: float | None
    spread_kind: Literal["standard error"]
    runs: int
    decimals: tuple[int, int]
    unit: Literal["percent", "fraction"]
    selection: str
    split: str

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs must be at least 1, got {self.runs}")
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
            error_rounding=0.0 if self.spread is None else spread_half,
        )

    @property
    def standard_error(self) -> float:
        """The spread, or 0 where none is printed."""
        return 0.0 if self.spread is None else self.spread

    def __str__(self) -> str:
        """The number as printed, e.g. `99.7 ± 0.1`, or `99.7` without a spread."""
        mean_digits, spread_digits = self.decimals
        spread = "" if self.spread is None else f" ± {self.spread:.{spread_digits}f}"
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
        goal: Least mean, fixed before the run; `None` for no goal.
        low_goal: Least lower end of the interval of the mean; `None` for none beside the mean's.

    Raises:
        ValueError: If there are fewer than 2 runs, a goal lies outside the unit's scale, or there
            is one for the lower end alone.
    """

    runs: int
    selection: str
    split: str
    decimals: tuple[int, int] = (1, 1)
    unit: Literal["percent", "fraction"] = "percent"
    goal: float | None = None
    low_goal: float | None = None

    def __post_init__(self) -> None:
        if self.runs < 2:
            raise ValueError(f"runs must be at least 2, got {self.runs}")
        for name in ("goal", "low_goal"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= self.scale:
                raise ValueError(f"{name} must lie in 0…{self.scale:g} ({self.unit}), got {value}")
        if self.low_goal is not None and self.goal is None:
            raise ValueError(f"low_goal must stand beside a goal, got {self.low_goal} alone")

    @property
    def scale(self) -> float:
        """What a score of 1 is shown as."""
        return SCALES[self.unit]

    @property
    def needed(self) -> int:
        """Networks behind a verdict."""
        return self.runs

    def __str__(self) -> str:
        """The goal, e.g. `≥ 99.5`, or that there is none."""
        return "–" if self.goal is None else f"≥ {self.goal:.{self.decimals[0]}f}"
