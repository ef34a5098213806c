"""Claims in a list: what every table and figure of the papers was run of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from farfield.reports import Coverage, coverage


def claim_rows(results: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Name, title and state of every printed table and figure, and of the tables of our own.

    Args:
        results: Folder of exports; where there is none, nothing was run.
    """
    for paper, items in coverage(results).items():
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
