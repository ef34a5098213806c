"""The page of results, from what was exported alone."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, final
from urllib.parse import quote

from farfield.core import UnknownNameError, expand_home, printable
from farfield.records import Record
from farfield.reports._export._export import Line, exported_at, load_export
from farfield.reports._export._figure_export import FigureExport, digest_of, load_figure
from farfield.reports._export._images import BUILT_IN, PAPER_IMAGES, images_of
from farfield.reports._figures._registry import FIGURES
from farfield.reports._tables import _text as text
from farfield.reports._tables._levels import FILE as LEVELS_FILE
from farfield.reports._tables._levels import Levels
from farfield.reports._tables._markdown import as_words, exhibit_lines, markdown_rows
from farfield.reports._tables._report import IMAGES, Report, Row, tabulate
from farfield.reports._tables._said import INTRODUCTION, statement_lines
from farfield.reproductions import STATEMENTS, TABLES, Budget, Claim, Published, Table

HEAD: Final = """# Results

Freshly trained networks beside published numbers. `farfield report --export` writes every network
as a line of a file under `results/`, and makes this page from those files alone. Of a figure that
is named it also writes what is measured on such networks, with its pictures; figures are at the
end. Above each table stands what is its own; of all of them:

"""

SUMMARY: Final = """
## At a glance

| table | what it is about | steps | cells | networks | verdicts |
| --- | --- | ---: | ---: | ---: | --- |
"""

Kind = tuple[float, str]
"""Share of the paper's steps, and the images shown; empty where there is no choice."""

Recorded = dict[tuple[str, str], dict[str, tuple[Kind, tuple[str, int]]]]
"""Kind, key and seed of the lines of a cell, by table and cell, then by their digest."""


def results_page(folder: Path, seen_from_page: str = "../results") -> str:
    """The page, as Markdown.

    Args:
        folder: What `export` and `export_figure` wrote to.
        seen_from_page: How the page names it.

    Raises:
        ValueError: If a file is damaged, or holds what belongs to no claim, naming file and line,
            or if a figure is not of networks as the files hold them.
    """
    folder = expand_home(folder)
    exported = [load_figure(path, folder) for path in sorted(folder.rglob("*.json"))]
    paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in _files(folder)}
    for key, path in paths.items():
        if key not in TABLES:
            raise ValueError(f"{printable(path)}: {UnknownNameError('table', key, TABLES)}")
    levels = Levels(folder)
    summary: list[str] = []
    parts: list[str] = []
    recorded: Recorded = {}
    for key, table in TABLES.items():
        if key not in paths:
            continue
        kinds = _kinds(table, paths[key])
        try:
            reports = {kind: _report(table, found, kind, levels) for kind, found in kinds.items()}
        except ValueError as error:
            raise ValueError(f"{printable(paths[key])}: {error}") from error
        recorded |= _by_digest(table, kinds)
        summary += [_line(table, kind, report) for kind, report in reports.items()]
        parts += [
            f"\n## {key}\n\n{table.title}.\n\n",
            *(f"- {note}\n" for note in _own_notes(reports.values())),
            *(_section(table, kind, report) for kind, report in reports.items()),
        ]
    if not parts and not exported:
        return HEAD + "\nNothing has been run yet.\n"
    for figure_key, figures in itertools.groupby(exported, lambda figure: figure.figure):
        parts.append(f"\n## {figure_key}\n\n{FIGURES[figure_key].table.title}.\n")
        for figure in figures:
            basis = _basis(figure, recorded)
            summary.append(_figure_line(figure, basis))
            parts.append(_figure_section(figure, basis, seen_from_page))
    common = [f"- {note}\n" for note in text.COMMON_NOTES]
    return "".join([HEAD, *common, SUMMARY, *summary, _said(folder), *parts])


def _said(folder: Path) -> str:
    """Section of the papers' statements on several cells."""
    full, quick = exported_at(folder, Budget.PAPER), exported_at(folder, Budget.QUICK)
    lines = statement_lines(STATEMENTS.values(), lambda claim: full(claim) or quick(claim))
    return "\n".join(["", "## What the papers say in words", "", INTRODUCTION, "", *lines, ""])


def _by_digest(table: Table, kinds: Mapping[Kind, Mapping[str, Sequence[Record]]]) -> Recorded:
    """Lines of the cells by their digest."""
    return {
        (table.key, cell): {
            digest_of(Line(cell=cell, record=record)): (kind, (record.key, record.seed))
            for kind, found in kinds.items()
            for record in found.get(claim.name, [])
        }
        for cell, claim in table.cells.items()
    }


@final
class _Basis(NamedTuple):
    """Networks behind a figure.

    Attributes:
        steps: Shares of their steps that its networks did.
        networks: How many they are.
        recorded: How many are recorded of the same cells, budgets and images.
    """

    steps: str
    networks: int
    recorded: int


def _basis(figure: FigureExport, recorded: Recorded) -> _Basis:
    """Networks behind a figure, checked against the records."""
    kinds, runs = set(), set()
    for network in figure.networks:
        found = recorded.get((network.table, network.cell), {}).get(network.digest)
        if found is None:
            raise ValueError(
                f"{figure.place}: seed {network.seed} of {network.table}/{network.cell} is not "
                "recorded, or was run again since; export the figure again"
            )
        kinds.add(found[0])
        runs.add(found[1])
    cells = {(network.table, network.cell) for network in figure.networks}
    alike = {run for cell in cells for kind, run in recorded[cell].values() if kind in kinds}
    shares = sorted({share for share, _ in kinds}, reverse=True)
    steps = " or ".join(f"{100 * share:g} %" for share in shares)
    return _Basis(steps=steps, networks=len(runs), recorded=len(alike))


def _figure_line(figure: FigureExport, basis: _Basis) -> str:
    """A figure at one budget, in a line that leads to it."""
    cells = {(network.table, network.cell) for network in figure.networks}
    table = FIGURES[figure.figure].table
    return _summary(table, figure.images, basis.steps, len(cells), basis.networks, "–")


def _figure_section(figure: FigureExport, basis: _Basis, folder: str) -> str:
    """A figure at one budget: pictures, and what was measured beside what the paper says."""
    images = f", {figure.images}" if figure.images else ""
    option = IMAGES["webb2021"] if figure.images == PAPER_IMAGES else ""
    command = f"farfield reproduce {figure.figure} --budget {figure.budget}{option}"
    networks = f"{text.networks(basis.networks)}, of {basis.recorded} recorded for these cells"
    lines = [
        "",
        f"### After {basis.steps} of the steps{images}",
        "",
        f"On {networks}: `{command}`",
        "",
    ]
    for exhibit in figure.exhibits:
        picture = exhibit.digest and f"{quote(folder)}/{figure.picture(exhibit)}"
        lines += [f"**{as_words(exhibit.title)}**", ""]
        lines += exhibit_lines(exhibit.title, picture, exhibit.caption, exhibit.findings)
    return "\n".join(lines)


def _own_notes(reports: Iterable[Report]) -> list[str]:
    """Notes on this table alone, at any budget."""
    return list(dict.fromkeys(note for report in reports for note in text.own_notes(report)))


def _files(folder: Path) -> list[Path]:
    """The exported tables."""
    return sorted(path for path in folder.rglob("*.jsonl") if path.name != LEVELS_FILE)


def _kinds(table: Table, path: Path) -> dict[Kind, dict[str, list[Record]]]:
    """The records of a file by budget and images, then by the name of their claim."""
    kinds: dict[Kind, dict[str, list[Record]]] = {}
    for number, line in enumerate(load_export(path), 1):  # no line is skipped
        claim = _claim(table, line, f"{printable(path)}, line {number}")
        fraction = float(f"{claim.fraction(line.record.experiment):.3g}")
        kind = (fraction, images_of(claim, line.record))
        kinds.setdefault(kind, {}).setdefault(claim.name, []).append(line.record)
    return dict(sorted(kinds.items(), key=lambda item: (-item[0][0], item[0][1])))


def _claim(table: Table, line: Line, where: str) -> Claim:
    """The claim that a line is about, whose experiment and score it must have."""
    if line.cell not in table.cells:
        raise ValueError(f"{where}: {UnknownNameError('cell', line.cell, table.cells)}")
    claim, record = table.cells[line.cell], line.record
    try:
        is_same = claim.same_experiment(record.experiment, record.steps)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if not is_same:
        raise ValueError(
            f"{where}: the record of {claim.name} must be of its experiment, got another "
            f"({record.key}); run the claim again"
        )
    try:
        record.final(claim.regime, claim.metric)
    except KeyError as error:
        raise ValueError(f"{where}: the score of {claim.name} is missing: {error}") from error
    return claim


def _report(table: Table, found: Mapping[str, list[Record]], kind: Kind, levels: Levels) -> Report:
    """The cells that have records, with commands that show the same images."""
    cells = [name for name, claim in table.cells.items() if claim.name in found]
    whole = any(
        claim.fraction(record.experiment) == 1
        for claim in table.claims
        for record in found.get(claim.name, [])
    )
    budget = Budget.PAPER if whole else Budget.QUICK
    report = tabulate(table.select(*cells), lambda claim: found.get(claim.name, []), budget, levels)
    if kind[1] != PAPER_IMAGES:
        return report
    rows = tuple(replace(row, command=row.command + IMAGES["webb2021"]) for row in report.rows)
    return replace(report, rows=rows)


def _line(table: Table, kind: Kind, report: Report) -> str:
    """One table at one budget, in a line that leads to it."""
    fraction, images = kind
    records = {(r.key, r.seed) for row in report.rows for r in row.records}
    steps = f"{100 * fraction:g} %"
    return _summary(table, images, steps, len(report.rows), len(records), text.tally(report))


def _summary(
    table: Table, images: str, steps: str, cells: int, networks: int, verdicts: str
) -> str:
    """A line of the summary, that leads to what it is about."""
    place = table.key.replace("/", "")
    about = table.title if images in {"", BUILT_IN} else f"{table.title}; {images}"
    return (
        f"| [{table.key}](#{place}) | {about} | {steps} "
        f"| {cells} of {len(table.claims)} | {networks} | {verdicts} |\n"
    )


def _section(table: Table, kind: Kind, report: Report) -> str:
    """One table at one budget."""
    fraction, images = kind
    budget = "All" if fraction == 1 else f"{100 * fraction:g} %"
    printed = any(isinstance(claim.published, Published) for claim in table.claims)
    whose = "paper's" if printed and table.steps_published else "planned"
    lines = [
        "",
        f"### {budget} of the {whose} steps{', ' if images else ''}{images}",
        "",
        f"{len(report.rows)} of {len(table.claims)} cells run: {text.tally(report)}.",
        "",
    ]
    for subject, rows in report.subjects.items():
        lines += [f"**{subject}**", ""] if len(report.subjects) > 1 else []
        lines += [*markdown_rows(rows), ""]
    several = len(report.environments) > 1
    for place, trained in report.environments.items():
        which = f" ({'; '.join(_rows_of(report, trained))})" if several else ""
        lines.append(f"Trained on: {as_words(place)}{which}.\n")
    return "\n".join(lines)


def _rows_of(report: Report, trained: Sequence[Row]) -> list[str]:
    """Some cells of a table by their rows, with the columns where those are not all of the row."""
    columns: dict[str, list[str]] = {}
    for row in trained:
        columns.setdefault(row.claim.row, []).append(row.claim.column)
    counts = Counter(row.claim.row for row in report.rows)
    return [
        name if len(some) == counts[name] else f"{name}: {', '.join(dict.fromkeys(some))}"
        for name, some in columns.items()
    ]
