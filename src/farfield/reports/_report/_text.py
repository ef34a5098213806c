"""Words for the numbers of a row, for all formats."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from farfield._text import fixed, one_line
from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import measure_of
from farfield.records import Record
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Claim, Published, Unpublished, Verdict, VerdictRule

UNCOMMITTED: Final = "‡"
"""Sign of networks from an uncommitted tree."""

UNKNOWN: Final = "§"
"""Sign of networks from a commit that the repository lacks."""

MEANING: Final = (
    f"{UNCOMMITTED}: trained from an uncommitted tree. {UNKNOWN}: from a commit that the "
    "repository lacks. A number before the sign: so many of the networks."
)
"""Signs in words."""

COMMIT: Final = re.compile("[0-9a-f]{7,40}")
"""Text that names a commit."""


def is_uncommitted(record: Record) -> bool:
    """Look whether a run is from a tree with uncommitted changes.

    Args:
        record: Record of the run.
    """
    return record.commit.endswith("+")


def is_unknown(record: Record, missing: AbstractSet[str]) -> bool:
    """Look whether a run is from a commit that the repository lacks, or from no known one.

    Args:
        record: Record of the run.
        missing: Commits that the repository lacks.
    """
    if is_uncommitted(record) or record.commit == "release":
        return False
    return record.commit in missing or not COMMIT.fullmatch(record.commit)


def commits_of(records: Iterable[Record]) -> set[str]:
    """Collect the commits that records name; none of uncommitted trees.

    Args:
        records: The records.
    """
    return {record.commit for record in records if COMMIT.fullmatch(record.commit)}


def signs(row: Row) -> str:
    """Write signs of the networks of a row whose code nobody can look up, e.g. `‡` or `2 ‡`.

    Args:
        row: A row.
    """
    counts = {
        UNCOMMITTED: sum(map(is_uncommitted, row.records)),
        UNKNOWN: sum(is_unknown(record, row.missing) for record in row.records),
    }
    return " ".join(
        sign if count == len(row.records) else f"{count} {sign}"
        for sign, count in counts.items()
        if count
    )


MISSING: Final = "–"
"""Sign in an empty cell."""

CLEAR: Final = " †"
"""Marks a difference whose interval leaves out 0."""


def published(row: Row) -> str:
    """Write the published number and how many networks it is the mean of, e.g. `72.3 ± 5.2 (10)`.

    A number of networks that the paper does not say is marked as assumed, e.g. `76.72 (1 assumed)`.
    Where no number is published, the goal.
    """
    number = row.claim.published
    if not isinstance(number, Published):
        return goal(row.claim)
    return f"{number} ({number.runs}{' assumed' if number.runs_assumed else ''})"


def goal(claim: Claim) -> str:
    """Write the goal of a claim, e.g. `≥ 99.5`, or `≤ 0.01` for an error; `–` without a goal."""
    number = claim.published
    if isinstance(number, Published) or number.goal is None:
        return MISSING
    sign = "≤" if measure_of(claim.metric).lower_is_better else "≥"
    return f"{sign} {number.goal:.{number.decimals[0]}f}"


def ours(row: Row) -> str:
    """Write our mean, its standard error and the number of networks, to the published digits.

    A mean below a goal gets as many digits more as it takes not to read as the goal. Networks that
    diverged are counted apart, e.g. `95.0 ± 0.7 (9 of 10, 1 diverged)`. Where nothing is trained,
    that is shown in place of their number.
    """
    summary, gone = row.judgement.ours, len(row.judgement.diverged)
    if summary is None:
        return f"{MISSING} ({gone} diverged)" if gone else MISSING
    count = f"{summary.count} of {summary.count + gone}, {gone} diverged" if gone else summary.count
    if row.judgement.untrained:
        count = f"{count}, {NOT_TRAINED}"
    if row.claim.trains_nothing:
        count = "nothing trained"
    published = row.claim.published
    mean_digits, error_digits = published.decimals
    aim = published.goal if isinstance(published, Unpublished) else None
    while aim is not None and _reads_as(aim, summary.mean, mean_digits):
        mean_digits, error_digits = mean_digits + 1, error_digits + 1
    error = (
        ""
        if math.isnan(summary.standard_error)
        else f" ± {fixed(summary.standard_error, error_digits)}"
    )
    return f"{plain(summary.mean, mean_digits)}{error} ({count})"


def marked_ours(row: Row) -> str:
    """Write our mean with the signs of networks whose code nobody can look up."""
    return f"{ours(row)} {signs(row)}".rstrip()


def _reads_as(goal: float, mean: float, digits: int) -> bool:
    """Look whether rounding moves a mean to the other side of a goal."""
    written = float(fixed(mean, digits))
    return mean < goal <= written or written <= goal < mean


def over_networks(values: Sequence[float], *, digits: int, unit: str) -> str:
    """Write mean and standard error of a quantity over the networks, e.g. `80.1 ± 2.3 %`."""
    summary = mean_and_standard_error(values)
    spread = f" ± {fixed(summary.standard_error, digits)}" if summary.count > 1 else ""
    return f"{plain(summary.mean, digits)}{spread}{unit}"


def over_counted(values: Sequence[float], *, digits: int = 1, unit: str = " %") -> str:
    """Write mean, standard error and networks, e.g. `80.1 ± 2.3 % (10 networks)`; `–` for none."""
    if not values:
        return MISSING
    return f"{over_networks(values, digits=digits, unit=unit)} ({networks(len(values))})"


def difference(row: Row) -> str:
    """Write ours minus published, e.g. `+0.4 [−1.0, +1.8]`; marked if the interval lacks 0."""
    found = row.judgement.difference
    if found is None:
        return MISSING
    digits = row.claim.published.decimals[0]
    low, high = signed(found.interval.low, digits), signed(found.interval.high, digits)
    return f"{signed(found.value, digits)} [{low}, {high}]{CLEAR if found.clear else ''}"


def plain(value: float, digits: int) -> str:
    """Write a number with a minus as wide as a digit where it is negative; zero has none."""
    return signed(value, digits).removeprefix("+")


def signed(value: float, digits: int) -> str:
    """Write a number with its sign, and a minus as wide as a plus; zero has none."""
    if math.isinf(value):
        return "+∞" if value > 0 else "−∞"
    text = fixed(abs(value), digits)
    if float(text) == 0:
        return text
    return f"{'−' if value < 0 else '+'}{text}"


def floor(row: Row) -> str:
    """Write the score of answers that ignore the problem."""
    return _level(row, row.floor)


def ceiling(row: Row) -> str:
    """Write the score of the rule itself."""
    return _level(row, row.ceiling)


def _level(row: Row, level: float) -> str:
    """Write a floor or a ceiling: to a digit in percent, otherwise to the published digits."""
    if math.isnan(level):
        return MISSING
    number = row.claim.published
    digits = 1 if number.unit == "percent" else number.decimals[0]
    return plain(level, digits)


def budget(row: Row) -> str:
    """Write the share of the paper's steps, e.g. `10 %`."""
    fraction = row.judgement.fraction
    return MISSING if fraction is None else f"{100 * fraction:.3g} %"


def shares(low: float, high: float) -> str:
    """Write shares of the paper's steps, from the smallest to the largest, e.g. `2.5–100 %`."""
    return f"{span(f'{100 * low:.3g}', f'{100 * high:.3g}')} %"


def steps(rows: Sequence[Row]) -> str:
    """Format the shares of the paper's steps of some rows, e.g. `2.5–100 % of steps`."""
    fractions = [row.judgement.fraction or 0.0 for row in rows]
    return f"{shares(min(fractions), max(fractions))} of steps"


def span(low: str, high: str) -> str:
    """Format a range, or one number if both ends are equal."""
    return low if low == high else f"{low}–{high}"


def networks(fewest: int, most: int | None = None) -> str:
    """Write a number of networks, e.g. `1 network` or `2–10 networks`."""
    most = fewest if most is None else most
    return f"{span(str(fewest), str(most))} network{'' if most == 1 else 's'}"


def verdict(row: Row) -> str:
    """Write the verdict."""
    return row.judgement.verdict.value


def seconds(row: Row) -> str:
    """Write the seconds of all networks together."""
    return MISSING if row.seconds is None else f"{row.seconds:,.0f}"


COLUMNS: Final[dict[str, Callable[[Row], str]]] = {
    "published ± SE (n)": published,
    "ours ± SE (n)": marked_ours,
    "difference [95 %]": difference,
    "floor": floor,
    "ceiling": ceiling,
    "steps": budget,
    "verdict": verdict,
    "seconds": seconds,
}
"""Heading and content of each column, after the name of the cell."""


def label(row: Row) -> str:
    """Name row and column as published, e.g. `ESBN + TCN, m = 95`."""
    return one_line(f"{row.claim.row}, {row.claim.column}")


def tally(report: Report) -> str:
    """Count the claims by verdict, in a line."""
    return " · ".join(f"{count} {word}" for word, count in report.verdicts.items())


COMMON_NOTES: Final = (
    "Difference: ours − published, with Welch's interval, published rounding included.",
    "Networks of a number that is published without spread are taken to scatter as ours do.",
    "†: the interval of the difference leaves out 0.",
    "Floor: answers that ignore the problem. Ceiling: the rule itself.",
    "Steps: share of the paper's training steps, or of those planned here where it names none.",
    "Seconds: all networks together.",
)
"""Notes on every table, a sentence or two each."""


def notes(report: Report) -> list[str]:
    """Write notes on the table, a sentence or two each."""
    lacking = dict.fromkeys(
        row.claim.data for row in report.rows if row.judgement.verdict is Verdict.NEEDS_DATA
    )
    origins = [MEANING] if any(map(signs, report.rows)) else []
    said = dict.fromkeys(row.judgement.verdict for row in report.rows)
    return [
        *(f"Needs data: {what}." for what in lacking),
        *own_notes(report),
        *origins,
        *COMMON_NOTES,
        *(f"{one.value.capitalize()}: {one.meaning}." for one in Verdict if one in said),
    ]


def own_notes(report: Report) -> list[str]:
    """Write notes on this table alone.

    Args:
        report: The table.
    """
    printed = [row for row in report.rows if isinstance(row.claim.published, Published)]
    rules = dict.fromkeys(row.claim.rule for row in printed)
    scored = dict.fromkeys(
        f"{row.claim.published.selection}; {row.claim.published.split}" for row in report.rows
    )
    return [
        *(f"{what} over n trained networks{how}." for what, how in _numbers(report).items()),
        *(f"Scored: {what}." for what in scored),
        *([f"Tuned: {report.tuned}."] if report.tuned is not None else []),
        *_selections(report),
        *_diverged(report),
        *_mixed_code(report),
        *_kinds(report),
        *_not_said(report),
        *(_rule(rule) for rule in rules),
        *_goals(report),
    ]


def _numbers(report: Report) -> dict[str, str]:
    """Write notes on the metrics and their format."""
    metrics = dict.fromkeys(row.claim.metric for row in report.rows)
    measures = dict.fromkeys(measure_of(metric) for metric in metrics)
    said: dict[str, str] = {}
    for one in measures:
        better = ", lower is better" if one.lower_is_better else ""
        name = f"{one.label.capitalize()}{better}: " if better or len(measures) > 1 else ""
        mean = "mean" if name else "Mean"
        how = ", in percent" if one.percent else ""
        said[f"{name}{mean} ± standard error of the mean"] = how
    return said


def _selections(report: Report) -> list[str]:
    """Return the fields that were chosen by a search, with the rows that they were chosen for."""
    rows: dict[str, dict[str, None]] = {}
    for row in report.rows:
        if row.claim.selection is not None:
            rows.setdefault(str(row.claim.selection), {})[row.claim.row] = None
    return [f"{'; '.join(names)}: {words}." for words, names in rows.items()]


def _diverged(report: Report) -> list[str]:
    """Return the networks that diverged, by cell, with the step."""
    found = [row for row in report.run if row.judgement.diverged]
    return [f"Diverged: {label(row)}: {row.judgement.reason}." for row in found]


def _kinds(report: Report) -> list[str]:
    """Return the cells whose networks are of two kinds."""
    found = [(row, row.judgement.kinds) for row in report.run if row.judgement.fraction == 1]
    return [f"Of two kinds: {label(row)}: {kinds}." for row, kinds in found if kinds is not None]


def _not_said(report: Report) -> list[str]:
    """Return notes on a kind of ± and on numbers of networks that the paper does not say."""
    rows = [(row, row.claim.published) for row in report.rows]
    printed = [(row, number) for row, number in rows if isinstance(number, Published)]
    spread = dict.fromkeys(row.claim.row for row, number in printed if number.spread_not_said)
    notes = (
        f"SD or SE: the paper does not say the kind of ± ({'; '.join(spread)}). Such numbers are "
        "drawn and judged as both; where the verdicts differ, the cell is inconclusive."
    )
    runs = sorted(number.runs for _, number in printed if number.runs_assumed)
    cells = {count: runs.count(count) for count in dict.fromkeys(runs)}
    counts = ", ".join(f"{count} for {n} cell{'s' * (n > 1)}" for count, n in cells.items())
    assumed = f"The paper does not say how many networks its numbers are of; assumed: {counts}."
    return [notes] * bool(spread) + [assumed] * bool(runs)


MIXED: Final = {"code": "Farfield's code", "packages": "packages"}
"""Parts of the environment in which seeds of one cell must not differ unsaid."""


def _mixed_code(report: Report) -> list[str]:
    """Return the cells with seeds of different code; old records do not name their code."""
    said = []
    for row in report.run:
        for part, name in MIXED.items():
            seeds: dict[str, list[int]] = {}
            for record in row.records:
                if part in record.environment:
                    seeds.setdefault(record.environment[part], []).append(record.seed)
            if len(seeds) > 1:
                each = "; ".join(
                    f"{one_line(what)} of seeds {ranges(own)}" for what, own in seeds.items()
                )
                said.append(f"Trained by different code: {label(row)}: {name} {each}.")
    return said


def ranges(numbers: Sequence[int]) -> str:
    """Write whole numbers in ascending order, neighbors as a range, e.g. `0–3, 7`.

    Args:
        numbers: The numbers.
    """
    groups: list[list[int]] = []
    for number in sorted(numbers):
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ", ".join(span(str(group[0]), str(group[-1])) for group in groups)


NOT_TRAINED: Final = "not trained"
"""Mark of networks that have not learned their training problems."""

STAR: Final = (
    "Reached takes a confirmation: networks of other seeds, on other problems or in another "
    "regime, named before they ran at a frozen recipe, reach the goal too; of either 20, or ten "
    "where one takes over ten minutes. A goal that a row by hand reaches too, where nothing is "
    "trained, gets no star."
)
"""Conditions of a goal that is reached, in words."""


def _goals(report: Report) -> list[str]:
    """Write our goals in words."""
    own = [row for row in report.rows if isinstance(row.claim.published, Unpublished)]
    bare = [row for row in own if published(row) == MISSING]
    signs = dict.fromkeys(published(row)[0] for row in own if row not in bare)
    notes = [
        f"{sign}: a goal of our own, set before the run. Missed unless the whole interval of "
        f"the mean is {'at most' if sign == '≤' else 'at least'} that, and better than the floor. "
        f"{STAR}"
        for sign in signs
    ]
    found: dict[str, list[str]] = {}
    for row in own:
        if row not in bare and row.records:
            said = f"{row.judgement.verdict}: {row.judgement.reason}"
            found.setdefault(said, []).append(row.name)
    notes += [f"{', '.join(names)}: {said}." for said, names in found.items()]
    if any(row.judgement.untrained for row in own):
        notes.append(
            f"{NOT_TRAINED}: in training too, the networks went less than half of the way from the "
            "floor to the best score."
        )
    if bare:
        notes.append("–: no number is published; measured: as many networks and steps as planned.")
    return notes


def _rule(rule: VerdictRule) -> str:
    """Write a verdict rule in words."""
    interval = f"{100 * rule.confidence:g} % interval"
    return (
        f"Reproduced: the {interval} lies within ±{rule.margin:g}; or it holds 0, the difference "
        f"is at most the larger of {rule.margin:g} and {rule.noise:g} published standard errors, "
        f"and the interval reaches at most {rule.reach:g} times as far. Compatible, wide: so, but "
        f"the interval reaches farther than ±{rule.widest:g}."
    )
