"""Images restored by trained networks, beside what they were and what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, cast, final

import torch
from jaxtyping import Float, UInt8
from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield._text import fixed
from farfield.core import Problems, check_fields
from farfield.functional import bicubic_resize
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._exhibits._own_pictures import SIDE, own_pictures
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import SuperResolution, metric_of

ORIGINAL: Final = "original"
GIVEN: Final = "given (bicubic)"
BORDER: Final = 12
"""Pixels along each border of a picture that are not shown: networks may lack them."""

CAPTION: Final = (
    "Pieces of {shown} × {shown} pixels of pictures that are generated, restored by the network of "
    "seed {seed} of each row, and the PSNR of the whole picture in decibels. What is given, after "
    "bicubic enlargement, is the one to beat. Photographs of {regime} are not shown. "
)
WORDS: Final = "Findings: PSNR of whole photographs of {regime}, means over networks."
NO_PICTURE: Final = "There is no picture, as it takes the trained networks. "


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
    """Generated pictures as networks restore them, and their scores on photographs.

    Photographs belong to others, so that no piece of one is shown. The quantities have the names of
    an image and a row, e.g. `lenna/SRCNN`.

    Args:
        regime: Regime of the photographs.
        images: Names of the photographs whose scores are written out.

    Raises:
        ValueError: If a field is of another type.
    """

    regime: str
    images: tuple[str, ...]

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The pictures by the first network of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie; without it there is no picture.

        Raises:
            StoreError: If a trained network is missing.
        """
        rows = {row.claim.row: row for row in report.run}
        if not rows:
            return None
        first = next(iter(rows.values())).records[0]
        said = NO_PICTURE if store is None else CAPTION
        return Plate(
            name="restorations",
            title="Restored images",
            caption=(said + WORDS).format(
                shown=SIDE - 2 * BORDER, regime=self.regime, seed=first.seed
            ),
            draw=None if store is None else self._picture(rows, store),
            findings=tuple(
                self._finding(figure, name, row) for name in self.images for row in rows.values()
            ),
        )

    def _picture(self, rows: Mapping[str, Row], store: Store) -> partial[Picture]:
        """The drawing of all methods."""
        pictures = own_pictures()
        columns: dict[str, list[Restored]] = {}
        for name, row in rows.items():
            run = looked_into(row, row.records[0], store)
            task = cast("SuperResolution", run.task)
            problems = [_problem(picture, task.scale) for picture in pictures.values()]
            if not columns:
                columns[ORIGINAL] = [
                    Restored(_piece(task.oracle(one)[0]), None) for one in problems
                ]
                columns[GIVEN] = [_scored(task, one.table()[0][None], one) for one in problems]
            columns[name] = [_restored(run, one) for one in problems]
        shares = [row.judgement.fraction or 0.0 for row in rows.values()]
        note = f"{text.shares(min(shares), max(shares))} of steps, 1 network each"
        return partial(draw_pieces, [*pictures], columns, note)

    def _finding(self, figure: Figure, image: str, row: Row) -> Finding:
        metric = f"{metric_of(row.claim.experiment.task)}/{image}"
        values = [record.final(self.regime, metric) for record in row.records]
        mean = mean_and_standard_error(values).mean
        return Finding(
            what=f"{image}: PSNR of {row.claim.row}",
            paper=figure.words(f"{image}/{row.claim.row}"),
            ours=f"{fixed(mean, 2)} dB ({text.networks(len(values), len(values))})",
        )


def _problem(picture: UInt8[Tensor, "height width"], scale: int) -> Problems:
    """A picture as a problem: made smaller by a factor, and enlarged again."""
    height, width = picture.shape
    few = bicubic_resize(picture.double(), (height // scale, width // scale))
    given = (bicubic_resize(few, (height, width)) / 255).float()
    return Problems(items=given[None], index=torch.tensor([[0]]), target=picture[None])


def _restored(run: LookedInto, problem: Problems) -> Restored:
    """A picture as a network restores it."""
    with torch.inference_mode():
        outputs = run.network.eval()(problem.table(), problem.index)
    return _scored(cast("SuperResolution", run.task), outputs, problem)


def _scored(task: SuperResolution, outputs: Tensor, problem: Problems) -> Restored:
    return Restored(_piece(outputs[0]), float(task.score(outputs, problem)))


def _piece(shown: Float[Tensor, "height width"]) -> Float[Tensor, "side side"]:
    """The middle of a picture, which may have lost its border."""
    lost = (SIDE - len(shown)) // 2
    kept = slice(BORDER - lost, SIDE - BORDER - lost)
    return shown[kept, kept].float().clamp(0, 1)


@in_style
def draw_pieces(
    images: Sequence[str], columns: Mapping[str, Sequence[Restored]], note: str, theme: Theme
) -> Picture:
    """A row of pieces for each image.

    Args:
        images: Their names.
        columns: Pieces of each image, by method.
        note: Steps and networks behind the pieces.
        theme: Colors.
    """
    side = WIDTH / len(columns)
    picture = Picture(figsize=(WIDTH, 0.4 + len(images) * (side + 0.12)))
    picture.suptitle(note, x=0.006, ha="left", fontsize=7, color=theme.muted)
    grid = picture.subplots(len(images), len(columns), squeeze=False)
    for line, image in zip(range(len(images)), images, strict=True):
        for axes, (method, pieces) in zip(grid[line], columns.items(), strict=True):
            restored = pieces[line]
            axes.imshow(restored.piece.numpy(), cmap="gray", vmin=0, vmax=1)
            axes.set_xticks([])
            axes.set_yticks([])
            score = restored.score
            axes.set_xlabel(image if score is None else f"PSNR {fixed(score, 2)} dB")
            if line == 0:
                axes.set_title(method)
            for spine in axes.spines.values():
                spine.set_visible(False)
    return picture
