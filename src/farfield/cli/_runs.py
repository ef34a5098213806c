"""`farfield runs`: list, show, compare, delete and export the records of a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from farfield.cli._arguments import (
    CompareRuns,
    DeleteRuns,
    ExportRuns,
    ListRuns,
    Runs,
    ShowRuns,
)
from farfield.cli._console import make_console, say
from farfield.core.internal import printable
from farfield.experiments import Experiment
from farfield.records import Record, Store
from farfield.records.internal import score_rows
from farfield.reports import Comparison, Tabular
from farfield.reports.internal import recorded_profile

SHORT = 12
"""Digits of a key that are shown."""

SHOWN = 10
"""Most files of a run that are shown."""


def do(command: Runs) -> None:
    """List, show, compare, delete or export the runs of a folder.

    Args:
        command: The arguments.

    Raises:
        ValueError: If the folder holds no records, or a key is that of no experiment or of several.
    """
    store, console = store_of(command.records), make_console()
    match command:
        case ListRuns():
            _list(store, console)
        case ShowRuns():
            _show(store, complete_key(store, command.key), console)
        case CompareRuns():
            _compare(store, command.keys, command.out, console)
        case DeleteRuns():
            _delete(store, command, console)
        case ExportRuns():
            _export(store, command, console)


def store_of(folder: Path) -> Store:
    """Open a folder of records.

    Args:
        folder: The folder.

    Raises:
        ValueError: If it holds no records.
    """
    if not (folder / "records.sqlite").is_file():
        raise ValueError(
            f"records must name a folder of records, got {folder}: it holds none; "
            "`farfield train` makes one"
        )
    return Store(folder)


def complete_key(store: Store, beginning: str) -> str:
    """Complete the beginning of a key.

    Args:
        store: The folder with the experiment.
        beginning: The key, or its first digits.

    Raises:
        ValueError: If no key begins so, or several.
    """
    found = store.keys(beginning)
    if len(found) != 1 or not beginning:
        what = f"several begin so: {', '.join(found)}" if found else "none begins so"
        raise ValueError(
            f"key must be that of an experiment in {store.folder}, got {beginning!r}: {what}; "
            "`farfield runs list` shows them"
        )
    return found[0]


def _list(store: Store, console: Console) -> None:
    """Print two lines for each experiment: its numbers and its description."""
    found = [records for records in map(store.records, store.keys()) if records]
    found.sort(key=lambda records: _finished(records[-1]), reverse=True)
    head = (f"{'key':{SHORT}}", "steps", "networks", "finished", "furthest out")
    rows = [head, *((records[-1].key[:SHORT], f"{records[-1].steps:,}", str(len(records)),
                     _finished(records[-1])[:16].replace("T", " "), _furthest(records))
                    for records in found)]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (printable(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
        say(console, "  ".join(cells).rstrip())
        if number:
            last = found[number - 1][-1]
            say(console, f"{'':{SHORT}}  {printable(last.task)} · {printable(last.model)}")
    if not found:
        say(console, f"no finished runs in {printable(store.folder)}")


def _finished(record: Record) -> str:
    return record.environment.get("finished", "")


def _furthest(records: Sequence[Record]) -> str:
    """Format the mean score in the regime furthest from training; empty for your own task."""
    try:
        point = recorded_profile(records).points[-1]
    except (ValueError, KeyError):
        return "–"
    return f"{point.cells[2]} ({point.regime})"


def _show(store: Store, key: str, console: Console) -> None:
    """Print the contents of the records of an experiment."""
    records = store.records(key)
    described = records[0].experiment
    try:
        shown = Experiment.from_json(described).to_python()
    except ValueError:  # of classes of one's own
        shown = json.dumps(described, indent=1)
    seeds = ", ".join(str(record.seed) for record in records)
    say(console, f"experiment {key}, seeds {seeds}\n\n{printable_lines(shown)}")
    try:
        say(console, f"{recorded_profile(records)}\n")
    except (ValueError, KeyError) as error:
        say(console, f"No profile: {printable(error)}\n")
    seconds = sum(record.seconds for record in records) / len(records)
    say(console, f"{seconds:,.1f} s a network")
    for name, where in sorted(records[-1].environment.items()):
        shown = {"files": _files(records[-1].files)}.get(name, where)
        if name in ("code", "packages", "inputs"):  # of all seeds, which may differ
            shown = "; ".join(
                dict.fromkeys(one.environment.get(name, "unknown") for one in records)
            )
        say(console, f"{name}: {printable(shown)}")


def _files(files: Mapping[str, str]) -> str:
    """List files by name, with the first digits of their SHA-256."""
    shown = [f"{name} ({digest[:SHORT]})" for name, digest in files.items()][:SHOWN]
    return ", ".join(shown) + (f" and {len(files) - SHOWN:,} more" if len(files) > SHOWN else "")


def printable_lines(text: str) -> str:
    """Remove control characters from a text of several lines.

    Args:
        text: A text of a record.
    """
    return "\n".join(map(printable, text.split("\n")))


def _compare(store: Store, words: Sequence[str], out: Path | None, console: Console) -> None:
    """Compare profiles, named by the given words or by the differences of the models."""
    profiles = []
    for word in words:
        name, sign, beginning = word.rpartition("=")
        records = store.records(complete_key(store, beginning))
        label = name if sign else f"{records[0].model} {records[0].key[:6]}"
        profiles.append((printable(label), recorded_profile(records)))
    if not profiles:
        raise ValueError("keys must name at least one experiment, got none")
    comparison = Comparison(profiles=tuple(profiles), against=profiles[0][0])
    say(console, str(comparison))
    for path in comparison.write(out) if out else ():
        say(console, f"  {printable(path)}")


def _delete(store: Store, command: DeleteRuns, console: Console) -> None:
    """Remove runs, if that was confirmed."""
    key = complete_key(store, command.key)
    there = store.seeds(key) & set(store.seeds(key) if command.seeds is None else command.seeds)
    seeds = ", ".join(map(str, sorted(there))) or "none"
    what = f"{key} ({printable(store.records(key)[0].task)}), seeds {seeds}"
    if not command.yes:
        say(console, f"would remove {what}; --yes removes them for good")
        return
    store.delete(key, there)
    say(console, f"removed {what}")


def _export(store: Store, command: ExportRuns, console: Console) -> None:
    """Write every score to a file."""
    keys = [complete_key(store, key) for key in command.keys] or store.keys()
    rows = [*score_rows(record for key in keys for record in store.records(key))]
    table = Tabular(
        headings=tuple(rows[0]) if rows else (),
        cells=tuple(tuple(map(str, row.values())) for row in rows),
        values=tuple(rows),
    )
    say(console, f"{len(rows):,} scores: {printable(table.write(command.out))}")
