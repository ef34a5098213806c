"""The page of results, from what was exported alone."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from farfield.core import UnknownNameError
from farfield.records import Record
from farfield.reports import _text as text
from farfield.reports._export import Line, load_export
from farfield.reports._figure_export import FigureExport, load_figure
from farfield.reports._markdown import as_words, markdown_findings, markdown_rows
from farfield.reports._report import IMAGES, Report, Row, tabulate
from farfield.reproductions import FIGURES, TABLES, Budget, Claim, Published, Table

HEAD: Final = """# Results

Freshly trained networks beside published numbers. `farfield report --export` writes every network
as a line of a file under `results/`, and makes this page from those files alone; what figures
measure on such networks, with their pictures, is at the end. Above each table stands what is its
own; of all of them:

"""

SUMMARY: Final = """
## At a glance

| table | what it is about | steps | cells | networks | verdicts |
| --- | --- | ---: | ---: | ---: | --- |
"""

PAPER_DIGEST: Final = "5bcab740c0313f98abfa170d3aa8d1760191aa24d50b8550b465343dcf587434"
"""`array_digest` of the 100 images of webb2021."""

BUILT_IN: Final = "built-in images"
PAPER_IMAGES: Final = "the paper's own images"

Run = tuple[str, int]
"""Key of an experiment and seed."""

Kind = tuple[float, str]
"""Share of the paper's steps, and which images were shown; empty where there is no choice."""


def results_page(folder: Path, seen_from_page: str = "../results") -> str:
    """The page, as Markdown.

    Args:
        folder: What `export` and `export_figure` wrote to.
        seen_from_page: How the page names it.

    Raises:
        ValueError: If a file is damaged, or holds what belongs to no claim, naming file and line,
            or if a figure is of networks that no file holds.
    """
    paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in _files(folder)}
    for key, path in paths.items():
        if key not in TABLES:
            raise ValueError(f"{path}: {UnknownNameError('table', key, TABLES)}")
    summary: list[str] = []
    parts: list[str] = []
    kinds_of_runs: dict[Run, Kind] = {}
    for key, table in TABLES.items():
        if key not in paths:
            continue
        kinds = _kinds(table, paths[key])
        kinds_of_runs |= _by_run(kinds)
        try:
            reports = {kind: _report(table, found, kind) for kind, found in kinds.items()}
        except ValueError as error:
            raise ValueError(f"{paths[key]}: {error}") from error
        summary += [_line(table, kind, report) for kind, report in reports.items()]
        parts += [
            f"\n## {key}\n\n{table.title}.\n\n",
            *(f"- {note}\n" for note in _own_notes(reports.values())),
            *(_section(table, kind, report) for kind, report in reports.items()),
        ]
    if not parts:
        return HEAD + "\nNothing has been run yet.\n"
    exported = [load_figure(path, folder) for path in sorted(folder.rglob("*.json"))]
    for key, figures in itertools.groupby(exported, lambda figure: figure.figure):
        parts.append(f"\n## {key}\n\n{FIGURES[key].table.title}.\n")
        for figure in figures:
            steps, images = _trained_for(figure, kinds_of_runs)
            summary.append(_figure_line(figure, steps, images))
            parts.append(_figure_section(figure, steps, images, seen_from_page))
    common = [f"- {note}\n" for note in text.COMMON_NOTES]
    return "".join([HEAD, *common, SUMMARY, *summary, *parts])


def _by_run(kinds: Mapping[Kind, Mapping[str, Sequence[Record]]]) -> dict[Run, Kind]:
    """Of which budget and images each network is."""
    return {
        (record.key, record.seed): kind
        for kind, found in kinds.items()
        for records in found.values()
        for record in records
    }


def _trained_for(figure: FigureExport, kinds: Mapping[Run, Kind]) -> tuple[str, str]:
    """The shares of their steps that a figure's networks did, and images that are not built in."""
    found = set()
    for network in figure.networks:
        if (kind := kinds.get((network.key, network.seed))) is None:
            raise ValueError(
                f"{figure.place}: no line holds seed {network.seed} of {network.cell} "
                f"({network.key}); export the figure again"
            )
        found.add(kind)
    steps = dict.fromkeys(f"{100 * share:g} %" for share, _ in sorted(found, reverse=True))
    images = sorted({images for _, images in found} - {"", BUILT_IN})
    return " or ".join(steps), "".join(f"; {shown}" for shown in images)


def _figure_line(figure: FigureExport, steps: str, images: str) -> str:
    """A figure at one budget, in a line that leads to it."""
    table = FIGURES[figure.figure].table
    cells = {network.cell for network in figure.networks}
    runs = {(network.key, network.seed) for network in figure.networks}
    place = figure.figure.replace("/", "")
    return (
        f"| [{figure.figure}](#{place}) | {table.title}{images} | {steps} "
        f"| {len(cells)} of {len(table.claims)} | {len(runs)} | – |\n"
    )


def _figure_section(figure: FigureExport, steps: str, images: str, folder: str) -> str:
    """A figure at one budget: pictures, and what was measured beside what the paper says."""
    lines = [
        "",
        f"### Networks after {steps} of the steps{images}",
        "",
        f"`farfield reproduce {figure.figure} --budget {figure.budget}`",
        "",
    ]
    for exhibit in figure.exhibits:
        if exhibit.drawn:
            lines += [f"![{as_words(exhibit.title)}]({folder}/{figure.picture(exhibit)})", ""]
        lines += [as_words(exhibit.caption), ""]
        lines += [*markdown_findings(exhibit.findings), ""] if exhibit.findings else []
    return "\n".join(lines)


def _own_notes(reports: Iterable[Report]) -> list[str]:
    """What a reader must know to read a table and no other, at whatever budget."""
    return list(dict.fromkeys(note for report in reports for note in text.own_notes(report)))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jsonl")) if folder.is_dir() else []


def _kinds(table: Table, path: Path) -> dict[Kind, dict[str, list[Record]]]:
    """The records of a file by budget and images, then by the name of their claim."""
    kinds: dict[Kind, dict[str, list[Record]]] = {}
    for number, line in enumerate(load_export(path), 1):  # no line is skipped
        claim = _claim(table, line, f"{path}, line {number}")
        fraction = float(f"{claim.fraction(line.record.experiment):.3g}")
        kind = (fraction, _images(claim, line.record))
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


def _images(claim: Claim, record: Record) -> str:
    """What the record's task has in the fields that the claim leaves free, in words, if any are."""
    if not claim.free:
        return ""
    task: Mapping[str, object] = record.experiment.get("task", {})
    free = {name: task[name] for name in claim.free if name in task}
    if not free:
        return BUILT_IN
    described = json.dumps(free, sort_keys=True)
    if PAPER_DIGEST in described:
        return PAPER_IMAGES
    return f"own images {hashlib.sha256(described.encode()).hexdigest()[:8]}"


def _report(table: Table, found: Mapping[str, list[Record]], kind: Kind) -> Report:
    """The cells that have records, with commands that show the same images."""
    cells = [name for name, claim in table.cells.items() if claim.name in found]
    whole = any(
        claim.fraction(record.experiment) == 1
        for claim in table.claims
        for record in found.get(claim.name, [])
    )
    budget = Budget.PAPER if whole else Budget.QUICK
    report = tabulate(table.select(*cells), lambda claim: found.get(claim.name, []), budget)
    if kind[1] != PAPER_IMAGES:
        return report
    rows = tuple(replace(row, command=row.command + IMAGES["webb2021"]) for row in report.rows)
    return replace(report, rows=rows)


def _line(table: Table, kind: Kind, report: Report) -> str:
    """One table at one budget, in a line that leads to it."""
    fraction, images = kind
    records = {(r.key, r.seed) for row in report.rows for r in row.records}
    place = table.key.replace("/", "")
    about = table.title if images in {"", BUILT_IN} else f"{table.title}; {images}"
    return (
        f"| [{table.key}](#{place}) | {about} | {100 * fraction:g} % "
        f"| {len(report.rows)} of {len(table.claims)} | {len(records)} | {text.tally(report)} |\n"
    )


def _section(table: Table, kind: Kind, report: Report) -> str:
    """One table at one budget."""
    fraction, images = kind
    budget = "All" if fraction == 1 else f"{100 * fraction:g} %"
    printed = any(isinstance(claim.published, Published) for claim in table.claims)
    whose = "paper's" if printed and table.steps_printed else "planned"
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
