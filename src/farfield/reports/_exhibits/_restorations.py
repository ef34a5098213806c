"""Images restored by trained networks, beside what they were and what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, final

import torch
from jaxtyping import Float
from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield._text import fixed
from farfield.core import Problems, Size, check_fields
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._tables import _text as text
from farfield.reports._tables._report import Report, Row
from farfield.tasks import HasSubsets, metric_of

ORIGINAL: Final = "original"

CAPTION: Final = (
    "Pieces of {side} × {side} pixels of images of {regime} by the network of seed {seed} of each "
    "row, and the PSNR of the whole image in decibels. Findings are means over networks."
)


class Restored(NamedTuple):
    """A piece of an image as one method gives it.

    Attributes:
        piece: Fractions.
        score: Of the whole image; `None` of the original.
    """

    piece: Float[Tensor, "height width"]
    score: float | None


@final
@dataclass(frozen=True, kw_only=True)
class Restorations:
    """Pieces of restored images, a row for each image and a column for each method.

    The quantities have the names of an image and a row, e.g. `lenna/SRCNN`.

    Args:
        regime: Whose images.
        crops: Name of each image, and row and column of the middle of the piece that is shown, as
            fractions of its height and width.
        side: Height and width of a piece, pixels.

    Raises:
        ValueError: If a field is of another type.
    """

    regime: str
    crops: tuple[tuple[str, float, float], ...]
    side: Size = 96

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The pieces by the first network of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        rows = {row.claim.row: row for row in report.run}
        if store is None or not rows:
            return None
        columns: dict[str, list[Restored]] = {}
        for name, row in rows.items():
            run = looked_into(row, row.records[0], store)
            columns.setdefault(ORIGINAL, [self._original(run, crop) for crop in self.crops])
            columns[name] = [self._restored(run, crop) for crop in self.crops]
        first = next(iter(rows.values())).records[0]
        names = [name for name, *_ in self.crops]
        return Plate(
            name="restorations",
            title="Restored images",
            caption=CAPTION.format(side=self.side, regime=self.regime, seed=first.seed),
            draw=partial(draw_pieces, names, columns),
            findings=tuple(
                self._finding(figure, name, row) for name in names for row in rows.values()
            ),
        )

    def _original(self, run: LookedInto, crop: tuple[str, float, float]) -> Restored:
        problem = self._problem(run, crop[0])
        return Restored(self._piece(run.task.oracle(problem)[0], problem, crop), None)

    def _restored(self, run: LookedInto, crop: tuple[str, float, float]) -> Restored:
        problem = self._problem(run, crop[0])
        with torch.inference_mode():
            outputs = run.network.eval()(problem.table(), problem.index)
        score = float(run.task.score(outputs, problem))
        return Restored(self._piece(outputs[0], problem, crop), score)

    def _problem(self, run: LookedInto, name: str) -> Problems:
        """The problem of an image, by its name."""
        problems = run.sets[self.regime]
        masks = run.task.parts(problems) if isinstance(run.task, HasSubsets) else {}
        if name not in masks:
            raise ValueError(f"crops must name images of {self.regime}, got {name!r}")
        ((_, alone),) = problems[masks[name]].by_shape()
        return alone

    def _piece(
        self, shown: Tensor, problem: Problems, crop: tuple[str, float, float]
    ) -> Float[Tensor, "height width"]:
        """The piece of an image, which may have lost its border."""
        slices = []
        for whole, left, middle in zip(
            problem.target.shape[1:], shown.shape, crop[1:], strict=True
        ):
            start = round(middle * whole) - self.side // 2 - (whole - left) // 2
            start = max(0, min(left - self.side, start))
            slices.append(slice(start, start + self.side))
        return shown[slices[0], slices[1]].float().clamp(0, 1)

    def _finding(self, figure: Figure, image: str, row: Row) -> Finding:
        metric = f"{metric_of(row.claim.experiment.task)}/{image}"
        values = [record.final(self.regime, metric) for record in row.records]
        mean = mean_and_standard_error(values).mean
        return Finding(
            what=f"{image}: PSNR of {row.claim.row}",
            paper=figure.words(f"{image}/{row.claim.row}"),
            ours=f"{fixed(mean, 2)} dB ({text.networks(len(values), len(values))})",
        )


@in_style
def draw_pieces(
    images: Sequence[str], columns: Mapping[str, Sequence[Restored]], theme: Theme
) -> Picture:
    """A row of pieces for each image.

    Args:
        images: Their names.
        columns: Pieces of each image, by method.
        theme: Colors.
    """
    side = WIDTH / len(columns)
    picture = Picture(figsize=(WIDTH, 0.2 + len(images) * (side + 0.12)))
    grid = picture.subplots(len(images), len(columns), squeeze=False)
    for line, image in zip(range(len(images)), images, strict=True):
        for axes, (method, pieces) in zip(grid[line], columns.items(), strict=True):
            restored = pieces[line]
            axes.imshow(restored.piece.numpy(), cmap="gray", vmin=0, vmax=1)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_xlabel(
                image if restored.score is None else f"PSNR {fixed(restored.score, 2)} dB"
            )
            if line == 0:
                axes.set_title(method)
            for spine in axes.spines.values():
                spine.set_visible(False)
    del theme
    return picture
