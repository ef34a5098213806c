"""Scores against distances, numbers and settings, from records alone."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import measure_of, welch_interval
from farfield.reports._exhibits._exhibit import Evidence, Finding, Plate, exhibit
from farfield.reports._exhibits._frames import (
    Cells,
    Color,
    Curve,
    Dots,
    Drawing,
    Panel,
    down,
    in_rows,
)
from farfield.reports._profile._pictures import profiles
from farfield.reports._profile._series import (
    errors_of,
    networks_note,
    score_label,
    states_of,
    subtitle,
)
from farfield.reports._profile._theme import FLOOR
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Verdict
from farfield.tasks import TRAINING

LOWEST: Final = (
    "Filled: means over our networks, with their 95 % intervals; open: as published. Hardest: the "
    "regime of a task that lies farthest from training."
)
NUMBERS: Final = "Score against the number of {label}{of}; dashed: answers that ignore the problem."
SEVERAL: Final = ", mean of the networks, with its 95 % interval where there are several"
ONE: Final = ", of one network each"
APART: Final = 0.06
"""Offset between rows, in steps of the axis, so that their intervals do not cover each other."""
PAIRED: Final = " Apart: whether the 95 % intervals of both means do not overlap."
SETTINGS: Final = (
    "Score against each setting, mean of the networks, with its 95 % interval where there are "
    "several; dashed: answers that ignore the problem. Best: the setting with the highest mean, "
    "and its gain over the first."
)
SKILLS: Final = (
    "Skill in percent, mean over the tasks that have run: 0 is the score of answers that ignore "
    "the problem, 100 the ceiling. Each network is asked in all regimes; its training problems are "
    "the first column, which counts in no mean. In brackets: number of tasks; –: not run."
)
SEPARATOR: Final = " = "
"""Text between a setting and its number in the name of a column."""
COLUMNS: Final = {
    TRAINING: "in\ntraining",
    "withheld-*": "identical",
    "tint-reversed": "identical",
    "noise-1": "noise\n1",
    "noise-4": "noise\n4",
    "noise-16": "noise\n16",
    "noise-64": "noise\n64",
    "shift-1": "shift\n1",
    "shift-2": "shift\n2",
    "shift-4": "shift\n4",
    "size-5-turn-5": "size 5\nturn 5",
    "size-15-turn-15": "size 15\nturn 15",
    "size-30-turn-45": "size 30\nturn 45",
    "light-25": "light\n25",
    "light-50": "light\n50",
    "noise-16-shift-2": "noise,\nshift",
    "noise-16-shift-2-size-15-turn-15": "with size\nand turn",
    "font": "font",
    "noise-16-shift-2-font": "font, noise,\nshift",
}
"""Names of the columns of skills by a pattern of their regimes; training counts in no mean."""


@exhibit
def generalization(evidence: Evidence, *, row: str) -> Plate | None:
    """Measure the lowest score of one row, and the highest of the other rows where it is hardest.

    The quantities are named `lowest` and `others`.

    Args:
        evidence: Rows in regimes at several distances.
        row: The row as published, e.g. `"ESBN + TCN"`.
    """
    own = [one for one in evidence.report.rows if one.claim.row == row]
    run = [one for one in own if one.records]
    if not run:
        return None
    others = []
    for subject, rows in evidence.report.subjects.items():
        farthest = max(one.distance for one in rows)
        rivals = [one for one in rows if one.distance == farthest and one.records]
        rivals = [one for one in rivals if one not in own]
        if rivals:
            others.append(f"{subject} {_ours(max(rivals, key=_judged))}")
    return Plate(
        name="generalization",
        title="How far they hold",
        caption=LOWEST,
        draw=partial(profiles, evidence.report),
        findings=(
            evidence.finding(
                f"{row}: lowest mean of all regimes",
                "lowest",
                f"{_ours(min(run, key=_judged))}, of {len(run)} of {len(own)} regimes run",
            ),
            evidence.finding(
                "the best of the other rows in the hardest regime of each task",
                "others",
                "; ".join(others) or text.MISSING,
            ),
        ),
    )


def _judged(row: Row) -> float:
    return row.judgement.ours.mean if row.judgement.ours else float("nan")


def _ours(row: Row) -> str:
    """Format mean, standard error and cell, e.g. `95.0 ± 0.7 (10) ESBN + TCN, m = 95`."""
    return f"{text.ours(row)} {text.label(row)}"


def _mean(row: Row) -> float:
    return mean_and_standard_error(row.values).mean


def _curve(rows: Sequence[Row], x: Sequence[float], color: Color, name: str) -> Curve:
    """Lay out the means of rows with their intervals."""
    means, errors = np.array([_mean(row) for row in rows]), errors_of(rows)
    below, above = np.zeros((2, 0)) if errors is None else (means - errors[0], means + errors[1])
    return Curve(
        x=x, y=means, color=color, name=name, marker="o", low=below, high=above, is_band=False
    )  # fmt: skip


@exhibit
def against_columns(
    evidence: Evidence,
    *,
    label: str,
    pairs: tuple[tuple[str, str], ...] = (),
    apart_to: int | None = None,
) -> Plate | None:
    """Measure scores against the number that each column begins with, and compare pairs of rows.

    The quantity is named `difference`.

    Args:
        evidence: Rows with such columns.
        label: Unit of the numbers, e.g. `"training samples"`.
        pairs: Rows that are compared, the row whose scores are reduced first.
        apart_to: A goal of our own: the first of a pair is ahead in every column, and in those up
            to this number the 95 % intervals of both do not overlap. `None` for no goal.
    """
    run = evidence.run
    if not run:
        return None
    cells = {(row.claim.row, _number(row)): row for row in run}
    findings = [
        evidence.finding(
            f"{first} − {second} at {number} {label}",
            "difference",
            _difference(cells[first, number], cells[second, number]),
        )
        for first, second in pairs
        for number in sorted({number for _, number in cells})
        if (first, number) in cells and (second, number) in cells
    ]
    if apart_to is not None:
        findings += [
            _goal(pair, label, apart_to, evidence.report)
            for pair in pairs
            if {row for row, _ in cells} >= set(pair)
        ]
    of = SEVERAL if any(len(row.values) > 1 for row in run) else ONE
    return Plate(
        name="curve",
        title=f"Against the number of {label}",
        caption=NUMBERS.format(label=label, of=of) + (PAIRED if pairs else ""),
        draw=_numbers(evidence, label),
        findings=tuple(findings),
    )


def _goal(pair: tuple[str, str], label: str, apart_to: int, report: Report) -> Finding:
    """Judge the goal that one row is above another everywhere."""
    first, second = (
        {_number(row): row for row in report.rows if row.claim.row == name} for name in pair
    )
    numbers = sorted(first.keys() & second.keys())
    near = [number for number in numbers if number <= apart_to]
    above = [number for number in numbers if _lead(first[number], second[number]) > 0]
    apart = [number for number in near if number in above and _apart(first[number], second[number])]
    verdict = Verdict.UNCONFIRMED if (above, apart) == (numbers, near) else Verdict.MISSED
    if any(_is_open(cells[number]) for cells in (first, second) for number in numbers):
        verdict = Verdict.UNDERPOWERED
    return Finding(
        what=f"our goal: {pair[0]} above {pair[1]} at every number of {label}, "
        f"and apart up to {apart_to}",
        paper="",
        ours=f"{verdict}: above at {len(above)} of {len(numbers)}, "
        f"apart at {len(apart)} of {len(near)}",
    )


def _is_open(row: Row) -> bool:
    return row.judgement.verdict in (Verdict.UNDERPOWERED, Verdict.NOT_RUN, Verdict.NEEDS_DATA)


def _lead(first: Row, second: Row) -> float:
    """Subtract the mean of a row from another; 0 where one was not run."""
    return _mean(first) - _mean(second) if first.values and second.values else 0.0


def _apart(first: Row, second: Row) -> bool:
    """Look whether the 95 % intervals of two means do not overlap."""
    one, other = first.interval, second.interval
    if one is None or other is None:
        return False
    return one.low > other.high or other.low > one.high


def _number(row: Row) -> int:
    """Read the number that a column begins with."""
    return int(row.claim.column.split()[0].replace(",", ""))


def _difference(first: Row, second: Row) -> str:
    """Subtract the mean of a row from another, and say whether their intervals are apart."""
    ours, theirs = (mean_and_standard_error(row.values) for row in (first, second))
    gap = text.signed(_lead(first, second), 1)
    if min(ours.count, theirs.count) < 2:
        return f"{gap} (too few networks for an interval)"
    claim = first.claim
    reach = claim.published.scale * measure_of(claim.metric).range
    interval = welch_interval(ours, theirs).interval.cut(-reach, reach)
    low, high = (text.signed(end, 1) for end in (interval.low, interval.high))
    return f"{gap} [{low}, {high}], {'apart' if _apart(first, second) else 'not apart'}"


def _numbers(evidence: Evidence, label: str) -> Drawing:
    """Lay out a curve for each row."""
    rows, states = evidence.run, states_of(evidence.run)
    numbers = sorted({_number(row) for row in rows})
    step = min((after - one for one, after in pairwise(numbers)), default=1)
    curves = []
    for line, (name, state) in enumerate(states.items()):
        own = sorted((row for row in rows if row.claim.row == name), key=_number)
        aside = APART * step * (line - (len(states) - 1) / 2)
        curves.append(_curve(own, [_number(row) + aside for row in own], line, name + state))
    absent = [row.claim.row for row in evidence.report.rows if row.claim.row not in states]
    note = networks_note([len(row.values) for row in rows], [*dict.fromkeys(absent)])
    several = (Dots(marker="|", size=30, name="95 % interval"),)
    floor = Curve(color="muted", line=FLOOR, width=0.8, name="floor (chance)")
    panel = Panel(
        marks=tuple(curves),
        title=evidence.report.title,
        note=subtitle(rows, "", note),
        x_ticks=numbers,
        x_label=label,
        y_label=score_label(rows[0]),
        floors=tuple({row.floor for row in rows}),
    )
    legend = (*(several if any(len(row.values) > 1 for row in rows) else ()), floor)
    return Drawing(rows=[[panel]], height=3.0, legend=legend)


@exhibit
def scores_by_setting(evidence: Evidence) -> Plate | None:
    """Measure scores against settings, a panel for each, of columns such as `σ = 0.25`.

    The quantities have the name of the row and of the setting, e.g. `BN/σ`.

    Args:
        evidence: Rows with such columns.
    """
    if not evidence.run:
        return None
    panels: dict[str, list[Row]] = {}
    for row in evidence.run:
        panels.setdefault(f"{row.claim.subject}: {_setting(row)[0]}", []).append(row)
    findings = []
    for head, rows in panels.items():
        for name, own in _by_setting(rows).items():
            means = [_mean(row) for row in own]
            best = max(range(len(own)), key=means.__getitem__)
            gain = text.signed(means[best] - means[0], 1)
            quantity = f"{name}/{_setting(own[best])[0]}"
            ours = f"{own[best].claim.column}, {gain}"
            findings.append(evidence.finding(f"{head}, {name}: best", quantity, ours))
    return Plate(
        name="settings",
        title="Scores by setting",
        caption=SETTINGS,
        draw=Drawing(
            rows=in_rows([_settings(head, rows) for head, rows in panels.items()], 2),
            height=2.4 * down(len(panels), 2),
            y_label=score_label(evidence.run[0]),
            shares="y",
        ),
        findings=tuple(findings),
    )


def _setting(row: Row) -> tuple[str, float]:
    """Read name and number of the setting of a row."""
    name, _, number = row.claim.column.partition(SEPARATOR)
    return name, float(number)


@exhibit
def skill_by_regime(evidence: Evidence, *, panels: Mapping[str, str]) -> Plate | None:
    """Measure the skill of each row in training and all tests, as a mean over tasks.

    The quantity is named `skill`.

    Args:
        evidence: Rows whose networks are asked in many regimes.
        panels: Titles of the panels by the beginning of their groups; the first fit counts.
    """
    if not evidence.run:
        return None
    names = [*dict.fromkeys(row.claim.row for row in evidence.report.rows)]
    skills: dict[str, dict[tuple[str, str], list[float]]] = {}
    for row in evidence.run:
        title = next(name for start, name in panels.items() if row.claim.group.startswith(start))
        found = skills.setdefault(title, {})
        for name, skill in _skills(row):
            found.setdefault((row.claim.row, name), []).append(skill)
    scored = {name for found in skills.values() for _, name in found}
    heads = [head for head in dict.fromkeys(COLUMNS.values()) if head in scored]
    networks = [len(row.kept) for row in evidence.run]
    counts = {
        (title, row): max((len(own) for (name, _), own in found.items() if name == row), default=0)
        for title, found in skills.items()
        for row in names
    }
    return Plate(
        name="skills",
        title="Skill in every regime",
        caption=SKILLS,
        draw=Drawing(
            rows=[
                [
                    Panel(
                        marks=(_skill_cells(found, names, heads),),
                        title=title,
                        x_ticks=dict(enumerate(heads)),
                        y_ticks={
                            spot: f"{row} ({counts[title, row]})" for spot, row in enumerate(names)
                        },
                        frame="ticks",
                    )
                ]
                for title, found in skills.items()
            ],
            height=len(skills) * (0.2 * len(names) + 0.75),
            width=0.45 * len(heads) + 2.0,
            note=f"{text.networks(min(networks), max(networks))} of each row on each task; "
            f"{evidence.steps}",
        ),
        findings=tuple(
            evidence.finding(f"{title}: {row}", "skill", _mean_skill(skills[title], row, heads))
            for (title, row), count in counts.items()
            if count
        ),
    )


def _skills(row: Row) -> Iterator[tuple[str, float]]:
    """Yield the mean skill of the networks of a row in each scored regime that has a column."""
    scale, metric = row.claim.published.scale, row.claim.metric
    scored = {score.regime for record in row.kept for score in record.scores}
    for pattern, name in COLUMNS.items():
        for regime in fnmatch.filter(scored, pattern):
            mean = np.mean([scale * record.final(regime, metric) for record in row.kept])
            yield name, float(100 * (mean - row.floor) / (row.ceiling - row.floor))


def _skill_cells(
    found: Mapping[tuple[str, str], Sequence[float]], names: list[str], heads: list[str]
) -> Cells:
    """Lay out mean skills, rows from the top."""
    tint, words = np.zeros((len(names), len(heads))), {}
    for row, name in enumerate(names):
        for column, head in enumerate(heads):
            skills = found.get((name, head))
            words[row, column] = (
                text.MISSING if skills is None else text.plain(float(np.mean(skills)), 0)
            )
            tint[row, column] = 0 if skills is None else max(0.0, float(np.mean(skills))) / 125
    beside = frozenset(spot for spot, head in enumerate(heads) if head == COLUMNS[TRAINING])
    return Cells(tints={0: tint}, texts=words, muted=beside)


def _mean_skill(
    found: Mapping[tuple[str, str], Sequence[float]], row: str, heads: Sequence[str]
) -> str:
    """Format the mean skill of a row over all tests, with its lowest column."""
    means = {
        head: float(np.mean(found[row, head]))
        for head in heads
        if (row, head) in found and head != COLUMNS[TRAINING]
    }
    worst = min(means, key=means.__getitem__)
    whole = sum(means.values()) / len(means)
    mean, least = text.plain(whole, 0), text.plain(means[worst], 0)
    return f"{mean} on average, least {least} ({worst.replace(chr(10), ' ')})"


def _by_setting(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group rows by their name, in the order of their setting."""
    names = dict.fromkeys(row.claim.row for row in rows)
    return {
        name: sorted((row for row in rows if row.claim.row == name), key=_setting) for name in names
    }


def _settings(head: str, rows: Sequence[Row]) -> Panel:
    """Lay out a curve for each row against one setting."""
    numbers = sorted({_setting(row)[1] for row in rows})
    return Panel(
        marks=tuple(
            _curve(own, [numbers.index(_setting(row)[1]) for row in own], color, name)
            for color, (name, own) in enumerate(_by_setting(rows).items())
        ),
        title=head,
        x_ticks={spot: f"{number:g}" for spot, number in enumerate(numbers)},
        x_label=_setting(rows[0])[0],
        floors=tuple({row.floor for row in rows}),
    )
