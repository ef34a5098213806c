"""The types that the elements of a Neural Interpreter take on, iteration by iteration."""

from __future__ import annotations

from functools import partial
from typing import Final

from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield.analysis import Routing, clustering, neighbour_map
from farfield.records import Store
from farfield.reports import _text as text
from farfield.reports._axes import WIDTH
from farfield.reports._looked_into import routings
from farfield.reports._plates import Finding, Plate
from farfield.reports._report import Report
from farfield.reports._theme import Theme
from farfield.reproductions import Figure, TypesByIteration

SAMPLES: Final = 12
"""Samples whose elements are drawn."""
PANELS: Final = 4
"""Iterations that are drawn, at most: evenly spaced, the first and the last among them."""

CAPTION: Final = (
    "Types of the elements of {samples} samples in {row}, seed {seed}, on a plane (t-SNE, each "
    "iteration by itself); colours tell the function whose signature is nearest. Clustering: share "
    "of the variance of the types that lies between the groups of one nearest function."
)
SCRIPTS: Final = " The same colour stands for another function in each script."


def type_plate(
    figure: Figure, analysis: TypesByIteration, report: Report, store: Store
) -> Plate | None:
    """The types of the row that was trained for most of its steps; `None` where none was run.

    Args:
        figure: What the paper says.
        analysis: Whose problems are shown.
        report: The figure's cells with what was found.
        store: Where the trained networks lie.

    Raises:
        StoreError: If a trained network is missing.
    """
    looked = routings(report, analysis.regime, SAMPLES, store)
    if looked is None:
        return None
    row, found = looked
    courses = [clustering(routing.types, routing.nearest) for routing in found]
    findings = []
    for name, at in (("first", 0), ("last", -1)):
        findings.append(
            Finding(
                what=f"{row.claim.row}: clustering of types, {name} iteration",
                paper=figure.words(name),
                ours=text.over_counted([100 * course[at] for course in courses]),
            )
        )
    return Plate(
        name="types",
        title="Types of the elements",
        caption=CAPTION.format(row=row.claim.row, samples=SAMPLES, seed=row.records[0].seed)
        + (SCRIPTS if found[0].script.any() else ""),
        draw=partial(_draw, found[0]),
        findings=tuple(findings),
    )


def _draw(routing: Routing, theme: Theme) -> Picture:
    """A panel for each of a few iterations."""
    iterations = len(routing.types)
    count = min(PANELS, iterations)
    chosen = [round(place * (iterations - 1) / max(1, count - 1)) for place in range(count)]
    picture = Picture(figsize=(WIDTH, 2.0), facecolor=theme.paper, layout="constrained")
    for axes, step in zip(picture.subplots(1, count, squeeze=False)[0], chosen, strict=True):
        places = neighbour_map(routing.types[step].flatten(0, 1))
        nearest: Tensor = routing.nearest[step].flatten()
        for function in sorted(set(nearest.tolist())):
            own = places[nearest == function].numpy()
            axes.scatter(
                own[:, 0], own[:, 1], s=4, linewidth=0,
                color=theme.models[function % len(theme.models)],
            )  # fmt: skip
        axes.set_facecolor(theme.paper)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color(theme.faint)
        axes.set_title(
            _name(routing, step), loc="left", fontsize=7.7, color=theme.ink, weight="bold", pad=3
        )
    return picture


def _name(routing: Routing, step: int) -> str:
    """Which iteration it is, of which script where there are several."""
    if not routing.script.any():
        return f"iteration {step + 1}"
    script = int(routing.script[step])
    before = int((routing.script < script).sum())
    return f"script {script + 1}, iteration {step - before + 1}"
