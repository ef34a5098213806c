"""Errors of nearest neighbors among the representations of trained networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

from matplotlib.figure import Figure as Picture

from farfield.analysis import nearest_neighbor_error, representations_of
from farfield.core import Size, check_fields
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING

CAPTION: Final = (
    "Error of the {k} nearest neighbors of {regime} problems among all training problems, by the "
    "outputs of the layer {layer}. Each dot is a network."
)


@final
@dataclass(frozen=True, kw_only=True)
class NearestNeighbors:
    """Error of nearest neighbors on the outputs of a layer.

    The quantities have the names of the rows.

    Args:
        layer: Name of the layer.
        regime: Whose problems are classified.
        k: Number of neighbors.

    Raises:
        ValueError: If a field is of another type, or the number is below 1.
    """

    layer: str
    regime: str
    k: Size

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The errors of every row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If a network has no such layer.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        errors = {row.claim.row: self._errors(row, store) for row in report.run}
        return Plate(
            name="nearest-neighbors",
            title="Nearest neighbors",
            caption=CAPTION.format(k=self.k, regime=self.regime, layer=self.layer),
            draw=partial(draw_errors, errors),
            findings=tuple(
                Finding(
                    what=f"{row}: error of nearest neighbors",
                    paper=figure.words(row),
                    ours=text.over_counted([100 * error for error in found]),
                )
                for row, found in errors.items()
            ),
        )

    def _errors(self, row: Row, store: Store) -> list[float]:
        """The error of each network of a row."""
        return [self._error(row, record, store) for record in row.records]

    def _error(self, row: Row, record: Record, store: Store) -> float:
        run = looked_into(row, record, store)
        known, asked = run.sets[TRAINING], run.sets[self.regime]
        memory, points = (
            representations_of(run.network, problems, self.layer) for problems in (known, asked)
        )
        return nearest_neighbor_error(memory, known.target, points, asked.target, k=self.k)


@in_style
def draw_errors(errors: Mapping[str, Sequence[float]], theme: Theme) -> Picture:
    """A line of dots for each row.

    Args:
        errors: Error of each network, a fraction, by row.
        theme: Colors.
    """
    picture = Picture(figsize=(WIDTH, 0.8 + 0.3 * len(errors)))
    axes = picture.subplots()
    for place, found in enumerate(errors.values()):
        axes.plot(
            [100 * error for error in found], [place] * len(found), "o", color=theme.models[0]
        )
    axes.set_yticks(range(len(errors)), list(errors))
    axes.set_ylim(len(errors) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("error, %")
    return picture
