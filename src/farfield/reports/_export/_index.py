"""The first page of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from farfield.reports._export._coverage import Coverage
from farfield.reports._export._notes import Reason
from farfield.reports._export._recorded import Recorded
from farfield.reports._tables import _text as text
from farfield.reports._tables._grid import SIGNS, recipe_of
from farfield.reports._tables._markdown import as_words, table_line
from farfield.reports._tables._origins import UNCOMMITTED, UNKNOWN, is_uncommitted, is_unknown
from farfield.reports._tables._report import Row
from farfield.reports._tables._strip import DIFFERENT, GOALS, JUDGED
from farfield.reproductions import Claim, Published, Unpublished, Verdict

HEAD: Final = """\
# Results

Freshly trained networks beside published numbers, from the files under `results/` alone. Each paper
has a page with its tables as printed, and beside it a table of all runs with commands, machines and
seconds. Here: how many tables and figures it prints, and for how many there are claims; the same of
the numbers in them; how many of these were run in full, with all steps and as many networks as a
verdict takes, and how many in part; and what came of those in full.

| paper | tables, figures | with claims | numbers | with claims | in full | in part | verdicts |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""

BAR: Final[dict[str, tuple[Verdict, ...]]] = {
    "█": (Verdict.REPRODUCED,),
    "▒": (Verdict.COMPATIBLE, Verdict.INCONCLUSIVE, Verdict.DIRECTION_ONLY),
    "░": (Verdict.NOT_REPRODUCED,),
}
"""Blocks of a bar, and the verdicts that they are for."""

RULE: Final = "../../benchmarks/results/verdicts/rule.md"
"""The page of `python -m benchmarks.verdicts` as `docs/results` sees it."""

WIDTH: Final = 20
"""Blocks of a whole bar."""

PICTURES: Final = (
    "webb2021/figure-3-paper-generalization.png",
    "gondal2021/figure-5a-paper-curve.png",
    "lamb2022/mixup-figures-1-2-paper-decision-surfaces.png",
    "lamb2022/ict-figure-1-paper-decision-boundaries.png",
    "lamb2022/dormant-phases-paper-dormant-phases.png",
)
"""Files of the pictures shown, as far as they are exported."""


def index_page(
    recorded: Recorded,
    covered: Mapping[str, Sequence[Coverage]],
    reasons: Sequence[Reason],
    folder: str,
) -> str:
    """The page, as Markdown.

    Args:
        recorded: What was run.
        covered: How far everything was run, by paper.
        reasons: Why results are not reproduced.
        folder: How the page names the folder of exports.
    """
    lines = [_paper(paper, items, recorded) for paper, items in covered.items()]
    lines += ["", f"{_legend()}.", "", *_by_chance(recorded), "", *_origins(recorded)]
    lines += ["", "## Not reproduced", "", *_failures(recorded, reasons)]
    lines += ["", "## Goals of our own", "", *_goals(recorded), "", *_pictures(recorded, folder)]
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _paper(paper: str, covered: Iterable[Coverage], recorded: Recorded) -> str:
    """A paper in a line: what is printed, what was run of it, and the verdicts."""
    printed = [(one, one.printed) for one in covered if one.printed is not None]
    tables = [(one, item) for one, item in printed if item.numbers]
    claims = {
        claim.name: claim
        for one, _ in tables
        for claim in one.cells
        if isinstance(claim.published, Published)
    }
    rows = [row for claim in claims.values() if (row := recorded.row(claim)) is not None]
    counts, untrained = (
        Counter(row.judgement.verdict for row in rows if row.claim.trains_nothing == nothing)
        for nothing in (False, True)
    )
    part = counts.pop(Verdict.UNDERPOWERED, 0)
    numbers = (
        len(printed),
        sum(bool(one.keys) for one, _ in printed),
        sum(item.numbers for _, item in tables),
        sum(min(item.numbers, one.numbers) for one, item in tables),
        counts.total(),
        part,
    )
    return table_line([f"[{paper}]({paper}.md)", *map(str, numbers), _verdicts(counts, untrained)])


def _verdicts(counts: Counter[Verdict], untrained: Counter[Verdict]) -> str:
    """Verdicts on networks, then those on rows in which nothing is trained."""
    apart = f"; nothing trained: {_numbers(untrained)}" if untrained else ""
    return _bar(counts) + apart


def _bar(counts: Counter[Verdict]) -> str:
    """Verdicts as a bar and as numbers."""
    if not counts:
        return text.MISSING
    sizes = {block: sum(counts[one] for one in verdicts) for block, verdicts in BAR.items()}
    blocks = "".join(
        block * max(round(WIDTH * size / counts.total()), size > 0) for block, size in sizes.items()
    )
    return f"{blocks} {_numbers(counts)}"


def _numbers(counts: Counter[Verdict]) -> str:
    """Verdicts as numbers, each with its sign."""
    return " ".join(
        f"{counts[verdict]} {sign}" for verdict, sign in SIGNS.items() if counts[verdict]
    )


def _legend() -> str:
    """The signs of the bars in words."""
    words = [
        f"{block} {' or '.join(f'{SIGNS[one]} {one.value}' for one in verdicts)}"
        for block, verdicts in BAR.items()
    ]
    return "; ".join(words)


def _by_chance(recorded: Recorded) -> list[str]:
    """A sentence on the numbers that are called different, and how many would be by chance."""
    rows = [
        row
        for reports in recorded.reports.values()
        for report in reports.values()
        for row in report.rows
        if row.judgement.difference is not None and row.judgement.verdict in JUDGED
    ]
    trained = [row for row in rows if row.judgement.ours and row.judgement.ours.standard_error]
    untrained = sum(row.claim.trains_nothing for row in rows)
    kinds = sum(row.judgement.kinds is not None for row in trained)
    different = sum(row.judgement.verdict in DIFFERENT for row in trained)
    chance = sum(1 - row.claim.rule.confidence for row in trained)
    sentence = (
        f"Of {len(trained)} judged cells, those of other images included, {different} are called "
        f"different; of networks that differ in nothing about {chance:.0f} would be if their "
        f"scores were normal. [What was simulated]({RULE}), with networks near the ceiling and "
        "others of which one in ten fails, says how often the rule errs. "
        f"In {kinds} of these cells networks are of two kinds. "
        f"{len(rows) - len(trained) - untrained} more cells have no spread, as all networks score "
        f"alike, and in {untrained} nothing is trained."
    )
    return [sentence]


def _origins(recorded: Recorded) -> list[str]:
    """A sentence on the records whose code nobody can look up, by paper."""
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
    """A line for each reason, with the cells that it is the reason for."""
    found: dict[str, dict[str, list[str]]] = {}
    for key, reports in recorded.reports.items():
        for report in reports.values():
            for row in report.rows:
                if row.judgement.verdict is Verdict.NOT_REPRODUCED:
                    known = (one.why for one in reasons if one.holds_for(row.claim))
                    why = next(known, f"{row.judgement.reason}; no reason is known")
                    found.setdefault(why, {}).setdefault(key, []).append(text.place(row))
    return [f"- {'; '.join(map(_cells, by.items()))}: {why}." for why, by in found.items()]


def _cells(found: tuple[str, Sequence[str]]) -> str:
    """Some cells of a table, with a link to it."""
    key, places = found
    return f"{_link(key)} {as_words(', '.join(dict.fromkeys(places)))}"


def _link(key: str) -> str:
    paper, _, table = key.partition("/")
    return f"[{key}]({paper}.md#{table})"


def _goals(recorded: Recorded) -> list[str]:
    """A line for each table with goals: which were reached, and which were missed."""
    lines = [
        f"{'; '.join(f'{SIGNS[verdict]} {verdict.value}' for verdict in GOALS)}. {text.STAR}",
        "",
    ]
    for key, reports in recorded.reports.items():
        rows = [row for report in reports.values() for row in report.rows if _has_goal(row)]
        parts = [
            f"{SIGNS[verdict]} {'; '.join(_places(verdict, rows))}"
            for verdict in GOALS
            if any(row.judgement.verdict is verdict for row in rows)
        ]
        lines += [f"- {_link(key)}: {' · '.join(parts)}."] if parts else []
    return lines


def _has_goal(row: Row) -> bool:
    number = row.claim.published
    return isinstance(number, Unpublished) and number.goal is not None


def _places(verdict: Verdict, rows: Iterable[Row]) -> list[str]:
    """The rows with a verdict, each with its columns, and of which subject where they repeat."""
    found: dict[tuple[str, str], list[Claim]] = {}
    for row in rows:
        if row.judgement.verdict is verdict:
            found.setdefault((row.claim.row, recipe_of(row)), []).append(row.claim)
    return [
        as_words(f"{name}{_columns(claims)}") + recipe for (name, recipe), claims in found.items()
    ]


def _columns(claims: Sequence[Claim]) -> str:
    columns = [claim.column for claim in claims]
    if len(set(columns)) == len(columns):
        return f", {' and '.join(columns)}"
    return ": " + ", ".join(f"{claim.column} ({claim.subject})" for claim in claims)


def _pictures(recorded: Recorded, folder: str) -> list[str]:
    """The pictures, each with the words of its exhibit."""
    there = {
        figure.picture(exhibit): exhibit.title
        for figure in recorded.figures
        for exhibit in figure.exhibits
    }
    shown = [name for name in PICTURES if name in there]
    lines = [f"![{as_words(there[name])}]({quote(folder)}/{name})" for name in shown]
    return "\n\n".join(lines).splitlines()
