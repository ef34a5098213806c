"""Differences of rows, from records alone: paired tests, and effects of learning rules."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np

from farfield.metrics import (
    Difference,
    mean_and_standard_error,
    paired_interval,
    paired_t_test,
    t_interval,
)
from farfield.metrics.internal import PairedTest, measure_of
from farfield.reports._exhibits._exhibit import Evidence, Finding, Plate, exhibit
from farfield.reports._exhibits._frames import (
    Cells,
    Curve,
    Dots,
    Drawing,
    Mark,
    Panel,
)
from farfield.reports._profile._series import GOLDEN
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Published, Verdict
from farfield.tasks import TRAINING

PAIRED: Final = (
    "Each dot is a condition, a task and a number of withheld shapes: difference of the mean test "
    "accuracies in percentage points, ours filled (pale where a network had fewer steps or there "
    "were fewer networks than published; a cross where both rows are at their floor, so that the "
    "difference tells nothing), published open. Bar: mean of the differences with its "
    "95 % interval. The test takes conditions for independent draws, as the paper does."
)

PALE: Final = 0.35
"""Opacity of the dots of conditions that had fewer steps or networks than published."""
LEARNED: Final = 5.0
"""Margin above the floor, in points, from which a row counts as learned."""

Condition = tuple[str, str]
"""Subject and column."""


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
        """Name of the difference, e.g. `"ESBN (MLP) − ESBN (conv)"`."""
        return f"{self.first} − {self.second}"


@final
@dataclass(frozen=True, kw_only=True)
class _Pairing:
    """The differences of two rows.

    Args:
        test: The published test.
        printed: Differences of the published means, by condition.
        ours: Differences of our means, by condition where both rows have been run.
        short: Conditions of ours with fewer steps or networks than published.
        floored: Conditions in which neither of our rows answers better than its floor.
        networks: Networks of each row and condition of ours, fewest and most.
        fractions: Shares of the paper's steps of ours, smallest and largest.
    """

    test: PublishedTest
    printed: Mapping[Condition, float]
    ours: Mapping[Condition, float]
    short: frozenset[Condition]
    floored: frozenset[Condition]
    networks: tuple[int, int]
    fractions: tuple[float, float]


@exhibit
def paired_tests(evidence: Evidence, *, tests: tuple[PublishedTest, ...]) -> Plate | None:
    """Measure differences between rows in every condition, a subject and a column each.

    Args:
        evidence: Rows under the same conditions, run or not.
        tests: The published tests.
    """
    report = evidence.report
    pairings = [pair for test in tests if (pair := _pair(test, report)).printed]
    if not pairings:
        return None
    return Plate(
        name="differences",
        title="Paired differences between encoders",
        caption=PAIRED,
        draw=_paired(pairings, list(report.subjects)),
        findings=tuple(finding for pairing in pairings for finding in _tests(pairing)),
    )


def _pair(test: PublishedTest, report: Report) -> _Pairing:
    """Pair both rows, condition by condition."""
    first, second = (
        {(row.claim.subject, row.claim.column): row for row in report.rows if row.claim.row == name}
        for name in (test.first, test.second)
    )
    both = [
        (condition, first[condition], second[condition])
        for condition in first
        if condition in second
    ]
    run = [
        (condition, one, other) for condition, one, other in both if one.records and other.records
    ]
    rows = [row for _, *pair in run for row in pair]
    counts = [len(row.records) for row in rows]
    shares = [row.judgement.fraction or 0.0 for row in rows]
    return _Pairing(
        test=test,
        printed={
            condition: one.claim.published.mean - other.claim.published.mean
            for condition, one, other in both
            if isinstance(one.claim.published, Published)
            and isinstance(other.claim.published, Published)
        },
        ours={condition: _mean(one) - _mean(other) for condition, one, other in run},
        short=frozenset(
            condition
            for condition, *pair in run
            if any(row.judgement.verdict is Verdict.UNDERPOWERED for row in pair)
        ),
        floored=frozenset(
            condition
            for condition, *pair in run
            if all(_mean(row) < row.floor + LEARNED for row in pair)
        ),
        networks=(min(counts, default=0), max(counts, default=0)),
        fractions=(min(shares, default=0.0), max(shares, default=0.0)),
    )


def _mean(row: Row) -> float:
    return mean_and_standard_error(row.values).mean


def _tests(pairing: _Pairing) -> tuple[Finding, Finding]:
    """Test the published means, then ours."""
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
    """Write our test, with the number of its conditions."""
    if len(pairing.ours) < 2:
        return f"{len(pairing.ours)} of {conditions} conditions run"
    return (
        f"{_written(pairing.ours)} ({len(pairing.ours)} of {conditions} conditions, "
        f"{text.networks(*pairing.networks)} each, {text.shares(*pairing.fractions)} of steps)"
    )


def _tested(differences: Mapping[Condition, float]) -> PairedTest:
    return paired_t_test([*differences.values()], [0.0] * len(differences))


def _written(differences: Mapping[Condition, float]) -> str:
    """Write mean difference, statistic and probability, e.g. `−0.6 points, t = −1.7, p = 0.1`."""
    test = _tested(differences)
    if math.isnan(test.t):
        return "no difference in any condition"
    chance = f"p = {test.p:.2g}" if test.p >= 0.001 else "p below 0.001"
    return f"{text.signed(test.difference, 2)} points, t = {text.signed(test.t, 2)}, {chance}"


def _paired(pairings: list[_Pairing], subjects: list[str]) -> Drawing:
    """Lay out a panel for each model, with dots and a mean for each test."""
    models: dict[str, list[_Pairing]] = {}
    for pairing in pairings:
        models.setdefault(pairing.test.second.partition(" (")[0], []).append(pairing)
    legend = [Dots(color=number, name=subject) for number, subject in enumerate(subjects)]
    legend += [
        Dots(name="ours"),
        Dots(opacity=PALE, name="fewer steps or networks"),
        Dots(marker="x", name="both at the floor"),
        Dots(marker="D", is_filled=False, name="published"),
    ]
    if not any(pairing.floored for pairing in pairings):
        legend = [mark for mark in legend if mark.marker != "x"]
    panels = [
        Panel(
            marks=(
                Curve(x=(-0.55, len(found) - 0.45), y=(0, 0), color="muted", width=0.8),
                *(mark for spot, one in enumerate(found) for mark in _dots(spot, one, subjects)),
            ),
            title=model,
            note=_state(found),
            x_ticks={spot: _encoders(one.test) for spot, one in enumerate(found)},
            x_limits=(-0.55, len(found) - 0.45),
        )
        for model, found in models.items()
    ]
    label = "difference of means (points)"
    return Drawing(rows=[panels], height=2.9, legend=tuple(legend), y_label=label)


def _state(found: list[_Pairing]) -> str:
    """Write the networks and steps behind our differences."""
    run = [one for one in found if one.ours]
    if not run:
        return "not run"
    counts = [count for one in run for count in one.networks]
    shares = [share for one in run for share in one.fractions]
    return (
        f"ours: {text.networks(min(counts), max(counts))} each, "
        f"{text.shares(min(shares), max(shares))} of steps"
    )


def _encoders(test: PublishedTest) -> str:
    """Name the encoders of both rows of a test."""
    rows = (test.first, test.second)
    return " − ".join(row.partition(" (")[2].rstrip(")") for row in rows)


def _dots(spot: int, pairing: _Pairing, subjects: list[str]) -> Iterator[Mark]:
    """Lay out the conditions of a test, ours and published, with means and intervals."""
    for side, differences in ((-0.2, pairing.ours), (0.2, pairing.printed)):
        for number, (condition, difference) in enumerate(differences.items()):
            is_ours = side < 0
            is_floored = is_ours and condition in pairing.floored
            is_pale = is_ours and condition in pairing.short - pairing.floored
            yield Dots(
                x=[spot + side + 0.16 * ((number * GOLDEN) % 1 - 0.5)],
                y=[difference],
                color=subjects.index(condition[0]),
                marker="x" if is_floored else "o" if is_ours else "D",
                is_filled=is_ours,
                opacity=PALE if is_pale else 1.0,
            )
        if len(differences) > 1:
            values = [*differences.values()]
            interval, middle = t_interval(values), spot + side
            mean = mean_and_standard_error(values).mean
            yield Curve(x=[middle] * 2, y=[interval.low, interval.high])
            yield Curve(x=[middle - 0.09, middle + 0.09], y=[mean, mean])


EFFECTS: Final = (
    "Points by which each learning rule changes the score that a mechanism has with {baseline!r} "
    "in the regime farthest from training, mean over pairs of networks of one seed; first column: "
    "that score, in percent. Chance: the score of answers that ignore the problem. Framed: the "
    "95 % t interval, corrected for all {comparisons} differences planned (Bonferroni), leaves out "
    "0. Two pairs at least make an interval. Beside each matrix: the scores of the same networks "
    "on their training problems, gray where they went less than half of the way from chance to the "
    "best score, so that the difference says nothing of reach. {missing}"
)
LINE: Final = 0.2
"""Height of a line of a panel, inches."""
STRONGEST: Final = 0.6
"""Opacity of the largest difference: letters stay legible on it."""
FAILED: Final = 0.35
"""Opacity of training that failed."""
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


@exhibit
def rule_effects(evidence: Evidence, *, baseline: str) -> Plate | None:
    """Measure differences of rules from a baseline, for rows such as `ESBN, Mixup`.

    Args:
        evidence: Rows of mechanisms and rules.
        baseline: The rule that all other rules are compared with.
    """
    farthest = _farthest(evidence.report)
    effects = _effects(farthest, baseline)
    if not any(effect.pairs for effect in effects):
        return None
    return Plate(
        name="effects",
        title="Changes by learning rules",
        caption=EFFECTS.format(
            baseline=baseline, comparisons=len(effects), missing=_missing(effects)
        ).rstrip(),
        draw=_matrices(farthest, effects, baseline),
        findings=(
            *_medians(effects, lambda effect: effect.rule),
            *_medians(effects, lambda effect: effect.mechanism),
            _trained(farthest),
        ),
    )


def _farthest(report: Report) -> dict[str, dict[tuple[str, str], Row]]:
    """Select the cells of the farthest regime of each task, by mechanism and rule."""
    panels = {}
    for subject, rows in report.subjects.items():
        distance = max(row.distance for row in rows)
        own = [row for row in rows if row.distance == distance]
        panels[subject] = {_parts(row): row for row in own}
    return panels


def _parts(row: Row) -> tuple[str, str]:
    """Split the name of a row into mechanism and rule."""
    mechanism, _, rule = row.claim.row.rpartition(NAME)
    return mechanism, rule


def _effects(panels: dict[str, dict[tuple[str, str], Row]], baseline: str) -> list[_Effect]:
    """Compare every rule with the baseline, run or not: the correction counts all of them."""
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
    """Subtract a row from another over the seeds of both, and count these seeds."""
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


def _medians(effects: Sequence[_Effect], group: Callable[[_Effect], str]) -> Iterator[Finding]:
    """Write the median of each group, and its differences that are certain."""
    for name in dict.fromkeys(map(group, effects)):
        own = [effect for effect in effects if group(effect) == name]
        found = [effect.difference.value for effect in own if effect.difference is not None]
        if found:
            said = [f"median {text.signed(statistics.median(found), 1)} points"]
            said += [_most(own, sign, word) for sign, word in ((1, "ahead"), (-1, "behind"))]
            said.append(f"{len(found)} of {len(own)} run")
            yield Finding(what=name, paper="", ours="; ".join(said))


def _trained(panels: dict[str, dict[tuple[str, str], Row]]) -> Finding:
    """Count the cells whose networks have learned their training problems."""
    run = [row for cells in panels.values() for row in cells.values() if row.records]
    failed = sum(row.judgement.untrained for row in run)
    ours = f"{len(run) - failed} of {len(run)} cells that were run"
    return Finding(what="at least half learned in training", paper="", ours=ours)


def _most(effects: Sequence[_Effect], sign: int, word: str) -> str:
    """Count the clear differences of a sign, and name the largest."""
    clear = [effect for effect in effects if effect.sign == sign]
    if not clear:
        return f"clearly {word} nowhere"
    most = max(clear, key=lambda effect: abs(effect.difference.value))  # type: ignore[union-attr]
    points = text.signed(most.difference.value, 1)  # type: ignore[union-attr]
    where = f"{most.mechanism}, {most.rule}, {most.subject}"
    return f"clearly {word} in {len(clear)}, most {points} ({where})"


def _missing(effects: Sequence[_Effect]) -> str:
    """Name the tasks that were not run, which have no panel, and mention single cells."""
    ran = {effect.subject for effect in effects if effect.pairs}
    absent = dict.fromkeys(effect.subject for effect in effects if effect.subject not in ran)
    gaps = any(not effect.pairs for effect in effects if effect.subject in ran)
    said = [f"Not run: {', '.join(absent)}."] if absent else []
    return " ".join([*said, *["–: not run."] * gaps])


def _matrices(
    panels: dict[str, dict[tuple[str, str], Row]], effects: Sequence[_Effect], baseline: str
) -> Drawing:
    """Lay out a panel for each task that was run: mechanisms from the top, rules across."""
    ran = {effect.subject for effect in effects if effect.pairs}
    panels = {subject: cells for subject, cells in panels.items() if subject in ran}
    mechanisms = [*dict.fromkeys(effect.mechanism for effect in effects)]
    rules = [baseline, *dict.fromkeys(effect.rule for effect in effects)]
    names = [textwrap.fill(rule, 11, break_long_words=False) for rule in rules]
    largest = max(abs(effect.difference.value) for effect in effects if effect.difference) or 1.0
    shown = []
    for number, (subject, cells) in enumerate(panels.items(), start=1):
        level = text.plain(next(iter(cells.values())).floor, 0)
        own = [effect for effect in effects if effect.subject == subject]
        shown_names = names if number == len(panels) else [""] * len(names)
        shown.append([
            Panel(
                marks=(_cells(cells, own, mechanisms, rules, largest),),
                title=f"{subject} (chance: {level} %)",
                x_ticks=dict(enumerate(shown_names)),
                y_ticks=dict(enumerate(mechanisms)),
                frame="ticks",
            ),
            Panel(
                marks=(_training_cells(cells, mechanisms, rules),),
                title="in training",
                x_ticks=dict(enumerate(shown_names)),
                y_ticks=dict(enumerate([""] * len(mechanisms))),
                frame="ticks",
            ),
        ])  # fmt: skip
    counts = [effect.pairs for effect in effects if effect.pairs]
    run = [row for cells in panels.values() for row in cells.values() if row.records]
    return Drawing(
        rows=shown,
        height=len(shown) * (LINE * len(mechanisms) + 0.3) + 0.85,
        note=f"{baseline} and training: score (%); others: change in points. "
        f"Pairs of networks in a cell: {text.span(str(min(counts)), str(max(counts)))}; "
        f"{text.steps(run)}.\n{_missing(effects)}".rstrip(),
        legend=(
            Dots(color=0, marker="s", size=60, opacity=STRONGEST, name="ahead"),
            Dots(color=1, marker="s", size=60, opacity=STRONGEST, name="behind"),
            Dots(marker="s", size=60, is_filled=False, name="corrected 95 % t interval without 0"),
            Dots(
                color="muted", marker="s", size=60, opacity=FAILED, name="not learned in training"
            ),
        ),
    )


def _cells(
    cells: dict[tuple[str, str], Row],
    effects: Sequence[_Effect],
    mechanisms: list[str],
    rules: list[str],
    largest: float,
) -> Cells:
    """Lay out the scores of the baseline beside the differences of a task."""
    shape = len(mechanisms), len(rules)
    gain, loss = np.zeros(shape), np.zeros(shape)
    words: dict[tuple[int, int], str] = {}
    for (mechanism, rule), row in cells.items():
        if rule == rules[0]:
            mean = mean_and_standard_error(row.values).mean if row.values else None
            shown = text.MISSING if mean is None else text.plain(mean, 0)
            words[mechanisms.index(mechanism), 0] = shown
    framed = set()
    for effect in effects:
        spot = mechanisms.index(effect.mechanism), rules.index(effect.rule)
        words[spot] = text.MISSING
        if effect.difference is not None:
            value = effect.difference.value
            words[spot] = text.signed(value, 0)
            (gain if value > 0 else loss)[spot] = STRONGEST * abs(value) / largest
            framed |= {spot} if effect.sign else set()
    return Cells(
        tints={0: gain, 1: loss}, texts=words, muted=frozenset({0}), framed=frozenset(framed)
    )  # fmt: skip


def _training_cells(
    cells: dict[tuple[str, str], Row], mechanisms: list[str], rules: list[str]
) -> Cells:
    """Lay out the mean score of each cell on its training problems."""
    failed = np.zeros((len(mechanisms), len(rules)))
    words = {}
    for (mechanism, rule), row in cells.items():
        spot = mechanisms.index(mechanism), rules.index(rule)
        scores = [record.final(TRAINING, row.claim.metric) for record in row.kept]
        mean = row.claim.published.scale * float(np.mean(scores)) if scores else None
        words[spot] = text.MISSING if mean is None else text.plain(mean, 0)
        failed[spot] = FAILED * row.judgement.untrained
    return Cells(tints={"muted": failed}, texts=words)
