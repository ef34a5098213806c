"""Singular values of the representations of each class, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from farfield.analysis import ClassSpectra, class_spectra, representations_of
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import LEGEND, WIDTH, legend, networks_note
from farfield.reports._profile._theme import Theme, in_style, label_powers
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

LEAST: Final = 1e-3
"""Least singular value that is drawn, as a fraction of the largest."""

CAPTION: Final = (
    "Singular values of the representations of {regime} problems of one class, the largest first: "
    "mean over classes and networks. Others: all but the largest."
)

Spectra = Mapping[str, list[ClassSpectra]]
"""Spectra of each network, by layer."""


@final
@dataclass(frozen=True, kw_only=True)
class Flattening:
    """Singular values of the representations of classes at some layers.

    A row's quantities have the name of its cells without the regime, the layer, and `largest` or
    `others`, e.g. `manifold-mixup/hidden.0/others`.

    Args:
        layers: Names of the layers in the network, each with its name in words.
        regime: Whose problems are represented.
    """

    layers: tuple[tuple[str, str], ...]
    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The spectra of every row; `None` where nothing has been run.

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
        found = [(row, self._spectra(row, store)) for row in report.run]
        return Plate(
            name="flattening",
            title="Singular values of classes",
            caption=CAPTION.format(regime=self.regime),
            draw=partial(
                draw_spectra,
                {row.claim.row: self._means(spectra) for row, spectra in found},
                _note(report.run),
            ),
            findings=tuple(
                finding
                for row, spectra in found
                for finding in self._findings(figure, row, spectra)
            ),
        )

    def _spectra(self, row: Row, store: Store) -> Spectra:
        """The spectra of the networks of a row."""
        found: dict[str, list[ClassSpectra]] = {layer: [] for layer, _ in self.layers}
        for record in row.records:
            run = looked_into(row, record, store)
            problems = run.sets[self.regime]
            for layer, spectra in found.items():
                points = representations_of(run.network, problems, layer)
                spectra.append(class_spectra(points, problems.target))
        return found

    def _means(self, spectra: Spectra) -> dict[str, np.ndarray]:
        """Mean over classes and networks of each singular value, by the layer in words."""
        return {
            words: np.mean([one.values.mean(0).numpy() for one in spectra[layer]], axis=0)
            for layer, words in self.layers
        }

    def _findings(self, figure: Figure, row: Row, spectra: Spectra) -> Iterator[Finding]:
        """The largest singular value and the sum of the others, mean over classes."""
        name = row.claim.cell.rpartition("/")[0]
        for layer, words in self.layers:
            for quantity, what, values in (
                ("largest", "largest singular value", [one.largest for one in spectra[layer]]),
                ("others", "sum of the others", [one.others for one in spectra[layer]]),
            ):
                yield Finding(
                    what=f"{row.claim.row}, {words}: {what}",
                    paper=figure.words(f"{name}/{layer}/{quantity}"),
                    ours=text.over_counted(
                        [float(one.mean()) for one in values], digits=2, unit=""
                    ),
                )


def _note(rows: Sequence[Row]) -> str:
    """Steps and networks behind the picture."""
    fractions = [row.judgement.fraction or 0.0 for row in rows]
    steps = text.shares(min(fractions), max(fractions))
    return f"mean over classes and networks; {steps} of steps, " + networks_note(
        [len(row.records) for row in rows]
    )


@in_style
def draw_spectra(rows: Mapping[str, Mapping[str, np.ndarray]], note: str, theme: Theme) -> Picture:
    """A panel for each layer, a line in it for each row.

    Args:
        rows: Singular values, the largest first, by row and layer.
        note: Steps and networks behind them.
        theme: Colors.
    """
    layers = list(next(iter(rows.values())))
    picture = Picture(figsize=(WIDTH, 2.4 + LEGEND))
    picture.suptitle(note, x=0.006, ha="left", fontsize=7, color=theme.muted)
    colors = dict(zip(rows, theme.models, strict=False))
    for axes, layer in zip(picture.subplots(1, len(layers), squeeze=False)[0], layers, strict=True):
        least = LEAST * max(own[layer][0] for own in rows.values())
        for name, color in colors.items():
            values = rows[name][layer][rows[name][layer] >= least]
            axes.loglog(range(1, 1 + len(values)), values, color=color, linewidth=1.2)
        label_powers(axes.yaxis)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        axes.xaxis.set_minor_formatter(StrMethodFormatter(""))
        axes.set_title(layer)
        axes.set_xlabel("rank")
    picture.axes[0].set_ylabel("singular value")
    marks = {name: Line2D([], [], color=color, linewidth=1.2) for name, color in colors.items()}
    legend(picture, marks, columns=len(marks))
    return picture
