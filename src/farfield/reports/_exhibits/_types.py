"""The types that the elements of a Neural Interpreter take on, iteration by iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield._text import fixed
from farfield.analysis import Routing, clustering, tsne
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import routings
from farfield.reports._exhibits._plates import Finding, OneNetwork, Plate
from farfield.reports._profile._axes import LEGEND, WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

SAMPLES: Final = 12
"""Samples whose elements are drawn."""
DRAWN: Final = 3
"""Networks that are drawn, at most; all are measured."""
PANELS: Final = 4
"""Iterations that are drawn, at most: evenly spaced, the first and the last among them."""

CAPTION: Final = (
    "Types of the elements of {samples} samples in {row}, a row of panels for each seed ({seeds}), "
    "on a plane (t-SNE, each iteration by itself); colors tell the function whose signature is "
    "nearest. Clustering, of every network: share "
    "of the variance of the types that lies between the groups of one nearest function."
)
SCRIPTS: Final = " The same color stands for another function in each script."


@final
@dataclass(frozen=True, kw_only=True)
class TypesByIteration:
    """The types of elements in a Neural Interpreter, and their clustering around functions.

    The quantities are named `first` and `last`, of the iterations.

    Args:
        regime: Whose problems are shown.
    """

    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The types of the row that was trained for most of its steps; `None` where none was run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        looked = routings(report, self.regime, SAMPLES, store)
        if looked is None:
            return None
        row, found = looked
        courses = [clustering(routing.types, routing.nearest) for routing in found]
        findings = tuple(
            Finding(
                what=f"{row.claim.row}: clustering of types, first → last iteration",
                paper=figure.words("rise"),
                ours=f"{fixed(100 * course[0], 1)} → {fixed(100 * course[-1], 1)} %",
                network=OneNetwork(
                    cell=row.claim.cell, seed=record.seed, change=course[-1] - course[0]
                ),
            )
            for record, course in zip(row.records, courses, strict=True)
        )
        return Plate(
            name="types",
            title="Types of the elements",
            caption=CAPTION.format(
                row=row.claim.row,
                samples=SAMPLES,
                seeds=" and ".join(str(record.seed) for record in row.records[:DRAWN]),
            )
            + (SCRIPTS if found[0].script.any() else ""),
            draw=partial(_draw, row, found[:DRAWN]),
            findings=findings,
        )


@in_style
def _draw(row: Row, found: Sequence[Routing], theme: Theme) -> Picture:
    """A row for each network, a panel for each of a few iterations, and the functions' colors."""
    iterations = len(found[0].types)
    count = min(PANELS, iterations)
    chosen = [round(place * (iterations - 1) / max(1, count - 1)) for place in range(count)]
    picture = Picture(figsize=(WIDTH, 1.9 * len(found) + LEGEND + 0.2))
    grid = picture.subplots(len(found), count, squeeze=False)
    functions: dict[int, PathCollection] = {}
    head = f"{row.claim.row}, {text.budget(row)} of steps, {text.networks(len(found))}"
    picture.suptitle(head, x=0.005, ha="left", fontsize=7.5, color=theme.muted)
    for panels, record, routing in zip(grid, row.records, found, strict=False):
        for axes, step in zip(panels, chosen, strict=True):
            functions = _panel(axes, routing, step, theme) | functions
        panels[0].set_ylabel(f"seed {record.seed}")
    marks = {f"function {number + 1}": functions[number] for number in sorted(functions)}
    legend(picture, marks, columns=len(marks))
    return picture


def _panel(axes: Axes, routing: Routing, step: int, theme: Theme) -> dict[int, PathCollection]:
    """The types of an iteration; gives back the dots of each function."""
    places = tsne(routing.types[step].flatten(0, 1))
    nearest: Tensor = routing.nearest[step].flatten()
    dots = {}
    for function in sorted(set(nearest.tolist())):
        own = places[nearest == function].numpy()
        dots[function] = axes.scatter(
            own[:, 0], own[:, 1], s=4, linewidth=0,
            color=theme.models[function % len(theme.models)],
        )  # fmt: skip
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.set_title(_name(routing, step))
    return dots


def _name(routing: Routing, step: int) -> str:
    """Name of an iteration, with its script where there are several."""
    if not routing.script.any():
        return f"iteration {step + 1}"
    script = int(routing.script[step])
    before = int((routing.script < script).sum())
    return f"script {script + 1}, iteration {step - before + 1}"
