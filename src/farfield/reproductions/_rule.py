"""Rule by which a published number counts as reproduced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from farfield.core.internal import Checked, Limits, PositiveFloat
from farfield.metrics import Difference


@final
@dataclass(frozen=True, kw_only=True)
class VerdictRule(Checked):
    r"""Rule by which a claim counts as reproduced, fixed before the run.

    Let $d$ be ours minus the published mean, $I$ its interval with the published rounding in it
    (Welch's; of a number published without its spread, as if those networks scattered as ours do),
    and $e'$ the published standard error, 0 where none is published. A claim with as many networks
    and steps as the paper's is *reproduced* if either

    1. all of $I$ lies within ±`margin`: whatever the difference is, it does not matter; or
    2. $I$ holds 0, $|d| \le w$ and the half width of $I$ is at most `reach` · w, where
       $w = \max(\texttt{margin}, \texttt{noise} \cdot e')$: the difference is no larger than the
       paper's own noise would make it, and ours is precise enough to be compared with it.

    The last condition keeps networks that scatter widely from passing for a published cell that
    does not. Where $I$ is wider than ±`widest`, the verdict is *compatible, wide* in place of
    reproduced: nothing speaks against it, and too little is known to speak for it. A claim that is
    neither is *inconclusive* if $I$ holds 0. All others are different: those whose order against
    the other rows of their column comes out as published are *direction only*, the rest *not
    reproduced*.

    The defaults are in percentage points. `python -m benchmarks.verdicts` measures on made-up
    networks how often the rule errs: of normal scores about 5 in 100 claims are called different
    by mistake, fewer where the standard error is small; a true difference of 3 points or 6 standard
    errors of a cell, whichever is more, is called in 95 of 100 or more; one of 20 points is
    reproduced in at most 1 of 100. Where one network in ten fails, most claims are *compatible,
    wide* or *inconclusive*.

    Args:
        margin: Difference that would not matter, in the published unit.
        noise: Published standard errors that a difference may have where they exceed the margin.
        reach: Largest half width of the interval, in widths of the margin.
        widest: Largest half width of an interval that is informative, in the published unit: 10
            points, or a tenth of the range of the measure.
        confidence: Of all intervals.

    Raises:
        ValueError: If a field is no finite number above 0, or the confidence not below 1.
    """

    margin: PositiveFloat = 2.0
    noise: PositiveFloat = 3.0
    reach: PositiveFloat = 2.0
    widest: PositiveFloat = 10.0
    confidence: Annotated[float, Limits(above=0, below=1)] = 0.95

    def allowed(self, standard_error: float) -> float:
        """Find the largest difference that counts as none, beside a published standard error."""
        return max(self.margin, self.noise * standard_error)

    def equivalent(self, difference: Difference, standard_error: float) -> bool:
        """Tell if a difference from a published mean of that standard error counts as none."""
        if difference.interval.within(self.margin):
            return True
        allowed = self.allowed(standard_error)
        return (
            difference.interval.contains(0.0)
            and abs(difference.value) <= allowed
            and difference.interval.half_width <= self.reach * allowed
        )

    def is_wide(self, difference: Difference) -> bool:
        """Tell if the interval of a difference is too wide to say that there is none."""
        return difference.interval.half_width > self.widest
