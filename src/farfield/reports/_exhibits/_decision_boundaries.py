"""Decision boundaries of networks trained with few labels, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import torch

from farfield.analysis import plane_axes, plane_points, surface_of
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plane_drawing import Boundaries, draw_boundaries
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import score_label
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING

SIZE: Final = 200
"""Values along each axis of the plane."""

CAPTION: Final = (
    "Lines: where a network of seed {seed} finds two classes as probable. Large marks: the "
    "labelled examples of training. Small dots: the unlabelled ones."
)


@final
@dataclass(frozen=True, kw_only=True)
class DecisionBoundaries:
    """Decision boundaries of rows in one plane, a panel for each column.

    The quantities are named after the columns.

    Args:
        unlabelled: Name of the set of unlabelled examples.
    """

    unlabelled: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Boundaries of the first network of each cell; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If items are not two numbers, one in a problem.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        columns: dict[str, list[Row]] = {}
        for row in report.run:
            columns.setdefault(row.claim.column, []).append(row)
        seeds = sorted({row.records[0].seed for row in report.run})
        panels = [self._panel(column, rows, store) for column, rows in columns.items()]
        return Plate(
            name="decision-boundaries",
            title="Decision boundaries",
            caption=CAPTION.format(seed=text.span(str(seeds[0]), str(seeds[-1]))),
            draw=partial(draw_boundaries, panels),
            findings=tuple(
                finding
                for column, rows in columns.items()
                for finding in _findings(figure, column, rows)
            ),
        )

    def _panel(self, column: str, rows: Sequence[Row], store: Store) -> Boundaries:
        """The networks of a column, and the examples of the first."""
        runs = {row.claim.row: looked_into(row, row.records[0], store) for row in rows}
        sets = next(iter(runs.values())).sets
        labelled, unlabelled = (plane_points(sets[name]) for name in (TRAINING, self.unlabelled))
        axes = plane_axes(torch.cat([labelled, unlabelled]), SIZE)
        return Boundaries(
            title=column,
            surfaces={name: surface_of(run.network, *axes) for name, run in runs.items()},
            labelled=labelled,
            classes=sets[TRAINING].target,
            unlabelled=unlabelled,
        )


def _findings(figure: Figure, column: str, rows: Sequence[Row]) -> Iterator[Finding]:
    """Difference of the first row from each other one."""
    first, *others = rows
    for other in others:
        mine, theirs = (mean_and_standard_error(row.values).mean for row in (first, other))
        counts = [len(row.records) for row in (first, other)]
        yield Finding(
            what=f"{column}: {score_label(first)} of {first.claim.row} less {other.claim.row}",
            paper=figure.words(column),
            ours=f"{text.signed(mine - theirs, 1)} ({text.networks(min(counts), max(counts))})",
        )
