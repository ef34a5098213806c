"""Images that trained networks make or restore, and matrices that they score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, cast, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from torch import Tensor
from torch.nn import functional as F

from farfield._text import fixed
from farfield.core import Problems
from farfield.core.internal import PositiveInt, check_fields
from farfield.functional.internal import as_fractions, bicubic_resize
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._profile._axes import WIDTH, score_label
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import GlyphSet, ImageGeneration, SuperResolution
from farfield.tasks.internal import metric_of
from farfield.training.internal import score_problems

OWN_SIDE: Final = 120
"""Height and width of each picture, pixels: a multiple of 2, 3 and 4."""
FINE: Final = 4
"""Points along each side of a pixel over which its gray is averaged."""
ACROSS: Final = 4
"""Glyphs along each side of the picture of them."""


def own_pictures() -> dict[str, UInt8[Tensor, "height width"]]:
    """Pictures by name: glyphs, shapes with edges of all kinds, rings that narrow outwards."""
    y, x = (np.mgrid[: OWN_SIDE * FINE, : OWN_SIDE * FINE] + 0.5) / (OWN_SIDE * FINE)
    rings = (1 + np.cos(55 * ((x - 0.5) ** 2 + (y - 0.5) ** 2) * np.pi)) / 2
    return {"glyphs": _glyphs(), "shapes": _gray(_shapes(x, y)), "rings": _gray(rings)}


def _glyphs() -> UInt8[Tensor, "height width"]:
    """The first glyphs, in rows."""
    images = torch.from_numpy(GlyphSet.glyphs().images[: ACROSS**2].copy())
    side = images.shape[-1]
    rows = images.reshape(ACROSS, ACROSS, side, side).transpose(1, 2)
    whole = rows.reshape(ACROSS * side, ACROSS * side)
    start = (len(whole) - OWN_SIDE) // 2
    return whole[start : start + OWN_SIDE, start : start + OWN_SIDE]


def _shapes(x: np.ndarray, y: np.ndarray) -> Float64[np.ndarray, "height width"]:
    """A triangle, a disc, a ring and bars before a gradient, as gray of 0…1."""
    triangle: Bool[np.ndarray, "height width"] = (
        (y > 0.2) & (y < 0.55) & (abs(x - 0.3) < (y - 0.2) / 2)
    )
    distance = np.hypot(x - 0.68, y - 0.36)
    bars = (y > 0.62) & (y < 0.86) & (np.sin(np.pi * (6 + 30 * x) * x) > 0)
    shown = 0.35 + 0.3 * x
    for part, gray in (
        (triangle, 0.95),
        (distance < 0.2, 0.05),
        (abs(distance - 0.11) < 0.03, 0.8),
        (bars, 0.1),
    ):
        shown = np.where(part, gray, shown)
    return shown


def _gray(fine: Float64[np.ndarray, "_ _"]) -> UInt8[Tensor, "height width"]:
    """Gray of 0…1, averaged over each pixel, as levels."""
    averaged = fine.reshape(OWN_SIDE, FINE, OWN_SIDE, FINE).mean((1, 3))
    return torch.from_numpy((255 * averaged).round().astype(np.uint8))


SHEETS_BORDER: Final = 1
"""Pixels between images."""
HEAD: Final = 0.25
"""Room for the names of columns, inches."""
SHEETS_SIDE: Final = 1.5
"""Largest side of a sheet, inches."""
NAMES: Final = 0.075
"""Room for a character of the names of rows, inches."""
NOTE: Final = 0.2
"""Room for the note above all, inches."""
GAP: Final = 0.06
"""Between sheets, in widths of one."""


@final
@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Images of one cell.

    Args:
        row: Whose they are.
        column: After how much training.
        images: The images, fractions of 0…1.
    """

    row: str
    column: str
    images: Float[Tensor, "batch channel height width"]


@in_style
def draw_sheets(sheets: Sequence[Sheet], side: int, note: str, theme: Theme) -> Picture:
    """Sheets in lines of their rows, under the names of their columns; of one column side by side.

    Args:
        sheets: The sheets.
        side: Images along each side of a sheet.
        note: Networks and steps behind them.
        theme: Colors.
    """
    rows, columns = (
        list(dict.fromkeys(getattr(sheet, name) for sheet in sheets)) for name in ("row", "column")
    )
    if len(columns) == 1:
        note = f"{columns[0]}, {note}"
        rows, columns = [""], rows
        sheets = [Sheet(row="", column=sheet.row, images=sheet.images) for sheet in sheets]
    names = 0.1 + NAMES * max(map(len, rows))
    size = min(SHEETS_SIDE, (WIDTH - names) / len(columns))
    height = HEAD + NOTE + len(rows) * size
    width = names + len(columns) * size
    picture = Picture(figsize=(width, height))
    picture.set_layout_engine("none")
    top = 1 - (HEAD + NOTE) / height
    picture.text(0.05 / width, 1 - 0.04 / height, note, fontsize=6.5, color=theme.muted, va="top")
    edges = {"left": names / width, "right": 1.0, "bottom": 0.0, "top": top}
    gaps = {"wspace": GAP, "hspace": GAP}
    grid = picture.subplots(len(rows), len(columns), squeeze=False, gridspec_kw=edges | gaps)
    for axes in grid.ravel():
        axes.set_axis_off()
    for sheet in sheets:
        _draw_sheets(grid[rows.index(sheet.row)][columns.index(sheet.column)], sheet, side)
    for axes, column in zip(grid[0], columns, strict=True):
        axes.set_title(column, fontsize=7, color=theme.foreground)
    for line, row in zip(grid, rows, strict=True):
        line[0].text(
            -0.05, 0.5, row, transform=line[0].transAxes, fontsize=6.5, color=theme.foreground,
            ha="right", va="center",
        )  # fmt: skip
    return picture


def _draw_sheets(axes: Axes, sheet: Sheet, side: int) -> None:
    """A square of images."""
    images = F.pad(sheet.images[: side**2], (SHEETS_BORDER,) * 4, value=0.5)
    images = F.pad(images, (0, 0) * 3 + (0, side**2 - len(images)), value=0.5)
    square = (
        torch.unflatten(images, 0, (side, side)).permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1)
    )
    axes.imshow(square.squeeze(-1).numpy(), cmap="gray", vmin=0, vmax=1, interpolation="nearest")


DATA: Final = "data"
GENERATED_CAPTION: Final = (
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
            caption=GENERATED_CAPTION.format(
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


ORIGINAL: Final = "original"
GIVEN: Final = "given (bicubic)"
RESTORATIONS_BORDER: Final = 12
"""Pixels along each border of a picture that are not shown: networks may lack them."""

RESTORATIONS_CAPTION: Final = (
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
        said = NO_PICTURE if store is None else RESTORATIONS_CAPTION
        return Plate(
            name="restorations",
            title="Restored images",
            caption=(said + WORDS).format(
                shown=OWN_SIDE - 2 * RESTORATIONS_BORDER, regime=self.regime, seed=first.seed
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
    lost = (OWN_SIDE - len(shown)) // 2
    kept = slice(RESTORATIONS_BORDER - lost, OWN_SIDE - RESTORATIONS_BORDER - lost)
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


PROBLEMS: Final = 200
"""Problems that are answered, the first of the regime."""
SCORED_SIDE: Final = 3
FOOT: Final = 0.25
"""Height of what stands at the foot, inches."""
SAYS: Final = (
    "Share of each candidate, %; bold: the choice of the model; green frame: the right answer."
)
CONTEXT: Final = SCORED_SIDE * SCORED_SIDE - 1

SCORED_CAPTION: Final = (
    "The first matrix of {regime} of seed {seed}, and its candidates with the share that the "
    "softmax of each row gives them, in percent; the right one is framed, and the choice of each "
    "row is bold. Right: over the first {problems} problems of each network."
)


class _Answers(NamedTuple):
    """Answers of a row to the first matrix.

    Attributes:
        row: The cell.
        shares: Of the candidates, in percent.
    """

    row: Row
    shares: Tensor


@final
@dataclass(frozen=True, kw_only=True)
class ScoredMatrix:
    """A matrix with the scores of each row for its candidates.

    The quantity is named `right`.

    Args:
        regime: Whose problems are shown.
    """

    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A matrix with the scores of every row that was run; `None` where none was.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        if not report.run:
            return None
        seed = report.run[0].records[0].seed
        shown: Problems | None = None
        answers, findings = [], []
        for row in report.run:
            right = []
            for record in row.records:
                looked = looked_into(row, record, store)
                some = looked.sets[self.regime][:PROBLEMS]
                scores, _ = score_problems(looked.network, looked.task, some)
                right.append(100 * float(scores.double().mean()))
                if record.seed == seed:
                    shown = some[:1].compact()
                    with torch.inference_mode():
                        outputs = looked.network(shown.table(), shown.index)[0]
                    answers.append(_Answers(row, 100 * outputs.softmax(-1)))
            findings.append(
                Finding(
                    what=f"{row.claim.row}: right answers",
                    paper="",
                    ours=text.over_counted(right),
                )
            )
        if shown is None:
            return None
        target = int(shown.target[0])
        right_here = [one.row.claim.row for one in answers if int(one.shares.argmax()) == target]
        findings.append(
            Finding(
                what="the matrix that is shown: who is right",
                paper=figure.words("shown"),
                ours=", ".join(right_here) or "none",
            )
        )
        return Plate(
            name="matrix",
            title="A matrix and its candidates",
            caption=SCORED_CAPTION.format(regime=self.regime, seed=seed, problems=PROBLEMS),
            draw=partial(_draw_scored, shown, answers),
            findings=tuple(findings),
        )


@in_style
def _draw_scored(problem: Problems, answers: Sequence[_Answers], theme: Theme) -> Picture:
    """The matrix on the left, the candidates on the right with a line of shares for each row."""
    panels = problem.sequences()[0].numpy()
    target = int(problem.target[0])
    height = 2 + 0.25 * len(answers)
    picture = Picture(figsize=(WIDTH, height + FOOT))
    whole, foot = picture.subfigures(2, 1, height_ratios=(height, FOOT), squeeze=False)[:, 0]
    halves = whole.subfigures(1, 2, width_ratios=(1, 1.75), squeeze=False)[0]
    for part in (whole, foot, *halves):
        part.set_facecolor(theme.background)
    fractions = [answer.row.judgement.fraction or 0.0 for answer in answers]
    foot.text(
        0.006, 0.5, f"{SAYS} {text.shares(min(fractions), max(fractions))} of steps.",
        va="center", fontsize=7, color=theme.muted,
    )  # fmt: skip
    for place, axes in enumerate(halves[0].subplots(SCORED_SIDE, SCORED_SIDE).flat):
        _frame(axes, theme.muted)
        axes.set_anchor("SCN"[place // SCORED_SIDE])  # the rows close to each other
        if place < CONTEXT:
            axes.imshow(panels[place], cmap="gray", vmin=0, vmax=255)
        else:
            axes.set_aspect(1)
            axes.text(0.5, 0.5, "?", ha="center", va="center", color=theme.foreground, fontsize=13)
    columns = (len(panels) - CONTEXT) // 2
    for place, axes in enumerate(halves[1].subplots(2, columns).flat):
        is_right = place == target
        _frame(axes, theme.models[2] if is_right else theme.muted, 2.2 if is_right else 0.8)
        axes.imshow(panels[CONTEXT + place], cmap="gray", vmin=0, vmax=255)
        for line, answer in enumerate(answers):
            chosen = int(answer.shares.argmax()) == place
            under = partial(
                axes.annotate, xytext=(0, -9 * line), xycoords="axes fraction",
                textcoords="offset points", va="top", fontsize=6.5, color=theme.foreground,
            )  # fmt: skip
            under(
                f"{float(answer.shares[place]):.0f}", (0.5, -0.06), ha="center",
                weight="bold" if chosen else "normal",
            )  # fmt: skip
            if place % columns == 0:
                under(answer.row.claim.row, (-0.06, -0.06), ha="right")
    return picture


def _frame(axes: Axes, color: str, width: float = 0.8) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=color, linewidth=width)
