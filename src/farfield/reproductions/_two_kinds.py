"""Cells of two kinds of networks: some solve the task, others stay at the floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from farfield.metrics.internal import measure_of
from farfield.reproductions._claims import Claim
from farfield.reproductions._published import Published
from farfield.tasks import Environment, is_at_hand

FEWEST_NETWORKS: Final = 5
"""Least number of networks that a cell of two kinds has."""
THIRD: Final = 1 / 3
"""Fraction of the way from the floor to the best score: a network in the last third solves the
task, a network in the first third, or below the floor, stays there."""
MOST_BETWEEN: Final = 0.2
"""Largest fraction of networks in the second third."""


@final
@dataclass(frozen=True, kw_only=True)
class TwoKinds:
    """Numbers of networks of each kind in a cell of two kinds.

    A cell is of two kinds if it has at least five networks, one of them solves the task, one stays
    at the floor, and at most a fifth do neither. Our networks alone decide it; the published number
    plays no part.

    Args:
        solve: Networks in the last third of the way from the floor to the best score.
        between: Networks in the second third.
        stay: Networks in the first third, or below the floor.
        published: Numbers of published networks that may solve the task, as far as the published
            mean and spread allow: if each of these networks solves it or stays at the floor. Empty
            without a published number, or if mean and spread allow none.
        runs: Number of published networks.
        p: Probability of Fisher's exact test where the published number allows one share alone;
            else `None`.
    """

    solve: int
    between: int
    stay: int
    published: tuple[int, ...] = ()
    runs: int = 0
    p: float | None = None

    def __str__(self) -> str:
        """Format the share, e.g. `3 of 10 networks solve it, by their numbers 9 of 10 published`.

        With the probability of the test, where there is one.
        """
        said = f"{self.solve} of {self.solve + self.between + self.stay} networks solve it"
        if not self.published:
            return said
        ends = dict.fromkeys((self.published[0], self.published[-1]))
        said += f", by their numbers {'–'.join(map(str, ends))} of {self.runs} published"
        return said if self.p is None else f"{said} (Fisher's exact test, p = {self.p:.2g})"


def two_kinds(claim: Claim, scores: Sequence[float]) -> TwoKinds | None:
    """Count the networks of a cell by kind; `None` if they are not of two kinds.

    Args:
        claim: The cell.
        scores: Score of each network, in the published unit.
    """
    if len(scores) < FEWEST_NETWORKS or (ends := _ends(claim)) is None:
        return None
    floor, best = ends
    way = (np.asarray(scores) - floor) / (best - floor)
    solve, stay = int((way >= 1 - THIRD).sum()), int((way <= THIRD).sum())
    between = len(scores) - solve - stay
    if not solve or not stay or between > MOST_BETWEEN * len(scores):
        return None
    number = claim.published
    if not isinstance(number, Published):
        return TwoKinds(solve=solve, between=between, stay=stay)
    allowed = {
        count
        for reading in number.readings
        for count in range(number.runs + 1)
        if _allows(reading, count, floor, best)
    }
    tests = [_fisher((solve, len(scores)), (count, number.runs)) for count in allowed]
    return TwoKinds(
        solve=solve,
        between=between,
        stay=stay,
        published=tuple(sorted(allowed)),
        runs=number.runs,
        p=tests[0] if len(tests) == 1 else None,
    )


def _ends(claim: Claim) -> tuple[float, float] | None:
    """Floor and best score in the published unit; `None` where the score is no share.

    The floor of any other score may take data that is not on this machine.
    """
    task = claim.experiment.task
    if isinstance(task, Environment) and not is_at_hand(task):
        return None
    measure, scale = measure_of(claim.metric), claim.published.scale
    if not measure.percent:
        return None
    best, floor = scale * measure.best, scale * claim.floor
    return (floor, best) if math.isfinite(floor) and floor != best else None


def _allows(number: Published, count: int, floor: float, best: float) -> bool:
    """Tell if a published mean and spread allow that `count` of the networks solve the task.

    On the way from the floor (0) to the best score (1), networks that solve it lie in ⅔…1 and the
    others in −⅓…⅓. With the mean of all fixed, the sum of squares is least where both kinds are as
    close to each other as they can be and do not scatter, and largest where they are as far apart
    as they can be and lie at the ends of their thirds.
    """
    runs, scale = number.runs, abs(best - floor)
    mean, others = (number.mean - floor) / (best - floor), runs - count
    if count == 0 or others == 0:
        low, high = (0.0, 0.0) if count == 0 else (mean, mean)
        if not (abs(mean) <= THIRD if count == 0 else 1 - THIRD <= mean <= 1):
            return False
    else:
        low = max(1 - THIRD, (runs * mean - others * THIRD) / count)
        high = min(1.0, (runs * mean + others * THIRD) / count)
        if low > high:
            return False
    if number.spread is None:
        return True
    rest = (runs * mean - count * low) / others if others else 0.0
    least = count * low**2 + others * rest**2
    most = count * ((2 - THIRD) * high - (1 - THIRD)) + others * THIRD**2
    deviation, rounding = (
        one * math.sqrt(runs) / scale
        for one in (number.standard_error, number.summary.error_rounding)
    )
    lower = (runs - 1) * max(0.0, deviation - rounding) ** 2 + runs * mean**2
    upper = (runs - 1) * (deviation + rounding) ** 2 + runs * mean**2
    return least <= upper + 1e-9 and lower <= most + 1e-9


def _fisher(ours: tuple[int, int], theirs: tuple[int, int]) -> float:
    """Compute the two-sided probability of Fisher's exact test for successes of numbers."""
    from scipy.stats import fisher_exact  # noqa: PLC0415 — a quarter of a second to import

    table = [[successes, count - successes] for successes, count in (ours, theirs)]
    return float(fisher_exact(table).pvalue)
