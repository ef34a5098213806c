"""Claims of tables: `farfield plan` estimates their cost, `farfield reproduce` trains them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final, get_type_hints

import tyro
from rich.console import Console

from farfield.cli._arguments import NETWORKS, REPORTS, Plan, Reproduce
from farfield.cli._console import make_console, say, write
from farfield.cli._names import PLAIN, plain_dataclass
from farfield.cli._report import missing_of, present, table_named
from farfield.cli._train import train_missing
from farfield.core.internal import num_cores, printable
from farfield.execution import jobs_of, results
from farfield.execution.internal import Job, Trial, cost_kind, trial
from farfield.experiments import Experiment, Recipe
from farfield.experiments.internal import source_of_value
from farfield.records import Store
from farfield.reports import (
    FIGURES,
    Figure,
    Tabular,
    extrapolation_profile,
    problem_sheet,
    tabulate,
)
from farfield.reports.internal import Levels, records_at
from farfield.reproductions import Budget, Table
from farfield.tasks import ProblemTask, is_at_hand
from farfield.tasks.internal import HasPictures

MOST_NAMED: Final = 8
"""Most cells that an error names."""


def plan(command: Plan) -> None:
    """Try every model of a table for a second, and estimate the cost of the table.

    Args:
        command: Which table, and how much of it.
    """
    budget, console = Budget(command.budget), make_console()
    table = table_named(command.table, "glyphs").select(*itertools.chain(*command.cell))
    seeds = command.seeds or networks_of(FIGURES.get(command.table), budget)
    built = [claim for claim in table.claims if not claim.unbuilt]
    there = [claim for claim in built if is_at_hand(claim.experiment.task)]
    stages = [stage for claim in there for stage in claim.at(budget).stages]
    jobs = jobs_of(stages, range(seeds))
    cost = cost_of(_missing(command, jobs), command.device, command.workers)
    found = len(jobs) - cost.networks
    recorded = f"; {found:,} more {'has' if found == 1 else 'have'} a record" if found else ""
    lines = [f"{table.key} at the {budget.value} budget, {counted(seeds)} a cell", ""]
    lines += cost.lines(recorded)
    lacking = dict.fromkeys(
        claim.data or f"the files of {claim.experiment.task.name}"
        for claim in built
        if claim not in there
    )
    lines += [f"missing data: {what}; its cells are not counted" for what in lacking]
    unbuilt = len(table.claims) - len(built)
    if unbuilt:
        lines.append(f"{unbuilt} cells are of models that are not built here")
    for line in lines:
        say(console, line)


@final
@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of training some networks.

    Args:
        tried: A trial of each kind of experiment.
        counts: Networks of each kind, and steps of all of them.
        device: Where they train.
        workers: How many train at once.
    """

    tried: dict[tuple[object, ...], Trial]
    counts: dict[tuple[object, ...], tuple[int, int]]
    device: str
    workers: int

    @property
    def networks(self) -> int:
        """Number of networks."""
        return sum(networks for networks, _ in self.counts.values())

    def lines(self, recorded: str = "") -> list[str]:
        """Describe the cost in words.

        Args:
            recorded: Words on networks that need no training.
        """
        steps = sum(steps for _, steps in self.counts.values())
        hours = sum(self.tried[k].hours(1, s, self.workers) for k, (_, s) in self.counts.items())
        lines = [str(_grid(self)), ""] if self.tried else []
        lines += [
            f"{counted(self.networks)} to train, {steps:,} steps{recorded}",
            f"about {_duration(hours)} of training on {self._where()}, as busy as now",
            "scoring comes on top",
        ]
        measured = [one.memory for one in self.tried.values() if one.memory is not None]
        if measured:
            each = "a process" if self.device == "cpu" else "of the GPU"
            lines.append(f"at most {max(measured) / 2**30:.1f} GiB of memory {each}")
        return lines

    def _where(self) -> str:
        return f"{self.workers} processes of this machine" if self.device == "cpu" else "this GPU"


def cost_of(missing: Mapping[Experiment, int], device: str, workers: int | None) -> Cost:
    """Estimate the cost of training from a trial of each kind of experiment.

    Args:
        missing: Number of networks of each experiment.
        device: Where they train.
        workers: How many train at once; as many as there are cores if `None`, and one on a GPU.
    """
    tried: dict[tuple[object, ...], Trial] = {}
    counts: dict[tuple[object, ...], tuple[int, int]] = {}
    for experiment, networks in missing.items():
        kind = cost_kind(experiment)
        if kind not in tried:
            tried[kind] = trial(experiment, range(networks), device=device)
        before, steps = counts.get(kind, (0, 0))
        counts[kind] = before + networks, steps + networks * experiment.recipe.steps
    at_once = workers or (num_cores() if device == "cpu" else 1)
    return Cost(tried=tried, counts=counts, device=device, workers=at_once)


def _missing(command: Plan, jobs: list[Job]) -> dict[Experiment, int]:
    """Count the networks without a record, by experiment; the folder is not made."""
    there = (command.records / "records.sqlite").is_file()
    store = Store(command.records) if there else None
    counted: dict[Experiment, int] = {}
    runs = [(job.experiment.key, job.seed) for job in jobs]
    records = store.find_all(runs) if store else itertools.repeat(None)
    for job, record in zip(jobs, records, strict=False):
        if record is None:
            counted[job.experiment] = counted.get(job.experiment, 0) + 1
    return counted


def _grid(cost: Cost) -> Tabular:
    """Tabulate the cost, a row for each kind of experiment."""
    rows = []
    for kind, found in cost.tried.items():
        networks, steps = cost.counts[kind]
        hours = found.hours(1, steps, cost.workers)
        name = f"{source_of_value(kind[2])} on {kind[0].__name__}"  # type: ignore[attr-defined]
        rows.append((printable(name), f"{networks:,}", f"{steps:,}",
                     f"{1000 * found.seconds / found.networks:.3g}", _duration(hours)))  # fmt: skip
    return Tabular(
        headings=("model", "networks", "steps", "ms a step", "time"),
        cells=tuple(rows),
        values=(),
    )


def counted(networks: int) -> str:
    """Format a number of networks, e.g. `1 network`.

    Args:
        networks: How many.
    """
    return f"{networks:,} network{'' if networks == 1 else 's'}"


def _duration(hours: float) -> str:
    """Format a time in a suitable unit."""
    if hours >= 1:
        return f"{hours:,.1f} h"
    return f"{60 * hours:.1f} min" if hours >= 1 / 60 else f"{3600 * hours:.0f} s"


def reproduce(command: Reproduce, rest: Sequence[str]) -> None:
    """Run the cells of a table or a figure that have no record yet, then report.

    Args:
        command: Which table, and how much of it.
        rest: Words with the fields of the recipe that differ from the claims'.
    """
    budget = Budget(command.budget)
    table = table_named(command.table, command.images).select(*itertools.chain(*command.cell))
    seeds = command.seeds or networks_of(FIGURES.get(command.table), budget)
    built = [claim for claim in table.claims if not claim.unbuilt]
    changes = changes_of(command, rest)
    own: dict[Experiment, str] = {}
    for claim in built:
        own.setdefault(_changed(claim.at(budget), changes), claim.cell)
    if command.python:
        write(_script(own, seeds))
        return
    at_hand = [experiment for experiment in own if is_at_hand(experiment.task)]
    jobs = jobs_of(at_hand, range(seeds))
    store, console = Store(command.records), make_console()
    console.print(f"[bold]{table.key}[/]: {table.title}", soft_wrap=True)
    train_missing(command, jobs, _labels(own), store, console)
    if not changes:
        _report(command, table, seeds, store, console)
        return
    for experiment in at_hand:
        found = results([job for job in jobs if job.experiment == experiment], store)
        said = ", ".join(f"{name} {value}" for name, value in changes.items())
        cell = f"{own[experiment]} at the {budget.value} budget"
        say(console, f"\n{cell} with {said}: your own experiment {experiment.key}\n")
        say(console, str(extrapolation_profile(experiment.task, found)))


def changes_of(command: Reproduce, rest: Sequence[str]) -> dict[str, Any]:
    """Parse the fields of the recipe that differ from the claims'.

    Args:
        command: Which table.
        rest: Words with the fields.
    """
    hints = get_type_hints(Recipe)
    fields = [
        (field.name, hints[field.name] | None, None)
        for field in dataclasses.fields(Recipe)
        if hints[field.name] in PLAIN
    ]
    options: Any = tyro.cli(
        dataclasses.make_dataclass(
            "Options", [("recipe", group := plain_dataclass("Recipe", fields, Recipe), group())]
        ),
        prog=f"farfield reproduce {command.table}",
        args=list(rest),
    )
    given = dataclasses.asdict(options.recipe)
    return {name: value for name, value in given.items() if value is not None}


def _changed(experiment: Experiment, changes: Mapping[str, Any]) -> Experiment:
    """Change fields of an experiment's recipe."""
    recipe = dataclasses.replace(experiment.recipe, **changes)
    return dataclasses.replace(experiment, recipe=recipe)


def _script(own: Mapping[Experiment, str], seeds: int) -> str:
    """Write the Python that trains one experiment and prints its profile."""
    if len(own) != 1:
        names = [*[*own.values()][:MOST_NAMED], *["…"] * (len(own) > MOST_NAMED)]
        raise ValueError(
            f"cell must select one experiment to print its Python, got {len(own)}: "
            f"{', '.join(names)}"
        )
    (experiment,) = own
    return f"""\
from farfield.execution import jobs_of, results, run
from farfield.records import Store
from farfield.reports import extrapolation_profile
{experiment.to_python()}
jobs = jobs_of([experiment], range({seeds}))
store = Store("runs")
run(jobs, store)
print(extrapolation_profile(experiment.task, results(jobs, store)))
"""


def _report(command: Reproduce, table: Table, seeds: int, store: Store, console: Console) -> None:
    """Report on a table from the records, with sheets of sample problems."""
    budget = Budget(command.budget)
    folder = command.out or REPORTS / f"{table.key.replace('/', '-')}-{budget.value}"
    _draw_problems(table, folder)
    find = records_at(store.records, budget, seeds)
    levels = Levels(command.records)
    found = tabulate(table, find, budget, levels, missing_of(table, find))
    present(found, store, folder, console)


def _labels(cells: Mapping[Experiment, str]) -> dict[str, str]:
    """Name experiments by their cells, and the experiments that they start from."""
    labels: dict[str, str] = {}
    for experiment, name in cells.items():
        *before, last = experiment.stages
        labels |= {stage.key: f"before {name}" for stage in before} | {last.key: name}
    return labels


def networks_of(figure: Figure | None, budget: Budget) -> int:
    """Choose the number of networks of each cell where none was given.

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
