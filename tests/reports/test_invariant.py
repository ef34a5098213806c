"""No change of the code moves a key, a score or a verdict of what was run.

`cells.csv` beside this file holds them: a line for each cell of each table at each budget. Where
one is meant to change (a new run, a new rule of verdicts), write it anew and read the difference:

    python tests/reports/test_invariant.py
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from farfield.experiments import _describe
from farfield.reports._export import _pages
from farfield.reports._export._recorded import Recorded
from farfield.reports._report import _levels
from farfield.reports.internal import results_pages

CHECKOUT = Path(__file__).resolve().parents[2]
CELLS = Path(__file__).with_name("cells.csv")
HEAD = ["cell", "share of steps", "images", "key", "records", "mean", "verdict"]


@pytest.fixture(scope="module")
def recorded() -> Iterator[Recorded]:
    """The exported records, with their floors and ceilings: no problem is drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_levels, "_ceiling", None)
        patch.setattr(_describe, "check_as_written", lambda _: None)  # a third of the time
        patch.delenv("FARFIELD_DATA", raising=False)
        found = Recorded(CHECKOUT / "results")
        patch.setattr(_pages, "Recorded", lambda _: found)
        yield found


def cells(recorded: Recorded) -> list[list[str]]:
    """What is recorded of every cell, as lines of text."""
    lines = [HEAD]
    for reports in recorded.reports.values():
        for kind, report in reports.items():
            for row in report.rows:
                ours = row.judgement.ours
                lines.append(
                    [
                        row.claim.name,
                        f"{kind.share:g}",
                        kind.images,
                        row.claim.experiment.key,
                        f"{len(row.records)} of {'+'.join(sorted({r.key for r in row.records}))}",
                        "" if ours is None else f"{ours.mean:.10g}",
                        str(row.judgement.verdict.value),
                    ]
                )
    return lines


def test_keys_scores_and_verdicts_are_as_they_were(recorded: Recorded) -> None:
    with CELLS.open(encoding="utf-8", newline="") as file:
        before = list(csv.reader(file))
    assert len(before) > 1_000
    assert cells(recorded) == before


def test_the_committed_pages_are_those_of_the_committed_records(recorded: Recorded) -> None:
    """`farfield report --export` writes both."""
    folder = CHECKOUT / "docs" / "results"
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*")}
    assert results_pages(CHECKOUT / "results") == there
    assert len(there["index.md"].splitlines()) <= 100


def test_the_pages_lose_no_cell() -> None:
    with CELLS.open(encoding="utf-8", newline="") as file:
        kept = {(line["cell"], line["images"], line["key"]) for line in csv.DictReader(file)}
    shown = set()
    for path in (CHECKOUT / "docs" / "results").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                shown.add((f"{line['table']}/{line['cell']}", line["images"], line["experiment"]))
    assert kept <= shown


if __name__ == "__main__":
    with CELLS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(cells(Recorded(CHECKOUT / "results")))
