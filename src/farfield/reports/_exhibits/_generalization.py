"""Lowest score of one row, and highest of the others in the hardest regimes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final, final

from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._profiles import profiles
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

LOWEST: Final = (
    "Filled: means over our networks, with their 95 % intervals; open: as published. Hardest: the "
    "regime of a task that lies farthest from training."
)


@final
@dataclass(frozen=True, kw_only=True)
class Generalization:
    """Lowest score of one row over all regimes, and highest of the others in the hardest.

    The quantities are named `lowest` and `others`.

    Args:
        row: The row as published, e.g. `"ESBN + TCN"`.
    """

    row: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The lowest mean of the row, and the highest of the others where it is hardest.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del store
        own = [row for row in report.rows if row.claim.row == self.row]
        run = [row for row in own if row.records]
        if not run:
            return None
        others = []
        for subject, rows in report.subjects.items():
            farthest = max(row.distance for row in rows)
            hardest = [row for row in rows if row.distance == farthest and row.records]
            rivals = [row for row in hardest if row not in own]
            if rivals:
                others.append(f"{subject} {_ours(max(rivals, key=_mean))}")
        findings = (
            Finding(
                what=f"{self.row}: lowest mean of all regimes",
                paper=figure.words("lowest"),
                ours=f"{_ours(min(run, key=_mean))}, of {len(run)} of {len(own)} regimes run",
            ),
            Finding(
                what="the best of the other rows in the hardest regime of each task",
                paper=figure.words("others"),
                ours="; ".join(others) or text.MISSING,
            ),
        )
        return Plate(
            name="generalization",
            title="How far they hold",
            caption=LOWEST,
            draw=partial(profiles, report),
            findings=findings,
        )


def _mean(row: Row) -> float:
    return row.judgement.ours.mean if row.judgement.ours else float("nan")


def _ours(row: Row) -> str:
    """Mean and standard error, and whose, e.g. `95.0 ± 0.7 (10) (ESBN + TCN, m = 95)`."""
    return f"{text.ours(row)} {text.place(row)}"
