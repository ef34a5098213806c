"""Published numbers beside recorded numbers: `farfield report` and the list of claims."""

from __future__ import annotations

import fnmatch
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from farfield.cli._arguments import RECORDS, RESULTS, List, Verify
from farfield.cli._arguments import Report as ReportCommand
from farfield.cli._console import make_console, say
from farfield.cli._names import shapes_of
from farfield.core.internal import UnknownNameError, printable
from farfield.records import Store
from farfield.records.internal import missing_commits, write_whole
from farfield.reports import (
    FIGURES,
    Plate,
    Report,
    export,
    export_figure,
    illustrate,
    recorded_results,
    tabulate,
)
from farfield.reports.internal import (
    Coverage,
    Finder,
    Levels,
    check_commits,
    coverage,
    exported_at,
    load_missing,
    records_at,
    results_pages,
    terminal,
    write_report,
)
from farfield.reproductions import TABLES, Budget, Table
from farfield.reproductions.internal import SheetLine, sheet


def results_folder(folder: Path) -> Path:
    """Find the folder of exports that a path means.

    Args:
        folder: Path as typed; `results` means the recorded results that come with Farfield, unless
            there is a folder of this name that holds records of a table.

    Raises:
        ValueError: If the recorded results are meant, and the installation lacks them.
    """
    if folder != RESULTS or any((folder / f"{name}.jsonl").is_file() for name in TABLES):
        return folder
    return recorded_results()


DATABASE: Final = "records.sqlite"
"""Name of the database in a folder of records."""

UNCOMPARED: Final = (
    "Commits are not compared with a repository: Farfield does not run from one here, or only from "
    "a part of its history. Uncommitted trees are known by the + of their commit."
)
"""Remark on an export where git cannot be asked."""


def report(command: ReportCommand) -> None:
    """Make reports from records.

    Args:
        command: Tables or figures to report, and the folder to write to.
    """
    if command.export and command.cell:
        raise ValueError(
            "cell and export exclude each other, as an export writes tables in full; "
            f"got cell={command.cell}"
        )
    budget, console = Budget(command.budget), make_console()
    asked = command.records
    command = replace(command, records=_records_of(command, console))
    store = store_of(command.records)
    find_records = _finder(store, command, budget)
    names = [command.table] if command.table is not None else list(TABLES)
    tables = [*selected_tables(names, command)]
    recorded = [table for table in tables if _is_recorded(table, find_records)]
    if not recorded:
        raise ValueError(_nothing(command, store, tables))
    if command.export:
        _check_commits(recorded, find_records, command, console)
    # Measurements are kept in the folder that was asked for, not in the package.
    levels = Levels(asked, command.records, results_folder(command.results))
    for table in recorded:
        folder = command.out / f"{table.key.replace('/', '-')}-{budget.value}"
        missing = (
            load_missing(command.records) if store is None else missing_of(table, find_records)
        )
        found = tabulate(table, find_records, budget, levels, missing)
        plates = present(found, store, folder, console, vector=command.svg)
        if command.export:
            written = export(table, find_records, command.results, any_commit=True)
            for path in (*written, *export_figure(found, plates, command.results, budget)):
                say(console, f"exported: {printable(path)}")
    if command.export:
        levels.keep(command.results)
        _write_pages(command, console)


def _records_of(command: ReportCommand, console: Console) -> Path:
    """Choose the folder of records: as named, or recorded results where `runs` has none."""
    folder = results_folder(command.records)
    if folder != RECORDS or command.export or _holds_records(folder):
        return folder
    results = results_folder(command.results)
    where = "that come with Farfield" if results != command.results else f"of {printable(results)}"
    say(console, f"{RECORDS} holds no records; these are the results {where}.")
    return results


def _nothing(command: ReportCommand, store: Store | None, tables: Sequence[Table]) -> str:
    """Explain that no record of some tables exists at a budget."""
    if command.table is None:
        return (
            f"records must hold runs of some table{' with such a cell' * bool(command.cell)}, "
            f"got {command.records}: it holds none at the "
            f"{command.budget} budget; `farfield reproduce` makes some"
        )
    (table,) = tables
    own = _shown_by(table, store, command)
    beside = [line for one in _stand_ins(table.key) for line in _shown_by(one, store, command)]
    hints = [f"{_commands(own)} some"] if own else []
    hints += [f"{_commands(beside)} tables beside it"] if beside and not own else []
    hint = "; ".join(hints) or "`farfield reproduce` makes some"
    return f"table {table.key} has no records at the {command.budget} budget; {hint}"


def _commands(lines: Sequence[str]) -> str:
    """Format up to three commands as the subject of a sentence."""
    *most, last = [f"`{line}`" for line in lines[:3]]
    return f"{', '.join(most)} and {last} show" if most else f"{last} shows"


def _shown_by(table: Table, store: Store | None, command: ReportCommand) -> list[str]:
    """List the commands that report a table from the asked folder, else from the package."""
    found, package = [], results_folder(RESULTS)
    folder = RESULTS if command.records == package else command.records
    where = "" if folder == RECORDS else f" --records {folder}"
    for budget in Budget:
        line = f"farfield report {table.key}" + f" --budget {budget.value}" * (
            budget is not Budget.PAPER
        )
        if _is_recorded(table, _finder(store, command, budget)):
            found.append(f"{line}{where}")
        elif store is not None and _is_recorded(table, exported_at(package, budget)):
            found.append(f"{line} --records {RESULTS}")
    return found


def _stand_ins(key: str) -> list[Table]:
    """Find the tables beside a table, e.g. `table-2-generated` for `table-2`.

    A table of a topic, e.g. `mixup-table-1a`, has all tables of the topic beside it.
    """
    paper, _, name = key.partition("/")
    topic = name.partition("-")[0]
    begins = [f"{key}-"] if topic in ("table", "figure") else [f"{key}-", f"{paper}/{topic}-"]
    return [
        one for other, one in TABLES.items() if other != key and other.startswith(tuple(begins))
    ]


def _check_commits(
    tables: Sequence[Table], find_records: Finder, command: ReportCommand, console: Console
) -> None:
    """Refuse an export of networks whose code nobody can look up, unless it is asked for."""
    if not command.any_commit:
        check_commits(tables, find_records, command.results)
    if missing_commits(()) is None:
        say(console, UNCOMPARED)


def _write_pages(command: ReportCommand, console: Console) -> None:
    """Make the pages of results anew."""
    seen_from_pages = Path(os.path.relpath(command.results, command.pages)).as_posix()
    for name, content in results_pages(command.results, seen_from_pages).items():
        write_whole(command.pages / name, content.encode())
    say(console, f"pages of results: {printable(command.pages)}")


def selected_tables(names: Iterable[str], command: ReportCommand | Verify) -> Iterator[Table]:
    """Select the cells of a command: of the named table, or of all tables that match.

    Args:
        names: Keys of the tables.
        command: The command that asks.
    """
    asked = [*itertools.chain(*command.cell)]
    for name in names:
        table, patterns = table_named(name, command.images), asked
        if command.table is None:
            patterns = [pattern for pattern in asked if fnmatch.filter(table.cells, pattern)]
        if patterns or not asked:
            yield table.select(*patterns)


def store_of(folder: Path) -> Store | None:
    """Open the store of a folder; `None` where its records are exported as text.

    Args:
        folder: The folder.

    Raises:
        ValueError: If the folder holds no records.
    """
    if (folder / DATABASE).is_file():
        return Store(folder)
    if _holds_records(folder):
        return None
    raise ValueError(
        f"records must name a folder of records, got {folder}: it holds none; "
        "`farfield reproduce` makes one"
    )


def _holds_records(folder: Path) -> bool:
    """Check whether a folder has a database, or records as text."""
    exports = folder.glob("*/*.jsonl")
    return (folder / DATABASE).is_file() or any(path.is_file() for path in exports)


def _finder(store: Store | None, command: ReportCommand, budget: Budget) -> Finder:
    """Build the finder of the records of a claim, in a store or in text."""
    if store is None:
        return exported_at(command.records, budget, command.seeds)
    return records_at(store.records, budget, command.seeds)


def missing_of(table: Table, find_records: Finder) -> frozenset[str]:
    """Find the commits behind a table that the repository lacks; none where that is unknown.

    Args:
        table: The claims.
        find_records: The records of a claim.
    """
    records = [record for claim in table.claims for record in find_records(claim)]
    return missing_commits({record.commit for record in records}) or frozenset()


def _is_recorded(table: Table, find_records: Finder) -> bool:
    return any(find_records(claim) for claim in table.claims)


def table_named(name: str, images: str) -> Table:
    """Find the table of a name, or the table behind a figure, with the images of a name.

    Args:
        name: Key of a table or figure.
        images: Name of the images.

    Raises:
        UnknownNameError: If there is no such table or figure.
    """
    if name not in TABLES and name not in FIGURES:
        raise UnknownNameError("table or figure", name, (*TABLES, *FIGURES))
    table = TABLES[name] if name in TABLES else FIGURES[name].table
    shapes = shapes_of(images)
    return table.with_task(shapes=shapes) if shapes is not None else table


def present(
    found: Report, store: Store | None, folder: Path, console: Console, *, vector: bool = False
) -> tuple[Plate, ...]:
    """Print a table and write its files, with the plates of a figure.

    Args:
        found: The table with its results.
        store: Store with the trained networks; `None` where there are records alone.
        folder: Folder for the files.
        console: Console to print to.
        vector: Whether the page has its pictures as SVG.

    Returns:
        The plates.
    """
    figure = FIGURES.get(found.key)
    plates = illustrate(figure, found, store) if figure else ()
    if figure and store is None and len(plates) < len(figure.exhibits):
        console.print("There are no trained networks here; exhibits that need them are left out.")
    tasks = (row.claim.experiment.task for row in found.rows)
    paths = {task.name: folder / f"problems-{task.name}.png" for task in tasks}
    sheets = {name: path for name, path in paths.items() if path.is_file()}
    pictures = {name: path.read_bytes() for name, path in sheets.items()}
    written = write_report(found, folder, pictures, plates, vector=vector)
    console.print(terminal(found, plates))
    for path in (*written, *sheets.values()):
        console.print(f"  {printable(path)}", soft_wrap=True, markup=False, emoji=False)
    return plates


def claim_rows(results: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Name, title and state of every printed table and figure, and of the tables of our own.

    Args:
        results: Folder of exports, as typed.
    """
    for paper, items in coverage(results_folder(results)).items():
        for one in items:
            title = f"{paper}, {one.name}: {one.title}" if one.printed else one.title
            for key in one.keys or ("–",):
                yield key, title.removesuffix(": "), _state(one)


def _state(one: Coverage) -> list[str]:
    """Count the cells run, and give the reason and the time of the cells not run."""
    first = f"e.g. {one.cells[0].cell}" if one.cells else ""
    ran = f"run: {one.run} cells" if one.cells else ""
    time = f"about {one.time}" if one.time else ""
    return [part for part in (ran, first, one.why, time) if part]


def setting_rows(command: List) -> Iterator[tuple[str, str, list[str]]]:
    """Name, value and source of the settings of a table's claims, with text and released code.

    Args:
        command: Which table and cells.

    Raises:
        UnknownNameError: If there is no such table or cell.
    """
    table = table_named(command.table or "", "glyphs")
    for line in sheet(table.select(*itertools.chain(*command.cell)).claims):
        yield line.setting.name, f"{line.value} ({line.source.value})", _beside(line)


def _beside(line: SheetLine) -> list[str]:
    """Format the text, code, field and cells of a setting."""
    setting = line.setting
    where = f" ({setting.section})" if setting.section else ""
    count = len(line.claims)
    return [
        f"text: {setting.text}{where}",
        *([f"code: {setting.code}"] if setting.code else []),
        f"field: {setting.path}",
        f"{count} cell{'s' * (count > 1)}, e.g. {line.claims[0].cell}",
    ]
