"""How a published number and freshly trained networks become one word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING, final

from farfield.metrics import (
    Difference,
    Summary,
    mean_and_standard_error,
    t_interval,
    welch_interval,
)
from farfield.records import Record
from farfield.reproductions._published import Published, Unpublished

if TYPE_CHECKING:
    from farfield.reproductions._claims import Claim


@final
@unique
class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    DIRECTION_ONLY = "direction only"
    NOT_REPRODUCED = "not reproduced"
    UNDERPOWERED = "underpowered"
    REACHED = "reached"
    MISSED = "missed"
    MEASURED = "measured"
    NEEDS_DATA = "needs data"
    NOT_RUN = "not run"


@final
@dataclass(frozen=True, kw_only=True)
class VerdictRule:
    r"""When a claim counts as reproduced, fixed before the run.

    Let $d$ be ours minus the published mean, $I$ its Welch interval with the rounding of print in
    it, and $e'$ the published standard error. A claim with as many networks and steps as the
    paper's is *reproduced* if either

    1. all of $I$ lies within ±`margin`: whatever the difference is, it does not matter; or
    2. $I$ holds 0, $|d| \le w$ and the half width of $I$ is at most `reach` · w, where
       $w = \max(\texttt{margin}, \texttt{noise} \cdot e')$: the difference is no larger than the
       paper's own noise would make it, and ours is no noisier than can be told from it.

    The last condition keeps networks that scatter widely from passing for a published cell that
    does not. Of claims that are not reproduced, those whose order against the other rows of their
    column comes out as published stand as *direction only*.

    The defaults are in percentage points. With ten networks on each side that differ in nothing
    but the seed, at most 8 in 100 claims are called by mistake, and at most 2 in 100 where the
    standard error is 0.3 or less. A true difference of 3 points or 6 standard errors of a cell,
    whichever is more, is called in 95 of 100 or more. The tests measure both.

    Args:
        margin: Difference that would not matter, in the unit of print.
        noise: Published standard errors that a difference may have where they exceed the margin.
        reach: Largest half width of the interval, in widths of what is allowed.
        confidence: Of all intervals.

    Raises:
        ValueError: If a number is not positive, or the confidence not below 1.
    """

    margin: float = 2.0
    noise: float = 3.0
    reach: float = 2.0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name in ("margin", "noise", "reach", "confidence"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if not self.confidence < 1:
            raise ValueError(f"confidence must be below 1, got {self.confidence}")

    def allowed(self, standard_error: float) -> float:
        """The largest difference that counts as none, beside a published standard error."""
        return max(self.margin, self.noise * standard_error)

    def equivalent(self, difference: Difference, standard_error: float) -> bool:
        """Whether a difference from a published mean with that standard error counts as none."""
        if difference.interval.within(self.margin):
            return True
        allowed = self.allowed(standard_error)
        return (
            difference.interval.contains(0.0)
            and abs(difference.value) <= allowed
            and difference.interval.half_width <= self.reach * allowed
        )


@final
@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict and what it rests on, in the unit of print.

    Args:
        verdict: The word.
        reason: Why, in a line.
        seeds: Networks of ours.
        fraction: Share of the paper's steps they were trained for; `None` without records.
        ours: Their mean and standard error; `None` without records.
        difference: Ours minus published; `None` without records.
    """

    verdict: Verdict
    reason: str
    seeds: int = 0
    fraction: float | None = None
    ours: Summary | None = None
    difference: Difference | None = None


def judge(
    claim: Claim,
    records: Sequence[Record],
    others: Sequence[tuple[Claim, Sequence[Record]]] = (),
    *,
    data_missing: bool = False,
) -> Judgement:
    """The verdict on a claim.

    Args:
        claim: What is judged.
        records: Networks of its experiment, at one number of steps, one record a seed.
        others: Claims with their records, among which the other rows of the column are looked up.
        data_missing: Whether the real data that the claim needs is not on this machine.

    Raises:
        ValueError: If the records are not of the claim's experiment, or of several, or one seed
            stands there twice.
    """
    if not records:
        if claim.unbuilt:
            return Judgement(verdict=Verdict.NOT_RUN, reason=f"{claim.row} is not built here")
        if claim.data is not None and data_missing:
            return Judgement(verdict=Verdict.NEEDS_DATA, reason=f"needs {claim.data}")
        return Judgement(verdict=Verdict.NOT_RUN, reason="no record")
    ours = summarize(claim, records)
    rule, published = claim.rule, claim.published
    difference = None
    if isinstance(published, Published):
        difference = welch_interval(ours, published.summary, rule.confidence)
    fraction = claim.fraction(records[0].experiment)
    verdict, reason = Verdict.REPRODUCED, "no difference that matters"
    lack = _lack(claim, records)
    if lack:
        verdict, reason = Verdict.UNDERPOWERED, lack
    elif isinstance(published, Unpublished):
        verdict, reason = _goal(claim, published, records)
    elif difference and not rule.equivalent(difference, published.standard_error):
        verdict, reason = _direction(claim, ours, others)
    return Judgement(
        verdict=verdict,
        reason=reason,
        seeds=ours.count,
        fraction=fraction,
        ours=ours,
        difference=difference,
    )


def summarize(claim: Claim, records: Sequence[Record]) -> Summary:
    """Mean and standard error of the claim's score, in its unit of print.

    Args:
        claim: Which score.
        records: Networks of its experiment, at one number of steps, one record a seed.

    Raises:
        ValueError: As `judge`.
    """
    _check_records(claim, records)
    return mean_and_standard_error(_scores(claim, records))


def _scores(claim: Claim, records: Sequence[Record]) -> list[float]:
    """The claim's score of each network, in its unit of print."""
    scale = claim.published.scale
    return [scale * record.final(claim.regime, claim.metric) for record in records]


def _goal(claim: Claim, published: Unpublished, records: Sequence[Record]) -> tuple[Verdict, str]:
    """Whether a goal of our own is reached: by the mean, and by the lower end of its interval."""
    if published.goal is None:
        return Verdict.MEASURED, "no published number, no goal"
    scores = _scores(claim, records)
    mean = mean_and_standard_error(scores).mean
    low = t_interval(scores, claim.rule.confidence).low
    digits = max(2, published.decimals[0])
    goals = (("mean", published.goal, mean), ("lower end", published.low_goal, low))
    for what, goal, found in goals:
        if goal is not None and not found >= goal:
            return Verdict.MISSED, f"{what} {_down(found, digits)} is below {goal:g}"
    return Verdict.REACHED, f"mean {_down(mean, digits)}, lower end {_down(low, digits)}"


def _down(value: float, digits: int) -> str:
    """A number rounded down: what misses a goal must not read as if it did not."""
    scale = 10**digits
    if not math.isfinite(value):
        return f"{value}"
    return f"{math.floor(scale * value + 1e-6) / scale:.{digits}f}"


def _check_records(claim: Claim, records: Sequence[Record]) -> None:
    """Refuse records that do not belong together, or not to the claim."""
    keys = {record.key for record in records}
    seeds = [record.seed for record in records]
    if len(keys) > 1:
        raise ValueError(f"records of {claim.name} must be of one experiment, got {sorted(keys)}")
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"records of {claim.name} must have different seeds, got {sorted(seeds)}")
    steps, paper = records[0].steps, claim.experiment.recipe.steps
    if any(record.steps != steps for record in records) or steps > paper:
        raise ValueError(
            f"records of {claim.name} must all have one number of steps, at most {paper}, "
            f"got {sorted({record.steps for record in records})}"
        )
    if not claim.same_experiment(records[0].experiment, steps):
        raise ValueError(
            f"records of {claim.name} must be of its experiment, got another ({keys.pop()}); "
            "run the claim again"
        )


def _lack(claim: Claim, records: Sequence[Record]) -> str:
    """What the records fall short of the paper in; empty if in nothing."""
    runs = claim.published.needed
    lacks = [f"{len(records)} of {runs} networks"] if len(records) < runs else []
    return ", ".join([*lacks, *claim.lacks(records[0].experiment)])


def _direction(
    claim: Claim, ours: Summary, others: Sequence[tuple[Claim, Sequence[Record]]]
) -> tuple[Verdict, str]:
    """Whether the published order against the other rows of the column holds.

    Only rows count from which the published number differs clearly. All of them must have been
    run with as many networks and steps as the paper's, and ours must differ from each as clearly
    and in the same direction.
    """
    confidence = claim.rule.confidence
    compared = 0
    for other, records in others:
        here, there = claim.published, other.published
        if not (isinstance(here, Published) and isinstance(there, Published)):
            continue
        if not _same_column(claim, other):
            continue
        theirs = welch_interval(here.summary, there.summary, confidence)
        if not theirs.clear:
            continue
        if not records or _lack(other, records):
            return Verdict.NOT_REPRODUCED, f"differs; {other.row} has not been run in full"
        own = welch_interval(ours, summarize(other, records), confidence)
        if not own.clear or (own.value > 0) != (theirs.value > 0):
            return Verdict.NOT_REPRODUCED, f"differs, and the order against {other.row} fails"
        compared += 1
    if compared == 0:
        return Verdict.NOT_REPRODUCED, "differs; no other row to compare with"
    return Verdict.DIRECTION_ONLY, f"differs, but the order against {compared} rows holds"


def _same_column(claim: Claim, other: Claim) -> bool:
    """Whether `other` is another row of the claim's column."""
    place = (claim.home, claim.group, claim.column, claim.metric)
    there = (other.home, other.group, other.column, other.metric)
    return other.row != claim.row and there == place
