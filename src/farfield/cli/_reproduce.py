"""`farfield reproduce` and `farfield report`: published numbers beside freshly trained networks."""

from __future__ import annotations

import fnmatch
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from farfield.cli._arguments import NETWORKS, REPORTS, Reproduce, Verify
from farfield.cli._arguments import Report as ReportCommand
from farfield.cli._console import make_console
from farfield.cli._names import shapes_of
from farfield.cli._train import train_missing
from farfield.core import UnknownNameError, printable
from farfield.execution import jobs_of
from farfield.records import Store, write_whole
from farfield.reports import (
    FIGURES,
    Figure,
    Finder,
    Levels,
    Plate,
    Report,
    export,
    export_figure,
    exported_at,
    illustrate,
    problem_sheet,
    records_at,
    results_pages,
    tabulate,
    terminal,
    write_report,
)
from farfield.reproductions import TABLES, Budget, Table
from farfield.tasks import HasPictures, ProblemTask, is_at_hand


def reproduce(command: Reproduce) -> None:
    """Run the cells of a table or a figure that have no record yet, then report.

    Args:
        command: Which table, and how much of it.
    """
    budget = Budget(command.budget)
    table = table_named(command.table, command.images).select(*itertools.chain(*command.cell))
    seeds = command.seeds or networks_of(FIGURES.get(command.table), budget)
    at_hand = [
        claim for claim in table.claims if is_at_hand(claim.experiment.task) and not claim.unbuilt
    ]
    jobs = jobs_of((claim.at(budget) for claim in at_hand), range(seeds))
    labels = _labels(table, budget)
    store, console = Store(command.records), make_console()
    console.print(f"[bold]{table.key}[/]: {table.title}", soft_wrap=True)
    train_missing(command, jobs, labels, store, console)
    folder = command.out or REPORTS / f"{table.key.replace('/', '-')}-{budget.value}"
    levels = Levels(command.records)
    _draw_problems(table, folder)
    _report(table, records_at(store.records, budget, seeds), store, budget, folder, console, levels)


def _labels(table: Table, budget: Budget) -> dict[str, str]:
    """Names of the experiments of a table, and of those that they start from."""
    labels: dict[str, str] = {}
    for name, claim in table.cells.items():
        *before, last = claim.at(budget).stages
        labels |= {stage.key: f"before {name}" for stage in before} | {last.key: name}
    return labels


def networks_of(figure: Figure | None, budget: Budget) -> int:
    """Networks of each cell where no number was asked for.

    Args:
        figure: The figure that was asked for; `None` for a table.
        budget: How many steps to spend.
    """
    return figure.quick_networks if figure and budget is Budget.QUICK else NETWORKS


def selected_tables(names: Iterable[str], command: ReportCommand | Verify) -> Iterator[Table]:
    """The cells that are asked for: of the table that is named, or of all tables that have some.

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


def report(command: ReportCommand) -> None:
    """Make reports from what is recorded.

    Args:
        command: Of which tables or figures, and where to.
    """
    budget, console = Budget(command.budget), make_console()
    store = store_of(command.records)
    names = [command.table] if command.table is not None else list(TABLES)
    find_records, reported = _finder(store, command, budget), 0
    levels = Levels(command.records, command.results)
    if command.export and command.cell:
        raise ValueError("cell must be left out with --export, which writes tables in full")
    for table in selected_tables(names, command):
        if _is_recorded(table, find_records):
            folder = command.out / f"{table.key.replace('/', '-')}-{budget.value}"
            found, plates = _report(
                table, find_records, store, budget, folder, console, levels, vector=command.svg
            )
            reported += 1
            if command.export:
                for path in (
                    *export(table, find_records, command.results),
                    *export_figure(found, plates, command.results, budget),
                ):
                    console.print(
                        f"exported: {printable(path)}", soft_wrap=True, markup=False, emoji=False
                    )
        elif command.table is not None:
            others = [b.value for b in Budget if _is_recorded(table, _finder(store, command, b))]
            hint = f"--budget {others[0]} has some" if others else "`farfield reproduce` makes some"
            raise ValueError(
                f"table {table.key} has no records at the {budget.value} budget; {hint}"
            )
    if not reported:
        raise ValueError(
            f"records must hold runs of some table{' with such a cell' * bool(command.cell)}, "
            f"got {command.records}: it holds none at the "
            f"{budget.value} budget; `farfield reproduce` makes some"
        )
    if command.export:
        levels.keep(command.results)
        seen_from_pages = Path(os.path.relpath(command.results, command.pages)).as_posix()
        for name, content in results_pages(command.results, seen_from_pages).items():
            write_whole(command.pages / name, content.encode())
        console.print(
            f"pages of results: {printable(command.pages)}",
            soft_wrap=True,
            markup=False,
            emoji=False,
        )


def store_of(folder: Path) -> Store | None:
    """The records of a folder; `None` where they were exported to it as text.

    Args:
        folder: The folder.

    Raises:
        ValueError: If it holds none.
    """
    if (folder / "records.sqlite").is_file():
        return Store(folder)
    if any(path.is_file() for path in folder.glob("*/*.jsonl")):
        return None
    raise ValueError(
        f"records must name a folder of records, got {folder}: it holds none; "
        "`farfield reproduce` makes one"
    )


def _finder(store: Store | None, command: ReportCommand, budget: Budget) -> Finder:
    """Finder of the records of a claim, in a store or in text."""
    if store is None:
        return exported_at(command.records, budget, command.seeds)
    return records_at(store.records, budget, command.seeds)


def _is_recorded(table: Table, find_records: Finder) -> bool:
    return any(find_records(claim) for claim in table.claims)


def table_named(name: str, images: str) -> Table:
    """The table of a name, or that behind a figure, with its images.

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


def _draw_problems(table: Table, folder: Path) -> None:
    """Draw a sheet of sample problems of each task, which reports show from then on."""
    tasks = {one.experiment.task.name: one.experiment.task for one in reversed(table.claims)}
    for name, task in tasks.items():
        if isinstance(task, ProblemTask | HasPictures) and is_at_hand(task):
            problem_sheet(task, folder / f"problems-{name}.png")


def _report(
    table: Table,
    find_records: Finder,
    store: Store | None,
    budget: Budget,
    folder: Path,
    console: Console,
    levels: Levels,
    *,
    vector: bool = False,
) -> tuple[Report, tuple[Plate, ...]]:
    """Print the table and write its files, and what a figure shows beyond; gives both back."""
    found = tabulate(table, find_records, budget, levels)
    figure = FIGURES.get(table.key)
    plates = illustrate(figure, found, store) if figure else ()
    if figure and store is None and len(plates) < len(figure.exhibits):
        console.print("There are no trained networks here; what needs them is left out.")
    tasks = (claim.experiment.task for claim in table.claims)
    paths = {task.name: folder / f"problems-{task.name}.png" for task in tasks}
    sheets = {name: path for name, path in paths.items() if path.is_file()}
    pictures = {name: path.read_bytes() for name, path in sheets.items()}
    written = write_report(found, folder, pictures, plates, vector=vector)
    console.print(terminal(found, plates))
    for path in (*written, *sheets.values()):
        console.print(f"  {printable(path)}", soft_wrap=True, markup=False, emoji=False)
    return found, plates
