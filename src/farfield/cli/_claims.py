"""Claims in a list: what every table and figure was run of, and the settings of a table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from farfield.cli._arguments import List
from farfield.cli._report import table_named
from farfield.cli._results import results_folder
from farfield.reports import Coverage, coverage
from farfield.reproductions import SheetLine, sheet


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
    """Cells run, the reason for the others, and the time these take."""
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
    """Text, code, field and cells of a value."""
    setting = line.setting
    section = f" ({setting.place})" if setting.place else ""
    count = len(line.claims)
    return [
        f"text: {setting.text}{section}",
        *([f"code: {setting.code}"] if setting.code else []),
        f"field: {setting.path}",
        f"{count} cell{'s' * (count > 1)}, e.g. {line.claims[0].cell}",
    ]
