"""Claims laid out as in the paper, with a strip for the interval of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from farfield.metrics import Difference
from farfield.metrics.internal import measure_of
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.reports._report._text import signs
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reproductions import Claim, Published, Unpublished, Verdict, VerdictRule
from farfield.reproductions.internal import TwoKinds

DIFFERENT: Final = frozenset({Verdict.DIRECTION_ONLY, Verdict.NOT_REPRODUCED})
"""Verdicts on numbers that are called different."""

JUDGED: Final = DIFFERENT | {Verdict.REPRODUCED, Verdict.COMPATIBLE, Verdict.INCONCLUSIVE}
"""Verdicts by an interval of the difference."""

GOALS: Final = (Verdict.REACHED, Verdict.UNCONFIRMED, Verdict.BY_HAND, Verdict.MISSED)
"""Verdicts on goals, the best one first."""

BAND: Final = 3
"""Signs from the middle to the margin."""

SIDE: Final = 7
"""Signs from the middle to either end."""

STRIP_SIGNS: Final[dict[tuple[bool, bool], str]] = {
    (False, False): "·",
    (True, False): "░",
    (False, True): "─",
    (True, True): "═",
}
"""Sign of a position, by whether it is within the margin and within the interval."""

STRIP: Final = (
    "Strip: the difference from the published number. ● ours less published; ─ its 95 % interval, "
    "═ inside the margin; ░ the margin, within which a difference would not matter or is no more "
    "than the paper's noise; │ no difference at all, ┼ inside the interval; ◂ ▸ the interval goes "
    "on. Of a goal it is our mean with its interval; the middle is the goal, and ░ the means that "
    "meet it."
)
"""Explanation of a strip."""

DOTS: Final = (
    "Dots: the networks where they are of two kinds, ● those that solve the task (in the last "
    "third of the way from the floor to the best score), ○ those that stay at the floor (in the "
    "first third), ◐ neither. A cell is of two kinds if, of five networks or more, there are some "
    "of both, and at most a fifth in between. It is compared by Fisher's exact test on the share "
    "that solves the task where the published mean and spread allow one share alone, else by the "
    "means."
)
"""Explanation of the dots, and the rule that they follow."""


def small_pictures(row: Row) -> list[str]:
    """Return the interval against the margin or the goal, and networks of two kinds as dots.

    There are two intervals where the paper does not say the kind of its ±.

    Args:
        row: A cell.
    """
    kinds = row.judgement.kinds
    dots = [_dots(kinds)] if kinds is not None and row.judgement.fraction == 1 else []
    return [*_strips(row), *dots]


def _strips(row: Row) -> list[str]:
    """Return the strip of a goal, or strips of the difference for all readings of the ±."""
    number, judged = row.claim.published, row.judgement
    if isinstance(number, Unpublished):
        if number.goal is None or judged.verdict not in GOALS:
            return []
        return [_goal_strip(row, number.goal)]
    found = [one for one in (judged.difference, judged.as_deviation) if one is not None]
    if not found or judged.verdict not in JUDGED:
        return []
    names = ("SE ", "SD ") if len(found) > 1 else ("",)
    return [
        name + _strip(one, row.claim.rule, reading.standard_error)
        for name, one, reading in zip(names, found, number.readings, strict=True)
    ]


def _strip(difference: Difference, rule: VerdictRule, standard_error: float) -> str:
    """Format a difference as a line of signs, e.g. `····░░═┼═●═──··`."""
    allowed = rule.allowed(standard_error)
    ends = difference.interval.low, difference.value, difference.interval.high
    return _line(_positions(ends, allowed), range(-BAND, BAND + 1))


def _goal_strip(row: Row, goal: float) -> str:
    """Compute a mean against its goal as a line of signs, e.g. `·······┼══●══▸`."""
    interval, ours = row.interval, row.judgement.ours
    if interval is None or ours is None:
        return ""
    ends = [one - goal for one in (interval.low, ours.mean, interval.high)]
    if measure_of(row.claim.metric).lower_is_better:
        ends = [-end for end in reversed(ends)]
    low, middle, high = _positions(ends, row.claim.rule.margin)
    if ends[1] < 0:  # a mean that misses the goal by less than a sign
        low, middle = min(low, -1), min(middle, -1)
    return _line((low, middle, high), range(SIDE + 1))


def _line(ends: Sequence[int], band: range) -> str:
    """Format a line of signs with an interval on it.

    Args:
        ends: Positions of the beginning, the mean and the end of the interval.
        band: Positions at which no difference matters, or at which a goal is met.
    """
    low, middle, high = ends
    signs = [STRIP_SIGNS[at in band, low <= at <= high] for at in range(-SIDE, SIDE + 1)]
    signs[SIDE] = "┼" if low <= 0 <= high else "│"
    if abs(middle) <= SIDE:
        signs[middle + SIDE] = "●"
    if low < -SIDE:
        signs[:2] = ["◂", "●" if middle == -SIDE else signs[1]]
    if high > SIDE:
        signs[-2:] = ["●" if middle == SIDE else signs[-2], "▸"]
    return "".join(signs)


def _positions(ends: Sequence[float], allowed: float) -> tuple[int, int, int]:
    """Return positions of ends and mean of an interval; only intervals that hold 0 have 0."""
    low, middle, high = (_position(end, allowed) for end in ends)
    low = max(low, 1) if ends[0] > 0 else low
    high = min(high, -1) if ends[2] < 0 else high
    return low, min(max(middle, low), high), high


def _position(value: float, allowed: float) -> int:
    """Return the position of a difference from the middle: in the band if in the margin."""
    if not math.isfinite(value):
        return int(math.copysign(SIDE + 1, value))
    scaled = (BAND + 0.5) * value / allowed
    nearest = min(math.floor(abs(scaled) + 0.5), SIDE + 1)
    kept = min(nearest, BAND) if abs(value) <= allowed else max(nearest, BAND + 1)
    return int(math.copysign(kept, value))


def _dots(kinds: TwoKinds) -> str:
    """Format a dot for each network, networks that solve the task first, e.g. `●●●●●●●●◐○`."""
    return "●" * kinds.solve + "◐" * kinds.between + "○" * kinds.stay


SIGNS: Final[dict[Verdict, str]] = {
    Verdict.REPRODUCED: "✓",
    Verdict.COMPATIBLE: "≈",
    Verdict.INCONCLUSIVE: "?",
    Verdict.DIRECTION_ONLY: "↗",
    Verdict.NOT_REPRODUCED: "✗",
    Verdict.REACHED: "★",
    Verdict.UNCONFIRMED: "✦",
    Verdict.BY_HAND: "✧",
    Verdict.MISSED: "☆",
    Verdict.UNDERPOWERED: "◔",
    Verdict.DIVERGED: "!",
    Verdict.NEEDS_DATA: "∅",
    Verdict.NOT_RUN: "–",
    Verdict.MEASURED: "",
}
"""Sign of each verdict in a cell; cells that are only measured have none."""

LEGEND: Final = "\n".join(
    f"- {sign} {verdict.value}: {verdict.meaning}." for verdict, sign in SIGNS.items() if sign
)
"""Signs as a list."""


def grid(
    claims: Iterable[Claim], find: Callable[[Claim], Row | None], order: Sequence[str]
) -> list[str]:
    """List the lines of a Markdown table with a cell for each claim.

    Args:
        claims: Claims of one subject, no two of the same row and column.
        find: Function from a claim to its row; `None` without records.
        order: Columns of the whole table.
    """
    cells = {(claim.row, claim.column): _cell(claim, find(claim)) for claim in claims}
    rows = dict.fromkeys(row for row, _ in cells)
    columns = sorted({column for _, column in cells}, key=order.index)
    return [
        table_line(["", *map(as_words, columns)]),
        table_line(["---", *("---:" for _ in columns)]),
        *(
            table_line([as_words(row), *(cells.get((row, column), "") for column in columns)])
            for row in rows
        ),
    ]


def _cell(claim: Claim, row: Row | None) -> str:
    """Format the published number or the goal above ours, with the verdict's sign and strip."""
    number = claim.published
    above = str(number) if isinstance(number, Published) else text.goal(claim)
    pictures = [] if row is None else [f"`{line}`" for line in small_pictures(row)]
    return "<br>".join([above] * (above != text.MISSING) + [_ours(claim, row), *pictures])


def _ours(claim: Claim, row: Row | None) -> str:
    """Format our number with the sign; of a share of the steps the share alone."""
    if row is None:
        lacks_data = claim.data is not None and not claim.unbuilt
        return SIGNS[Verdict.NEEDS_DATA if lacks_data else Verdict.NOT_RUN]
    share = row.judgement.fraction
    number = text.ours(row) if share == 1 else text.budget(row)
    parts = (number, SIGNS[row.judgement.verdict], signs(row))
    return " ".join(filter(None, parts)) + recipe_of(row)


ORDINALS: Final = ("", "", "second", "third", "fourth", "fifth", "sixth")
"""Ordinal numbers in words."""


def recipe_of(row: Row) -> str:
    """Format the number of the recipe of a goal and a link to earlier numbers; empty for one.

    Args:
        row: Recorded row of a claim.
    """
    number = len(row.earlier) + 1
    if number == 1 or row.judgement.verdict not in GOALS:
        return ""
    ordinal = ORDINALS[number] if number < len(ORDINALS) else f"{number}th"
    paper = row.claim.home.partition("/")[0]
    return f", [{ordinal} recipe]({paper}.md#earlier-recipes)"
