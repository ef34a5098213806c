"""Error rates of the verdict rule on simulated reproductions of known numbers.

Run from the root of the checkout:

    python -m benchmarks.verdicts    # about two minutes

Each trial draws ten networks of a print and ten of ours from one distribution, or from two that are
a number of points apart, rounds the print to one decimal, and asks for the verdict. Distributions:
normal ones; scores cut off at 100; and networks of which one in ten or a half fails. A print of one
network has no spread, and is compared with three of ours.

A second table says how many 95 % intervals of a mean hold the true one, and how many go beyond 0 to
100 before they are cut there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import norm

from benchmarks import _pages
from farfield.metrics import mean_and_standard_error, t_interval
from farfield.metrics.internal import Summary, measure_of, shared_spread_interval, welch_interval
from farfield.reproductions import VerdictRule

RESULTS = _pages.RESULTS / "verdicts"
TRIALS: Final = 10_000
WORDS: Final = ("reproduced", "compatible, wide", "inconclusive", "different")

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Function from random numbers and a count to scores of so many networks, in percent."""


class Case(NamedTuple):
    """Networks of a print and of ours.

    Attributes:
        name: Name of the distribution.
        theirs: Scores behind the print.
        ours: Scores of ours.
        runs: Networks behind the print, and at least three of ours.
    """

    name: str
    theirs: Draw
    ours: Draw
    runs: int = 10


def normal(mean: float, deviation: float) -> Draw:
    """Draw scores of a normal distribution.

    Args:
        mean: Its mean.
        deviation: Its standard deviation.
    """
    return lambda random, count: random.normal(mean, deviation, count)


def capped(mean: float, deviation: float) -> Draw:
    """Draw scores of a normal distribution, cut at 100.

    Args:
        mean: Mean before that.
        deviation: Standard deviation before that.
    """
    return lambda random, count: np.minimum(random.normal(mean, deviation, count), 100.0)


def failing(share: float) -> Draw:
    """Draw scores around 99, of which a share is around 50.

    Args:
        share: Share of networks that fail.
    """

    def draw(random: np.random.Generator, count: int) -> np.ndarray:
        fails = random.random(count) < share
        return np.where(fails, random.normal(50, 2, count), random.normal(99, 0.5, count))

    return draw


CASES: Final = (
    *(
        Case(f"normal, deviation {s:g}", normal(50, s), normal(50, s))
        for s in (0.3, 1.0, 3.0, 10.0)
    ),
    Case("normal, deviation 1, print of one network", normal(50, 1), normal(50, 1), 1),
    Case("normal, deviation 1, 3 points apart", normal(50, 1), normal(53, 1)),
    Case("normal, deviation 3, 6 points apart", normal(50, 3), normal(56, 3)),
    Case("normal, deviation 10, 20 points apart", normal(50, 10), normal(70, 10)),
    Case("near the ceiling, cut off at 100", capped(99.5, 1.0), capped(99.5, 1.0)),
    Case("one network in ten fails", failing(0.1), failing(0.1)),
    Case("half of the networks fail", failing(0.5), failing(0.5)),
    Case("normal, deviation 3, three networks each", normal(50, 3), normal(50, 3), 3),
    Case("near the ceiling, three networks each", capped(99.5, 1.0), capped(99.5, 1.0), 3),
    Case("one in ten fails, three networks each", failing(0.1), failing(0.1), 3),
    Case("one in ten fails, and five in ten", failing(0.1), failing(0.5)),
)


class Known(NamedTuple):
    """A distribution whose mean is known.

    Attributes:
        name: Name of it.
        draw: Scores of networks.
        mean: Their mean.
    """

    name: str
    draw: Draw
    mean: float


DISTRIBUTIONS: Final = (
    Known("normal, deviation 3", normal(50, 3), 50.0),
    Known(
        "near the ceiling, cut off at 100",
        capped(99.5, 1.0),
        100 - 0.5 * float(norm.cdf(0.5)) - float(norm.pdf(0.5)),
    ),
    Known("one network in ten fails", failing(0.1), 0.1 * 50 + 0.9 * 99),
    Known("half of the networks fail", failing(0.5), 0.5 * 50 + 0.5 * 99),
)
COUNTS: Final = (3, 5, 10, 20)
"""Numbers of networks."""


def coverage(known: Known, count: int, trials: int) -> dict[str, float]:
    """Simulate the shares of intervals that contain the mean, before and after the cut.

    Args:
        known: Distribution of the scores.
        count: Number of networks.
        trials: How many intervals.
    """
    random, accuracy = np.random.default_rng(7), measure_of("accuracy")
    held = held_after = beyond = 0
    for _ in range(trials):
        scores = known.draw(random, count).tolist()
        plain, cut = t_interval(scores), accuracy.interval(scores, scale=100.0)
        held += plain.contains(known.mean)
        held_after += cut.contains(known.mean)
        beyond += plain != cut
    found = {"t interval": held, "cut": held_after, "beyond 0 to 100": beyond}
    return {what: number / trials for what, number in found.items()}


def outcomes(case: Case, trials: int) -> dict[str, float]:
    """Simulate the shares of verdicts on made-up reproductions.

    Args:
        case: Distributions of the scores.
        trials: How many.
    """
    random, rule = np.random.default_rng(7), VerdictRule()
    counts = Counter(_word(case, rule, random) for _ in range(trials))
    return {word: counts[word] / trials for word in WORDS}


def _word(case: Case, rule: VerdictRule, random: np.random.Generator) -> str:
    """Judge one reproduction."""
    theirs = mean_and_standard_error(case.theirs(random, case.runs).tolist())
    ours = mean_and_standard_error(case.ours(random, max(3, case.runs)).tolist())
    error = round(theirs.standard_error, 1) if case.runs > 1 else 0.0
    known = {"mean_rounding": 0.05, "error_rounding": 0.05 if case.runs > 1 else 0.0}
    printed = Summary(mean=round(theirs.mean, 1), standard_error=error, count=case.runs, **known)
    found = (welch_interval if case.runs > 1 else shared_spread_interval)(ours, printed)
    if rule.equivalent(found, error):
        return "compatible, wide" if rule.is_wide(found) else "reproduced"
    return "different" if found.clear else "inconclusive"


def main() -> None:
    """Simulate, print and write the tables."""
    found = {case.name: outcomes(case, TRIALS) for case in CASES}
    held = {
        f"{known.name}, {count} networks": coverage(known, count, TRIALS)
        for known in DISTRIBUTIONS
        for count in COUNTS
    }
    lines = ["# How often the rule of verdicts errs", ""]
    lines += [f"{TRIALS:,} made-up reproductions each, by `python -m benchmarks.verdicts`.", ""]
    lines += [*_table(found), "", "## How many intervals of a mean hold it", ""]
    lines += [
        f"{TRIALS:,} made-up means each, at 95 %. An interval that goes beyond 0 to 100, where no",
        "mean can be, is cut there, which takes the true mean from none.",
        "",
    ]
    lines += _table(held)
    page = "\n".join(lines) + "\n"
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "rule.md").write_text(page, encoding="utf-8")
    plain = json.dumps({"verdicts": found, "intervals": held}, indent=1)
    (RESULTS / "rule.json").write_text(plain + "\n", encoding="utf-8")
    print(page)


def _table(found: dict[str, dict[str, float]]) -> list[str]:
    """Format shares of 100 as the lines of a Markdown table."""
    words = [*next(iter(found.values()))]
    rows = [[name, *(f"{100 * share:.1f}" for share in by.values())] for name, by in found.items()]
    head = [["of 100", *words], ["---", *["---:"] * len(words)]]
    return [f"| {' | '.join(row)} |" for row in (*head, *rows)]


if __name__ == "__main__":
    main()
