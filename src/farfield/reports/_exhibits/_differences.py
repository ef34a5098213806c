"""Differences of rows, from records alone: paired tests, and effects of learning rules."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from farfield.metrics import (
    Difference,
    mean_and_standard_error,
    paired_interval,
    paired_t_test,
    t_interval,
)
from farfield.metrics.internal import PairedTest, measure_of
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._panels import GOLDEN
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Published, Verdict

PAIRED_CAPTION: Final = (
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
            caption=PAIRED_CAPTION,
            draw=partial(_draw_paired, pairings, report),
            findings=tuple(
                finding for pairing in pairings for finding in _findings_paired(pairing)
            ),
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


def _findings_paired(pairing: _Pairing) -> tuple[Finding, Finding]:
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
def _draw_paired(pairings: list[_Pairing], report: Report, theme: Theme) -> Picture:
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


EFFECTS_CAPTION: Final = (
    "Points by which each learning rule changes the score that a mechanism has with {baseline!r} "
    "in the regime farthest from training, mean over pairs of networks of one seed; first column: "
    "that score, in percent. Chance: the score of answers that ignore the problem. Framed: the "
    "95 % t interval, corrected for all {comparisons} differences planned (Bonferroni), leaves out "
    "0. Two pairs at least make an interval. {missing}"
)
ACROSS: Final = 2
"""Panels side by side."""
LINE: Final = 0.2
"""Height of a line of a panel, inches."""
STRONGEST: Final = 0.6
"""Opacity of the largest difference: letters stay legible on it."""
NAME: Final = ", "
"""Text between mechanism and rule in the name of a row."""


class _Effect(NamedTuple):
    """A rule beside the baseline.

    Attributes:
        subject: The task.
        mechanism: The mechanism.
        rule: The rule.
        difference: By how much it changes the score; `None` where no pair was run.
        pairs: Number of pairs.
    """

    subject: str
    mechanism: str
    rule: str
    difference: Difference | None
    pairs: int

    @property
    def sign(self) -> int:
        """1 where the rule is clearly ahead, −1 where it is clearly behind, else 0."""
        found = self.difference
        return 0 if found is None or not found.clear else 1 if found.value > 0 else -1


@final
@dataclass(frozen=True, kw_only=True)
class RuleEffects:
    """Differences of rules from a baseline, for rows such as `ESBN, Mixup`, a panel for each task.

    Args:
        baseline: The rule that the others are compared with.
    """

    baseline: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The matrix of differences; `None` where no pair was run.

        Args:
            figure: Not used.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del figure, store
        farthest = _farthest(report)
        effects = _effects(farthest, self.baseline)
        if not any(effect.pairs for effect in effects):
            return None
        return Plate(
            name="effects",
            title="What learning rules change",
            caption=EFFECTS_CAPTION.format(
                baseline=self.baseline, comparisons=len(effects), missing=_missing(effects)
            ).rstrip(),
            draw=partial(_draw_effects, farthest, effects, self.baseline),
            findings=(
                *_findings_effects(effects, lambda effect: effect.rule),
                *_findings_effects(effects, lambda effect: effect.mechanism),
            ),
        )


def _farthest(report: Report) -> dict[str, dict[tuple[str, str], Row]]:
    """The cells of the farthest regime of each task, by mechanism and rule."""
    panels = {}
    for subject, rows in report.subjects.items():
        distance = max(row.distance for row in rows)
        own = [row for row in rows if row.distance == distance]
        panels[subject] = {_parts(row): row for row in own}
    return panels


def _parts(row: Row) -> tuple[str, str]:
    """Mechanism and rule of a row."""
    mechanism, _, rule = row.claim.row.rpartition(NAME)
    return mechanism, rule


def _effects(panels: dict[str, dict[tuple[str, str], Row]], baseline: str) -> list[_Effect]:
    """Every rule beside the baseline, run or not: all of them are corrected for."""
    compared = [
        (subject, mechanism, rule, cells[mechanism, baseline], row)
        for subject, cells in panels.items()
        for (mechanism, rule), row in cells.items()
        if rule != baseline
    ]
    return [
        _Effect(subject, mechanism, rule, *_difference(row, first, len(compared)))
        for subject, mechanism, rule, first, row in compared
    ]


def _difference(row: Row, first: Row, comparisons: int) -> tuple[Difference | None, int]:
    """A row minus another over the seeds of both, and the number of these."""
    ours, theirs = (
        dict(zip((record.seed for record in one.kept), one.values, strict=True))
        for one in (row, first)
    )
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None, 0
    pairs = [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]
    found = paired_interval(*pairs, comparisons=comparisons)
    reach = row.claim.published.scale * measure_of(row.claim.metric).range
    return replace(found, interval=found.interval.cut(-reach, reach)), len(seeds)


def _findings_effects(
    effects: Sequence[_Effect], group: Callable[[_Effect], str]
) -> Iterator[Finding]:
    """The median of each group, and its differences that are certain."""
    for name in dict.fromkeys(map(group, effects)):
        own = [effect for effect in effects if group(effect) == name]
        found = [effect.difference.value for effect in own if effect.difference is not None]
        if found:
            said = [f"median {text.signed(statistics.median(found), 1)} points"]
            said += [_most(own, sign, word) for sign, word in ((1, "ahead"), (-1, "behind"))]
            said.append(f"{len(found)} of {len(own)} run")
            yield Finding(what=name, paper="", ours="; ".join(said))


def _most(effects: Sequence[_Effect], sign: int, word: str) -> str:
    """Number of clear differences of a sign, and the largest of them."""
    clear = [effect for effect in effects if effect.sign == sign]
    if not clear:
        return f"clearly {word} nowhere"
    most = max(clear, key=lambda effect: abs(effect.difference.value))  # type: ignore[union-attr]
    points = text.signed(most.difference.value, 1)  # type: ignore[union-attr]
    where = f"{most.mechanism}, {most.rule}, {most.subject}"
    return f"clearly {word} in {len(clear)}, most {points} ({where})"


def _missing(effects: Sequence[_Effect]) -> str:
    """Text on what was not run: whole tasks, which have no panel, and single cells."""
    ran = {effect.subject for effect in effects if effect.pairs}
    absent = dict.fromkeys(effect.subject for effect in effects if effect.subject not in ran)
    gaps = any(not effect.pairs for effect in effects if effect.subject in ran)
    said = [f"Not run: {', '.join(absent)}."] if absent else []
    return " ".join([*said, *["–: not run."] * gaps])


@in_style
def _draw_effects(
    panels: dict[str, dict[tuple[str, str], Row]],
    effects: Sequence[_Effect],
    baseline: str,
    theme: Theme,
) -> Picture:
    """A panel for each task that was run: mechanisms from the top, rules across."""
    ran = {effect.subject for effect in effects if effect.pairs}
    panels = {subject: cells for subject, cells in panels.items() if subject in ran}
    mechanisms = [*dict.fromkeys(effect.mechanism for effect in effects)]
    rules = [baseline, *dict.fromkeys(effect.rule for effect in effects)]
    largest = max(abs(effect.difference.value) for effect in effects if effect.difference)
    lines = -(-len(panels) // ACROSS)
    picture = Picture(figsize=(WIDTH, lines * (LINE * len(mechanisms) + 0.3) + 0.85))
    grid = picture.subplots(lines, ACROSS, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (subject, cells) in zip(grid.flat, panels.items(), strict=False):
        level = text.plain(next(iter(cells.values())).floor, 0)
        axes.set_title(f"{subject} (chance: {level} %)")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        for (mechanism, rule), row in cells.items():
            if rule == baseline:
                _score(axes, mechanisms.index(mechanism), row, theme)
        for effect in effects:
            if effect.subject == subject:
                spot = rules.index(effect.rule), mechanisms.index(effect.mechanism)
                _cell(axes, spot, effect, largest or 1.0, theme)
    grid[0, 0].set(
        xlim=(-0.5, len(rules) - 0.5),
        ylim=(len(mechanisms) - 0.5, -0.5),
        xticks=range(len(rules)),
        xticklabels=[textwrap.fill(rule, 11, break_long_words=False) for rule in rules],
        yticks=range(len(mechanisms)),
        yticklabels=mechanisms,
    )
    counts = [effect.pairs for effect in effects if effect.pairs]
    shares = [
        row.judgement.fraction or 0.0
        for cells in panels.values()
        for row in cells.values()
        if row.records
    ]
    picture.suptitle(
        f"{baseline}: score (%); others: change in points. "
        f"Pairs of networks in a cell: {text.span(str(min(counts)), str(max(counts)))}; "
        f"{text.shares(min(shares), max(shares))} of steps.\n{_missing(effects)}".rstrip(),
        fontsize=7, color=theme.muted, x=0.006, ha="left",
    )  # fmt: skip
    legend(picture, _marks(theme), columns=3)
    return picture


def _score(axes: Axes, line: int, row: Row, theme: Theme) -> None:
    """The score with the baseline."""
    if row.values:
        mean = text.plain(mean_and_standard_error(row.values).mean, 0)
        axes.text(0, line, mean, ha="center", va="center", fontsize=6.8, color=theme.muted)
    else:
        _dash(axes, (0, line), theme)


def _dash(axes: Axes, spot: tuple[int, int], theme: Theme) -> None:
    """The sign of a cell that was not run."""
    axes.text(*spot, text.MISSING, ha="center", va="center", fontsize=6.8, color=theme.muted)


def _cell(axes: Axes, spot: tuple[int, int], effect: _Effect, largest: float, theme: Theme) -> None:
    """A difference: its color, its number, and a frame where it is certain."""
    if effect.difference is None:
        _dash(axes, spot, theme)
        return
    value = effect.difference.value
    gain, loss = theme.models[:2]
    _box(
        axes, spot, facecolor=gain if value > 0 else loss, linewidth=0,
        alpha=STRONGEST * abs(value) / largest,
    )  # fmt: skip
    if effect.sign:
        _box(axes, spot, edgecolor=theme.foreground, linewidth=1.3, zorder=3)
    axes.text(
        *spot, text.signed(value, 0), ha="center", va="center", fontsize=6.8,
        color=theme.foreground, weight="bold" if effect.sign else "normal", zorder=4,
    )  # fmt: skip


def _box(axes: Axes, spot: tuple[int, int], *, facecolor: str = "none", **style: object) -> None:
    """The square of a cell, with a little room around it."""
    x, y = spot
    box = Rectangle((x - 0.46, y - 0.43), 0.92, 0.86, facecolor=facecolor, **style)  # type: ignore[arg-type]
    axes.add_patch(box)


def _marks(theme: Theme) -> dict[str, Patch]:
    """Entries of the legend for colors and frames."""
    gain, loss = theme.models[:2]
    return {
        "ahead": Patch(facecolor=gain, alpha=STRONGEST, linewidth=0),
        "behind": Patch(facecolor=loss, alpha=STRONGEST, linewidth=0),
        "corrected 95 % t interval without 0": Patch(
            facecolor="none", edgecolor=theme.foreground, linewidth=1.3
        ),
    }
