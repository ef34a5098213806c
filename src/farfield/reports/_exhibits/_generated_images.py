"""Images that trained generators make, beside images of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast, final

import torch
from jaxtyping import Float
from torch import Tensor

from farfield._text import fixed
from farfield.core import PositiveInt, Problems, check_fields
from farfield.functional import as_fractions
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._generated_drawing import Sheet, draw_sheets
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import score_label
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import ImageGeneration

DATA: Final = "data"
CAPTION: Final = (
    "Images that the generator of seed {seed} makes of the same {count} vectors of noise, none "
    "chosen; first, images of the data."
)


@final
@dataclass(frozen=True, kw_only=True)
class GeneratedImages:
    """Sheets of images that generators make, a line for each row and a sheet for each column.

    The quantities are named after rows and columns, e.g. `SNGAN/700 updates`.

    Args:
        side: Images along each side of a sheet.

    Raises:
        ValueError: If the number is below 1.
    """

    side: PositiveInt = 5

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Images of the first network of each cell; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        runs = [(row, looked_into(row, row.records[0], store)) for row in report.run]
        seeds = sorted({row.records[0].seed for row, _ in runs})
        sheets = [self._of_data(*runs[0])]
        sheets += [self._made(row, run) for row, run in runs]
        return Plate(
            name="generated-images",
            title="Images that are made",
            caption=CAPTION.format(
                seed=text.span(str(seeds[0]), str(seeds[-1])), count=self.side**2
            ),
            draw=partial(draw_sheets, sheets, self.side, _note(report.run)),
            findings=tuple(_findings(figure, report.run)),
        )

    def _shown(self, row: Row, run: LookedInto) -> Problems:
        return run.sets[row.claim.regime][: self.side**2]

    def _of_data(self, row: Row, run: LookedInto) -> Sheet:
        images = as_fractions(self._shown(row, run).target)
        return Sheet(row=DATA, column=_after(row), images=images)

    def _made(self, row: Row, run: LookedInto) -> Sheet:
        problems, task = self._shown(row, run).compact(), cast("ImageGeneration", run.task)
        with torch.inference_mode():
            pixels: Float[Tensor, "batch _"] = run.network(problems.table(), problems.index)
        return Sheet(
            row=row.claim.row,
            column=_after(row),
            images=pixels.reshape(-1, *task.image_shape).clone(),
        )


def _after(row: Row) -> str:
    """The training that a sheet is after."""
    return f"{row.records[0].steps:,} updates"


def _note(rows: Sequence[Row]) -> str:
    """Steps and networks behind the picture."""
    fractions = [row.judgement.fraction or 0.0 for row in rows]
    return f"{text.shares(min(fractions), max(fractions))} of steps, 1 network each"


def _findings(figure: Figure, rows: Sequence[Row]) -> Iterator[Finding]:
    """The score of each cell."""
    for row in rows:
        claim, networks = row.claim, len(row.records)
        yield Finding(
            what=f"{claim.row}, {claim.column}: {score_label(row)}",
            paper=figure.words(f"{claim.row}/{claim.column}"),
            ours=f"{fixed(mean_and_standard_error(row.values).mean, 2)} "
            f"({text.networks(networks, networks)})",
        )
