"""Index of results: goals beside numbers, and verdicts by paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from farfield._text import fixed
from farfield.metrics.internal import measure_of
from farfield.reports._export._coverage import Coverage, is_full
from farfield.reports._export._export import Reason
from farfield.reports._export._recorded import Kind, Recorded
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reports._report._text import UNCOMMITTED, UNKNOWN, is_uncommitted, is_unknown
from farfield.reports._tables._grid import DIFFERENT, GOALS, JUDGED, SIGNS, recipe_of
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reproductions import TABLES, Claim, Published, Unpublished, Verdict

RECIPE: Final = (
    "A *recipe* is a way of training; its number counts the recipes that were tried with the "
    "scores on the tests in sight. The *confirmation* names the networks that confirm a goal that "
    "no row by hand reaches, or says why a star is missing."
)
"""Columns of the goals in words."""


def goal_lines(recorded: Recorded) -> list[str]:
    """List the lines of the table of goals that were run: verdict, recipe and confirmation of each.

    Args:
        recorded: Recorded runs.
    """
    signs = "; ".join(f"{SIGNS[verdict]} {verdict.value}" for verdict in GOALS)
    lines = [f"{signs}. {text.STAR} {RECIPE}", ""]
    table = [line for one in recorded.reports.items() for line in goals_of_table(*one)]
    head = ("goals of", "verdict", "row, columns", "recipe", "confirmation")
    return [*lines, *map(table_line, (head, ("---",) * len(head), *table))] if table else lines


SCORES: Final = (
    "*Measured* is the mean of the networks (their number), with the "
    "95 % interval where there are two or more. *Underpowered* are fewer networks or steps than a "
    "verdict takes. The goal of forecasts is on [their "
    "page](../../benchmarks/results/forecast/forecast.md)."
)
"""Columns of the scores of goals in words."""


def goals_page(recorded: Recorded) -> str:
    """Format the page of all goals with their scores, run or not.

    Args:
        recorded: Recorded runs.
    """
    table = []
    for key, one in TABLES.items():
        for claim in one.claims:
            if text.goal(claim) == text.MISSING:
                continue
            row = recorded.row(claim)
            verdict = Verdict.NOT_RUN if row is None else row.judgement.verdict
            table.append(
                [
                    key,
                    as_words(f"{claim.subject}: {claim.row}, {claim.column}"),
                    text.goal(claim),
                    text.MISSING if row is None else as_words(_measured(row)),
                    verdict.value,
                ]
            )
    head = ("goals of", "row, column", "goal", "measured", "state")
    lines = map(table_line, (head, ("---",) * len(head), *table))
    return "\n".join(["# Goals of our own", "", SCORES, "", *lines]) + "\n"


def _measured(row: Row) -> str:
    """Write the mean of the networks of a goal, and its interval if there are two or more."""
    claim, values = row.claim, row.values
    said = text.ours(row)
    if len(values) < 2:
        return said
    ends = measure_of(claim.metric).interval(
        values, scale=claim.published.scale, confidence=claim.rule.confidence
    )
    digits = claim.published.decimals[0]
    return f"{said} [{fixed(ends.low, digits)}, {fixed(ends.high, digits)}]"


def goals_of_table(key: str, reports: Mapping[Kind, Report]) -> list[list[str]]:
    """List the lines of the goals of a table, one for each verdict, recipe and confirmation.

    Args:
        key: The table.
        reports: Reports of its runs.
    """
    found: dict[tuple[Verdict, str, str], dict[str, list[Claim]]] = {}
    for row in (row for report in reports.values() for row in report.rows if _has_goal(row)):
        if (verdict := row.judgement.verdict) in GOALS:
            recipe = recipe_of(row).removeprefix(", ") or "first recipe"
            alike = found.setdefault((verdict, recipe, _confirmation(row)), {})
            alike.setdefault(row.claim.row, []).append(row.claim)
    return [
        [
            table_link(key),
            SIGNS[verdict],
            as_words("; ".join(f"{name}{_columns(claims)}" for name, claims in alike.items())),
            recipe,
            as_words(confirmation),
        ]
        for (verdict, recipe, confirmation), alike in sorted(
            found.items(), key=lambda one: GOALS.index(one[0][0])
        )
    ]


def _confirmation(row: Row) -> str:
    """Format the text on the confirmation of a goal, or on its gaps."""
    if row.judgement.verdict is Verdict.UNCONFIRMED:
        return row.judgement.reason.partition("not confirmed: ")[2]
    named = row.claim.confirmation
    if row.judgement.verdict is not Verdict.REACHED or named is None:
        return text.MISSING
    return f"networks of {f'seeds from {named.by}' if isinstance(named.by, int) else named.by}"


def _has_goal(row: Row) -> bool:
    number = row.claim.published
    return isinstance(number, Unpublished) and number.goal is not None


def _columns(claims: Sequence[Claim]) -> str:
    columns = [claim.column for claim in claims]
    if len(set(columns)) == len(columns):
        return f", {' and '.join(columns)}"
    return ": " + ", ".join(f"{claim.column} ({claim.subject})" for claim in claims)


def goals_of(paper: str, recorded: Recorded) -> Counter[Verdict]:
    """Compute the number of goals of a paper that were run, by verdict.

    Args:
        paper: Key of the paper.
        recorded: Recorded runs.
    """
    return Counter(
        row.judgement.verdict
        for key, reports in recorded.reports.items()
        if key.startswith(f"{paper}/")
        for report in reports.values()
        for row in report.rows
        if _has_goal(row) and row.judgement.verdict in GOALS
    )


def table_link(key: str) -> str:
    """Link to a table on the page of its paper.

    Args:
        key: The table.
    """
    paper, _, table = key.partition("/")
    return f"[{key}]({paper}.md#{table})"


HEAD: Final = """\
# Results

Freshly trained networks beside published numbers, from the files under `results/` alone. Each paper
has a page with its tables as printed, and beside it a table of all runs with commands, machines and
seconds.
"""

RUN: Final = """\
| paper | tables, figures | with claims | printed | declared | built | in full | in part | nothing trained |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""  # noqa: E501
"""Head of the table of runs."""

RUN_TERMS: Final = """\
*With claims* are the tables and figures that something here tests. *Printed* are the numbers in the
tables of the paper. *Declared* are the printed numbers for which a claim states the experiment and
the rule of the verdict. *Built* are the declared numbers whose model exists here. Numbers *in full*
were run with all steps and as many networks as a verdict takes, numbers *in part* with less.
*Nothing trained* are the numbers of methods that learn nothing, e.g. bicubic enlargement.
"""
"""Columns of `RUN` in words."""

CAME: Final = """\
| paper | verdicts on networks | inconclusive | called different | by chance | nothing trained | goals of our own |
| --- | --- | ---: | ---: | ---: | ---: | --- |
"""  # noqa: E501
"""Head of the table of verdicts."""

CAME_TERMS: Final = """\
A number has a *verdict* if it was run in full, or if nothing is trained for it. It is
*inconclusive* if the networks show neither a difference from the print nor agreement within the
margin. Of the numbers whose networks scatter, those are *called different* that differ from the
print (↗ or ✗). *By chance* is how many would be called different if nothing differed. A *goal* is a
number of our own that networks are to reach.
"""
"""Columns of `CAME` in words."""

BAR: Final[dict[str, tuple[Verdict, ...]]] = {
    "█": (Verdict.REPRODUCED,),
    "▒": (Verdict.COMPATIBLE, Verdict.INCONCLUSIVE, Verdict.DIRECTION_ONLY),
    "░": (Verdict.NOT_REPRODUCED,),
}
"""Blocks of a bar, and the verdicts that they are for."""

RULE: Final = "../../benchmarks/results/verdicts/rule.md"
"""Page of `python -m benchmarks.verdicts` as `docs/results` sees it."""

WIDTH: Final = 20
"""Blocks of a whole bar."""

PICTURES: Final = (
    "webb2021/figure-3-paper-generalization.png",
    "gondal2021/figure-5a-paper-curve.png",
    "lamb2022/mixup-figures-1-2-paper-decision-surfaces.png",
    "lamb2022/ict-figure-1-paper-decision-boundaries.png",
    "lamb2022/dormant-phases-paper-dormant-phases.png",
)
"""Files of the pictures shown, if exported."""


def index_page(
    recorded: Recorded,
    covered: Mapping[str, Sequence[Coverage]],
    reasons: Sequence[Reason],
    folder: str,
) -> str:
    """Format the page, as Markdown.

    Args:
        recorded: Recorded runs.
        covered: How far everything was run, by paper.
        reasons: Why results are not reproduced.
        folder: Path of the folder of exports from the page.
    """
    run, came = (
        [table_line(line(paper, items, recorded)) for paper, items in covered.items()]
        for line in (_run, _came)
    )
    lines = ["", "## How much is run", "", *RUN.splitlines(), *run, "", *RUN_TERMS.splitlines()]
    lines += ["", "## Verdicts", "", *CAME.splitlines(), *came]
    lines += ["", *CAME_TERMS.splitlines()]
    lines += ["", f"{_legend()}.", "", *_by_chance(recorded), "", *_origins(recorded)]
    lines += ["", "## Not reproduced", "", *_failures(recorded, reasons)]
    lines += [
        "",
        "## Goals of our own",
        "",
        *goal_lines(recorded),
        "",
        "[Every goal with its scores](goals.md), run or not.",
        "",
        *_pictures(recorded, folder),
    ]
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _run(paper: str, covered: Sequence[Coverage], recorded: Recorded) -> list[str]:
    """Return the line of a paper in the table of runs."""
    printed = [(one, one.printed) for one in covered if one.printed is not None]
    tables = [(one, item.numbers) for one, item in printed if item.numbers]
    rows = _printed_rows(covered, recorded)
    untrained = sum(row.claim.trains_nothing for row in rows)
    part = sum(not is_full(row) for row in rows)
    numbers = (
        len(printed),
        sum(bool(one.keys) for one, _ in printed),
        sum(numbers for _, numbers in tables),
        sum(min(numbers, one.numbers) for one, numbers in tables),
        sum(min(numbers, one.built) for one, numbers in tables),
        len(rows) - part - untrained,
        part,
        untrained,
    )
    return [_page(paper), *map(str, numbers)]


def _came(paper: str, covered: Sequence[Coverage], recorded: Recorded) -> list[str]:
    """Return the line of a paper in the table of verdicts."""
    rows = [row for row in _printed_rows(covered, recorded) if is_full(row)]
    counts, untrained = (
        Counter(row.judgement.verdict for row in rows if row.claim.trains_nothing == nothing)
        for nothing in (False, True)
    )
    scattered = [row for row in rows if _is_compared(row) and _is_scattered(row)]
    return [
        _page(paper),
        _bar(counts),
        str(counts[Verdict.INCONCLUSIVE]) if counts else text.MISSING,
        f"{_different(scattered)} of {len(scattered)}" if scattered else text.MISSING,
        fixed(_chance(scattered), 1) if scattered else text.MISSING,
        _numbers(untrained) or text.MISSING,
        _numbers(goals_of(paper, recorded)) or text.MISSING,
    ]


def _page(paper: str) -> str:
    """Format a link to the page of a paper."""
    return f"[{paper}]({paper}.md)"


def _printed_rows(covered: Sequence[Coverage], recorded: Recorded) -> list[Row]:
    """Return rows of the published numbers in the tables that a paper prints, where run."""
    claims = {
        claim.name: claim
        for one in covered
        if one.printed is not None and one.printed.numbers
        for claim in one.cells
        if isinstance(claim.published, Published)
    }
    return [row for claim in claims.values() if (row := recorded.row(claim)) is not None]


def _bar(counts: Counter[Verdict]) -> str:
    """Format verdicts as a bar and as numbers."""
    if not counts:
        return text.MISSING
    sizes = {block: sum(counts[one] for one in verdicts) for block, verdicts in BAR.items()}
    blocks = "".join(
        block * max(round(WIDTH * size / counts.total()), size > 0) for block, size in sizes.items()
    )
    return f"{blocks} {_numbers(counts)}"


def _numbers(counts: Counter[Verdict]) -> str:
    """Format verdicts as numbers, each with its sign."""
    return " ".join(
        f"{counts[verdict]} {sign}" for verdict, sign in SIGNS.items() if counts[verdict]
    )


def _legend() -> str:
    """Format the signs of the bars in words."""
    words = [
        f"{block} {' or '.join(f'{SIGNS[one]} {one.value}' for one in verdicts)}"
        for block, verdicts in BAR.items()
    ]
    return "; ".join(words)


def _by_chance(recorded: Recorded) -> list[str]:
    """Return a sentence on numbers that are called different, and how many would be by chance."""
    rows = [
        row
        for reports in recorded.reports.values()
        for report in reports.values()
        for row in report.rows
        if _is_compared(row)
    ]
    trained = [row for row in rows if _is_scattered(row)]
    untrained = sum(row.claim.trains_nothing for row in rows)
    kinds = sum(row.judgement.kinds is not None for row in trained)
    different, chance = _different(trained), _chance(trained)
    sentence = (
        f"Of {len(trained)} judged cells, with those of other images and options, {different} are "
        f"called different; about {fixed(chance, 0)} would be if nothing differed and scores were "
        f"normal. [The simulation]({RULE}), with networks near the ceiling and "
        "others of which one in ten fails, says how often the rule errs. "
        f"In {kinds} of these cells networks are of two kinds. "
        f"{len(rows) - len(trained) - untrained} more cells have no spread, as all networks score "
        f"alike, and in {untrained} nothing is trained."
    )
    return [sentence]


def _is_compared(row: Row) -> bool:
    """Tell if it is a row with a verdict by an interval of the difference."""
    return row.judgement.difference is not None and row.judgement.verdict in JUDGED


def _is_scattered(row: Row) -> bool:
    """Tell if it is a row of trained networks with different scores."""
    ours = row.judgement.ours
    return not row.claim.trains_nothing and ours is not None and bool(ours.standard_error)


def _different(rows: Iterable[Row]) -> int:
    """Compute the number of rows that are called different."""
    return sum(row.judgement.verdict in DIFFERENT for row in rows)


def _chance(rows: Iterable[Row]) -> float:
    """Compute the number of rows that would be called different if nothing differed."""
    return sum(1 - row.claim.rule.confidence for row in rows)


def _origins(recorded: Recorded) -> list[str]:
    """Return a sentence on the records whose code nobody can look up, by paper."""
    total, uncommitted, unknown = 0, Counter[str](), Counter[str]()
    for key, reports in recorded.reports.items():
        paper = key.partition("/")[0]
        for row in (row for report in reports.values() for row in report.rows):
            total += len(row.records)
            uncommitted[paper] += sum(map(is_uncommitted, row.records))
            unknown[paper] += sum(is_unknown(record, row.missing) for record in row.records)
    said = (
        f"{found.total()} come from {where} "
        f"({sign}: {', '.join(f'{paper} {count}' for paper, count in found.items() if count)})"
        for sign, where, found in (
            (UNCOMMITTED, "uncommitted trees", uncommitted),
            (UNKNOWN, "commits that the repository lacks", unknown),
        )
        if found.total()
    )
    return [f"Of {total:,} records {sentence}." for sentence in [" and ".join(said)] if sentence]


def _failures(recorded: Recorded, reasons: Sequence[Reason]) -> list[str]:
    """Return a line for each reason, with the cells that it is the reason for."""
    found: dict[str, dict[str, list[str]]] = {}
    for key, reports in recorded.reports.items():
        for report in reports.values():
            for row in report.rows:
                if row.judgement.verdict is Verdict.NOT_REPRODUCED:
                    known = (one.why for one in reasons if one.holds_for(row.claim))
                    why = next(known, f"{row.judgement.reason}; no reason is known")
                    found.setdefault(why, {}).setdefault(key, []).append(text.label(row))
    return [f"- {'; '.join(map(_cells, by.items()))}: {why}." for why, by in found.items()]


def _cells(found: tuple[str, Sequence[str]]) -> str:
    """Format some cells of a table, with a link to it."""
    key, places = found
    return f"{table_link(key)} {as_words(', '.join(dict.fromkeys(places)))}"


def _pictures(recorded: Recorded, folder: str) -> list[str]:
    """Return the pictures, each with the title of its exhibit."""
    there = {
        figure.picture(exhibit): exhibit.title
        for figure in recorded.figures
        for exhibit in figure.exhibits
    }
    shown = [name for name in PICTURES if name in there]
    lines = [f"![{as_words(there[name])}]({quote(folder)}/{name})" for name in shown]
    return "\n\n".join(lines).splitlines()
