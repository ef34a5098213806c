"""Reports and figures from a folder of exports, or from the exports in the package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple, final

from farfield.core.internal import UnknownNameError, expand_home, printable
from farfield.records import Record
from farfield.reports._export._export import Line, load_export, load_missing
from farfield.reports._export._figure_export import (
    BUILT_IN,
    PAPER_IMAGES,
    FigureExport,
    digest_of,
    images_of,
    load_figure,
)
from farfield.reports._report._levels import FILE as LEVELS_FILE
from farfield.reports._report._levels import Levels
from farfield.reports._report._report import IMAGES, Report, Row, tabulate
from farfield.reproductions import TABLES, Budget, Claim, Table

PACKAGE: Final = Path(__file__).resolve().parents[2]
"""Folder of the package."""


def recorded_results() -> Path:
    """Find the folder of the recorded results that come with Farfield, for `exported_at`.

    An installed package has the records of `results/` without training curves, as `setup.py` writes
    them; in a checkout the folder is `results/` itself.

    Raises:
        ValueError: If the installation lacks them.
    """
    summary = PACKAGE / "recorded"
    for folder in (summary, PACKAGE.parents[1] / "results"):
        if (folder / LEVELS_FILE).is_file():
            return folder
    raise ValueError(
        f"recorded results must come with Farfield, got none in {summary}: install it again, or "
        "name a folder that `farfield report --export` wrote"
    )


@final
class Kind(NamedTuple):
    """Runs of a table that belong together.

    Attributes:
        share: Share of the paper's steps.
        images: Images shown; empty where there is no choice.
    """

    share: float
    images: str

    @property
    def is_default(self) -> bool:
        """True if a command without options has these images."""
        return self.images in {"", BUILT_IN}

    @property
    def title(self) -> str:
        """Format the images in words, where a command without options has others."""
        return "" if self.is_default else self.images


@final
class Basis(NamedTuple):
    """Networks behind a figure.

    Attributes:
        steps: Shares of their steps that its networks did.
        networks: How many they are.
        recorded: How many are recorded of the same cells, budgets and images.
    """

    steps: str
    networks: int
    recorded: int


@final
class Recorded:
    """The tables and figures of a folder of exports.

    Args:
        folder: Folder of `export` and `export_figure`; it may be absent.

    Attributes:
        reports: The reports of each table with records, those with the most steps first.
        figures: The figures, by name of their file.

    Raises:
        ValueError: If a file is damaged, or holds lines of no claim, naming file and line.
    """

    def __init__(self, folder: Path) -> None:
        folder = expand_home(folder)
        self.figures = [load_figure(path, folder) for path in sorted(folder.rglob("*.json"))]
        paths = {
            path.relative_to(folder).with_suffix("").as_posix(): path
            for path in sorted(folder.rglob("*.jsonl"))
            if path.name != LEVELS_FILE
        }
        for key, path in paths.items():
            if key not in TABLES:
                raise ValueError(f"{printable(path)}: {UnknownNameError('table', key, TABLES)}")
        levels, missing = Levels(folder), load_missing(folder)
        self.reports = {
            key: recorded_reports(table, paths[key], levels, missing)
            for key, table in TABLES.items()
            if key in paths
        }
        self._rows: dict[str, Row] = {}
        for reports in self.reports.values():
            for report in reports.values():
                for row in report.rows:
                    self._rows.setdefault(row.claim.name, row)

    def row(self, claim: Claim) -> Row | None:
        """Return records of a claim, at the most steps; `None` without records."""
        return self._rows.get(claim.name)

    def records(self, claim: Claim) -> Sequence[Record]:
        """Return the networks of a claim, at the most steps."""
        row = self.row(claim)
        return () if row is None else row.records

    def basis(self, figure: FigureExport) -> Basis:
        """Return networks behind a figure, checked against the records.

        Args:
            figure: One of the figures.

        Raises:
            ValueError: If one of them is not recorded as it was.
        """
        cells = {(network.table, network.cell) for network in figure.networks}
        lines = {cell: self._lines(*cell) for cell in cells}
        kinds, runs = set(), set()
        for network in figure.networks:
            found = lines[network.table, network.cell].get(network.digest)
            if found is None:
                raise ValueError(
                    f"{figure.place}: seed {network.seed} of {network.table}/{network.cell} is not "
                    "recorded, or was run again since; export the figure again"
                )
            kinds.add(found[0])
            runs.add(found[1])
        alike = {run for found in lines.values() for kind, run in found.values() if kind in kinds}
        shares = sorted({kind.share for kind in kinds}, reverse=True)
        steps = " or ".join(f"{100 * share:g} %" for share in shares)
        return Basis(steps=steps, networks=len(runs), recorded=len(alike))

    def _lines(self, table: str, cell: str) -> dict[str, tuple[Kind, tuple[str, int]]]:
        """Find the kind, key and seed of the lines of a cell, by their digest."""
        return {
            digest_of(Line(cell=cell, record=record)): (kind, (record.key, record.seed))
            for kind, report in self.reports.get(table, {}).items()
            for row in report.rows
            if row.name == cell
            for record in row.records
        }


def recorded_reports(
    table: Table, path: Path, levels: Levels, missing: AbstractSet[str] = frozenset()
) -> dict[Kind, Report]:
    """Return the reports of a file of records by their kind, most steps first.

    Args:
        table: The claims that they are of.
        path: File of the table that `export` wrote.
        levels: Floors and ceilings.
        missing: Commits that the repository lacks.

    Raises:
        ValueError: If the file is damaged, or holds lines of no claim, naming file and line.
    """
    kinds: dict[Kind, dict[str, list[Record]]] = {}
    checked: dict[tuple[str, str, int], Kind] = {}
    earlier: dict[str, dict[str, list[Record]]] = {}
    for number, line in enumerate(load_export(path), 1):  # no line is skipped
        where = f"{printable(path)}, line {number}"
        claim = _claim(table, line, where)
        record = line.record
        run = (claim.name, record.key, record.steps)
        if not line.superseded and run not in checked:  # the same key is the same experiment
            checked[run] = _kind(claim, record, where)
        try:
            record.final(claim.regime, claim.metric)
        except KeyError as error:
            raise ValueError(f"{where}: the score of {claim.name} is missing: {error}") from error
        if line.superseded:
            earlier.setdefault(claim.name, {}).setdefault(record.key, []).append(record)
        else:
            kinds.setdefault(checked[run], {}).setdefault(claim.name, []).append(record)
    ordered = sorted(kinds.items(), key=lambda item: (-item[0].share, item[0].images))
    try:
        beside = _beside_goals(table, kinds)
        reports = {kind: _report(table, found, kind, levels, beside) for kind, found in ordered}
    except ValueError as error:
        raise ValueError(f"{printable(path)}: {error}") from error
    recipes = {name: _in_order(found.values()) for name, found in earlier.items()}
    return {
        kind: replace(
            report,
            rows=tuple(
                replace(row, earlier=recipes.get(row.claim.name, ()), missing=missing)
                for row in report.rows
            ),
        )
        for kind, report in reports.items()
    }


def _in_order(recipes: Iterable[list[Record]]) -> tuple[tuple[Record, ...], ...]:
    """Sort networks of recipes, first by the time of their training."""
    ordered = sorted(recipes, key=lambda records: records[0].environment.get("finished", ""))
    return tuple(map(tuple, ordered))


def _claim(table: Table, line: Line, where: str) -> Claim:
    """Return the claim that a line is about."""
    if line.cell not in table.cells:
        raise ValueError(f"{where}: {UnknownNameError('cell', line.cell, table.cells)}")
    return table.cells[line.cell]


def _kind(claim: Claim, record: Record, where: str) -> Kind:
    """Return the kind of a record, whose experiment must be the claim's."""
    try:
        is_same = claim.same_experiment(record.experiment, record.steps)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if not is_same:
        raise ValueError(
            f"{where}: the record of {claim.name} must be of its experiment, got another "
            f"({record.key}); run the claim again"
        )
    share = float(f"{claim.fraction(record.experiment):.3g}")
    return Kind(share=share, images=images_of(claim, record))


def _beside_goals(
    table: Table, kinds: Mapping[Kind, Mapping[str, list[Record]]]
) -> dict[str, list[Record]]:
    """Return records with all steps that stars depend on, by their claim, whatever their images.

    They are of networks that are to confirm goals, and of rows by hand.
    """
    names = {
        other.name
        for claim in table.claims
        for other in (claim.confirming(table.claims), *claim.by_hand(table.claims))
        if other
    }
    whole = (found for kind, found in kinds.items() if kind.share == 1)
    return {name: records for found in whole for name, records in found.items() if name in names}


def _report(
    table: Table,
    found: Mapping[str, list[Record]],
    kind: Kind,
    levels: Levels,
    beside: Mapping[str, list[Record]],
) -> Report:
    """Return the cells that have records, with commands that show the same images."""
    cells = [name for name, claim in table.cells.items() if claim.name in found]
    whole = any(
        claim.fraction(record.experiment) == 1
        for claim in table.claims
        for record in found.get(claim.name, [])
    )
    budget = Budget.PAPER if whole else Budget.QUICK
    known = {**beside, **found}
    report = tabulate(table.select(*cells), lambda claim: known.get(claim.name, []), budget, levels)
    if kind.images != PAPER_IMAGES:
        return report
    rows = tuple(replace(row, command=row.command + IMAGES["webb2021"]) for row in report.rows)
    return replace(report, rows=rows)
