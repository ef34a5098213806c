"""The strength of a change at which a share of the skill is gone, with an interval over items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from farfield.core import stream

MOST_KEPT: Final = 20_000_000
"""Most counts of resampled items that are kept from one curve to the next."""


@final
@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Strength at which the skill that is left first falls below a level.

    Args:
        value: The strength; infinite if the skill holds to the end.
        low: Lower end of the interval over items.
        high: Upper end of the interval; infinite if some samples of the items hold to the end.
        end: Largest strength that was tried.
        returns: Whether the skill rises over the level again at a larger strength.

    Raises:
        ValueError: If the ends are not around the value.
    """

    value: float
    low: float
    high: float
    end: float
    returns: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"value must be in {self.low}…{self.high}, got {self.value}")

    def __str__(self) -> str:
        if math.isinf(self.value):
            return f"> {self.end:.3g}"
        high = f"> {self.end:.3g}" if math.isinf(self.high) else f"{self.high:.2g}"
        return f"{self.value:.2g} [{self.low:.2g}, {high}]"

    @property
    def holds(self) -> bool:
        """True if the skill holds to the end."""
        return math.isinf(self.value)


@final
@dataclass(frozen=True, kw_only=True)
class Resampling:
    """Bootstrap samples of items, the same for every score (Efron 1979).

    Args:
        count: Number of items.
        draws: Number of samples.
        seed: Number of the draws.
        strata: Class of each item, whose numbers every sample keeps; None if classes were drawn.
    """

    count: int
    draws: int = 1000
    seed: int = 0
    strata: NDArray[Any] | None = None

    @cached_property
    def _kept(self) -> list[NDArray[np.float32]]:
        return list(self._drawn())

    def _drawn(self) -> Iterator[NDArray[np.float32]]:
        """Yield how often each item is in a sample, some samples at a time."""
        generator = stream(self.seed, "resampling").numpy()
        everything = np.zeros(self.count, int) if self.strata is None else self.strata
        parts = [np.flatnonzero(everything == kind) for kind in np.unique(everything)]

        def sample() -> NDArray[np.float32]:
            drawn = [part[generator.integers(len(part), size=len(part))] for part in parts]
            counts = np.bincount(np.concatenate(drawn), None, self.count)
            return counts.astype(np.float32)

        for start in range(0, self.draws, 50):
            yield np.stack([sample() for _ in range(min(50, self.draws - start))])

    def means(
        self,
        scores: Float[np.ndarray, "strength item"],
        weights: Float[np.ndarray, "strength item"] | None = None,
    ) -> Float[np.ndarray, "draw strength"]:
        """Compute the mean score of each sample at each strength.

        Args:
            scores: Score of each item at each strength.
            weights: Weight of each item at each strength; None for equal weights.
        """
        kept = self._kept if self.count * self.draws <= MOST_KEPT else self._drawn()
        if weights is None:
            table = scores.T.astype(np.float32)
            return np.concatenate([counts @ table for counts in kept]) / self.count
        weighted = (weights * scores).T.astype(np.float32)
        sizes = weights.T.astype(np.float32)
        return np.concatenate([(counts @ weighted) / (counts @ sizes) for counts in kept])

    def skills(
        self,
        scores: Float[np.ndarray, "strength item"],
        floor: float,
        weights: Float[np.ndarray, "strength item"] | None = None,
    ) -> Float[np.ndarray, "draw strength"]:
        """Compute the skill of each sample at each strength.

        Args:
            scores: Score of each item at each strength.
            floor: Score of answers that ignore the item.
            weights: Weight of each item at each strength; None for equal weights.
        """
        drawn = self.means(scores, weights)
        skills: NDArray[Any] = (drawn - floor) / np.maximum(drawn[:, :1] - floor, 1e-12)
        return skills

    def crossings(
        self,
        strengths: Float[np.ndarray, " strength"],
        scores: Float[np.ndarray, "strength item"],
        floor: float,
        level: float,
        *,
        weights: Float[np.ndarray, "strength item"] | None = None,
        in_steps: bool = False,
    ) -> Float[np.ndarray, " draw"]:
        """Find in each sample the first strength at which the skill is below a level.

        Args:
            strengths: The strengths, rising from 0.
            scores: Score of each item at each strength.
            floor: Score of answers that ignore the item.
            level: Share of the skill.
            weights: Weight of each item at each strength; None for equal weights.
            in_steps: Whether items change in steps.
        """
        skills = self.skills(scores, floor, weights)
        return first_crossings(strengths, skills, level, in_steps=in_steps)


def first_crossings(
    strengths: Float[np.ndarray, " strength"],
    skill: Float[np.ndarray, "draw strength"],
    level: float,
    *,
    in_steps: bool = False,
) -> Float[np.ndarray, " draw"]:
    """Find the first strength at which each curve is below a level; infinite where none is.

    Args:
        strengths: The strengths, rising from 0.
        skill: Skill at each strength.
        level: The level.
        in_steps: Whether items change in steps, so that nothing is between two strengths; else the
            curve is linear between them.
    """
    below = skill < level
    first = below.argmax(1)
    at = np.arange(len(skill))
    before = np.maximum(first - 1, 0)
    if in_steps:
        found = strengths[first]
    else:
        above, under = skill[at, before], skill[at, first]
        fall = np.where(above > under, above - under, 1.0)
        share = np.clip((above - level) / fall, 0.0, 1.0)
        found = strengths[before] + share * (strengths[first] - strengths[before])
    return np.where(below.any(1), found, np.inf)


def threshold(
    strengths: Float[np.ndarray, " strength"],
    scores: Float[np.ndarray, "strength item"],
    floor: float,
    level: float,
    resampling: Resampling,
    *,
    weights: Float[np.ndarray, "strength item"] | None = None,
    in_steps: bool = False,
) -> Threshold:
    r"""Find where the skill $(s(d) - f) / (s(0) - f)$ first falls below a level.

    The interval reaches from the strength at which the 95 % interval of the skill, over bootstrap
    samples of the items, first holds values below the level, to the strength at which it holds
    nothing else. It is at least as wide as the step of items that change in steps.

    Args:
        strengths: The strengths, rising from 0.
        scores: Score of each item at each strength.
        floor: Score $f$ of answers that ignore the item.
        level: Share of the skill.
        resampling: Samples of the items.
        weights: Weight of each item at each strength; None for equal weights.
        in_steps: Whether items change in steps.
    """
    means = np.average(scores, axis=1, weights=weights)
    skill = (means - floor) / (means[0] - floor)
    value = float(first_crossings(strengths, skill[None], level, in_steps=in_steps)[0])
    band = np.quantile(resampling.skills(scores, floor, weights), [0.025, 0.975], axis=0)
    low, high = map(float, first_crossings(strengths, band, level, in_steps=in_steps))
    if in_steps and not math.isinf(value):
        step = float(strengths[max(int(np.searchsorted(strengths, value)) - 1, 0)])
        low = min(low, step)
    later = skill[strengths > value]
    return Threshold(
        value=value,
        low=min(low, value),
        high=max(high, value),
        end=float(strengths[-1]),
        returns=bool((later >= level).any()),
    )
