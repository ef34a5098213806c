"""Answers of trained networks over the plane of inputs, and over that of a hidden layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import torch

from farfield.analysis import (
    confidence_between,
    plane_axes,
    plane_points,
    plane_problems,
    representations_of,
    surface_of,
)
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import LookedInto, looked_into
from farfield.reports._exhibits._plane_drawing import Plane, draw_planes
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING

SIZE: Final = 120
"""Values along each axis of a plane."""
GRID: Final = 30
"""Values along each axis of the inputs whose representations are dots."""
PAIRED: Final = 100
"""Examples whose pairs of different classes are mixed, the first ones."""
INPUT: Final = "input"
"""Name of the plane of inputs."""
HIDDEN: Final = "hidden"
"""Name of the plane of the layer."""

CAPTION: Final = (
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
            caption=CAPTION.format(
                seed=text.span(str(seeds[0]), str(seeds[-1])), layer=self.layer, paired=PAIRED
            ),
            draw=partial(draw_planes, planes, [row.claim.row for row, _ in found]),
            findings=tuple(
                finding for row, looked in found for finding in _findings(figure, row, looked)
            ),
        )

    def _looked(self, run: LookedInto) -> _Looked:
        """Both planes of a network, and how sure it is between classes."""
        problems = run.sets[self.regime]
        points, network = plane_points(problems), run.network
        inputs = surface_of(network, *plane_axes(points, SIZE))
        uniform = plane_problems(*plane_axes(points, GRID, margin=0))
        grid, own = (representations_of(network, some, self.layer) for some in (uniform, problems))
        (halfway,) = confidence_between(network, problems[:PAIRED], (0.5,), self.layer)
        hidden = surface_of(network, *plane_axes(torch.cat([grid, own]), SIZE), self.layer)
        return _Looked(
            planes=(
                Plane(surface=inputs, points=points, classes=problems.target),
                Plane(surface=hidden, points=own, classes=problems.target, grid=grid),
            ),
            halfway=halfway,
        )


def _findings(figure: Figure, row: Row, looked: list[_Looked]) -> Iterator[Finding]:
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
