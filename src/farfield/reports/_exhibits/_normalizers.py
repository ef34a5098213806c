"""Divisive normalization: activation curves, and constants by layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Picture

from farfield.analysis.internal import NormalizerScale, divisive_activation, normalizer_scales
from farfield.core.internal import NonNegativeFloat, Size, check_fields
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import FLOOR, Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

POINTS: Final = 301
"""Inputs that a curve is drawn through."""

CURVES_CAPTION: Final = (
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
            caption=CURVES_CAPTION.format(fixed=self.fixed, sigma=self.sigma),
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


CONSTANTS_CAPTION: Final = (
    "Each dot is a normalizer of a network of seed {seed}: the constant σ that it has learned "
    "against the mean absolute value of what it is given, over {problems} {regime} problems, and "
    "colored by its number from the first to the last. The rank correlation with depth is "
    "Spearman's, of σ and this number."
)


@final
@dataclass(frozen=True, kw_only=True)
class ConstantsByLayer:
    """Learned constants against input scales.

    A row's quantities have the name of its cells, then `depth` or `last`.

    Args:
        regime: Whose problems are shown to the networks.
        problems: How many of them, the first ones.

    Raises:
        ValueError: If a field is of another type, or the number is below 1.
    """

    regime: str
    problems: Size = 500

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The normalizers of every row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If a network has no normalizer with a constant.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        found = [
            (row, [self._scales(row, record, store) for record in row.records])
            for row in report.run
        ]
        seeds = sorted({row.records[0].seed for row in report.run})
        return Plate(
            name="constants",
            title="Learned constants by layer",
            caption=CONSTANTS_CAPTION.format(
                seed=text.span(str(seeds[0]), str(seeds[-1])),
                problems=self.problems,
                regime=self.regime,
            ),
            draw=partial(
                draw_constants,
                {f"{row.claim.row}, {row.claim.column}": scales[0] for row, scales in found},
            ),
            findings=tuple(
                finding for row, scales in found for finding in _findings(figure, row, scales)
            ),
        )

    def _scales(self, row: Row, record: Record, store: Store) -> tuple[NormalizerScale, ...]:
        run = looked_into(row, record, store)
        return normalizer_scales(run.network, run.sets[self.regime][: self.problems])


def _findings(
    figure: Figure, row: Row, scales: Sequence[Sequence[NormalizerScale]]
) -> Iterator[Finding]:
    """Trend of the constants with depth, and the last one over the largest."""
    constants = [[scale.sigma for scale in own] for own in scales]
    for quantity, what, values in (
        ("depth", "rank correlation of σ with depth", [_with_depth(own) for own in constants]),
        ("last", "last σ over the largest", [own[-1] / max(own) for own in constants]),
    ):
        yield Finding(
            what=f"{row.claim.row}, {row.claim.column}: {what}",
            paper=figure.words(f"{row.claim.cell}/{quantity}"),
            ours=text.over_counted(values, digits=2, unit=""),
        )


def _with_depth(constants: Sequence[float]) -> float:
    from scipy.stats import spearmanr  # noqa: PLC0415 — a quarter of a second to import

    return float(spearmanr(range(len(constants)), constants).statistic)


@in_style
def draw_constants(rows: Mapping[str, Sequence[NormalizerScale]], theme: Theme) -> Picture:
    """A panel for each row, and the colors of the layers beside the last.

    Args:
        rows: Normalizers in the order of their calls, by row.
        theme: Colors.
    """
    picture = Picture(figsize=(WIDTH, 2.6))
    panels = picture.subplots(1, len(rows), squeeze=False)[0]
    colors = LinearSegmentedColormap.from_list("depth", theme.models[:2])
    for axes, (name, scales) in zip(panels, rows.items(), strict=True):
        numbers = np.arange(1, 1 + len(scales))
        dots = axes.scatter(
            [scale.input_scale for scale in scales],
            [scale.sigma for scale in scales],
            c=numbers,
            cmap=colors,
            s=16,
        )
        axes.set_title(name)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("mean |x|")
    bar = picture.colorbar(dots, ax=[*panels], label="number of the normalizer")
    bar.ax.spines[:].set_visible(False)
    panels[0].set_ylabel("σ")
    return picture
