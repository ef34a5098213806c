"""The paths that elements take through the functions of a Neural Interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from torch import Tensor

from farfield.analysis import path_similarity
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import routings
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

SHOWN: Final = 3
"""Samples whose paths are drawn."""
SAMPLES: Final = 50
"""Samples whose paths are compared."""
WIDTHS: Final = (0.2, 4.0)
"""Widths in points of the lines that the fewest and the most elements follow."""
AREA: Final = 200.0
"""Of a dot with access to all elements, square points."""

CAPTION: Final = (
    "Three samples of {row}, seed {seed}. A dot is a function in an iteration, one color each, "
    "its area the share of the elements that it has access to; a line is the wider, the more "
    "of the elements go from one function to the next. Similarity of paths: what the routing of "
    "two samples has in common, element by element, over all pairs of {samples} samples; 100 % "
    "where all are routed alike."
)


@final
@dataclass(frozen=True, kw_only=True)
class RoutingPaths:
    """The paths of elements through the functions of a Neural Interpreter.

    The quantity is named `similarity`.

    Args:
        regime: Whose problems are shown.
    """

    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The paths of the row that was trained for most of its steps; `None` where none was run.

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
        shares = [100 * path_similarity(routing.compatibility) for routing in found]
        finding = Finding(
            what=f"{row.claim.row}: similarity of the paths of two samples",
            paper=figure.words("similarity"),
            ours=text.over_counted(shares),
        )
        return Plate(
            name="paths",
            title="Paths through the functions",
            caption=CAPTION.format(row=row.claim.row, seed=row.records[0].seed, samples=SAMPLES),
            draw=partial(_draw, row, found[0].compatibility[:, :SHOWN]),
            findings=(finding,),
        )


@in_style
def _draw(
    row: Row, compatibility: Float[Tensor, "iteration batch function item"], theme: Theme
) -> Picture:
    """A panel for each sample: functions from top to bottom, iterations from left to right."""
    samples = compatibility.shape[1]
    shares = compatibility / compatibility.sum(2, keepdim=True).clamp(min=1e-12)
    flows = (shares[:-1] @ shares[1:].transpose(2, 3) / shares.shape[-1]).numpy()
    ends = float(flows.min()), float(flows.max())
    picture = Picture(figsize=(WIDTH, 2.5))
    head = f"{row.claim.row}, {text.budget(row)} of steps, seed {row.records[0].seed}"
    picture.suptitle(head, x=0.005, ha="left", fontsize=7.5, color=theme.muted)
    panels = picture.subplots(1, samples, sharey=True, squeeze=False)[0]
    for number, axes in enumerate(panels):
        _draw_paths(axes, shares[:, number], np.interp(flows[:, number], ends, WIDTHS), theme)
        axes.set_title(f"sample {number + 1}")
        axes.set_xlabel("iteration")
    panels[0].set_ylabel("function")
    marks = {
        f"{100 * share:.1f} % of elements": Line2D(
            [], [], color=theme.muted, linewidth=float(np.interp(share, ends, WIDTHS))
        )
        for share in np.linspace(*ends, 3)
    }
    legend(picture, marks, columns=len(marks))
    return picture


def _draw_paths(
    axes: Axes,
    shares: Float[Tensor, "iteration function item"],
    widths: Float[np.ndarray, "step function function"],
    theme: Theme,
) -> None:
    iterations, functions, _ = shares.shape
    for step, first, second in np.ndindex(widths.shape):
        axes.plot(
            (step + 1, step + 2), (first + 1, second + 1), color=theme.muted, zorder=1,
            linewidth=widths[step, first, second], solid_capstyle="round",
        )  # fmt: skip
    sizes = shares.mean(2).numpy()
    for function in range(functions):
        axes.scatter(
            range(1, iterations + 1), [function + 1] * iterations, zorder=2, linewidth=0,
            s=AREA * sizes[:, function], color=theme.models[function % len(theme.models)],
        )  # fmt: skip
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xticks(range(1, iterations + 1))
    axes.set_yticks(range(1, functions + 1))
    axes.set(xlim=(0.5, iterations + 0.5), ylim=(functions + 0.5, 0.5))
