"""Pages of results and of settings, a page for each paper."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from farfield.core.internal import REFERENCES, printable
from farfield.metrics import mean_and_standard_error
from farfield.reports._export._coverage import Coverage, coverage_of, is_full
from farfield.reports._export._export import load_reasons, load_wanted
from farfield.reports._export._figure_export import FigureExport
from farfield.reports._export._index import goals_page, index_page
from farfield.reports._export._recorded import Kind, Recorded
from farfield.reports._figures._registry import FIGURES
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reports._report._text import MEANING, signs
from farfield.reports._tables._grid import DOTS, LEGEND, STRIP, grid
from farfield.reports._tables._markdown import (
    INTRODUCTION,
    as_words,
    exhibit_lines,
    statement_lines,
    table_line,
)
from farfield.reproductions import TABLES, Claim, Published, Table, Verdict
from farfield.reproductions.internal import (
    STATEMENTS,
    Judgement,
    Setting,
    SheetLine,
    Source,
    settings_of,
    sheet,
)

FROM_PAGES: Final = "../../results"
"""Folder of exports as `docs/results` sees it."""

READING: Final = f"""\
In a cell the published number, or a goal of ours (≥, ≤), is above ours: mean ± standard error
of the networks after all of the steps, with their number in brackets; halves are rounded away from
zero. A share of the steps marks a run of no more steps; its numbers are in
[the table of all runs]({{table}}).

{LEGEND}

{MEANING}

{STRIP}

{DOTS}
"""


EARLIER: Final = """\
Networks of recipes that were changed after their scores on the tests were known. No verdict counts
them."""


def results_pages(folder: Path, seen_from_pages: str = FROM_PAGES) -> dict[str, str]:
    """Return the pages and the tables of all runs, by the name of their file.

    Args:
        folder: Folder of `export` and `export_figure`, with the reasons and the wanted runs.
        seen_from_pages: How the pages name it.

    Raises:
        ValueError: If a file is damaged, or holds lines of no claim, naming file and line,
            or if a figure is not of networks as the files hold them.
    """
    recorded = Recorded(folder)
    covered = coverage_of(recorded, load_wanted(folder))
    reasons = load_reasons(folder)
    index = index_page(recorded, covered, reasons, seen_from_pages)
    pages = {"index.md": index, "goals.md": goals_page(recorded)}
    for paper, items in covered.items():
        pages[f"{paper}.md"] = _page(paper, items, recorded, seen_from_pages)
        pages[f"{paper}.csv"] = _all_runs(paper, recorded)
    return pages


def _page(paper: str, covered: Sequence[Coverage], recorded: Recorded, folder: str) -> str:
    """Format the page of a paper: how far it was run, its tables, its words and its figures."""
    tables = {key: table for key, table in TABLES.items() if key.startswith(f"{paper}/")}
    shown = [key for key in tables if _is_shown(key, recorded)]
    figures = [one for one in recorded.figures if one.figure.startswith(f"{paper}/")]
    statements = [one for one in STATEMENTS.values() if one.paper == paper]
    lines = [f"# {REFERENCES[paper].title}", "", f"`{paper}`, {REFERENCES[paper].year}.", ""]
    lines += [READING.format(table=f"{paper}.csv"), *_how_far(covered)]
    for key in sorted(shown, key=lambda key: not _has_full(recorded.reports.get(key, {}))):
        lines += _table(key, recorded)
    lines += _earlier(recorded.reports[key] for key in shown if key in recorded.reports)
    if statements:
        lines += ["## In words", "", INTRODUCTION, ""]
        lines += [*statement_lines(statements, recorded.records), ""]
    for figure in figures:
        lines += _figure(figure, recorded, folder)
    notes = _notes({key: recorded.reports[key] for key in shown if key in recorded.reports})
    return "\n".join([*lines, *notes]).rstrip() + "\n"


def _is_shown(key: str, recorded: Recorded) -> bool:
    """Check for a table with its own published numbers, or with a cell that was run in full."""
    table = TABLES[key]
    if {claim.home for claim in table.claims} != {key}:
        return False
    published = any(isinstance(claim.published, Published) for claim in table.claims)
    return published or _has_full(recorded.reports.get(key, {}))


def _has_full(reports: Mapping[Kind, Report]) -> bool:
    return any(is_full(row) for report in reports.values() for row in report.rows)


def _how_far(covered: Sequence[Coverage]) -> list[str]:
    """Return a line for each table and figure: its runs, and reasons for missing runs."""
    lines = ["## How far", ""]
    head = ("printed", "results", "tested by", "run", "the rest", "estimate")
    for own in (False, True):
        lines += ["Of our own, or the same numbers tested in another way:", ""] if own else []
        heads = head[2:] if own else head
        lines += [table_line(heads), table_line(["---"] * len(heads))]
        lines += [_covered_line(one) for one in covered if (one.printed is None) == own]
        lines += [""]
    return lines


def _covered_line(one: Coverage) -> str:
    """Format the coverage of one table or figure by runs."""
    instead = one.printed.instead if one.printed is not None else ()
    keys = [key.partition("/")[2] for key in one.keys]
    tested = ", ".join([*keys, *(f"instead {key}" for key in instead)]) or "–"
    printed = [] if one.printed is None else [one.name, str(one.printed.numbers or "–")]
    ran = (tested, one.run, as_words(one.why) or "–", one.time or "–")
    return table_line([*printed, *ran])


def _table(key: str, recorded: Recorded) -> list[str]:
    """Return a table as printed, and again for other images."""
    table = TABLES[key]
    lines = [f"## {key.partition('/')[2]}", "", f"{table.title}.{_planned(table)}", ""]
    lines += _grids(table, table.claims, recorded.row)
    for kind, report in recorded.reports.get(key, {}).items():
        if not kind.is_default:
            rows = {row.claim: row for row in report.rows}
            lines += [f"On {kind.images}:", "", *_grids(table, list(rows), rows.get)]
    return lines


def _earlier(tables: Iterable[Mapping[Kind, Report]]) -> list[str]:
    """Return numbers of recipes that claims had before, as they were."""
    rows = {row.claim.name: row for kinds in tables for report in kinds.values()
            for row in report.rows if row.earlier}  # fmt: skip
    if not rows:
        return []
    head = ("cell", "recipe", "steps", "score", "experiment")
    lines = [table_line(head), table_line(["---", "---:", "---:", "---:", "---"])]
    for row in rows.values():
        for number, records in enumerate(row.earlier, 1):
            before = replace(row, records=records)
            measured = Judgement(
                verdict=Verdict.MEASURED, reason="", ours=mean_and_standard_error(before.values)
            )
            steps = f"{records[0].steps:,}"
            cells = (
                as_words(text.label(row)),
                str(number),
                steps,
                f"{text.ours(replace(before, judgement=measured))} {signs(before)}".rstrip(),
            )
            lines.append(table_line([*cells, f"`{records[0].key[:6]}`"]))
    return ["## Earlier recipes", "", EARLIER, "", *lines, ""]


def _planned(table: Table) -> str:
    """Format a sentence on steps that the paper does not name."""
    published = any(isinstance(claim.published, Published) for claim in table.claims)
    return " The paper does not say how long it trains." * (published and not table.steps_published)


def _grids(table: Table, claims: Sequence[Claim], find: Callable[[Claim], Row | None]) -> list[str]:
    """Return some cells of a table, a grid a subject."""
    order = list(dict.fromkeys(claim.column for claim in table.claims))
    several = len({claim.subject for claim in table.claims}) > 1
    lines = []
    for subject in dict.fromkeys(claim.subject for claim in claims):
        cells = [claim for claim in claims if claim.subject == subject]
        lines += [f"**{as_words(subject)}**", ""] if several else []
        lines += [*grid(cells, find, order), ""]
    return lines


def _figure(figure: FigureExport, recorded: Recorded, folder: str) -> list[str]:
    """Return a figure at one budget: pictures, and measurements beside the paper's statements."""
    basis = recorded.basis(figure)
    images = f", {figure.images}" if figure.images else ""
    networks = f"{text.networks(basis.networks)}, of {basis.recorded} recorded for these cells"
    place = figure.place.partition("/")[2]
    about = f"{FIGURES[figure.figure].table.title}. After {basis.steps} of the steps{images}"
    lines = [f"## {place}", "", f"{about}; on {networks}.", ""]
    for exhibit in figure.exhibits:
        picture = exhibit.digest and f"{quote(folder)}/{figure.picture(exhibit)}"
        lines += [f"**{as_words(exhibit.title)}**", ""]
        lines += exhibit_lines(exhibit.title, picture, exhibit.caption, exhibit.findings)
    return lines


def _notes(reports: Mapping[str, Mapping[Kind, Report]]) -> list[str]:
    """Return notes on the tables, each once, with the tables that it is on."""
    on: dict[str, dict[str, None]] = {}
    for key, kinds in reports.items():
        for report in kinds.values():
            for note in text.own_notes(report):
                on.setdefault(note, {})[key.partition("/")[2]] = None
    lines = [f"- {', '.join(keys)}: {note}" for note, keys in on.items()]
    return ["## Notes", "", *lines] if lines else []


def _all_runs(paper: str, recorded: Recorded) -> str:
    """Format all runs of a paper's tables as CSV, a line per cell, share of steps and images."""
    lines = [
        {"table": key, **row.fields, "images": kind.images, **_made(row)}
        for key, reports in recorded.reports.items()
        if key.startswith(f"{paper}/")
        for kind, report in reports.items()
        for row in report.rows
    ]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(lines[0] if lines else ["table"])
    writer.writerows([_plain(value) for value in line.values()] for line in lines)
    return written.getvalue()


def _made(row: Row) -> dict[str, Any]:
    """Return the origin of a row."""
    return {
        "reason": row.judgement.reason,
        "experiment": row.claim.experiment.key,
        "runs": "+".join(sorted({record.key for record in row.records})),
        "command": row.command,
        "trained on": "; ".join(row.environments),
    }


def _plain(value: object) -> str:
    """Format a value for CSV: numbers to six digits, an empty text for None, plain text."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return "" if value is None else printable(value)


SOURCES: Final = {
    Source.BOTH: "text and code",
    Source.TEXT: "text",
    Source.CODE: "code",
    Source.OWN: "own choice",
    Source.NEITHER: "**neither**",
}
"""Words of a sheet for the source of a value."""

MOST: Final = 4
"""Maximum number of rows or columns that are named; more are counted."""

SETTINGS_INTRODUCTION: Final = """\
This page compares the settings of the claims of `{paper}` with its text and with its released code.
The first table quotes the text with its section, and says how the released code differs. Each sheet
after it has the settings of the claims of one table, read from their descriptions: the value of the
field, or the behavior of a class without such a field. *Own choice*: the text leaves the setting
open, and the code has another value or no such setting. Numbers that differ from the published ones
are in [the deviations](../deviations.md). This command prints the sheet of single cells, with text
and code:

```console
$ farfield list settings --table {example} --cell "{cell}"
```
"""


def settings_pages() -> dict[str, str]:
    """Return pages of the settings of every paper, by file name."""
    papers = dict.fromkeys(key.partition("/")[0] for key in TABLES)
    return {f"{paper}.md": _settings_page(paper) for paper in papers}


def _settings_page(paper: str) -> str:
    """Format settings of a paper, and a sheet for each of its tables."""
    tables = [table for key, table in TABLES.items() if _is_own(key, table)
              and key.startswith(f"{paper}/")]  # fmt: skip
    first = tables[0]
    cell = next(iter(first.cells))
    introduction = SETTINGS_INTRODUCTION.format(paper=paper, example=first.key, cell=cell)
    lines = [f"# Claims against text: {REFERENCES[paper].title}", "", introduction]
    head = ("setting", "the text", "the released code", "field")
    lines += [table_line(head), table_line(["---"] * len(head))]
    lines += [_setting(setting) for setting in settings_of(paper)]
    for table in tables:
        lines += ["", f"## {table.key.partition('/')[2]}", "", f"{as_words(table.title)}.", ""]
        lines += _sheet(table)
    return "\n".join(lines) + "\n"


def _is_own(key: str, table: Table) -> bool:
    """Tell if it is a table whose claims are its own, not a selection from other tables."""
    return {claim.home for claim in table.claims} == {key}


def _setting(setting: Setting) -> str:
    """Write text, code and field of a setting as a line of a table."""
    text = f"{setting.text} ({setting.section})" if setting.section else setting.text
    return table_line((setting.name, text, setting.code or "–", f"`{setting.path}`"))


def _sheet(table: Table) -> list[str]:
    """Return settings of a table's claims, a line for each value."""
    lines = sheet(table.claims)
    head = ("setting", "these claims", "from")
    shown = [table_line(head), table_line(["---"] * len(head))] if lines else []
    shown += [_line(line, lines, table) for line in lines]
    unbuilt = dict.fromkeys(claim.row for claim in table.claims if claim.unbuilt)
    words = f"Not built here: {as_words('; '.join(unbuilt))}."
    return [*shown, *["", words][: 2 * bool(unbuilt)]]


def _line(line: SheetLine, lines: Iterable[SheetLine], table: Table) -> str:
    """Format a setting with its value, the cells that have it if others have another, and why."""
    setting = line.setting
    others = [claim for one in lines if one.setting is setting for claim in one.claims]
    place = where(line.claims, others)
    value = setting.does or f"`{line.value}`"
    why = setting.why if line.source is Source.NEITHER or _is_by_code(line, table) else ""
    return table_line(
        (
            setting.name,
            f"{value}: {as_words(place)}" if place else value,
            f"{SOURCES[line.source]}: {as_words(why)}" if why else SOURCES[line.source],
        )
    )


def _is_by_code(line: SheetLine, table: Table) -> bool:
    """Check whether claims follow the code, not the text, outside tables made for that."""
    return line.source is Source.CODE and not table.key.endswith("-released")


def where(claims: Sequence[Claim], others: Sequence[Claim]) -> str:
    """Format the rows or columns of some claims among others, in words; empty for all of them.

    Args:
        claims: The claims.
        others: All that the words are to tell them from, themselves included.
    """
    if len(claims) == len(others):
        return ""
    for name in ("row", "column", "subject"):
        rest = {getattr(claim, name) for claim in others if claim not in claims}
        having = dict.fromkeys(getattr(claim, name) for claim in claims)
        if not rest & having.keys():
            return "; ".join(having) if len(having) <= MOST else f"{len(having)} {name}s"
    return f"{len(claims)} of {len(others)} cells"
