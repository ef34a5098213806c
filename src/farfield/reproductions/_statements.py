"""Statements of a paper on several cells at once, and their verdicts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from farfield.core.internal import REFERENCES, UnknownNameError
from farfield.metrics import Interval
from farfield.reproductions._claims import Claim
from farfield.reproductions._comparisons import (
    Cells,
    Comparison,
    Find,
    Parameters,
    Wins,
    as_measured,
    as_published,
)
from farfield.reproductions._verdicts import Verdict, judge
from farfield.tasks import Task, is_at_hand

CONFIDENCE = 0.95
UNMEASURED = (Verdict.NOT_RUN, Verdict.NEEDS_DATA)


@final
@dataclass(frozen=True, kw_only=True)
class Statement:
    """A number or an order in a paper's text, or a curve that it only draws.

    Args:
        paper: Key of the paper, e.g. `"webb2020"`.
        name: Name within its paper, e.g. `"error-below-sub-batch"`.
        about: The quantity, in a line.
        quote: The words of the paper that say it.
        where: Where they stand, e.g. `"section 4.2"`.
        comparison: Comparison to compute; `None` where none can be computed here.
        low, high: The numbers that the words allow.
        margin: How far beyond them a number would not matter, fixed before the run.
        missing: Needs of the comparison, where none can be computed.
        note: How the words are read where they leave it open.

    Raises:
        ValueError: If the paper is unknown, the ends are in the wrong order or the margin is
            negative, or if `missing` is empty where there is no comparison.
    """

    paper: str
    name: str
    about: str
    quote: str
    where: str
    comparison: Comparison | None = None
    low: float = -math.inf
    high: float = math.inf
    margin: float = 0.0
    missing: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.paper not in REFERENCES:
            raise UnknownNameError("paper", self.paper, REFERENCES)
        if self.low > self.high or self.margin < 0:
            raise ValueError(
                "low must not exceed high and margin must be at least 0, "
                f"got {self.low}, {self.high} and {self.margin}"
            )
        if (self.comparison is None) != bool(self.missing):
            raise ValueError("missing must not be empty where there is no comparison")

    @property
    def key(self) -> str:
        """Name among the statements of all papers, e.g. `"webb2020/error-below-sub-batch"`."""
        return f"{self.paper}/{self.name}"

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Cells of the statement, all of them."""
        cells = self.comparison.cells if self.comparison is not None else ()
        named = {claim.name: claim for one in cells for claim in one.claims}
        return tuple(named.values())

    def allows(self, interval: Interval) -> bool:
        """Tell if all of an interval is within the statement's limits and margin.

        Args:
            interval: The interval.
        """
        return self.low - self.margin <= interval.low and interval.high <= self.high + self.margin

    def touches(self, interval: Interval) -> bool:
        """Tell if some of an interval is within the statement's limits and margin."""
        return self.low - self.margin <= interval.high and interval.low <= self.high + self.margin


@final
@dataclass(frozen=True, kw_only=True)
class StatementJudgement:
    """A verdict, with the numbers behind it.

    Args:
        verdict: The word.
        reason: Why, in a line.
        published: Value of the published cells, formatted; empty where they are not all
            published.
        ours: Value of our cells, with the interval; empty where not all of them were run.
    """

    verdict: Verdict
    reason: str
    published: str = ""
    ours: str = ""


def judge_statement(
    statement: Statement, find: Find, *, has_data: Callable[[Task], bool] = is_at_hand
) -> StatementJudgement:
    """Judge a statement.

    Args:
        statement: Statement to judge.
        find: The records to judge a claim by.
        has_data: Whether the real data that a task needs is on this machine.
    """
    comparison = statement.comparison
    if comparison is None:
        return StatementJudgement(verdict=Verdict.NOT_RUN, reason=statement.missing)
    number = as_published(comparison) if comparison.cells else None
    judged = StatementJudgement(
        verdict=Verdict.REPRODUCED,
        reason="the words allow all of the interval",
        published="" if number is None else comparison.text(number),
    )
    verdicts = [
        judge(claim, find(claim), data_missing=not has_data(claim.experiment.task))
        for claim in statement.claims
    ]
    absent = [one for one in verdicts if one.verdict in UNMEASURED]
    if absent:
        of = f"{len(verdicts) - len(absent)} of {len(verdicts)} cells run"
        reasons = dict.fromkeys(one.reason for one in absent)
        return dataclasses.replace(
            judged,
            verdict=absent[0].verdict,
            reason=f"{of}; {'; '.join(reasons)}",
            ours=_some(comparison, find) if isinstance(comparison, Wins) else "",
        )
    diverged = [one.reason for one in verdicts if one.verdict is Verdict.DIVERGED]
    if diverged:
        return dataclasses.replace(judged, verdict=Verdict.DIVERGED, reason=diverged[0])
    try:
        value, draws = as_measured(comparison, find)
    except KeyError as error:
        reason = f"not recorded: {error.args[0]}"
        return dataclasses.replace(judged, verdict=Verdict.NOT_RUN, reason=reason)
    interval = _interval(value, draws, exact=isinstance(comparison, Parameters))
    judged = dataclasses.replace(judged, ours=_written(comparison, value, interval))
    lacking = [one.reason for one in verdicts if one.verdict is Verdict.UNDERPOWERED]
    if lacking:
        return dataclasses.replace(judged, verdict=Verdict.UNDERPOWERED, reason=lacking[0])
    verdict, reason = _verdict(statement, comparison.neutral, interval)
    return dataclasses.replace(judged, verdict=verdict, reason=reason)


def _verdict(
    statement: Statement, neutral: float | None, interval: Interval
) -> tuple[Verdict, str]:
    """Judge an interval, for as many networks and steps as published."""
    if statement.allows(interval):
        return Verdict.REPRODUCED, "the words allow all of the interval"
    above = neutral is not None and min(statement.low, interval.low) > neutral
    below = neutral is not None and max(statement.high, interval.high) < neutral
    if above or below:
        return Verdict.DIRECTION_ONLY, "the direction holds, the number is not shown to"
    if statement.touches(interval):
        return Verdict.COMPATIBLE, "the words allow some of the interval, not all"
    return Verdict.NOT_REPRODUCED, "the words allow nothing of the interval"


def _interval(value: float, draws: np.ndarray, *, exact: bool) -> Interval:
    """Compute the interval of a number; the whole line where a spread is not known."""
    if exact:
        return Interval(low=value, high=value)
    if not np.isfinite(draws).all():
        return Interval(low=-math.inf, high=math.inf)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="nearest")
    return Interval(low=float(low), high=float(high))


def _written(comparison: Comparison, value: float, interval: Interval) -> str:
    """Count a number with its interval, e.g. `0.58 × [0.49 ×, 0.70 ×]`."""
    text = comparison.text
    if interval.half_width == 0 or not math.isfinite(interval.half_width):
        return text(value)
    return f"{text(value)} [{text(interval.low)}, {text(interval.high)}]"


def _some(comparison: Wins, find: Find) -> str:
    """Format the count over the contests whose cells were all run; empty without any."""

    def is_run(cells: Cells) -> bool:
        return all(find(claim) for claim in cells.claims)

    run = tuple(contest for contest in comparison.contests if all(map(is_run, contest)))
    if not run:
        return ""
    some = Wins(contests=run)
    return f"{some.text(as_measured(some, find)[0])} that were run"
