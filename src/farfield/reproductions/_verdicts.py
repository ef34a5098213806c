"""Verdicts on claims from records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import Final, final

from farfield.metrics import Difference, mean_and_standard_error
from farfield.metrics.internal import (
    Summary,
    least_share,
    measure_of,
    shared_spread_interval,
    welch_interval,
)
from farfield.records import Record
from farfield.reproductions._claims import Claim
from farfield.reproductions._published import Published
from farfield.reproductions._two_kinds import TwoKinds, two_kinds
from farfield.tasks import TRAINING, Environment
from farfield.tasks.internal import metric_of

LEARNED: Final = 0.5
"""Share of the way from the floor to the best score below which training has failed."""


@final
@unique
class Verdict(StrEnum):
    """Outcome of a claim."""

    REPRODUCED = "reproduced"
    COMPATIBLE = "compatible, wide"
    INCONCLUSIVE = "inconclusive"
    DIRECTION_ONLY = "direction only"
    NOT_REPRODUCED = "not reproduced"
    UNDERPOWERED = "underpowered"
    REACHED = "reached"
    UNCONFIRMED = "reached, not confirmed"
    BY_HAND = "reached, by hand too"
    MISSED = "missed"
    MEASURED = "measured"
    DIVERGED = "diverged"
    NEEDS_DATA = "needs data"
    NOT_RUN = "not run"

    @property
    def meaning(self) -> str:
        """Meaning of the verdict in a sentence, without the full stop."""
        return MEANINGS[self]


MEANINGS: Final[dict[Verdict, str]] = {
    Verdict.REPRODUCED: (
        "no difference that matters, with as many networks and steps as the paper's"
    ),
    Verdict.COMPATIBLE: (
        "no clear difference, but the interval goes so far, over ten points to either side or a "
        "tenth of the measure's range, that it could hide one"
    ),
    Verdict.INCONCLUSIVE: (
        "the networks tell neither that the numbers differ nor that they are close enough to be "
        "the same"
    ),
    Verdict.DIRECTION_ONLY: (
        "the number is different, but every clear difference from the other rows is as published"
    ),
    Verdict.NOT_REPRODUCED: (
        "the number is different, and so is the order of the rows, or there is none to look at"
    ),
    Verdict.UNDERPOWERED: (
        "fewer networks or steps than the paper's, or than planned, so that nothing is judged"
    ),
    Verdict.REACHED: (
        "a goal of our own is met, and by networks that nobody had looked at while the recipe "
        "could change"
    ),
    Verdict.UNCONFIRMED: "a goal of our own is met, but not yet by such networks",
    Verdict.BY_HAND: ("a goal of our own is met, but a rule that learns nothing meets it too"),
    Verdict.MISSED: "a goal of our own is not met by the whole interval of the mean",
    Verdict.MEASURED: "no number is published and no goal is set",
    Verdict.DIVERGED: "a network ends without a finite loss, so that nothing is judged",
    Verdict.NEEDS_DATA: "real data that is not on this machine",
    Verdict.NOT_RUN: "no record",
}
"""Sentences of all verdicts."""


@final
@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict, with the numbers behind it in the published unit.

    Args:
        verdict: The word.
        reason: Why, in a line.
        seeds: Networks of ours.
        fraction: Share of the paper's steps they were trained for; `None` without records.
        ours: Mean and standard error of those that did not diverge; `None` without any.
        difference: Ours minus published; `None` where either lacks. Where the paper does not say
            the kind of its spread, the spread is a standard error here.
        as_deviation: The same with that spread as a standard deviation; else `None`.
        kinds: Networks of ours by kind, if they are of two.
        diverged: Seed of each network that diverged, with the step since which its loss is not
            finite.
        learned: Share of the way from the floor to the best score that training problems have
            gone, on average; `None` where it was not scored, nothing is trained, a number is
            published, or the claim's metric is not the task's.
    """

    verdict: Verdict
    reason: str
    seeds: int = 0
    fraction: float | None = None
    ours: Summary | None = None
    difference: Difference | None = None
    as_deviation: Difference | None = None
    kinds: TwoKinds | None = None
    diverged: tuple[tuple[int, int], ...] = ()
    learned: float | None = None

    @property
    def untrained(self) -> bool:
        """True if the networks have not learned half of their training problems."""
        return self.learned is not None and self.learned < LEARNED


def judge(
    claim: Claim,
    records: Sequence[Record],
    others: Sequence[tuple[Claim, Sequence[Record]]] = (),
    *,
    data_missing: bool = False,
) -> Judgement:
    """Judge a claim by its records.

    Args:
        claim: Claim to judge.
        records: Networks of its experiment, at one number of steps, one record a seed.
        others: Claims with their records, among which the other rows of the column are looked up,
            and the cell that confirms a goal.
        data_missing: Whether the real data that the claim needs is not on this machine.

    Raises:
        ValueError: If the records are not of the claim's experiment, are of several experiments, or
            hold a seed twice.
    """
    if not records:
        if claim.unbuilt:
            return Judgement(verdict=Verdict.NOT_RUN, reason=f"{claim.row} is not built here")
        if claim.data is not None and data_missing:
            return Judgement(verdict=Verdict.NEEDS_DATA, reason=f"needs {claim.data}")
        return Judgement(verdict=Verdict.NOT_RUN, reason="no record")
    _check_records(claim, records)
    gone, scores = diverged(claim, records), _scores(claim, records)
    ours = mean_and_standard_error(scores) if scores else None
    readings = claim.published.readings if isinstance(claim.published, Published) else ()
    differences = [_difference(claim, one, ours) for one in readings] if ours else []
    kinds = two_kinds(claim, scores)
    if gone or ours is None:
        verdict, reason = Verdict.DIVERGED, _since(gone)
    elif lack := _lack(claim, records):
        verdict, reason = Verdict.UNDERPOWERED, lack
    elif not readings:
        verdict, reason = _goal(claim, records, others)
    else:
        pairs = zip(readings, differences, strict=True)
        verdict, reason = _agreed(
            [_comparison(claim, one, ours, by, kinds, others) for one, by in pairs]
        )
    return Judgement(
        verdict=verdict,
        reason=reason,
        seeds=len(records),
        fraction=claim.fraction(records[0].experiment),
        ours=ours,
        difference=differences[0] if differences else None,
        as_deviation=differences[1] if len(differences) > 1 else None,
        kinds=kinds,
        diverged=gone,
        learned=_learned(claim, records),
    )


def _difference(claim: Claim, published: Published, ours: Summary) -> Difference:
    """Compute ours minus a published number, with an interval cut to possible differences."""
    compare = welch_interval if published.spread is not None else shared_spread_interval
    found = compare(ours, published.summary, claim.rule.confidence)
    reach = published.scale * measure_of(claim.metric).range
    return replace(found, interval=found.interval.cut(-reach, reach))


def _agreed(judged: Sequence[tuple[Verdict, str]]) -> tuple[Verdict, str]:
    """Find the verdict in which all readings of a published number agree, or inconclusive."""
    (verdict, reason), *others = judged
    if not others:
        return verdict, reason
    ((other, _),) = others
    if verdict is other:
        return verdict, f"{reason}; the same whether ± is a standard error or a standard deviation"
    said = f"{verdict} if it is a standard error, {other} if a standard deviation"
    return Verdict.INCONCLUSIVE, f"the paper does not say the kind of ±: {said}"


def summarize(claim: Claim, records: Sequence[Record]) -> Summary:
    """Compute the mean and standard error of the claim's score, in its published unit.

    Args:
        claim: Which score.
        records: Networks of its experiment, at one number of steps, one record a seed. Those that
            diverged do not count.

    Raises:
        ValueError: As `judge`, or if all of them diverged.
    """
    _check_records(claim, records)
    return mean_and_standard_error(_scores(claim, records))


def diverged(claim: Claim, records: Sequence[Record]) -> tuple[tuple[int, int], ...]:
    """Find seeds of networks that diverged, each with the step from which its loss is not finite.

    Args:
        claim: In whose regime; beside training.
        records: Networks of its experiment.
    """
    steps = {record.seed: record.diverged(claim.regime) for record in records}
    return tuple((seed, step) for seed, step in sorted(steps.items()) if step is not None)


def _learned(claim: Claim, records: Sequence[Record]) -> float | None:
    """Compute the mean share of the way from the floor to the best score in training."""
    task = claim.experiment.task
    if isinstance(task, Environment):  # whose floor is played
        return None
    metric = metric_of(task)
    # A score of some of the problems, such as accuracy/relational, is of the same networks.
    is_own = claim.metric.partition("/")[0] == metric
    if claim.is_by_hand or isinstance(claim.published, Published) or not is_own:
        return None
    best = measure_of(metric).best
    try:
        scores = [record.final(TRAINING, metric) for record in records]
    except KeyError:
        return None
    if not (math.isfinite(best) and math.isfinite(floor := task.chance(TRAINING))):
        return None
    return (sum(scores) / len(scores) - floor) / (best - floor)


def _since(gone: Sequence[tuple[int, int]]) -> str:
    """Describe the networks that diverged."""
    return ", ".join(f"seed {seed} at step {step:,}" for seed, step in gone)


def _scores(claim: Claim, records: Sequence[Record]) -> list[float]:
    """Collect the claim's score of each network that did not diverge, in its published unit."""
    scale = claim.published.scale
    kept = [record for record in records if record.diverged(claim.regime) is None]
    return [scale * record.final(claim.regime, claim.metric) for record in kept]


def _comparison(
    claim: Claim,
    published: Published,
    ours: Summary,
    difference: Difference,
    kinds: TwoKinds | None,
    others: Sequence[tuple[Claim, Sequence[Record]]],
) -> tuple[Verdict, str]:
    """Judge by the difference from a published number.

    Whether networks of two kinds differ is said by Fisher's exact test on the share that solves the
    task, where the published number allows one alone, in place of the interval of the means.
    """
    rule, error = claim.rule, published.standard_error
    half, allowed = difference.interval.half_width, rule.allowed(error)
    p = None if kinds is None else kinds.p
    differs = difference.clear if p is None else p < 1 - rule.confidence
    known = f"known to ±{half:.3g} only"
    if not rule.equivalent(difference, error) or (differs and p is not None):
        if differs:
            return _direction(claim, ours, others)
        said = f"no clear difference, but {known}, which does not show it within ±{allowed:.3g}"
        if difference.clear:
            said = f"the means differ, the shares not: {kinds}"
        return Verdict.INCONCLUSIVE, said
    if rule.is_wide(difference):
        return Verdict.COMPATIBLE, f"no clear difference, but {known}, not to ±{rule.widest:g}"
    if difference.interval.within(rule.margin):
        return Verdict.REPRODUCED, f"all of the interval lies within ±{rule.margin:g}"
    said = f"no clear difference, and it is within ±{allowed:.3g}, as the paper's noise allows"
    return Verdict.REPRODUCED, said


SLOW: Final = 600.0
"""Seconds of training a network above which ten networks, not 20, make a star."""


def _star(records: Sequence[Record]) -> int:
    """Return the number of networks for a star: 20, or ten of over ten minutes each."""
    return 10 if sum(record.seconds for record in records) > SLOW * len(records) else 20


def _goal(
    claim: Claim, records: Sequence[Record], others: Sequence[tuple[Claim, Sequence[Record]]]
) -> tuple[Verdict, str]:
    """Judge a goal of our own, which networks that nobody had looked at must confirm."""
    if isinstance(claim.published, Published) or claim.published.goal is None:
        return Verdict.MEASURED, "no published number, no goal"
    goal = claim.published.goal
    met, said = _reaches(claim, goal, records)
    if not met:
        return Verdict.MISSED, said
    by_hand = _by_hand(claim, others)
    sign = -1 if measure_of(claim.metric).lower_is_better else 1
    if by_hand is not None and sign * by_hand >= sign * goal:
        digits = max(2, claim.published.decimals[0])
        return Verdict.BY_HAND, f"{said}; by hand {by_hand:.{digits}f}"
    lacks = [
        lack
        for lack in (
            _few(records),
            "no row by hand has run" if by_hand is None else "",
            _unconfirmed(claim, goal, records, others),
        )
        if lack
    ]
    if lacks:
        return Verdict.UNCONFIRMED, f"{said}; not confirmed: {', '.join(lacks)}"
    return Verdict.REACHED, f"{said}; confirmed"


def _by_hand(claim: Claim, others: Sequence[tuple[Claim, Sequence[Record]]]) -> float | None:
    """Compute the best mean of the rows by hand in the column of a claim; `None` for none run."""
    rules = claim.by_hand(one for one, _ in others)
    means = [
        summarize(rule, found).mean
        for rule in rules
        if (found := [record for one, records in others if one is rule for record in records])
    ]
    best = min if measure_of(claim.metric).lower_is_better else max
    return best(means, default=None)


def _few(records: Sequence[Record]) -> str:
    """Describe networks that are too few for a star; empty for enough."""
    takes = _star(records)
    return f"{len(records)} of the {takes} networks of a star" if len(records) < takes else ""


def _unconfirmed(
    claim: Claim,
    goal: float,
    records: Sequence[Record],
    others: Sequence[tuple[Claim, Sequence[Record]]],
) -> str:
    """Describe gaps in the confirmation of a goal; empty for none."""
    if claim.confirmation is None:
        return "no confirmation is named"
    by = claim.confirmation.by
    if isinstance(by, int):
        other, new = claim, [record for record in records if record.seed >= by]
        what = f"seeds from {by}"
    else:
        named = claim.confirming(one for one, _ in others)
        other = named or claim
        new = [record for one, found in others if one is named for record in found]
        what = by
    if not new:
        return f"{what} not run"
    _check_records(other, new)
    if lack := _since(diverged(other, new)) or _lack(other, new) or _few(new):
        return f"{what}: {lack}"
    met, said = _reaches(other, goal, new)
    return "" if met else f"{what}: {said}"


def _reaches(claim: Claim, goal: float, records: Sequence[Record]) -> tuple[bool, str]:
    """Tell if the whole interval reaches the goal and is past the floor; and numbers in words."""
    published, measure, scores = claim.published, measure_of(claim.metric), _scores(claim, records)
    # An error is turned over, so that more is better.
    sign = -1 if measure.lower_is_better else 1
    turned = [sign * score for score in scores]
    interval = measure.interval(scores, scale=published.scale, confidence=claim.rule.confidence)
    low = -interval.high if sign < 0 else interval.low
    digits = max(2, published.decimals[0])
    mean = _down(mean_and_standard_error(turned).mean, digits, sign)
    end = f"{'upper' if sign < 0 else 'lower'} end {_down(low, digits, sign)}"
    if not low >= sign * goal:
        side = "above" if sign < 0 else "below"
        return False, f"mean {mean}, {end} is {side} the goal {goal:g}"
    floor = published.scale * claim.floor
    if low <= sign * floor:
        return False, f"mean {mean}, {end} is not past the floor {floor:.{digits}f}"
    if min(scores) < max(scores):
        return True, f"mean {mean}, {end}"
    # Without spread the interval is a point: only the number of networks that pass is known.
    count = len(scores)
    share = math.floor(100 * least_share(count, count, claim.rule.confidence))
    said = f"mean {mean}, {count} of {count} networks pass: at least {share} % do"
    if measure.percent and goal == published.scale * measure.best:
        said += f"; {_without_a_miss(claim, records)}"
    return True, said


def _without_a_miss(claim: Claim, records: Sequence[Record]) -> str:
    """Describe the share of problems that may be missed, though no test problem is."""
    where = (records[0].steps, claim.regime, claim.metric)
    count = sum(
        score.count
        for record in records
        for score in record.scores
        if (score.step, score.regime, score.metric) == where
    )
    most = 100 * (1 - least_share(count, count, claim.rule.confidence))
    scale = 10.0 ** (1 - math.floor(math.log10(most)))
    return (
        f"{count:,} problems without a miss allow misses in {math.ceil(scale * most) / scale:g} %"
    )


def _down(value: float, digits: int, sign: int) -> str:
    """Count a number rounded to the worse side, so that a missed goal does not read as reached.

    Args:
        value: The number, turned over where less is better.
        digits: Digits after the point.
        sign: −1 where it is turned over, else 1.
    """
    scale = 10**digits
    if not math.isfinite(value):
        return f"{sign * value}"
    return f"{sign * math.floor(scale * value + 1e-6) / scale:.{digits}f}"


def _check_records(claim: Claim, records: Sequence[Record]) -> None:
    """Raise `ValueError` unless all records are of the claim and belong together."""
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
    """List respects in which the records have less than the paper; empty if none."""
    runs = claim.published.needed
    lacks = [f"{len(records)} of {runs} networks"] if len(records) < runs else []
    return ", ".join([*lacks, *claim.lacks(records[0].experiment)])


def _direction(
    claim: Claim, ours: Summary, others: Sequence[tuple[Claim, Sequence[Record]]]
) -> tuple[Verdict, str]:
    """Judge by the published order against the other rows of the column.

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
            return Verdict.NOT_REPRODUCED, f"differs; {other.row} was not run in full"
        if diverged(other, records):
            return Verdict.NOT_REPRODUCED, f"differs; {other.row} diverged"
        own = welch_interval(ours, summarize(other, records), confidence)
        if not own.clear or (own.value > 0) != (theirs.value > 0):
            return Verdict.NOT_REPRODUCED, f"differs, and the order against {other.row} fails"
        compared += 1
    if compared == 0:
        return Verdict.NOT_REPRODUCED, "differs; no other row to compare with"
    return Verdict.DIRECTION_ONLY, f"differs, but the order against {compared} rows holds"


def _same_column(claim: Claim, other: Claim) -> bool:
    """Tell if `other` is another row of the claim's column."""
    own = (claim.home, claim.group, claim.column, claim.metric)
    others = (other.home, other.group, other.column, other.metric)
    return other.row != claim.row and others == own
