"""Small pictures of one cell in a line of text: its interval against the margin, its networks."""

from __future__ import annotations

import math
from typing import Final

from farfield.metrics import Difference
from farfield.reports._tables._report import Row
from farfield.reproductions import Published, TwoKinds, Verdict, VerdictRule

DIFFERENT: Final = frozenset({Verdict.DIRECTION_ONLY, Verdict.NOT_REPRODUCED})
"""Verdicts on numbers that are called different."""

JUDGED: Final = DIFFERENT | {Verdict.REPRODUCED, Verdict.COMPATIBLE, Verdict.INCONCLUSIVE}
"""Verdicts by an interval of the difference."""

BAND: Final = 3
"""Signs from the middle to the margin."""

SIDE: Final = 7
"""Signs from the middle to either end."""

SIGNS: Final[dict[tuple[bool, bool], str]] = {
    (False, False): "·",
    (True, False): "░",
    (False, True): "─",
    (True, True): "═",
}
"""Sign by whether it is within the margin, and within the interval."""

STRIP: Final = (
    "Strip: the difference from the published number. ● ours less published; ─ its 95 % interval, "
    "═ inside the margin; ░ the margin, within which a difference would not matter or is no more "
    "than the paper's noise; │ no difference at all, ┼ inside the interval; ◂ ▸ the interval goes "
    "on."
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
    """The interval of a judged difference against the margin, and networks of two kinds as dots.

    There are two intervals where the paper does not say what its ± is.

    Args:
        row: A cell.
    """
    kinds = row.judgement.kinds
    shown = row.judgement.fraction == 1 and kinds is not None
    return [*_strips(row), *([_dots(kinds)] if shown and kinds is not None else [])]


def _strips(row: Row) -> list[str]:
    """The intervals of a judged difference, one for each reading of the published ±."""
    number, judged = row.claim.published, row.judgement
    found = [one for one in (judged.difference, judged.as_deviation) if one is not None]
    if not isinstance(number, Published) or not found or judged.verdict not in JUDGED:
        return []
    names = ("SE ", "SD ") if len(found) > 1 else ("",)
    return [
        name + _strip(one, row.claim.rule, reading.standard_error)
        for name, one, reading in zip(names, found, number.readings, strict=True)
    ]


def _strip(difference: Difference, rule: VerdictRule, standard_error: float) -> str:
    """A difference as a line of signs, e.g. `····░░░┼═●══─··`."""
    allowed = rule.allowed(standard_error)
    low, high = (_place(end, allowed) for end in _ends(difference))
    signs = [SIGNS[abs(place) <= BAND, low <= place <= high] for place in range(-SIDE, SIDE + 1)]
    signs[SIDE] = "┼" if low <= 0 <= high else "│"
    middle = _place(difference.value, allowed)
    if abs(middle) <= SIDE:
        signs[middle + SIDE] = "●"
    if low < -SIDE:
        signs[:2] = ["◂", "●" if middle == -SIDE else signs[1]]
    if high > SIDE:
        signs[-2:] = ["●" if middle == SIDE else signs[-2], "▸"]
    return "".join(signs)


def _ends(difference: Difference) -> tuple[float, float]:
    return difference.interval.low, difference.interval.high


def _place(value: float, allowed: float) -> int:
    """Where a difference stands: within the margin on one of its signs, beyond it on another."""
    if not math.isfinite(value):
        return int(math.copysign(SIDE + 1, value))
    scaled = (BAND + 0.5) * value / allowed
    nearest = min(math.floor(abs(scaled) + 0.5), SIDE + 1)
    kept = min(nearest, BAND) if abs(value) <= allowed else max(nearest, BAND + 1)
    return int(math.copysign(kept, value))


def _dots(kinds: TwoKinds) -> str:
    """A dot for each network, those that solve the task first, e.g. `●●●●●●●●◐○`."""
    return "●" * kinds.solve + "◐" * kinds.between + "○" * kinds.stay
