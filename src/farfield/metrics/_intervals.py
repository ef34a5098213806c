"""Means, intervals and tests over a handful of trained networks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray


@final
@dataclass(frozen=True, kw_only=True)
class Summary:
    """A mean over networks, with its error.

    Args:
        mean: Mean over the networks.
        standard_error: Standard deviation over the networks (divisor n − 1) over √n; nan for one
            network, whose spread nobody knows.
        count: Number of networks.
        mean_rounding: Half a unit of the last digit of the mean, where it is a published number.
        error_rounding: The same of the standard error.

    Raises:
        ValueError: If the count is below 1, or the error or a rounding is negative.
    """

    mean: float
    standard_error: float
    count: int
    mean_rounding: float = 0.0
    error_rounding: float = 0.0

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count must be at least 1, got {self.count}")
        for name in ("standard_error", "mean_rounding", "error_rounding"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")


@final
@dataclass(frozen=True, kw_only=True)
class Interval:
    """The numbers from `low` to `high`, both included; infinite where nothing is known.

    Args:
        low: Lower end.
        high: Upper end.

    Raises:
        ValueError: If the ends are in the wrong order.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")

    @property
    def half_width(self) -> float:
        """Half the distance of the ends."""
        return (self.high - self.low) / 2

    def contains(self, value: float) -> bool:
        """Tell if `value` lies between the ends."""
        return self.low <= value <= self.high

    def within(self, margin: float) -> bool:
        """Tell if the whole interval lies in −margin…margin."""
        return -margin <= self.low and self.high <= margin

    def cut(self, lowest: float, highest: float) -> Interval:
        """Cut the interval to the range in which the number can be.

        The mean of scores that lie in a range lies in it too, so that the part holds the true mean
        exactly as often as the whole interval does: the rest is never right. Two other
        methods stay in the range by themselves, and say less of a few networks. An interval on the
        scale of logits has no ends where a network scores 0 or 100 %, as many do; Hoeffding's,
        which holds for every distribution, reaches 43 points to either side of ten scores,
        whatever these are. Cutting does not mend a t interval of scores that are far from normal;
        `python -m benchmarks.verdicts` measures that.

        Args:
            lowest: Least value of the number.
            highest: Largest value of the number.
        """
        low, high = (min(max(end, lowest), highest) for end in (self.low, self.high))
        return Interval(low=low, high=high)


@final
@dataclass(frozen=True, kw_only=True)
class Difference:
    """Ours minus theirs, and how well it is known.

    Args:
        value: Difference of the means.
        interval: Its confidence interval.
        degrees: Degrees of freedom of the interval; nan where one side is a single network.
    """

    value: float
    interval: Interval
    degrees: float

    @property
    def clear(self) -> bool:
        """True if the interval does not contain zero."""
        return self.interval.low > 0 or self.interval.high < 0


def _checked(values: Sequence[float]) -> NDArray[np.float64]:
    """Convert the values to one row of float64."""
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(
            f"values must be one number per network, at least one, got shape {row.shape}"
        )
    return row


def _quantile(degrees: float, confidence: float) -> float:
    """Compute the t quantile that leaves half of `1 - confidence` on each side."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    from scipy.special import stdtrit  # noqa: PLC0415 — a tenth of a second to import

    return float(stdtrit(degrees, 0.5 + confidence / 2))


def mean_and_standard_error(values: Sequence[float]) -> Summary:
    r"""Compute the mean $\bar x$ of the networks and its standard error $s / \sqrt n$.

    Args:
        values: One score per network.

    Raises:
        ValueError: If there are no scores.
    """
    row = _checked(values)
    # Shifted by the first score, so that equal scores have a spread of exactly 0.
    shifted = row - row[0]
    spread = float(shifted.std(ddof=1)) if row.size > 1 else math.nan
    return Summary(
        mean=float(row[0] + shifted.mean()),
        standard_error=spread / math.sqrt(row.size),
        count=row.size,
    )


def t_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    r"""Compute the interval of the mean, $\bar x \pm t_{n-1} \, s / \sqrt n$.

    One score gives the whole line: nothing is known of its spread. Equal scores give a point.

    Args:
        values: One score per network.
        confidence: Share of intervals made so that hold the true mean.

    Raises:
        ValueError: If there are no scores, or the confidence is not between 0 and 1.

    Example:
        >>> t_interval([90.0, 92.0, 94.0])
        Interval(low=87.03..., high=96.96...)
    """
    summary = mean_and_standard_error(values)
    if summary.count == 1:
        return Interval(low=-math.inf, high=math.inf)
    reach = _quantile(summary.count - 1, confidence) * summary.standard_error
    return Interval(low=summary.mean - reach, high=summary.mean + reach)


def least_share(successes: int, count: int, confidence: float = 0.95) -> float:
    r"""Lower end of the one-sided interval of a share after Clopper and Pearson.

    Of the least share, $k$ successes or more among $n$ come in $1 - c$ of studies; where all
    succeed it is $(1 - c)^{1/n}$.

    Args:
        successes: How many succeed, $k$.
        count: How many there are, $n$.
        confidence: Share of intervals made so that hold the true share, $c$.

    Raises:
        ValueError: If there are none, more succeed than there are, or the confidence is not between
            0 and 1.

    Reference:
        Clopper, C. J., Pearson, E. S. (1934), Biometrika 26: 404–413.

    Example:
        >>> least_share(10, 10)
        0.741...
    """
    if not 0 <= successes <= count or count < 1:
        raise ValueError(
            f"successes must lie in 0…count, of at least 1, got {successes} of {count}"
        )
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if successes == 0:
        return 0.0
    from scipy.special import betaincinv  # noqa: PLC0415 — a tenth of a second to import

    return float(betaincinv(successes, count - successes + 1, 1 - confidence))


def paired_interval(
    ours: Sequence[float],
    theirs: Sequence[float],
    confidence: float = 0.95,
    *,
    comparisons: int = 1,
) -> Difference:
    r"""Compute the mean difference of pairs, ours − theirs, with its t interval, in a comparison.

    With $m$ comparisons each interval has the confidence $1 - (1 - c) / m$: all of them together
    hold their true differences in a share $c$ of studies at least (Bonferroni), whatever their
    dependence. One pair gives the whole line.

    Args:
        ours: One score per pair, e.g. per seed.
        theirs: One score per pair, in the same order.
        confidence: Share of studies all of whose intervals hold the true differences, $c$.
        comparisons: How many differences are looked at, $m$.

    Raises:
        ValueError: If the scores are not as many or none, the confidence is not between 0 and 1, or
            there are no comparisons.

    Reference:
        Dunn, O. J. (1961), Journal of the American Statistical Association 56: 52–64.

    Example:
        >>> paired_interval([3.0, 4.0, 6.0], [2.0, 2.0, 3.0], comparisons=2).interval
        Interval(low=-1.5..., high=5.5...)
    """
    first, second = _checked(ours), _checked(theirs)
    if first.size != second.size:
        raise ValueError(
            f"ours and theirs must be one number per pair, got {first.size} and {second.size}"
        )
    if comparisons < 1:
        raise ValueError(f"comparisons must be at least 1, got {comparisons}")
    differences = (first - second).tolist()
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    return Difference(
        value=mean_and_standard_error(differences).mean,
        interval=t_interval(differences, 1 - (1 - confidence) / comparisons),
        degrees=first.size - 1 if first.size > 1 else math.nan,
    )


def shared_spread_interval(ours: Summary, theirs: Summary, confidence: float = 0.95) -> Difference:
    r"""Compute the difference of two means, ours − theirs, where only ours has a spread.

    Networks of both sides are taken to scatter alike. With our standard deviation $s$ over $n$
    networks, and $m$ behind their mean, which is rounded to $\pm h$, the interval is
    $\pm t_{n-1} \sqrt{s^2 (1/n + 1/m) + h^2/3}$. One network of ours gives the whole line.

    Args:
        ours: One side, with its standard error.
        theirs: The other, e.g. a published mean of one network; its standard error is not read.
        confidence: Share of intervals made so that hold the true difference.

    Raises:
        ValueError: If the confidence is not between 0 and 1.

    Example:
        >>> ours = Summary(mean=92.0, standard_error=1.0, count=4)
        >>> shared_spread_interval(ours, Summary(mean=90.0, standard_error=0.0, count=1)).interval
        Interval(low=-5.1..., high=9.1...)
    """
    value = ours.mean - theirs.mean
    if math.isnan(ours.standard_error):
        everything = Interval(low=-math.inf, high=math.inf)
        return Difference(value=value, interval=everything, degrees=math.nan)
    square = ours.standard_error**2 * (1 + ours.count / theirs.count)
    rounding = (ours.mean_rounding**2 + theirs.mean_rounding**2) / 3
    degrees = ours.count - 1 if square else math.inf
    reach = _quantile(degrees, confidence) * math.sqrt(square + rounding)
    return Difference(
        value=value, interval=Interval(low=value - reach, high=value + reach), degrees=degrees
    )


def welch_interval(ours: Summary, theirs: Summary, confidence: float = 0.95) -> Difference:
    r"""Compute the difference of two means, ours − theirs, with Welch's interval.

    With standard errors $e$ over $n$ networks and $e'$ over $n'$ the difference has the variance
    $v = e^2 + e'^2$, and its interval is $\pm t_\nu \sqrt v$ with

    $$\nu = \frac{v^2}{e^4/(n-1) + e'^4/(n'-1)}.$$

    A published number is known to half a unit of its last digit, $h$. Uniform rounding has the
    variance $h^2/3$ and does not come from few networks: that of a mean enters $v$ but not the
    denominator. That of a standard error raises its mean square by $h^2/3$, so that a published 0.0
    is not taken for an error of zero. With neither rounding nor spread the interval is a point.
    One network on either side, whose error nobody knows, gives the whole line.

    Args:
        ours: One side, e.g. freshly trained networks.
        theirs: The other, e.g. a published cell.
        confidence: Share of intervals made so that hold the true difference.

    Raises:
        ValueError: If the confidence is not between 0 and 1.

    Reference:
        Welch, B. L. (1947), Biometrika 34: 28–35.
    """
    value = ours.mean - theirs.mean
    if math.isnan(ours.standard_error) or math.isnan(theirs.standard_error):
        everything = Interval(low=-math.inf, high=math.inf)
        return Difference(value=value, interval=everything, degrees=math.nan)
    variance = noise = 0.0
    for side in (ours, theirs):
        square = side.standard_error**2 + side.error_rounding**2 / 3
        variance += square + side.mean_rounding**2 / 3
        noise += square**2 / (side.count - 1) if square else 0.0
    degrees = variance**2 / noise if noise > 0 else math.inf
    reach = _quantile(degrees, confidence) * math.sqrt(variance)
    return Difference(
        value=value, interval=Interval(low=value - reach, high=value + reach), degrees=degrees
    )


@final
@dataclass(frozen=True, kw_only=True)
class SeededDifference:
    """Difference of two means over networks, some of which share a seed.

    Args:
        value: Difference of the means of all networks.
        error: Its standard error; nan where one side is a single network.
        degrees: Degrees of freedom of the error.
        pairs: Number of seeds that both sides have.
    """

    value: float
    error: float
    degrees: float
    pairs: int

    @property
    def t(self) -> float:
        """Statistic of Student's test; infinite where the error is zero, nan where all is."""
        if self.error == 0:
            return math.copysign(math.inf, self.value) if self.value else math.nan
        return self.value / self.error

    @property
    def p(self) -> float:
        """Two-sided probability of a statistic at least as far from zero if the means agree."""
        from scipy.special import stdtr  # noqa: PLC0415 — a tenth of a second to import

        return float(2 * stdtr(self.degrees, -abs(self.t)))

    @property
    def interval(self) -> Interval:
        """95 % interval; the whole line where the error is unknown."""
        if math.isnan(self.error):
            return Interval(low=-math.inf, high=math.inf)
        reach = _quantile(self.degrees, 0.95) * self.error if self.error else 0.0
        return Interval(low=self.value - reach, high=self.value + reach)


def seeded_difference(ours: Mapping[int, float], theirs: Mapping[int, float]) -> SeededDifference:
    r"""Compute the difference of two means, ours − theirs, with the error that shared seeds leave.

    A seed gives both sides the same problems. Of $n$ and $m$ networks with deviations $s$ and
    $s'$, $k$ of them in pairs with correlation $r$, the variance of the difference of the means is

    $$v = \frac{s^2}{n} + \frac{s'^2}{m} - 2 r \, \frac{k \, s s'}{n m}, \qquad
      \nu = k - 1 + \frac{(\gamma - k + 1)(n + m - 2k)}{n + m},$$

    with Welch's $\gamma$. It is the paired t-test where all seeds are shared and Welch's test where
    none is. The correlation of fewer than three pairs is unknown and taken for 0.

    Args:
        ours: Score by seed.
        theirs: Score by seed.

    Raises:
        ValueError: If a side has no scores.

    Reference:
        Derrick, B., Russ, B., Toher, D., White, P. (2017), Journal of Modern Applied Statistical
        Methods 16(1): 137–157, the test for unequal variances.

    Example:
        >>> seeded_difference({0: 3.0, 1: 4.0, 2: 6.0}, {0: 2.0, 1: 2.0, 2: 3.0}).value
        2.0
    """
    first, second = _checked([*ours.values()]), _checked([*theirs.values()])
    shared = [seed for seed in ours if seed in theirs]
    n, m, pairs = first.size, second.size, len(shared)
    if n == m == pairs:
        found = mean_and_standard_error([ours[seed] - theirs[seed] for seed in shared])
        degrees = n - 1 if n > 1 else math.nan
        return SeededDifference(
            value=found.mean, error=found.standard_error, degrees=degrees, pairs=n
        )
    one, other = mean_and_standard_error(first.tolist()), mean_and_standard_error(second.tolist())
    value, e, f = one.mean - other.mean, one.standard_error, other.standard_error
    if n < 2 or m < 2:
        return SeededDifference(value=value, error=math.nan, degrees=math.nan, pairs=pairs)
    noise = e**4 / (n - 1) + f**4 / (m - 1)
    welch = (e**2 + f**2) ** 2 / noise if noise else math.inf
    # k s s' / (n m) = k e e' / √(n m), in the standard errors e and e' of the means
    r = _correlation([ours[seed] for seed in shared], [theirs[seed] for seed in shared])
    variance = e**2 + f**2 - 2 * r * pairs * e * f / math.sqrt(n * m)
    alone = (n + m - 2 * pairs) / (n + m)
    degrees = pairs - 1 + (welch - pairs + 1) * alone
    return SeededDifference(
        value=value, error=math.sqrt(max(variance, 0.0)), degrees=degrees, pairs=pairs
    )


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Compute Pearson's correlation of pairs; 0 for fewer than three, or without any spread."""
    if len(first) < 3 or len({*first}) == 1 or len({*second}) == 1:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


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
    r"""Test the differences of pairs by Student's test, two-sided.

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
