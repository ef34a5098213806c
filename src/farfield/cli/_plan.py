"""`farfield plan`: what a table would cost, before anything starts."""

from __future__ import annotations

import itertools

from farfield.cli._arguments import Plan
from farfield.cli._console import make_console, say
from farfield.cli._reproduce import networks_of, table_named
from farfield.core import num_cores, printable
from farfield.execution import Job, Trial, cost_kind, jobs_of, trial
from farfield.experiments import Experiment, source_of_value
from farfield.records import Store
from farfield.reports import FIGURES, Tabular
from farfield.reproductions import Budget
from farfield.tasks import is_at_hand


def plan(command: Plan) -> None:
    """Try every model of a table for a second, and say what all of it would take.

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
    missing = _missing(command, jobs)
    tried: dict[tuple[object, ...], Trial] = {}
    counts: dict[tuple[object, ...], list[int]] = {}
    hours = 0.0
    workers = command.workers or (num_cores() if command.device == "cpu" else 1)
    for experiment, networks in missing.items():
        kind = cost_kind(experiment)
        if kind not in tried:
            tried[kind] = trial(experiment, range(networks), device=command.device)
        steps = experiment.recipe.steps
        took = tried[kind].hours(networks, steps, workers)
        hours += took
        row = counts.setdefault(kind, [0, 0])
        row[0] += networks
        row[1] += networks * steps
    lines = [f"{table.key} at the {budget.value} budget, {_counted(seeds)} a cell", ""]
    if tried:
        lines += [str(_grid(tried, counts, workers)), ""]
    networks, steps = (sum(row[n] for row in counts.values()) for n in (0, 1))
    found = len(jobs) - networks
    lines += [
        f"{_counted(networks)} to train, {steps:,} steps"
        + (f"; {found:,} more {'has' if found == 1 else 'have'} a record" if found else ""),
        f"about {_duration(hours)} of training on {_where(command, workers)}, as busy as now",
        "scoring comes on top",
    ]
    measured = [one.memory for one in tried.values() if one.memory is not None]
    if measured:
        lines.append(f"at most {max(measured) / 2**30:.1f} GiB of memory {_each(command)}")
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


def _missing(command: Plan, jobs: list[Job]) -> dict[Experiment, int]:
    """Networks without a record, by experiment; the folder is not made."""
    there = (command.records / "records.sqlite").is_file()
    store = Store(command.records) if there else None
    counted: dict[Experiment, int] = {}
    runs = [(job.experiment.key, job.seed) for job in jobs]
    records = store.find_all(runs) if store else itertools.repeat(None)
    for job, record in zip(jobs, records, strict=False):
        if record is None:
            counted[job.experiment] = counted.get(job.experiment, 0) + 1
    return counted


def _grid(
    tried: dict[tuple[object, ...], Trial],
    counts: dict[tuple[object, ...], list[int]],
    workers: int,
) -> Tabular:
    """A row for each kind of experiment."""
    rows = []
    for kind, found in tried.items():
        networks, steps = counts[kind]
        hours = found.hours(1, steps, workers)
        name = f"{source_of_value(kind[2])} on {kind[0].__name__}"  # type: ignore[attr-defined]
        rows.append((printable(name), f"{networks:,}", f"{steps:,}",
                     f"{1000 * found.seconds / found.networks:.3g}", _duration(hours)))  # fmt: skip
    return Tabular(
        headings=("model", "networks", "steps", "ms a step", "time"),
        cells=tuple(rows),
        values=(),
    )


def _counted(networks: int) -> str:
    """Number of networks, e.g. `1 network`."""
    return f"{networks:,} network{'' if networks == 1 else 's'}"


def _duration(hours: float) -> str:
    """A time in the unit that suits it."""
    if hours >= 1:
        return f"{hours:,.1f} h"
    return f"{60 * hours:.1f} min" if hours >= 1 / 60 else f"{3600 * hours:.0f} s"


def _where(command: Plan, workers: int) -> str:
    return f"{workers} processes of this machine" if command.device == "cpu" else "this GPU"


def _each(command: Plan) -> str:
    return "a process" if command.device == "cpu" else "of the GPU"
