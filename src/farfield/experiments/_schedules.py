"""Schedules of the learning rate by progress, so that shorter runs keep the shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Protocol, final, runtime_checkable

from farfield.core import Fraction, Limits, NonNegativeFloat, check_fields

Share = Annotated[float, Limits(above=0, at_most=1)]
"""A fraction above 0."""


@runtime_checkable
class Schedule(Protocol):
    """A frozen description of a schedule of the learning rate."""

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate at a step.

        Args:
            step: Number of the step, counted from 0.
            steps: Number of steps of the run.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class Constant:
    """A constant learning rate."""

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate: 1."""
        del step, steps
        return 1.0


@final
@dataclass(frozen=True, kw_only=True)
class Cosine:
    r"""A learning rate that falls as a cosine.

    $$f(p) = \tfrac{1}{2}\left(1 + \cos(\pi s p)\right)$$

    with $p$ the fraction of the steps that are done and $s$ the span.

    Args:
        span: Fraction of the way down, from 1 to 0, that the run takes.

    Raises:
        ValueError: If the span is out of range.

    Reference:
        Loshchilov and Hutter 2017.
    """

    span: Share = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate."""
        return (1 + math.cos(math.pi * self.span * step / steps)) / 2


@final
@dataclass(frozen=True, kw_only=True)
class Linear:
    """A learning rate that falls to 0 in equal parts."""

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate."""
        return 1 - step / steps


@final
@dataclass(frozen=True, kw_only=True)
class Steps:
    """A learning rate that changes in steps.

    Args:
        factors: Pairs of progress (fraction of the steps that are done) and the factor from there
            on, e.g. `((0.5, 0.1), (0.75, 0.01))`; before the first the factor is 1.

    Raises:
        ValueError: If progress does not grow from pair to pair or a number is out of range.
    """

    factors: tuple[tuple[Fraction, NonNegativeFloat], ...]

    def __post_init__(self) -> None:
        check_fields(self)
        progress = [at for at, _ in self.factors]
        if sorted(set(progress)) != progress:
            raise ValueError(f"factors must grow in progress, got {progress}")

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate."""
        return [1.0, *(factor for at, factor in self.factors if at * steps <= step)][-1]


@final
@dataclass(frozen=True, kw_only=True)
class Halving:
    """A learning rate that is halved again and again in the later part of a run.

    Args:
        after: Fraction of the steps before the first halving.
        every: Fraction of the steps between two halvings.

    Raises:
        ValueError: If a fraction is out of range.

    Reference:
        Zaremba et al. 2014, which halves after every epoch from some epoch on.
    """

    after: Fraction
    every: Share

    def __post_init__(self) -> None:
        check_fields(self)

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate."""
        past = step - self.after * steps
        return 1.0 if past < 0 else 0.5 ** (1 + math.floor(past / (self.every * steps)))


@final
@dataclass(frozen=True, kw_only=True)
class Warmup:
    """A learning rate that grows in equal parts at first, and then follows another schedule.

    Args:
        fraction: Fraction of the steps over which it grows.
        then: Schedule of the steps after these.

    Raises:
        ValueError: If the fraction is out of range.
    """

    fraction: Fraction
    then: Schedule = Constant()

    def __post_init__(self) -> None:
        check_fields(self)

    def factor(self, step: int, steps: int) -> float:
        """Factor of the learning rate."""
        growing = round(self.fraction * steps)
        if step < growing:
            return (step + 1) / growing
        return self.then.factor(step - growing, steps - growing)
