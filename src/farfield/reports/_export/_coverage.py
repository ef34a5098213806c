"""Coverage of the tables and figures of the papers by runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, final

from farfield.experiments import Experiment
from farfield.reports._export._export import Wanted, load_wanted
from farfield.reports._export._recorded import Recorded
from farfield.reports._figures._registry import FIGURES
from farfield.reports._report._report import Row
from farfield.reproductions import TABLES, Claim, Published, Table, Verdict, judge
from farfield.reproductions.internal import PRINTED, Printed


@final
@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Coverage of one table or figure of a paper, or of one of our own, by runs.

    Args:
        name: Its name, as printed or on the command line.
        title: Title in one line.
        printed: Where it is printed; `None` for one of our own.
        keys: The tables or figures of claims that test it.
        cells: Cells of these.
        full: Cells with all steps and as many networks as a verdict takes.
        part: Cells with less.
        untrained: Cells in which nothing is trained, which are not among these.
        why: Why the others are not run in full; empty if there are none.
        time: Estimate of the time that they take; empty where there is none.
    """

    name: str
    title: str
    printed: Printed | None
    keys: tuple[str, ...]
    cells: tuple[Claim, ...]
    full: int
    part: int
    untrained: int
    why: str
    time: str

    @property
    def numbers(self) -> int:
        """Published numbers among the cells."""
        return sum(isinstance(claim.published, Published) for claim in self.cells)

    @property
    def built(self) -> int:
        """Published numbers among the cells whose model exists here."""
        return sum(
            isinstance(claim.published, Published) and not claim.unbuilt for claim in self.cells
        )

    @property
    def run(self) -> str:
        """Runs of it in words, e.g. `48 in full, 32 in part, of 80`."""
        counts = [
            (self.full, "in full"),
            (self.part, "in part"),
            (self.untrained, "with nothing to train"),
        ]
        found = [f"{count} {how}" for count, how in counts if count] or ["none"]
        return ", ".join([*found, f"of {len(self.cells)}"]) if self.cells else "–"


@final
class _Run(NamedTuple):
    """A wanted run with the claims that it trains."""

    wanted: Wanted
    trains: frozenset[Experiment]


def coverage(folder: Path) -> dict[str, list[Coverage]]:
    """Return by paper every table and figure that it prints, then our own tables beside it.

    Args:
        folder: Folder of `export`, with the wanted runs; it may be absent.

    Raises:
        ValueError: If a file is damaged.
    """
    return coverage_of(Recorded(folder), load_wanted(folder))


def coverage_of(recorded: Recorded, wanted: Iterable[Wanted]) -> dict[str, list[Coverage]]:
    """Return the coverage of every table and figure by records in memory.

    Args:
        recorded: Recorded runs.
        wanted: The runs that are wanted.
    """
    runs = [_Run(one, frozenset(claim.experiment for claim in one.claims)) for one in wanted]
    found: dict[str, list[Coverage]] = {}
    for paper, items in PRINTED.items():
        tested = {f"{paper}/{key}" for item in items for key in item.keys}
        own = [table for key, table in TABLES.items() if key.startswith(f"{paper}/")]
        found[paper] = [
            *(_covered(item.item, item, _tables(paper, item), recorded, runs) for item in items),
            *(
                _covered(table.key, None, [table], recorded, runs)
                for table in own
                if table.key not in tested
            ),
        ]
    return found


def _tables(paper: str, item: Printed) -> list[Table]:
    """Return the claims that test a printed table or figure."""
    keys = [f"{paper}/{key}" for key in item.keys]
    return [TABLES[key] if key in TABLES else FIGURES[key].table for key in keys]


def _covered(
    name: str,
    printed: Printed | None,
    tables: Sequence[Table],
    recorded: Recorded,
    runs: Sequence[_Run],
) -> Coverage:
    """Return runs of some tables."""
    claims = tuple(claim for table in tables for claim in table.claims)
    rows = {claim.name: recorded.row(claim) for claim in claims}
    found = [row for row in rows.values() if row is not None]
    trained = [row for row in found if not row.claim.trains_nothing]
    full = sum(is_full(row) for row in trained)
    lacking = [claim for claim in claims if (row := rows[claim.name]) is None or not is_full(row)]
    run = _best(lacking, runs)
    return Coverage(
        name=name,
        title="; ".join(table.title for table in tables),
        printed=printed,
        keys=tuple(table.key for table in tables),
        cells=claims,
        full=full,
        part=len(trained) - full,
        untrained=len(found) - len(trained),
        why="; ".join(_why(printed, lacking, run)),
        time="" if run is None else run.time,
    )


def is_full(row: Row) -> bool:
    """Tell if it is a cell with all steps and as many networks as a verdict takes.

    Args:
        row: A row with records.
    """
    return row.judgement.verdict is not Verdict.UNDERPOWERED


def _why(printed: Printed | None, lacking: Sequence[Claim], run: Wanted | None) -> Iterable[str]:
    """Return reasons for which cells are not run in full."""
    if printed is not None and printed.why:
        return [printed.why]
    judged = [(claim, judge(claim, [], data_missing=True)) for claim in lacking]
    known = dict.fromkeys(
        one.reason for claim, one in judged if claim.unbuilt or one.verdict is Verdict.NEEDS_DATA
    )
    if run is not None:
        known[f"wanted: {run.why}"] = None
    return known or (["not planned yet"] if lacking else [])


def _best(lacking: Sequence[Claim], runs: Iterable[_Run]) -> Wanted | None:
    """Find the run that covers the most of some cells, of equal runs the shortest."""
    counts = Counter(claim.experiment for claim in lacking)
    given = [
        (sum(count for one, count in counts.items() if one in run.trains), run.wanted)
        for run in runs
    ]
    most, best = max(given, key=lambda one: (one[0], -one[1].minutes), default=(0, None))
    return best if most else None
