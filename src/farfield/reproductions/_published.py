"""Published numbers, and their substitute where no paper has one."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final, Literal, final

from farfield.metrics.internal import Summary

SCALES: Final[dict[str, float]] = {"percent": 100.0, "fraction": 1.0}
"""Published value of a score of 1, by unit."""


NOT_SAID: Final = "not said"
"""Kind of a spread where the paper does not say it."""

FEWEST: Final = 3
"""Least number of our networks for a verdict: fewer give no estimate of their spread."""


@final
@dataclass(frozen=True, kw_only=True)
class Published:
    """One published number, with all that a comparison needs.

    Args:
        mean: The mean, as published.
        spread: The number after ±, as published, in the same unit; `None` where nothing does, and
            their networks are taken to scatter as ours do.
        spread_kind: Kind of the spread, of the mean or over the networks, or that the paper does
            not say. Then the number has two readings, and is drawn and judged by both.
        runs: Number of trained networks behind it.
        decimals: Published digits after the point, of the mean and of the spread.
        unit: Unit of both.
        selection: Which weights were scored, and how they were chosen.
        split: Which problems they were scored on.
        runs_assumed: True if the paper does not say how many networks it trained.

    Raises:
        ValueError: If the runs are below 1, or below 2 beside a possible standard deviation over
            them, the spread is negative, or the digits given do not suffice to write the number.
    """

    mean: float
    spread: float | None
    spread_kind: Literal["standard error", "standard deviation", "not said"]
    runs: int
    decimals: tuple[int, int]
    unit: Literal["percent", "fraction"]
    selection: str
    split: str
    runs_assumed: bool = False

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs must be at least 1, got {self.runs}")
        if (self._is_deviation or self.spread_not_said) and self.runs < 2:
            raise ValueError("runs must be at least 2 beside a standard deviation, got 1")
        if self.spread is not None and not self.spread >= 0:
            raise ValueError(f"spread must be at least 0, got {self.spread}")
        for name, digits in zip(("mean", "spread"), self.decimals, strict=True):
            value = getattr(self, name)
            if value is not None and (digits < 0 or round(value, digits) != value):
                raise ValueError(
                    f"decimals must give the published digits of the {name} {value}, got {digits}"
                )

    @property
    def scale(self) -> float:
        """Published value of a score of 1."""
        return SCALES[self.unit]

    @property
    def needed(self) -> int:
        """Networks of ours behind a verdict: as many as published, and at least three."""
        return max(self.runs, FEWEST)

    @property
    def summary(self) -> Summary:
        """Number as a summary of its networks, with its rounding."""
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
        """Standard error of the mean, or 0 where no spread is published.

        A spread of a kind that is not said is taken for one: this reading allows more.
        """
        return 0.0 if self.spread is None else self.spread / self._divisor

    @property
    def spread_not_said(self) -> bool:
        """True if a spread is published whose kind the paper does not say."""
        return self.spread is not None and self.spread_kind == NOT_SAID

    @property
    def readings(self) -> tuple[Published, ...]:
        """Number itself; two where the kind of its spread is not said, the wider one first."""
        if not self.spread_not_said:
            return (self,)
        return (
            dataclasses.replace(self, spread_kind="standard error"),
            dataclasses.replace(self, spread_kind="standard deviation"),
        )

    @property
    def _is_deviation(self) -> bool:
        return self.spread is not None and self.spread_kind == "standard deviation"

    @property
    def _divisor(self) -> float:
        """Divisor that turns the published spread into the standard error."""
        return math.sqrt(self.runs) if self._is_deviation else 1.0

    def __str__(self) -> str:
        """Count the number as published, e.g. `99.7 ± 0.1`, `99.7 ± 0.3 SD`, or `99.7`.

        A spread of a kind that is not said is written as `99.7 ± 0.3 SD or SE`.
        """
        mean_digits, spread_digits = self.decimals
        kind = " SD" if self._is_deviation else " SD or SE" if self.spread_not_said else ""
        spread = "" if self.spread is None else f" ± {self.spread:.{spread_digits}f}{kind}"
        return f"{self.mean:.{mean_digits}f}{spread}"


@final
@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """Networks that confirm a goal, named before they run, at a recipe that is frozen.

    Args:
        by: Cell of the same table whose networks have the same model and recipe, and are asked for
            the same on other problems or in another regime; or the seed from which on networks of
            the goal's own cell are new.
        recipe: `Claim.recipe_digest` at the time.
    """

    by: str | int
    recipe: str


@final
@dataclass(frozen=True, kw_only=True)
class Unpublished:
    """Substitute where no paper has a number: ours is shown alone, or judged by a goal.

    Args:
        runs: Number of networks to train.
        decimals: Digits shown after the point, of the mean and of the standard error.
        unit: Unit of both.
        selection: Which weights are scored, and how they are chosen.
        split: Which problems they are scored on.
        goal: Score that the whole interval of the mean is to reach, fixed before the run: the least
            score, or the largest error; `None` for no goal.
        confirmation: Networks that have to reach the goal too, which nobody had looked at while the
            recipe could change; `None` for none yet.

    Raises:
        ValueError: If there are fewer than 2 runs, or a confirmation is of no goal or by seeds of
            the first runs.
    """

    runs: int
    selection: str
    split: str
    decimals: tuple[int, int] = (1, 1)
    unit: Literal["percent", "fraction"] = "percent"
    goal: float | None = None
    confirmation: Confirmation | None = None

    def __post_init__(self) -> None:
        if self.runs < 2:
            raise ValueError(f"runs must be at least 2, got {self.runs}")
        if self.confirmation is not None and self.goal is None:
            raise ValueError(
                f"goal must be a number beside a confirmation, got {self.confirmation}"
            )
        by = None if self.confirmation is None else self.confirmation.by
        if isinstance(by, int) and by < self.runs:
            raise ValueError(f"confirmation must be by seeds from {self.runs} on, got {by}")

    @property
    def scale(self) -> float:
        """Shown value of a score of 1."""
        return SCALES[self.unit]

    @property
    def needed(self) -> int:
        """Networks behind a verdict."""
        return self.runs
