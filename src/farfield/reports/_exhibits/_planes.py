"""Answers of trained networks over planes: decision surfaces and boundaries."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from torch import Tensor

from farfield.analysis import representations_of
from farfield.analysis.internal import (
    Surface,
    confidence_between,
    plane_axes,
    plane_points,
    plane_problems,
    surface_of,
)
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._profile._axes import LEGEND, WIDTH, legend, score_label
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING

STRONGEST: Final = 0.5
"""Share of a class's color where a network is certain of it; the rest is background."""
LETTERS: Final = 11
"""Letters of a title that an inch has room for."""
LARGEST: Final = 2.4
"""Side of a panel, inches, at most."""
DOT: Final = 4.0
"""Area of the dot of an example, square points for each inch of the panel's side."""
LEAST: Final = 1e-30
"""Least probability whose logarithm is taken."""
MARKERS: Final = "os^Dv"
"""Markers of the classes of labelled points."""


@final
@dataclass(frozen=True, kw_only=True)
class Plane:
    """Answers of a network over a plane, with the points of examples.

    Args:
        surface: Probabilities of classes.
        points: Points of examples.
        classes: Their classes.
        grid: Points that a uniform grid of inputs is mapped to; `None` in the plane of inputs.
    """

    surface: Surface
    points: Float[Tensor, "batch 2"]
    classes: Int[Tensor, " batch"]
    grid: Float[Tensor, "item 2"] | None = None


@final
@dataclass(frozen=True, kw_only=True)
class Boundaries:
    """Decision boundaries of several networks in the plane of inputs.

    Args:
        title: What the networks have in common.
        surfaces: Probabilities of classes, by the name of a network.
        labelled: Points of labelled examples.
        classes: Their classes.
        unlabelled: Points of unlabelled examples.
    """

    title: str
    surfaces: Mapping[str, Surface]
    labelled: Float[Tensor, "batch 2"]
    classes: Int[Tensor, " batch"]
    unlabelled: Float[Tensor, "item 2"]


@in_style
def draw_planes(
    rows: Mapping[str, Sequence[Plane]], titles: Sequence[str], theme: Theme
) -> Picture:
    """A column for each network, a row for each of its planes.

    Args:
        rows: Planes of all networks, by the name of the plane.
        titles: Names of the networks.
        theme: Colors.
    """
    side = min(WIDTH / len(titles), LARGEST)
    picture = Picture(figsize=(WIDTH, side * len(rows) + 2 * LEGEND))
    grid = picture.subplots(len(rows), len(titles), squeeze=False)
    for line, (name, planes) in zip(grid, rows.items(), strict=True):
        line[0].set_ylabel(name)
        for axes, plane in zip(line, planes, strict=True):
            _plane(axes, plane, DOT * side, theme)
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(textwrap.fill(title, round(LETTERS * side), break_long_words=False))
    classes = next(iter(rows.values()))[0].surface.probabilities.shape[-1]
    marks = {f"class {number + 1}": _dot(_color(number, theme), 3.5) for number in range(classes)}
    marks |= {"grid of inputs": _dot(theme.foreground, 1.5)} if len(rows) > 1 else {}
    legend(picture, marks, columns=len(marks))
    return picture


@in_style
def draw_boundaries(panels: Sequence[Boundaries], theme: Theme) -> Picture:
    """A panel for each stage, a line in it for each network.

    Args:
        panels: The stages, each with the same networks.
        theme: Colors.
    """
    colors = dict(zip(panels[0].surfaces, theme.models, strict=False))
    spans = [float(axis[-1] - axis[0]) for axis in next(iter(panels[0].surfaces.values()))[:2]]
    height = WIDTH / len(panels) * spans[1] / spans[0]
    picture = Picture(figsize=(WIDTH, height + 2 * LEGEND))
    for axes, panel in zip(picture.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _stage(axes, panel, colors, theme)
    marks = {name: Line2D([], [], color=color, linewidth=1.4) for name, color in colors.items()}
    marks |= {
        f"labelled, class {number + 1}": _dot(theme.foreground, 5, MARKERS[number % len(MARKERS)])
        for number in _classes(panels[0])
    }
    legend(picture, {**marks, "unlabelled": _dot(theme.muted, 1.8)}, columns=5)
    return picture


def _stage(axes: Axes, panel: Boundaries, colors: Mapping[str, str], theme: Theme) -> None:
    """The boundary of each network between the examples."""
    x, y = panel.unlabelled.T.numpy()
    axes.scatter(x, y, s=2.5, color=theme.muted, linewidths=0, alpha=0.5)
    for name, surface in panel.surfaces.items():
        _boundary(axes, surface, colors[name], 1.4)
    for number in _classes(panel):
        x, y = panel.labelled[panel.classes == number].T.numpy()
        axes.scatter(
            x, y, s=34, marker=MARKERS[number % len(MARKERS)], color=theme.foreground,
            edgecolors=theme.background, linewidths=0.8, zorder=4,
        )  # fmt: skip
    axes.set_title(panel.title)
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(True)


def _plane(axes: Axes, plane: Plane, size: float, theme: Theme) -> None:
    """The answers as color, the boundaries, the grid and the examples."""
    left, right, low, high = (
        float(axis[end]) for axis in (plane.surface.x, plane.surface.y) for end in (0, -1)
    )
    axes.imshow(
        _tinted(plane.surface, theme), extent=(left, right, low, high), origin="lower",
        aspect="auto", interpolation="bilinear",
    )  # fmt: skip
    _boundary(axes, plane.surface, theme.foreground, 0.6)
    if plane.grid is not None:
        x, y = plane.grid.T.numpy()
        axes.scatter(x, y, s=size / 8, color=theme.foreground, linewidths=0)
    colors = [_color(number, theme) for number in plane.classes.tolist()]
    x, y = plane.points.T.numpy()
    axes.scatter(x, y, s=size, c=colors, edgecolors=theme.background, linewidths=0.4)
    axes.set(xticks=[], yticks=[], xlim=(left, right), ylim=(low, high), box_aspect=1)
    axes.spines[:].set_visible(True)


def _color(number: int, theme: Theme) -> str:
    """Color of a class."""
    return theme.models[number % len(theme.models)]


def _tinted(surface: Surface, theme: Theme) -> Float[np.ndarray, "height width 3"]:
    """Color of the most probable class, stronger where it is more probable."""
    probabilities = surface.probabilities.double().numpy()
    number = probabilities.shape[-1]
    colors = np.array([to_rgb(_color(one, theme)) for one in range(number)])
    sure = (probabilities.max(-1, keepdims=True) - 1 / number) / (1 - 1 / number)
    background = np.array(to_rgb(theme.background))
    tinted: np.ndarray = colors[probabilities.argmax(-1)] - background
    return background + STRONGEST * sure * tinted


def _boundary(axes: Axes, surface: Surface, color: str, width: float) -> None:
    """Lines where a class is as probable as the most probable other one.

    They follow the logarithms: probabilities jump from 0 to 1 between two points of the grid.
    """
    logs = np.log(surface.probabilities.double().clamp(min=LEAST).numpy())
    for number in range(1, logs.shape[-1]):
        ahead = logs[..., number] - np.delete(logs, number, axis=-1).max(-1)
        if ahead.min() < 0 < ahead.max():
            axes.contour(surface.x, surface.y, ahead, levels=[0], colors=[color], linewidths=width)


def _classes(panel: Boundaries) -> list[int]:
    """The classes of labelled examples, ascending."""
    return sorted(set(panel.classes.tolist()))


def _dot(color: str, size: float, marker: str = "o") -> Line2D:
    """Mark of a legend."""
    return Line2D([], [], color=color, marker=marker, markersize=size, linestyle="")


SURFACES_SIZE: Final = 120
"""Values along each axis of a plane."""
GRID: Final = 30
"""Values along each axis of the inputs whose representations are dots."""
PAIRED: Final = 100
"""Examples whose pairs of different classes are mixed, the first ones."""
INPUT: Final = "input"
"""Name of the plane of inputs."""
HIDDEN: Final = "hidden"
"""Name of the plane of the layer."""

SURFACES_CAPTION: Final = (
    "Color: the class that a network of seed {seed} answers with, paler where it is less sure. "
    "Line: where two classes are as probable. Colored dots: examples. Above, the plane of inputs; "
    "below, that of the layer {layer}, with the representations of inputs on a uniform grid over "
    "the range of the examples as small dots, and answers as the rest of the network gives them. "
    "Confidence: largest probability of a class. The planes end a tenth of the range outside the "
    "dots. Halfway: of the representations of {paired} examples, the mean of two of different "
    "classes."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Looked:
    """Findings in one network.

    Args:
        planes: That of inputs, and that of the layer.
        halfway: Mean confidence halfway between representations of different classes.
    """

    planes: tuple[Plane, Plane]
    halfway: float


@final
@dataclass(frozen=True, kw_only=True)
class DecisionSurfaces:
    """Answers of networks over the planes of their inputs and of a layer of two units.

    A row's quantities have the name of its cells without the regime, then `input`, `hidden` or
    `halfway`, e.g. `manifold-mixup/hidden`.

    Args:
        layer: Name of the layer.
        regime: Whose problems are drawn.
    """

    layer: str
    regime: str = TRAINING

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The planes of the first network of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If items are not two numbers, one in a problem, or the layer has not two
                outputs.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        found = [
            (row, [self._looked(looked_into(row, record, store)) for record in row.records])
            for row in report.run
        ]
        first = [looked[0].planes for _, looked in found]
        planes = {INPUT: [pair[0] for pair in first], HIDDEN: [pair[1] for pair in first]}
        seeds = sorted({row.records[0].seed for row, _ in found})
        return Plate(
            name="decision-surfaces",
            title="Answers over the plane",
            caption=SURFACES_CAPTION.format(
                seed=text.span(str(seeds[0]), str(seeds[-1])), layer=self.layer, paired=PAIRED
            ),
            draw=partial(draw_planes, planes, [row.claim.row for row, _ in found]),
            findings=tuple(
                finding
                for row, looked in found
                for finding in _findings_surfaces(figure, row, looked)
            ),
        )

    def _looked(self, run: LookedInto) -> _Looked:
        """Both planes of a network, and how sure it is between classes."""
        problems = run.sets[self.regime]
        points, network = plane_points(problems), run.network
        inputs = surface_of(network, *plane_axes(points, SURFACES_SIZE))
        uniform = plane_problems(*plane_axes(points, GRID, margin=0))
        grid, own = (representations_of(network, some, self.layer) for some in (uniform, problems))
        (halfway,) = confidence_between(network, problems[:PAIRED], (0.5,), self.layer)
        hidden = surface_of(network, *plane_axes(torch.cat([grid, own]), SURFACES_SIZE), self.layer)
        return _Looked(
            planes=(
                Plane(surface=inputs, points=points, classes=problems.target),
                Plane(surface=hidden, points=own, classes=problems.target, grid=grid),
            ),
            halfway=halfway,
        )


def _findings_surfaces(figure: Figure, row: Row, looked: list[_Looked]) -> Iterator[Finding]:
    """Confidence over both planes and between classes, over the networks of a row."""
    name = row.claim.cell.rpartition("/")[0]
    values = {
        INPUT: ("over the plane of inputs", [one.planes[0].surface.confidence for one in looked]),
        HIDDEN: ("over the hidden plane", [one.planes[1].surface.confidence for one in looked]),
        "halfway": ("halfway between classes", [one.halfway for one in looked]),
    }
    for quantity, (where, shares) in values.items():
        yield Finding(
            what=f"{row.claim.row}: mean confidence {where}",
            paper=figure.words(f"{name}/{quantity}"),
            ours=text.over_counted([100 * share for share in shares]),
        )


BOUNDARIES_SIZE: Final = 200
"""Values along each axis of the plane."""

BOUNDARIES_CAPTION: Final = (
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
            caption=BOUNDARIES_CAPTION.format(seed=text.span(str(seeds[0]), str(seeds[-1]))),
            draw=partial(draw_boundaries, panels),
            findings=tuple(
                finding
                for column, rows in columns.items()
                for finding in _findings_boundaries(figure, column, rows)
            ),
        )

    def _panel(self, column: str, rows: Sequence[Row], store: Store) -> Boundaries:
        """The networks of a column, and the examples of the first."""
        runs = {row.claim.row: looked_into(row, row.records[0], store) for row in rows}
        sets = next(iter(runs.values())).sets
        labelled, unlabelled = (plane_points(sets[name]) for name in (TRAINING, self.unlabelled))
        axes = plane_axes(torch.cat([labelled, unlabelled]), BOUNDARIES_SIZE)
        return Boundaries(
            title=column,
            surfaces={name: surface_of(run.network, *axes) for name, run in runs.items()},
            labelled=labelled,
            classes=sets[TRAINING].target,
            unlabelled=unlabelled,
        )


def _findings_boundaries(figure: Figure, column: str, rows: Sequence[Row]) -> Iterator[Finding]:
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
