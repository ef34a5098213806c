"""`farfield reproduce`: published numbers beside freshly trained networks."""

from __future__ import annotations

import itertools
from pathlib import Path

from rich.console import Console

from farfield.cli._arguments import NETWORKS, REPORTS, Reproduce
from farfield.cli._console import make_console
from farfield.cli._report import missing_of, present, table_named
from farfield.cli._train import train_missing
from farfield.execution import jobs_of
from farfield.records import Store
from farfield.reports import FIGURES, Figure, Levels, problem_sheet, records_at, tabulate
from farfield.reproductions import Budget, Table
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
    _report(command, table, seeds, store, console)


def _report(command: Reproduce, table: Table, seeds: int, store: Store, console: Console) -> None:
    """Report on a table from the records, with sheets of sample problems."""
    budget = Budget(command.budget)
    folder = command.out or REPORTS / f"{table.key.replace('/', '-')}-{budget.value}"
    _draw_problems(table, folder)
    find = records_at(store.records, budget, seeds)
    levels = Levels(command.records)
    found = tabulate(table, find, budget, levels, missing_of(table, find))
    present(found, store, folder, console)


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


def _draw_problems(table: Table, folder: Path) -> None:
    """Draw a sheet of sample problems of each task, which reports show from then on."""
    tasks = {one.experiment.task.name: one.experiment.task for one in reversed(table.claims)}
    for name, task in tasks.items():
        if isinstance(task, ProblemTask | HasPictures) and is_at_hand(task):
            problem_sheet(task, folder / f"problems-{name}.png")
