"""Answers of trained networks over planes: decision surfaces and boundaries."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int
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
from farfield.reports._exhibits._exhibit import Evidence, LookedInto, Plate, network_exhibit
from farfield.reports._exhibits._frames import Boundary, Cells, Color, Curve, Dots, Drawing, Panel
from farfield.reports._profile._series import score_label
from farfield.reports._profile._theme import LEGEND, WIDTH
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.tasks import TRAINING

FINE: Final = 120
"""Number of values along each axis of a decision surface."""
FINEST: Final = 200
"""Number of values along each axis of the plane of decision boundaries."""
GRID: Final = 30
"""Number of values along each axis of the inputs whose representations are dots."""
PAIRED: Final = 100
"""Number of examples whose pairs of different classes are mixed."""
STRONGEST: Final = 0.5
"""Share of a class's color where a network is certain of it; the rest is background."""
LETTERS: Final = 11
"""Number of letters of a title in an inch."""
LARGEST: Final = 2.4
"""Largest side of a panel, inches."""
DOT: Final = 4.0
"""Area of the dot of an example, square points for each inch of the panel's side."""
LEAST: Final = 1e-30
"""Least probability whose logarithm is taken."""
MARKERS: Final = "os^Dv"
"""Markers of the classes of labeled points."""

SURFACES: Final = (
    "Color: the class that a network of seed {seed} answers with, paler where it is less sure. "
    "Line: where two classes are as probable. Colored dots: examples. Above, the plane of inputs; "
    "below, that of the layer {layer}, with the representations of inputs on a uniform grid over "
    "the range of the examples as small dots, and answers as the rest of the network gives them. "
    "Confidence: largest probability of a class. The planes end a tenth of the range outside the "
    "dots. Halfway: of the representations of {paired} examples, the mean of two of different "
    "classes."
)
BOUNDARIES: Final = (
    "Lines: where a network of seed {seed} finds two classes as probable. Large marks: the "
    "labeled examples of training. Small dots: the unlabeled examples."
)


@network_exhibit
def decision_surfaces(evidence: Evidence, *, layer: str, regime: str = TRAINING) -> Plate:
    """Measure answers over the planes of inputs and of a layer of two units.

    A row's quantities have the name of its cells without the regime, then `input`, `hidden` or
    `halfway`, e.g. `manifold-mixup/hidden`.

    Args:
        evidence: Classifiers of points.
        layer: Name of the layer.
        regime: Regime of the drawn examples.
    """
    upper, lower, findings = list[Panel](), list[Panel](), []
    side = min(WIDTH / len(evidence.run), LARGEST)
    classes = 0
    for row in evidence.run:
        name, values = row.claim.row, list[tuple[float, float, float]]()
        for record in row.records:
            run = evidence.looked_into(row, record)
            inputs, hidden, grid, own = _surfaces(run, layer, regime)
            problems = run.sets[regime][:PAIRED]
            (halfway,) = confidence_between(run.network, problems, (0.5,), layer)
            values.append((inputs.confidence, hidden.confidence, halfway))
            if record is row.records[0]:
                target, classes = run.sets[regime].target, inputs.probabilities.shape[-1]
                title = textwrap.fill(name, round(LETTERS * side), break_long_words=False)
                first = not upper
                points = plane_points(run.sets[regime])
                upper.append(surface(inputs, points, target, DOT * side, title, "input" * first))
                lower.append(
                    surface(hidden, own, target, DOT * side, "", "hidden" * first, grid)
                )  # fmt: skip
        cell = row.claim.cell.rpartition("/")[0]
        for number, (quantity, where) in enumerate(
            (
                ("input", "over the plane of inputs"),
                ("hidden", "over the hidden plane"),
                ("halfway", "halfway between classes"),
            )
        ):
            shares = text.over_counted([100 * one[number] for one in values])
            what = f"{name}: mean confidence {where}"
            findings.append(evidence.finding(what, f"{cell}/{quantity}", shares))
    return Plate(
        name="decision-surfaces",
        title="Answers over the plane",
        caption=SURFACES.format(seed=evidence.seed, layer=layer, paired=PAIRED),
        draw=Drawing(
            rows=[upper, lower],
            height=side * 2 + 2 * LEGEND,
            legend=(
                *(Dots(color=number, name=f"class {number + 1}") for number in range(classes)),
                Dots(size=2.5, name="grid of inputs"),
            ),
            columns=classes + 1,
        ),
        findings=tuple(findings),
    )


def _surfaces(
    run: LookedInto, layer: str, regime: str
) -> tuple[Surface, Surface, Float[Tensor, "item 2"], Float[Tensor, "batch 2"]]:
    """Answer over both planes; represent a grid of inputs, and examples."""
    points, network = plane_points(run.sets[regime]), run.network
    uniform = plane_problems(*plane_axes(points, GRID, margin=0))
    grid, own = (
        representations_of(network, some, layer) for some in (uniform, run.sets[regime])
    )  # fmt: skip
    return (
        surface_of(network, *plane_axes(points, FINE)),
        surface_of(network, *plane_axes(torch.cat([grid, own]), FINE), layer),
        grid,
        own,
    )


def surface(
    found: Surface,
    points: Float[Tensor, "batch 2"],
    classes: Int[Tensor, " batch"],
    size: float,
    title: str,
    label: str,
    grid: Float[Tensor, "item 2"] | None = None,
) -> Panel:
    """Lay out answers as colors, the boundaries, a grid of inputs and the examples.

    Args:
        found: Probabilities of classes over a plane.
        points: Points of examples.
        classes: Classes of the examples.
        size: Area of the dot of an example, square points.
        title: Name of the network.
        label: Name of the plane.
        grid: Points that a uniform grid of inputs is mapped to; `None` in the plane of inputs.
    """
    probabilities = found.probabilities.double().numpy()
    number = probabilities.shape[-1]
    sure = STRONGEST * (probabilities.max(-1) - 1 / number) / (1 - 1 / number)
    answers = probabilities.argmax(-1)
    ends = tuple(float(axis[end]) for axis in (found.x, found.y) for end in (0, -1))
    left, right, low, high = ends
    tints: dict[Color, np.ndarray] = {n: sure * (answers == n) for n in range(number)}
    grids = () if grid is None else (Dots(x=grid[:, 0], y=grid[:, 1], size=size / 8),)
    return Panel(
        marks=(
            Cells(tints=tints, plane=(left, right, low, high), is_smooth=True),
            *_boundaries(found, "foreground", 0.6),
            *grids,
            Dots(
                x=points[:, 0], y=points[:, 1], color=classes.tolist(), size=size, edge="background"
            ),
        ),
        title=title,
        y_label=label,
        x_limits=(left, right),
        y_limits=(low, high),
        frame="box",
    )


def _boundaries(found: Surface, color: Color, width: float) -> Iterator[Boundary]:
    """Find the lines at which a class is as probable as the most probable other class.

    They follow the logarithms: probabilities jump from 0 to 1 between two points of the grid.
    """
    logs = np.log(found.probabilities.double().clamp(min=LEAST).numpy())
    for number in range(1, logs.shape[-1]):
        ahead = logs[..., number] - np.delete(logs, number, axis=-1).max(-1)
        yield Boundary(x=found.x, y=found.y, heights=ahead, color=color, width=width)


@network_exhibit
def decision_boundaries(evidence: Evidence, *, unlabelled: str) -> Plate:
    """Measure the decision boundaries of rows in one plane, a panel for each column.

    The quantities are named after the columns.

    Args:
        evidence: Classifiers of points.
        unlabelled: Name of the set of unlabelled examples.
    """
    columns: dict[str, list[Row]] = {}
    for row in evidence.run:
        columns.setdefault(row.claim.column, []).append(row)
    panels, findings = [], []
    height = 0.0
    for column, rows in columns.items():
        runs = {row.claim.row: evidence.looked_into(row) for row in rows}
        sets = next(iter(runs.values())).sets
        labelled, other = (plane_points(sets[name]) for name in (TRAINING, unlabelled))
        axes = plane_axes(torch.cat([labelled, other]), FINEST)
        spans = [float(axis[-1] - axis[0]) for axis in axes]
        height = height or WIDTH / len(columns) * spans[1] / spans[0]
        surfaces = {name: surface_of(run.network, *axes) for name, run in runs.items()}
        panels.append(stage(column, surfaces, labelled, sets[TRAINING].target, other))
        first, *others = rows
        for row in others:
            mine, theirs = (mean_and_standard_error(one.values).mean for one in (first, row))
            counts = [len(one.records) for one in (first, row)]
            findings.append(
                evidence.finding(
                    f"{column}: {score_label(first)} of {first.claim.row} less {row.claim.row}",
                    column,
                    f"{text.signed(mine - theirs, 1)} ({text.networks(min(counts), max(counts))})",
                )
            )
    return Plate(
        name="decision-boundaries",
        title="Decision boundaries",
        caption=BOUNDARIES.format(seed=evidence.seed),
        draw=Drawing(rows=[panels], height=height + 2 * LEGEND, columns=5),
        findings=tuple(findings),
    )


def stage(
    title: str,
    surfaces: Mapping[str, Surface],
    labelled: Float[Tensor, "batch 2"],
    classes: Int[Tensor, " batch"],
    unlabelled: Float[Tensor, "item 2"],
) -> Panel:
    """Lay out the boundary of each network between the examples.

    Args:
        title: Common stage of the networks.
        surfaces: Probabilities of classes, by the name of a network.
        labelled: Points of labeled examples.
        classes: Classes of the labeled examples.
        unlabelled: Points of unlabelled examples.
    """
    lines: list[Boundary | Curve] = []
    for number, (name, found) in enumerate(surfaces.items()):
        lines += [*_boundaries(found, number, 1.4), Curve(color=number, width=1.4, name=name)]
    marks = [
        Dots(
            x=labelled[classes == number, 0],
            y=labelled[classes == number, 1],
            size=34,
            marker=MARKERS[number % len(MARKERS)],
            edge="background",
            name=f"labeled, class {number + 1}",
        )
        for number in _classes(classes)
    ]
    dots = Dots(
        x=unlabelled[:, 0], y=unlabelled[:, 1], size=2.5, color="muted", opacity=0.5,
    )  # fmt: skip
    named = Dots(size=4, color="muted", name="unlabeled")
    return Panel(marks=(dots, *lines, *marks, named), title=title, frame="box", is_square=True)


def _classes(classes: Int[Tensor, " batch"]) -> Sequence[int]:
    """List the classes of labeled examples, ascending."""
    return sorted(set(classes.tolist()))
