"""`farfield verify`: recorded networks trained anew, and compared with their records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from farfield.cli._arguments import Verify
from farfield.cli._console import make_console, say
from farfield.cli._report import results_folder, selected_tables, store_of
from farfield.cli._reproduce import cost_of, counted
from farfield.core import FarfieldError
from farfield.core.internal import printable
from farfield.execution import Display, jobs_of, verify
from farfield.execution.internal import Job, draw_share
from farfield.experiments import Experiment
from farfield.records import Record, Store
from farfield.reports.internal import exported_at, records_at
from farfield.reproductions import TABLES, Budget

Runs = dict[Job, tuple[str, Record]]
"""Name and record of each network."""


def verify_records(command: Verify) -> None:
    """Train a share of the recorded networks anew, and say of each whether it is the same.

    Args:
        command: Which networks, and where they train.

    Raises:
        ValueError: If nothing is recorded.
        FarfieldError: If a network differs.
    """
    command = replace(command, records=results_folder(command.records))
    console, store = make_console(), store_of(command.records)
    if store is not None and command.table is None and not command.cell:
        runs, left_out = _all_runs(store)
    else:
        runs, left_out = _runs_of_tables(command, store), 0
    if left_out:
        say(
            console,
            f"left out: {counted(left_out)} of classes that are not Farfield's, or of another "
            "version; farfield.execution.verify takes them",
        )
    if not runs:
        raise ValueError(
            f"records must hold runs that can be trained anew, got {command.records}: it holds none"
        )
    drawn = draw_share([*runs], command.share, seed=command.seed)
    say(console, f"{len(drawn):,} of {counted(len(runs))}")
    missing = Counter(job.experiment for job in drawn)
    for line in cost_of(missing, command.device, command.workers).lines():
        say(console, line)
    _compare(command, drawn, runs, store, console)


def _compare(
    command: Verify, drawn: Sequence[Job], runs: Runs, store: Store | None, console: Console
) -> None:
    """Train networks anew, and print a line for each."""
    keys = {job.experiment.key for job in drawn}
    records = [record for _, record in runs.values() if record.key in keys]
    labels = {job.experiment.key: runs[job][0] for job in drawn}
    at_once = command.workers or (None if command.device == "cpu" else 1)
    with Display(drawn, labels, console, at_once) as display:
        found = verify(
            drawn,
            records,
            networks=store,
            device=command.device,
            workers=command.workers,
            matmul=command.matmul,
            report=display.take,
        )
    for one in found:
        reason = f": {printable(one.reason)}" if one.reason else ""
        say(console, f"{one.verdict:12}  {runs[one.job][0]} seed {one.job.seed}{reason}")
    counts = Counter(one.verdict for one in found)
    say(console, ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items()))
    if counts["differs"]:
        raise FarfieldError(f"different: {counts['differs']:,} of {counted(len(found))}")


def _all_runs(store: Store) -> tuple[Runs, int]:
    """Find the runs of a folder that can be repeated, and count the other runs."""
    runs, left_out = Runs(), 0
    for key in sorted(store.keys()):
        records = store.records(key)
        try:
            experiment = Experiment.from_json(records[0].experiment)
        except (ValueError, IndexError):
            left_out += len(records)
            continue
        if experiment.key != key:
            left_out += len(records)
            continue
        name = printable(f"{records[0].task} · {records[0].model} {key[:12]}")
        runs |= {Job(experiment=experiment, seed=one.seed): (name, one) for one in records}
    return runs, left_out


def _runs_of_tables(command: Verify, store: Store | None) -> Runs:
    """Find the runs of the selected cells; a run of several cells is named by the first."""
    budget, runs = Budget(command.budget), Runs()
    find = (
        exported_at(command.records, budget) if store is None else records_at(store.records, budget)
    )
    for table in selected_tables(TABLES if command.table is None else [command.table], command):
        for name, claim in table.cells.items():
            if records := find(claim):
                jobs = jobs_of([claim.at(budget)], [record.seed for record in records])
                for job, record in zip(jobs, records, strict=True):
                    runs.setdefault(job, (f"{table.key}/{name}", record))
    return runs
