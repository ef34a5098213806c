"""Fills the numbers of pages from records: `python docs/measured.py`.

A number that was measured is a link whose title names a cell, on a page of `docs`:

    [100.0 ± 0.0 (10)](results/webb2021.md#table-9 "esbn+tcn/withheld-98")

The link leads to the table, and its text is what this script writes: the mean over the networks
with all steps, its standard error, and how many they are. The test command fails when it would
write something else.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from farfield.reports import Levels, exported_at, tabular_of, tabulate
from farfield.reproductions import TABLES, Budget

DOCS = Path(__file__).parent
FIND = exported_at(DOCS.parent / "results", Budget.PAPER)
LEVELS = Levels(measure=False)  # no number of a page is a floor or a ceiling
NUMBER = re.compile(r'\[[^]]*\](?=\(results/(\w+)\.md#([\w-]+) "([^"]+)"\))')


@cache
def number(table: str, cell: str) -> str:
    """What was measured for a cell, e.g. `99.6 ± 0.3 (5)`.

    Args:
        table: Name of the table.
        cell: Name of the cell.

    Raises:
        ValueError: If there is no such cell, or it has no record with all steps.
    """
    shown = tabular_of(tabulate(TABLES[table].select(cell), FIND, Budget.PAPER, LEVELS))
    text = dict(zip(shown.headings, shown.cells[0], strict=True))["ours ± SE (n)"]
    if not re.match(r"\d", text):
        raise ValueError(f"cell of {table} must have a record with all steps, got {cell}: {text}")
    return text


def fill(page: str) -> str:
    """A page with its numbers as the records have them.

    Args:
        page: The page, as Markdown.
    """
    return NUMBER.sub(lambda link: f"[{number(f'{link[1]}/{link[2]}', link[3])}]", page)


def main() -> None:
    """Fill every page that has such numbers."""
    for path in DOCS.glob("*.md"):
        page = path.read_text(encoding="utf-8")
        if (filled := fill(page)) != page:
            path.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
