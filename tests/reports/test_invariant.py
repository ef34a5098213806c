"""No change of the code moves a key, a score or a verdict of what was run.

`cells.csv` beside this file holds them: a line for each cell of each table at each budget. Where
one is meant to change (a new run, a new rule of verdicts), write it anew and read the difference:

    python tests/reports/test_invariant.py
"""

from __future__ import annotations

import csv
from pathlib import Path

from farfield.reports._export._results import _kinds, _report
from farfield.reports._tables._levels import Levels
from farfield.reproductions import TABLES

CHECKOUT = Path(__file__).resolve().parents[2]
CELLS = Path(__file__).with_name("cells.csv")
HEAD = ["cell", "share of steps", "images", "key", "records", "mean", "verdict"]


def cells() -> list[list[str]]:
    """What is recorded of every cell, as lines of text."""
    folder = CHECKOUT / "results"
    lines = [HEAD]
    for name, table in TABLES.items():
        path = folder / f"{name}.jsonl"
        if not path.exists():
            continue
        for kind, found in _kinds(table, path).items():
            for row in _report(table, found, kind, Levels(folder)).rows:
                ours = row.judgement.ours
                lines.append(
                    [
                        row.claim.name,
                        f"{kind[0]:g}",
                        kind[1],
                        row.claim.experiment.key,
                        f"{len(row.records)} of {'+'.join(sorted({r.key for r in row.records}))}",
                        "" if ours is None else f"{ours.mean:.10g}",
                        str(row.judgement.verdict.value),
                    ]
                )
    return lines


def test_keys_scores_and_verdicts_are_as_they_were() -> None:
    with CELLS.open(encoding="utf-8", newline="") as file:
        before = list(csv.reader(file))
    assert len(before) > 1_000
    assert cells() == before


if __name__ == "__main__":
    with CELLS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(cells())
