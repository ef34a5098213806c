"""Divisive normalization with a ReLU behind it, drawn as an activation function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import torch
from matplotlib.figure import Figure as Picture

from farfield.analysis import divisive_activation
from farfield.core import NonNegativeFloat, check_fields
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import FLOOR, Theme, in_style
from farfield.reports._report._report import Report

POINTS: Final = 301
"""Inputs that a curve is drawn through."""

CAPTION: Final = (
    "Output of the first of two units that are normalized together, behind a ReLU, against its "
    "input. Left: the second unit has the input {fixed:g}. Right: it has others, at σ = {sigma:g}. "
    "Dashed: the ReLU alone."
)


@final
@dataclass(frozen=True, kw_only=True)
class ActivationCurves:
    """Activation functions that divisive normalization of two units makes; nothing is trained.

    Args:
        sigmas: Constants of the left panel.
        fixed: Input of the second unit there.
        others: Inputs of the second unit in the right panel.
        sigma: The constant there.

    Raises:
        ValueError: If a field is of another type, or a constant is below 0.
    """

    sigmas: tuple[NonNegativeFloat, ...] = (0.1, 0.5, 1.0, 2.0)
    fixed: float = 0.5
    others: tuple[float, ...] = (-1.0, 0.0, 1.0, 2.0)
    sigma: NonNegativeFloat = 0.5

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate:
        """The curves.

        Args:
            figure: Not used.
            report: Not used.
            store: Not used.
        """
        del figure, report, store
        left = [(f"σ = {sigma:g}", self.fixed, sigma) for sigma in self.sigmas]
        right = [(f"x₂ = {other:g}".replace("-", "−"), other, self.sigma) for other in self.others]
        return Plate(
            name="curves",
            title="Divisive normalization and a ReLU as an activation",
            caption=CAPTION.format(fixed=self.fixed, sigma=self.sigma),
            draw=partial(draw_curves, (left, right)),
            findings=(),
        )


@in_style
def draw_curves(panels: Sequence[Sequence[tuple[str, float, float]]], theme: Theme) -> Picture:
    """A panel for each group of curves, each curve with its name.

    Args:
        panels: Name, input of the second unit and constant of each curve.
        theme: Colors.
    """
    picture = Picture(figsize=(WIDTH, 2.5))
    x = torch.linspace(-2, 4, POINTS, dtype=torch.float64)
    for axes, curves in zip(picture.subplots(1, len(panels), sharey=True), panels, strict=True):
        axes.plot(x, x.relu(), color=theme.muted, linewidth=0.8, linestyle=FLOOR)
        for color, (name, other, sigma) in zip(theme.models, curves, strict=False):
            y = divisive_activation(x, torch.full_like(x, other), sigma)
            axes.plot(x, y, color=color, linewidth=1.3, label=name)
        axes.set_ylim(-0.05, 1.3)
        axes.set_xlabel("input of the first unit, x₁")
        axes.legend(loc="upper left")
    picture.axes[0].set_ylabel("output")
    return picture
