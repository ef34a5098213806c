"""Paired t-test of two series measured under the same conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np


@final
@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """Result of a paired t-test.

    Args:
        difference: Mean of first − second over the conditions.
        t: The statistic; infinite where all differences are equal, nan where all are zero.
        p: Two-sided probability of a statistic at least as far from zero if the true mean of the
            differences is zero; nan where the statistic is.
        count: Number of conditions.
    """

    difference: float
    t: float
    p: float
    count: int


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    r"""Student's test of the differences of pairs, two-sided.

    $$t = \frac{\bar d}{s_d / \sqrt n}, \qquad d_i = x_i - y_i,$$

    with $s_d$ the standard deviation of the differences (divisor n − 1) and n − 1 degrees of
    freedom. The conditions are taken for independent draws from one population of conditions, as
    the papers that use it do.

    Args:
        first: One number per condition.
        second: One number per condition, in the same order.

    Raises:
        ValueError: If the numbers are not as many, fewer than two, or not finite.

    Reference:
        Student (1908), Biometrika 6: 1–25; used by webb2021, appendix A.5.4.

    Example:
        >>> test = paired_t_test([3.0, 4.0, 6.0], [2.0, 2.0, 3.0])
        >>> round(test.difference, 1), round(test.t, 2)
        (2.0, 3.46)
    """
    ours, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if ours.ndim != 1 or ours.shape != theirs.shape or ours.size < 2:
        raise ValueError(
            "first and second must be one number per condition, the same at least two conditions, "
            f"got shapes {ours.shape} and {theirs.shape}"
        )
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        raise ValueError("first and second must be finite numbers")
    differences = ours - theirs
    from scipy.stats import ttest_1samp  # noqa: PLC0415 — a quarter of a second to import

    # Shifted by the first, so that equal differences have a spread of exactly 0.
    test = ttest_1samp(differences - differences[0], -differences[0])
    return PairedTest(
        difference=float(differences.mean()),
        t=float(test.statistic),
        p=float(test.pvalue),
        count=differences.size,
    )
