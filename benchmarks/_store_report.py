"""The page of the benchmark of the folder of records, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from benchmarks._report import page_of_table

WORKS: Final = {
    "write": "a new seed of the large experiment is stored with its network",
    "find": "one run of the large experiment is found",
    "is complete": "the same, and its network looked at",
    "table": "the first ten seeds of an experiment, as a cell of a table asks for them",
    "key": "a key is found by its first digits",
    "results": "one of many runs that are found together",
}
"""Timed operation of each column."""

COLUMNS: Final = ("runs", *(f"{name} (ms)" for name in WORKS), "file (MB)", "peak memory (MB)")

Json = Mapping[str, Any]


def cells(line: Json, lines: Sequence[Json]) -> tuple[str, ...]:
    """Format one row, in the order of `COLUMNS`; behind each time its ratio to the first."""
    first = lines[0]["seconds"]
    times = []
    for name in WORKS:
        taken, before = median(line["seconds"][name]), median(first[name])
        times.append(f"{1e3 * taken:.2f} ({taken / before:.1f} ×)")
    return (
        f"{line['runs']:,}",
        *times,
        f"{1e-6 * line['bytes']:,.0f}",
        f"{1e-6 * line['peak']:,.0f}",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        "A store of some finished runs, a tenth of them seeds of one experiment, the others "
        f"{settings['seeds']} seeds each; {settings['scores']} scores a run. Processor time in "
        f"one process, medians of {settings['rounds']} rounds, and in brackets how often it is "
        "that in the smallest store. Peak memory is that of the whole process, with torch."
    )
    table = page_of_table(results, "The folder of records", compared, COLUMNS, cells)
    works = "\n".join(f"- **{name}**: {what}." for name, what in WORKS.items())
    return f"{table}\n{works}\n"
