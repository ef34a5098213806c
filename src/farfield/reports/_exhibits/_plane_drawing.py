"""Drawing of planes: answers of networks as color or as boundaries, and points."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from torch import Tensor

from farfield.analysis import Surface
from farfield.reports._profile._axes import LEGEND, WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style

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
