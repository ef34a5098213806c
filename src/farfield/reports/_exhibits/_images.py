"""Images that trained networks make or restore, and matrices that they score."""

from __future__ import annotations

from typing import Final, cast

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, UInt8
from torch import Tensor, nn
from torch.nn import functional as F

from farfield._text import fixed
from farfield.core import Problems
from farfield.core.internal import PositiveInt
from farfield.functional.internal import as_fractions, bicubic_resize
from farfield.metrics import mean_and_standard_error
from farfield.reports._exhibits._exhibit import Evidence, Plate, exhibit, network_exhibit
from farfield.reports._exhibits._frames import GAP, Drawing, Images, Panel, Tile
from farfield.reports._profile._pictures import png
from farfield.reports._profile._series import score_label
from farfield.reports._profile._theme import LIGHT, WIDTH
from farfield.reports._report import _text as text
from farfield.tasks import GlyphSet, ImageGeneration, SuperResolution
from farfield.tasks.internal import metric_of
from farfield.training.internal import problems_of_run, score_problems

SHEET: Final = 1.5
"""Largest side of a sheet of generated images, inches."""
BORDER: Final = 12
"""Number of pixels along each border of a picture that are not shown: networks may lack them."""
SIDE: Final = 120
"""Height and width of each generated picture, pixels: a multiple of 2, 3 and 4."""
FINE: Final = 4
"""Number of points along each side of a pixel over which its gray is averaged."""
GLYPHS: Final = 4
"""Number of glyphs along each side of their picture."""
PROBLEMS: Final = 200
"""Number of matrices that are answered, the first of the regime."""
CONTEXT: Final = 8
"""Number of given panels of a matrix."""

DATA: Final = "data"
GENERATED: Final = (
    "Images that the generator of seed {seed} makes of the same {count} vectors of noise, none "
    "chosen; first, images of the data."
)
ORIGINAL: Final = "original"
GIVEN: Final = "given (bicubic)"
RESTORED: Final = (
    "Pieces of {shown} × {shown} pixels of pictures that are generated, restored by the network of "
    "seed {seed} of each row, and the PSNR of the whole picture in decibels. The input, after "
    "bicubic enlargement, is the result to beat. Photographs of {regime} are not shown. "
)
PHOTOGRAPHS: Final = "Findings: PSNR of whole photographs of {regime}, means over networks."
NO_PICTURE: Final = "There is no picture, as it takes the trained networks. "
SCORED: Final = (
    "The first matrix of {regime} of seed {seed}, and its candidates with the share that the "
    "softmax of each row gives them, in percent; the right one is framed, and the choice of each "
    "row is bold. Right: over the first {problems} problems of each network."
)
SHARES: Final = (
    "Share of each candidate, %; bold: the choice of the model; green frame: the right answer."
)


@network_exhibit
def generated_images(evidence: Evidence, *, side: PositiveInt = 5) -> Plate:
    """Draw sheets of images that generators make, a line for each row, a sheet for each column.

    The quantities are named after rows and columns, e.g. `SNGAN/700 updates`.

    Args:
        evidence: Generators.
        side: Number of images along each side of a sheet.
    """
    sheets: dict[tuple[str, str], Tensor] = {}
    findings = []
    for row in evidence.run:
        run, claim = evidence.looked_into(row), row.claim
        problems, task = run.sets[claim.regime][: side**2], cast("ImageGeneration", run.task)
        column = f"{row.records[0].steps:,} updates"
        if not sheets:
            sheets[DATA, column] = as_fractions(problems.target)
        problems = problems.compact()
        with torch.inference_mode():
            pixels: Float[Tensor, "batch _"] = run.network(problems.table(), problems.index)
        sheets[claim.row, column] = pixels.reshape(-1, *task.image_shape).clone()
        mean, networks = mean_and_standard_error(row.values).mean, len(row.records)
        findings.append(
            evidence.finding(
                f"{claim.row}, {claim.column}: {score_label(row)}",
                f"{claim.row}/{claim.column}",
                f"{fixed(mean, 2)} ({text.networks(networks, networks)})",
            )
        )
    return Plate(
        name="generated-images",
        title="Images that are made",
        caption=GENERATED.format(seed=evidence.seed, count=side**2),
        draw=sheets_drawing(sheets, side, f"{evidence.steps}, 1 network each"),
        findings=tuple(findings),
    )


def generated_sheet(
    network: nn.Module, task: ImageGeneration, seed: int, *, side: int = 5
) -> bytes:
    """Draw images of the data beside images that a generator makes, as a PNG.

    Args:
        network: A trained `GAN`.
        task: Task that it was trained on.
        seed: Number of the run, whose last set of noise is taken.
        side: Number of images along each side of a sheet.
    """
    column = f"seed {seed}"
    problems = [*problems_of_run(task, seed).values()][-1][: side**2].compact()
    with torch.inference_mode():
        pixels: Float[Tensor, "batch _"] = network(problems.table(), problems.index)
    sheets = {
        (DATA, column): as_fractions(problems.target),
        ("generated", column): pixels.reshape(-1, *task.image_shape).clone(),
    }
    return png(sheets_drawing(sheets, side, "1 network")(LIGHT))


def sheets_drawing(
    sheets: dict[tuple[str, str], Float[Tensor, "batch channel height width"]], side: int, note: str
) -> Drawing:
    """Lay out sheets by row and column; sheets of one column side by side.

    Args:
        sheets: Images, fractions of 0…1, by row and column.
        side: Number of images along each side of a sheet.
        note: Networks and steps behind the images.
    """
    rows, columns = (list(dict.fromkeys(part)) for part in zip(*sheets, strict=True))
    if len(columns) == 1:
        note = f"{columns[0]}, {note}"
        sheets = {("", row): images for (row, _), images in sheets.items()}
        rows, columns = [""], rows
    grid = [
        [
            Tile(pixels=_sheet(sheets[row, column], side)) if (row, column) in sheets else None
            for column in columns
        ]
        for row in rows
    ]
    names = 0.06 * max(map(len, rows))
    images = Images(
        rows=grid,
        side=min(SHEET, (WIDTH - names) / len(columns) - GAP),
        names=rows if any(rows) else (),
        heads=columns,
    )
    return images_drawing(images, note)


def images_drawing(images: Images, note: str) -> Drawing:
    """Lay out one grid of images under a note.

    Args:
        images: The grid.
        note: Networks and steps behind the images.
    """
    width, height = images.size
    panel = Panel(marks=(images,), frame="none", is_square=True)
    return Drawing(rows=[[panel]], height=height + 0.3, width=width + 0.1, note=note)


def _sheet(
    images: Float[Tensor, "batch channel height width"], side: int
) -> Float[np.ndarray, "_ _ *channel"]:
    """Join images to a square, with a line of gray around each."""
    images = F.pad(images[: side**2], (1,) * 4, value=0.5)
    images = F.pad(images, (0, 0) * 3 + (0, side**2 - len(images)), value=0.5)
    square = (
        torch.unflatten(images, 0, (side, side)).permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1)
    )
    found: np.ndarray = square.squeeze(-1).numpy()
    return found


@exhibit
def restorations(evidence: Evidence, *, regime: str, images: tuple[str, ...]) -> Plate | None:
    """Draw generated pictures as networks restore them, and their scores on photographs.

    Photographs belong to others, so that no piece of a photograph is shown. Without trained
    networks there is no picture. The quantities have the names of an image and a row, e.g.
    `lenna/SRCNN`.

    Args:
        evidence: Networks of super-resolution.
        regime: Regime of the photographs.
        images: Names of the photographs whose scores are written out.
    """
    rows = {row.claim.row: row for row in evidence.run}
    if not rows:
        return None
    first = next(iter(rows.values())).records[0]
    findings = []
    for image in images:
        for row in rows.values():
            metric = f"{metric_of(row.claim.experiment.task)}/{image}"
            values = [record.final(regime, metric) for record in row.records]
            mean, count = mean_and_standard_error(values).mean, len(values)
            findings.append(
                evidence.finding(
                    f"{image}: PSNR of {row.claim.row}",
                    f"{image}/{row.claim.row}",
                    f"{fixed(mean, 2)} dB ({text.networks(count, count)})",
                )
            )
    caption = (NO_PICTURE if evidence.store is None else RESTORED) + PHOTOGRAPHS
    return Plate(
        name="restorations",
        title="Restored images",
        caption=caption.format(shown=SIDE - 2 * BORDER, regime=regime, seed=first.seed),
        draw=None if evidence.store is None else _restored(evidence),
        findings=tuple(findings),
    )


def _restored(evidence: Evidence) -> Drawing:
    """Lay out a row of pieces for each picture, by the first network of each row."""
    columns: dict[str, list[Tile]] = {}
    pictures = own_pictures()
    for row in evidence.run:
        run = evidence.looked_into(row)
        task, network = cast("SuperResolution", run.task), run.network.eval()
        problems = [_problem(picture, task.scale) for picture in pictures.values()]
        if not columns:
            columns[ORIGINAL] = [
                Tile(pixels=_piece(task.oracle(one)[0]), lines=(name,))
                for name, one in zip(pictures, problems, strict=True)
            ]
            columns[GIVEN] = [_scored(task, one.table()[0][None], one) for one in problems]
        with torch.inference_mode():
            outputs = [network(one.table(), one.index) for one in problems]
        columns[row.claim.row] = [
            _scored(task, output, one) for output, one in zip(outputs, problems, strict=True)
        ]
    grid = list(zip(*columns.values(), strict=True))
    side = WIDTH / len(columns) - GAP
    note = f"{evidence.steps}, 1 network each"
    return images_drawing(Images(rows=grid, side=side, heads=[*columns]), note)


def _problem(picture: UInt8[Tensor, "height width"], scale: int) -> Problems:
    """Make a problem of a picture: reduce it by a factor, and enlarge it again."""
    height, width = picture.shape
    few = bicubic_resize(picture.double(), (height // scale, width // scale))
    given = (bicubic_resize(few, (height, width)) / 255).float()
    return Problems(items=given[None], index=torch.tensor([[0]]), target=picture[None])


def _scored(task: SuperResolution, outputs: Tensor, problem: Problems) -> Tile:
    """Lay out the piece of a restored picture over its score."""
    score = fixed(float(task.score(outputs, problem)), 2)
    return Tile(pixels=_piece(outputs[0]), lines=(f"PSNR {score} dB",))


def _piece(shown: Float[Tensor, "height width"]) -> Float[Tensor, "side side"]:
    """Cut the middle of a picture, which may have lost its border."""
    lost = (SIDE - len(shown)) // 2
    kept = slice(BORDER - lost, SIDE - BORDER - lost)
    return shown[kept, kept].float().clamp(0, 1)


def own_pictures() -> dict[str, UInt8[Tensor, "height width"]]:
    """Generate pictures by name: glyphs, shapes with edges of all kinds, narrowing rings."""
    y, x = (np.mgrid[: SIDE * FINE, : SIDE * FINE] + 0.5) / (SIDE * FINE)
    rings = (1 + np.cos(55 * ((x - 0.5) ** 2 + (y - 0.5) ** 2) * np.pi)) / 2
    return {"glyphs": _glyphs(), "shapes": _gray(_shapes(x, y)), "rings": _gray(rings)}


def _glyphs() -> UInt8[Tensor, "height width"]:
    """Join the first glyphs in rows."""
    images = torch.from_numpy(GlyphSet.glyphs().images[: GLYPHS**2].copy())
    side = images.shape[-1]
    rows = images.reshape(GLYPHS, GLYPHS, side, side).transpose(1, 2)
    whole = rows.reshape(GLYPHS * side, GLYPHS * side)
    start = (len(whole) - SIDE) // 2
    return whole[start : start + SIDE, start : start + SIDE]


def _shapes(x: np.ndarray, y: np.ndarray) -> Float64[np.ndarray, "height width"]:
    """Draw a triangle, a disc, a ring and bars before a gradient, as gray of 0…1."""
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
    """Average gray of 0…1 over each pixel, in levels."""
    averaged = fine.reshape(SIDE, FINE, SIDE, FINE).mean((1, 3))
    return torch.from_numpy((255 * averaged).round().astype(np.uint8))


@network_exhibit
def scored_matrix(evidence: Evidence, *, regime: str) -> Plate | None:
    """Draw a matrix with the scores of each row for its candidates.

    The quantity is named `shown`.

    Args:
        evidence: Networks that score candidates.
        regime: Regime of the matrices.
    """
    seed = evidence.run[0].records[0].seed
    shown: Problems | None = None
    answers, findings = dict[str, Tensor](), []
    for row in evidence.run:
        right = []
        for record in row.records:
            run = evidence.looked_into(row, record)
            some = run.sets[regime][:PROBLEMS]
            scores, _ = score_problems(run.network, run.task, some)
            right.append(100 * float(scores.double().mean()))
            if record.seed == seed:
                shown = some[:1].compact()
                with torch.inference_mode():
                    outputs = run.network(shown.table(), shown.index)[0]
                answers[row.claim.row] = 100 * outputs.softmax(-1)
        ours = text.over_counted(right)
        findings.append(evidence.finding(f"{row.claim.row}: right answers", "", ours))
    if shown is None:
        return None
    target = int(shown.target[0])
    right_here = [name for name, shares in answers.items() if int(shares.argmax()) == target]
    what = "the matrix that is shown: who is right"
    findings.append(evidence.finding(what, "shown", ", ".join(right_here) or "none"))
    return Plate(
        name="matrix",
        title="A matrix and its candidates",
        caption=SCORED.format(regime=regime, seed=seed, problems=PROBLEMS),
        draw=_matrix(shown, answers, f"{SHARES} {evidence.steps}."),
        findings=tuple(findings),
    )


def _matrix(problem: Problems, answers: dict[str, Tensor], note: str) -> Drawing:
    """Lay out the matrix on the left, candidates with shares of each row on the right."""
    panels, target = problem.sequences()[0].numpy(), int(problem.target[0])
    context = [*(Tile(pixels=panel) for panel in panels[:CONTEXT]), Tile(pixels=None, word="?")]
    candidates = [
        Tile(
            pixels=panel,
            lines=tuple(f"{float(shares[number]):.0f}" for shares in answers.values()),
            bold=tuple(int(shares.argmax()) == number for shares in answers.values()),
            frame=2 if number == target else "",
        )
        for number, panel in enumerate(panels[CONTEXT:])
    ]
    half = len(candidates) // 2
    right = Images(rows=[candidates[:half], candidates[half:]], side=0.78, lines=[*answers])
    left = Images(rows=[context[:3], context[3:6], context[6:]], side=right.size[1] / 3 - GAP)
    sides = [
        Panel(marks=(images,), frame="none", is_square=True) for images in (left, right)
    ]  # fmt: skip
    widths = [images.size[0] for images in (left, right)]
    return Drawing(rows=[sides], height=right.size[1] + 0.3, widths=widths, note=note)
