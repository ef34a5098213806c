"""Makes the page of mechanisms beside suites from the records: `python docs/mechanisms.py`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from farfield._text import fixed
from farfield.core import stream
from farfield.metrics import Interval, stratified_bootstrap
from farfield.metrics.internal import least_share
from farfield.reports import Comparison, ExtrapolationProfile, Tabular, extrapolation_profile
from farfield.reports.internal import Point, exported_at
from farfield.reproductions import TABLES, Claim
from farfield.suites import SUITES, recorded
from farfield.suites._recorded import comparable
from farfield.suites.internal import Item
from farfield.tasks import TRAINING, VALIDATION

DOCS: Final = Path(__file__).parent
RESULTS: Final = DOCS.parent / "results"
SUMMARY: Final = (
    "suite", "tasks", "networks", "first in most tasks", "first (ahead)", "mean skill (tasks)",
    "second", "first (ahead)", "mean skill (tasks)", "by hand (tasks)", "hours",
)  # fmt: skip
PROBLEMS: Final = 30
"""Fewest test problems of a regime that is shown."""
MOST: Final = 16
"""Most tasks with a column each; more tasks are averaged in each regime."""
FEWEST: Final = 3
"""Fewest networks, or tasks of an average, for an interval of a mean skill."""
FLOOR: Final = "Floor (guessing)"

Column = tuple[str, str]
"""Task and regime."""
Rows = dict[str, dict[Column, Point]]
"""Point by mechanism and column."""

INTRODUCTION: Final = """\
# Best mechanism of each suite

All mechanisms with a recorded profile, on all suites, far from training, losses included. Every
number is of records; `python docs/mechanisms.py` writes the page. To see your own module beside
these rows: `farfield bench my_module.py:MyModule --suite NAME`. Advice for a failure: [Which
mechanism when](which-mechanism.md). Reasons: [Findings](findings.md). Published numbers:
[Results](results/index.md).

- **Regimes**: of each task the farthest regime with 30 test problems or more, in each unit of
  distance.
- **Scores**: mean [95 % interval over networks], or score of a single network (95 % interval over
  its test problems, exact if each problem is right or wrong). –: no record. ↓: lower is better.
- **First**, in bold: the mean, as shown, is the best, and its interval lies above the floor. ≈: the
  95 % interval of the difference from the first holds 0. Networks of one seed are pairs; each pair
  is judged alone.
- **Ahead**: first, and no other mechanism is ≈. A single network is never ahead.
- **Mean skill**: 0 at the floor or below, 100 for the best possible score; mean over the tasks on
  which the mechanism is recorded. Its interval (bootstrap) needs three networks a task.
- **By hand**: mean skill of rules without training. Rules by hand are not ranked.
- **Hours**: training time of all recorded networks of the suite, added up.
"""

ALONE: Final = "LSTM + context norm", "LSTM, no norm"
"""Two rows of averaged sets that differ in the norm alone."""

OVER_TASKS: Final = """\
Each score is the mean over {count} sets [95 % interval over sets], where a set has the mean of its
networks. Differences are paired by sets."""


class Standing(NamedTuple):
    """Mechanisms of a suite in the columns of its table.

    Args:
        rows: Points of the mechanisms.
        hands: Points of the rules by hand.
        problems: Number of test problems by column.
        networks: Numbers of networks of all cells.
        tasks: Number of tasks that each column averages; 1 for none.
    """

    rows: Rows
    hands: Rows
    problems: dict[Column, int]
    networks: set[int]
    tasks: int = 1


FIND: Final = cache(partial(exported_at, RESULTS))
"""Finder of exported records, by budget."""


@cache
def rules_by_hand() -> dict[tuple[Any, str], list[Claim]]:
    """List the cells by hand of all tables, by task and regime."""
    found = dict[tuple[Any, str], list[Claim]]()
    for table in TABLES.values():
        for claim in table.claims:
            if claim.is_by_hand:
                found.setdefault((claim.experiment.task, claim.regime), []).append(claim)
    return found


def by_hand(item: Item) -> Iterator[tuple[str, Point]]:
    """Yield the recorded rules by hand on an item, a point for each regime.

    Args:
        item: One task of a suite.
    """
    find = FIND(item.budget)
    for regime in item.shown:
        for claim in rules_by_hand().get((item.experiment.task, regime), ()):
            if records := find(claim):
                task = claim.experiment.task
                (point,) = extrapolation_profile(task, records, regimes=(regime,)).points
                yield claim.row, point


def farthest(points: Sequence[tuple[str, Point]], problems: Mapping[Column, int]) -> set[Column]:
    """Choose the farthest regime of each task, in each unit of distance.

    Args:
        points: Tasks with their points.
        problems: Number of test problems by column.
    """
    far = [
        (task, point)
        for task, point in points
        if point.regime not in (TRAINING, VALIDATION)
        and problems.get((task, point.regime), PROBLEMS) >= PROBLEMS
    ]
    most = dict[tuple[str, str], float]()
    for task, point in far:
        place = task, point.unit
        most[place] = max(point.distance, most.get(place, -math.inf))
    away = {task for (task, _), distance in most.items() if distance > 0}
    return {
        (task, point.regime)
        for task, point in far
        if point.distance == most[task, point.unit] and (point.distance > 0 or task not in away)
    }


@cache
def standing(suite: str) -> Standing:
    """Collect the points of a suite at the farthest regimes.

    Args:
        suite: Name of the suite.
    """
    items, lines = SUITES[suite].items, recorded(suite)
    points = [(one.name, one.subject, point) for one in lines for point in one.profile.points]
    hands = [(name, item.subject, point) for item in items for name, point in by_hand(item)]
    problems = {(one.subject, at.regime): at.problems for one in lines for at in one.regimes}
    shown = farthest([(task, point) for _, task, point in points], problems)
    rows, others = Rows(), Rows()
    for side, found in ((points, rows), (hands, others)):
        for name, task, point in side:
            if (task, point.regime) in shown:
                found.setdefault(name, {})[task, point.regime] = point
    networks = {len(point.values) for row in rows.values() for point in row.values()}
    tasks = [*dict.fromkeys(task for _, task, _ in points)]
    if len(shown) <= MOST:
        return Standing(rows, others, problems, networks)
    return Standing(averaged(rows, tasks), averaged(others, tasks), {}, networks, len(tasks))


def averaged(rows: Rows, tasks: Sequence[str]) -> Rows:
    """Average the tasks in each regime: each task counts as a network would.

    Args:
        rows: Points of mechanisms; one without all tasks is left out.
        tasks: Names of the tasks.
    """
    found = Rows()
    for name, row in rows.items():
        for regime in dict.fromkeys(regime for _, regime in row):
            points = [row[task, regime] for task in tasks if (task, regime) in row]
            if len(points) == len(tasks):
                found.setdefault(name, {})["", regime] = Point(
                    regime=regime,
                    distance=points[0].distance,
                    unit=points[0].unit,
                    values=tuple(point.mean for point in points),
                    floor=statistics.fmean(point.floor for point in points),
                    measure=points[0].measure,
                    seeds=tuple(range(len(points))),
                )
    return found


def columns(rows: Rows) -> list[Column]:
    """List the columns of rows, in their order.

    Args:
        rows: Points of mechanisms.
    """
    return [*dict.fromkeys(column for row in rows.values() for column in row)]


def rank(point: Point) -> float:
    """Round a mean to the digits of the table; higher is better.

    Args:
        point: Scores of a mechanism.
    """
    sign = -1 if point.measure.lower_is_better else 1
    return sign * float(point.measure.written(point.mean)) if point.values else -math.inf


@cache
def firsts(suite: str, column: Column) -> list[str]:
    """Find the mechanisms with the best mean in a column; none if its interval holds the floor.

    Sets that are averaged have different floors, so that their mean alone is compared.

    Args:
        suite: Name of the suite.
        column: Task and regime.
    """
    rows, _, problems, _, tasks = standing(suite)
    found = {name: row[column] for name, row in rows.items() if column in row}
    best = max(map(rank, found.values()))
    names = [name for name, one in found.items() if rank(one) == best]
    point = found[names[0]]
    ends = interval(point, problems.get(column, 0))
    if tasks == 1 and (ends is None or ends.contains(point.floor)):
        return []
    return names if statistics.fmean(point.skill or (0.0,)) > 0 else []


def interval(point: Point, problems: int) -> Interval | None:
    """Compute the interval over networks, or over the test problems of a single network.

    Args:
        point: Scores.
        problems: Number of test problems; 0 if unknown.
    """
    if point.interval is not None or not (problems and point.values):
        return point.interval
    if point.measure.name != "accuracy":
        return None
    right = round(point.mean * problems)
    low, high = (least_share(one, problems, 0.975) for one in (right, problems - right))
    return Interval(low=low, high=1 - high)


@cache
def differs(suite: str, column: Column) -> dict[str, bool | None]:
    """Tell which mechanisms differ from the first; `None` where a single network says nothing.

    Args:
        suite: Name of the suite.
        column: Task and regime.
    """
    rows, best = standing(suite).rows, firsts(suite, column)
    if not best:
        return {}
    profiles = tuple(
        (name, ExtrapolationProfile(task=column[0], points=(row[column],)))
        for name, row in rows.items()
        if column in row
    )
    found: dict[str, bool | None] = dict.fromkeys(name for name, _ in profiles if name != best[0])
    for pair in Comparison(profiles=profiles, against=best[0]).pairs:
        if (ends := pair.interval) is not None:
            found[pair.first] = ends.low > 0 or ends.high < 0
    return found


def skills(row: Mapping[Column, Point]) -> list[list[float]]:
    """List the skill of each network in each column, in percent; below the floor it is 0.

    Args:
        row: Points of a mechanism.
    """
    return [[max(0.0, 100 * one) for one in point.skill] for point in row.values() if point.skill]


def mean_skill(row: Mapping[Column, Point]) -> float:
    """Compute the mean skill over the columns of a mechanism.

    Args:
        row: Its points.
    """
    return statistics.fmean(map(statistics.fmean, skills(row)))


def skill(row: Mapping[Column, Point]) -> str:
    """Format the mean skill of a mechanism over its columns, with its interval.

    Args:
        row: Its points.
    """
    runs = skills(row)
    mean = fixed(mean_skill(row), 1)
    if min(map(len, runs)) < FEWEST:
        return mean
    ends = stratified_bootstrap(
        lambda drawn: np.mean([one.mean(-1) for one in drawn], axis=0),
        runs,
        generator=stream(0, "mechanisms").numpy(),
    )
    return f"{mean} [{fixed(ends.low, 1)}, {fixed(ends.high, 1)}]"


def written(point: Point, problems: int = 0) -> str:
    """Format a mean with its interval: in round brackets over problems, in others over networks.

    Args:
        point: Scores.
        problems: Number of test problems; 0 if unknown.
    """
    write, ends = point.measure.written, interval(point, problems)
    if not point.values:
        return "diverged"
    if ends is None:
        return write(point.mean)
    first, last = "()" if len(point.values) == 1 else "[]"
    return f"{write(point.mean)} {first}{write(ends.low)}, {write(ends.high)}{last}"


def table(suite: str) -> Tabular:
    """Lay out a suite: mechanisms down, tasks across, then the floor and the rules by hand.

    Args:
        suite: Name of the suite.
    """
    rows, hands, problems, *_ = standing(suite)
    cells, values = [], []

    def add(name: str, column: Column, point: Point, shown: str, ranked: float | None) -> None:
        label = point.measure.label + " ↓" * point.measure.lower_is_better
        cells.append((name, *column, label, shown))
        values.append({"number": point.mean, "rank": ranked})

    for column in columns(rows):
        best, apart = firsts(suite, column), differs(suite, column)
        for name, row in rows.items():
            if (point := row.get(column)) is not None:
                same = " ≈" * (apart.get(name) is False)
                shown = f"{written(point, problems.get(column, 0))}{same}"
                add(name, column, point, shown, rank(point) if best else None)
    for column in columns(rows):
        point = next(row[column] for row in rows.values() if column in row)
        add(FLOOR, column, point, point.measure.written(point.floor), None)
    for name, row in hands.items():
        for column, point in row.items():
            add(name, column, point, point.measure.written(point.mean), None)
    heads = ("mechanism", "task", "regime", "measure", "shown")
    long = Tabular(headings=heads, cells=tuple(cells), values=tuple(values))
    return long.pivot(
        "mechanism", heads[1:4], "shown", value="number", best=lambda one: one["rank"]
    )


def ranking(suite: str) -> list[tuple[str, int, int]]:
    """Rank the mechanisms of a suite by how often they are first, then by the sum of skills.

    Args:
        suite: Name of the suite.

    Returns:
        Mechanism, number of columns in which it is first, and in which it is ahead.
    """
    rows = standing(suite).rows
    best = {column: firsts(suite, column) for column in columns(rows)}
    found = [
        (
            name,
            sum(name in names for names in best.values()),
            sum(names[:1] == [name] and all(differs(suite, column).values())
                for column, names in best.items()),
        )
        for name in rows
    ]  # fmt: skip
    sums = {name: mean_skill(row) * len(row) for name, row in rows.items()}
    return sorted(found, key=lambda one: (one[1], sums[one[0]]), reverse=True)


def summary() -> Tabular:
    """Lay out all suites, a row for each: first and second mechanism, and rules by hand."""
    cells = []
    for suite in filter(recorded, SUITES):
        rows, hands, _, networks, tasks = standing(suite)
        every = columns(rows)
        ends = sorted({min(networks), max(networks)})
        two = ranking(suite)[:2]
        cells.append(
            (
                f"[{suite}](#{suite})",
                f"{len(every)}" if tasks == 1 else f"{len(every)} shifts of {tasks} sets",
                " to ".join(map(str, ends)),
                *(cell for name, count, ahead in two
                  for cell in (name, f"{count} ({ahead})",
                               f"{skill(rows[name])} ({len(rows[name])})")),
                "; ".join(f"{fixed(mean_skill(row), 1)} ({len(row)})" for row in hands.values())
                or "–",
                f"{hours(suite):.1f}",
            )
        )  # fmt: skip
    return Tabular(headings=SUMMARY, cells=tuple(cells), values=({},) * len(cells))


def hours(suite: str) -> float:
    """Compute the hours that the recorded networks of a suite trained.

    Args:
        suite: Name of the suite.
    """
    runs = {one.key: one for one in recorded(suite)}.values()
    networks = {one.key: max(len(point.values) for point in one.regimes) for one in runs}
    return sum(one.seconds * networks[one.key] for one in runs) / 3600


def left_out(suite: str) -> str:
    """Say which mechanisms of the tables have no record on the suite, or on some of its tasks.

    Args:
        suite: Name of the suite.
    """
    there = {(one.task, one.name) for one in recorded(suite)}
    every = [(item.name, name) for item in SUITES[suite].items for name, _ in comparable(item)]
    lacking = [one for one in dict.fromkeys(every) if one not in there]
    if not lacking:
        return "All mechanisms of its tables are recorded."
    nowhere = {name for _, name in lacking} - {name for _, name in there}
    names = [name for name in dict.fromkeys(name for _, name in lacking) if name in nowhere]
    without = f"; nothing of {', '.join(names)}" if names else ""
    return (
        f"Not recorded: {len(lacking)} of {len(set(every))} pairs of a mechanism and a task"
        f"{without}. [Estimates](../results/wanted.toml) of the missing runs."
    )


def alone(suite: str) -> str:
    """Lay out the effect of the norm alone over the sets of a suite, a row for each regime.

    Args:
        suite: Name of a suite whose sets are averaged.
    """
    rows = standing(suite).rows
    cells = []
    for column in columns(rows):
        profiles = tuple(
            (name, ExtrapolationProfile(task=suite, points=(rows[name][column],))) for name in ALONE
        )
        (pair,) = Comparison(profiles=profiles, against=ALONE[1]).pairs
        ours, theirs = (rows[name][column].values for name in ALONE)
        won = sum(one > other for one, other in zip(ours, theirs, strict=True))
        lost = sum(one < other for one, other in zip(ours, theirs, strict=True))
        cells.append((column[1], pair.written(rows[ALONE[0]][column].measure), f"{won}, {lost}"))
    heads = (f"{ALONE[0]} less {ALONE[1]}", "points [95 %] (sets)", "sets won, lost")
    return Tabular(headings=heads, cells=tuple(cells), values=({},) * len(cells)).markdown()


def page() -> str:
    """Write the page."""
    parts = [INTRODUCTION, summary().markdown()]
    for suite in filter(recorded, SUITES):
        described, found = SUITES[suite], standing(suite)
        reading = "" if found.tasks == 1 else OVER_TASKS.format(count=found.tasks)
        tables = ", ".join(dict.fromkeys(f"`{item.table}`" for item in described.items))
        parts += [
            f"## {suite}",
            f"{described.about}. Tables: {tables}. {left_out(suite)}",
            table(suite).markdown(),
            reading,
            alone(suite) if found.tasks > 1 else "",
        ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def main() -> None:
    """Write the page."""
    (DOCS / "mechanisms.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
