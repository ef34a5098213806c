"""Paired differences of two rows in every condition, and their t-tests, published and ours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from farfield.metrics import PairedTest, mean_and_standard_error, paired_t_test, t_interval
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._panels import GOLDEN
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Published, Verdict

CAPTION: Final = (
    "Each dot is a condition, a task and a number of withheld shapes: difference of the mean test "
    "accuracies in percentage points, ours filled (pale where a network had fewer steps or there "
    "were fewer networks than published; a cross where both rows are at their floor, so that the "
    "difference tells nothing), published open. Bar: mean of the differences with its "
    "95 % interval. The test takes conditions for independent draws, as the paper does."
)

PALE: Final = 0.35
"""Opacity of the dots of conditions that had fewer steps or networks than published."""
LEARNED: Final = 5.0
"""Points above its floor that tell a row that has learned something from one that has not."""

Place = tuple[str, str]
"""A condition: subject and column."""


@final
@dataclass(frozen=True, kw_only=True)
class PublishedTest:
    """A paired t-test of two rows over all conditions, as published.

    Args:
        first: Row whose scores are reduced, e.g. `"ESBN (MLP)"`.
        second: Row whose scores are subtracted.
        t: The statistic, in the published digits.
        p: Its probability, in the published digits.
    """

    first: str
    second: str
    t: str
    p: str

    @property
    def name(self) -> str:
        """The difference, e.g. `"ESBN (MLP) − ESBN (conv)"`."""
        return f"{self.first} − {self.second}"


@final
@dataclass(frozen=True, kw_only=True)
class _Pairing:
    """The differences of two rows.

    Args:
        test: What the paper says of them.
        printed: Differences of the published means, by condition.
        ours: Differences of our means, by condition where both rows have been run.
        short: Conditions of ours with fewer steps or networks than published.
        floored: Conditions in which neither of our rows answers better than its floor.
        networks: Networks of each row and condition of ours, fewest and most.
        fractions: Shares of the paper's steps of ours, smallest and largest.
    """

    test: PublishedTest
    printed: Mapping[Place, float]
    ours: Mapping[Place, float]
    short: frozenset[Place]
    floored: frozenset[Place]
    networks: tuple[int, int]
    fractions: tuple[float, float]


@final
@dataclass(frozen=True, kw_only=True)
class PairedTests:
    """Differences between rows in every condition, a subject and a column each, and their tests.

    Args:
        tests: The published tests.
    """

    tests: tuple[PublishedTest, ...]

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The differences of a figure's rows and their tests; `None` where no two rows are shown.

        Args:
            figure: Not used.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del figure, store
        pairings = [pair for test in self.tests if (pair := _pair(test, report)).printed]
        if not pairings:
            return None
        return Plate(
            name="differences",
            title="Paired differences between encoders",
            caption=CAPTION,
            draw=partial(_draw, pairings, report),
            findings=tuple(finding for pairing in pairings for finding in _findings(pairing)),
        )


def _pair(test: PublishedTest, report: Report) -> _Pairing:
    """Both rows, condition by condition."""
    first, second = (
        {(row.claim.subject, row.claim.column): row for row in report.rows if row.claim.row == name}
        for name in (test.first, test.second)
    )
    both = [(place, first[place], second[place]) for place in first if place in second]
    run = [(place, one, other) for place, one, other in both if one.records and other.records]
    rows = [row for _, *pair in run for row in pair]
    counts = [len(row.records) for row in rows]
    shares = [row.judgement.fraction or 0.0 for row in rows]
    return _Pairing(
        test=test,
        printed={
            place: one.claim.published.mean - other.claim.published.mean
            for place, one, other in both
            if isinstance(one.claim.published, Published)
            and isinstance(other.claim.published, Published)
        },
        ours={place: _mean(one) - _mean(other) for place, one, other in run},
        short=frozenset(
            place
            for place, *pair in run
            if any(row.judgement.verdict is Verdict.UNDERPOWERED for row in pair)
        ),
        floored=frozenset(
            place for place, *pair in run if all(_mean(row) < row.floor + LEARNED for row in pair)
        ),
        networks=(min(counts, default=0), max(counts, default=0)),
        fractions=(min(shares, default=0.0), max(shares, default=0.0)),
    )


def _mean(row: Row) -> float:
    return mean_and_standard_error(row.values).mean


def _findings(pairing: _Pairing) -> tuple[Finding, Finding]:
    """The test on the published means, then on ours."""
    paper = f"t = {pairing.test.t}, p = {pairing.test.p}"
    conditions = len(pairing.printed)
    return (
        Finding(
            what=f"{pairing.test.name}, from the published means",
            paper=paper,
            ours=f"{_written(pairing.printed)} ({conditions} conditions)"
            if conditions > 1
            else "one condition, no test",
        ),
        Finding(what=f"{pairing.test.name}, ours", paper=paper, ours=_ours(pairing, conditions)),
    )


def _ours(pairing: _Pairing, conditions: int) -> str:
    """Our test, with the number of its conditions."""
    if len(pairing.ours) < 2:
        return f"{len(pairing.ours)} of {conditions} conditions run"
    return (
        f"{_written(pairing.ours)} ({len(pairing.ours)} of {conditions} conditions, "
        f"{text.networks(*pairing.networks)} each, {text.shares(*pairing.fractions)} of steps)"
    )


def _tested(differences: Mapping[Place, float]) -> PairedTest:
    return paired_t_test([*differences.values()], [0.0] * len(differences))


def _written(differences: Mapping[Place, float]) -> str:
    """Mean difference, statistic and probability, e.g. `−0.6 points, t = −1.7, p = 0.10`."""
    test = _tested(differences)
    if math.isnan(test.t):
        return "no difference in any condition"
    chance = f"p = {test.p:.2g}" if test.p >= 0.001 else "p below 0.001"
    return f"{text.signed(test.difference, 2)} points, t = {text.signed(test.t, 2)}, {chance}"


@in_style
def _draw(pairings: list[_Pairing], report: Report, theme: Theme) -> Picture:
    """A panel for each model, a place in it for each test."""
    models: dict[str, list[_Pairing]] = {}
    for pairing in pairings:
        models.setdefault(pairing.test.second.partition(" (")[0], []).append(pairing)
    subjects = list(report.subjects)
    colors = dict(zip(subjects, theme.models, strict=False))
    picture = Picture(figsize=(WIDTH, 2.9))
    panels = picture.subplots(1, len(models), squeeze=False)[0]
    for axes, (model, found) in zip(panels, models.items(), strict=True):
        _panel(axes, found, colors, theme)
        axes.set_title(model, fontsize=8.2, pad=16)
        state = axes.annotate(
            _state(found), (0, 1), (0, 5), "axes fraction", textcoords="offset points",
            fontsize=7.5, color=theme.muted, va="bottom",
        )  # fmt: skip
        state.set_in_layout(False)
    panels[0].set_ylabel("difference of means (points)")
    ink = theme.foreground
    tasks = {
        subject: Line2D([], [], color=color, marker="o", markersize=3.6, linestyle="")
        for subject, color in colors.items()
    }
    marks = {
        "ours": Line2D([], [], color=ink, marker="o", markersize=3.6, linestyle=""),
        "fewer steps or networks": Line2D(
            [], [], color=ink, marker="o", markersize=3.6, linestyle="", alpha=PALE
        ),
        "both at the floor": Line2D([], [], color=ink, marker="x", markersize=3.6, linestyle=""),
        "published": Line2D(
            [], [], color=ink, marker="D", markersize=3.6, linestyle="", markerfacecolor="none"
        ),
    }
    if not any(pairing.floored for pairing in pairings):
        del marks["both at the floor"]
    legend(picture, {**tasks, **marks}, columns=4)
    return picture


def _state(found: list[_Pairing]) -> str:
    """Networks and steps behind our differences."""
    run = [one for one in found if one.ours]
    if not run:
        return "not run"
    counts = [count for one in run for count in one.networks]
    shares = [share for one in run for share in one.fractions]
    return (
        f"ours: {text.networks(min(counts), max(counts))} each, "
        f"{text.shares(min(shares), max(shares))} of steps"
    )


def _panel(axes: Axes, found: list[_Pairing], colors: Mapping[str, str], theme: Theme) -> None:
    """The differences of one model."""
    axes.spines["bottom"].set_visible(False)
    axes.axhline(0, color=theme.muted, linewidth=0.8, zorder=1)
    for place, pairing in enumerate(found):
        for side, differences in ((-0.2, pairing.ours), (0.2, pairing.printed)):
            shown = pairing if side < 0 else None
            _dots(axes, place + side, differences, colors, theme, ours=shown)
    labels = [
        " − ".join(row.partition(" (")[2].rstrip(")") for row in (one.test.first, one.test.second))
        for one in found
    ]
    axes.set_xticks(range(len(found)), labels)
    axes.tick_params(axis="x", length=0, pad=4)
    axes.set_xlim(-0.55, len(found) - 0.45)


def _dots(
    axes: Axes,
    place: float,
    differences: Mapping[Place, float],
    colors: Mapping[str, str],
    theme: Theme,
    *,
    ours: _Pairing | None,
) -> None:
    """One side of a test: its conditions, and their mean with its interval."""
    for number, ((subject, column), difference) in enumerate(differences.items()):
        spot = place + 0.16 * ((number * GOLDEN) % 1 - 0.5)
        where = subject, column
        marker = "D" if ours is None else "x" if where in ours.floored else "o"
        axes.plot(
            spot, difference, marker, markersize=3.6, color=colors[subject],
            markerfacecolor=theme.background if ours is None else colors[subject],
            markeredgewidth=0.8, zorder=3,
            alpha=PALE if ours and where in ours.short - ours.floored else 1.0,
        )  # fmt: skip
    if len(differences) < 2:
        return
    interval, ink = t_interval([*differences.values()]), theme.foreground
    mean = mean_and_standard_error([*differences.values()]).mean
    axes.vlines(place, interval.low, interval.high, color=ink, linewidth=1.2, zorder=4)
    axes.plot([place - 0.09, place + 0.09], [mean, mean], color=ink, linewidth=1.2, zorder=4)
