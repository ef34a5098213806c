"""First principal component of embeddings against each latent dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from torch import nn

from farfield.analysis import (
    ComponentFit,
    FirstComponent,
    embeddings_of,
    first_component,
    mean_line,
)
from farfield.core import stream
from farfield.experiments import Experiment, ScoringNetwork
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import Candidates, HasSubsets
from farfield.training import problems_of_run

PROBLEMS: Final = 512
"""Most problems of a region that are looked at: whole test batches of 32."""
DRAWN: Final = 600
"""Most points of a panel."""
BINS: Final = 29
"""Bins of the mean line; levels of a region fall into a bin each."""

CAPTION: Final = (
    "Embeddings as the scorer receives them, premises once for each candidate, of {problems} "
    "problems; every point is one, of the network of seed {seed}. Up: along the first principal "
    "component of all of them, its sign arbitrary. Across: the level that the picture was drawn "
    "with. Under a normalization the level is normalized in the same way, without gain and shift, "
    "and only problems that vary along the dimension are shown; without one the level is as it is "
    "and all are shown. Thick line: mean in {bins} bins of equal width. Thin line: least squares, "
    "with its R². The paper shows the network with the highest test accuracy; we show the first "
    "and measure all, since test problems select nothing here. Linearity: R² along the dimension."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Looked:
    """Findings in the networks of a row.

    Args:
        row: The cell.
        components: One for each network, by seed.
        dimensions: Names of the dimensions.
        problems: Number of problems looked at in each network.
    """

    row: Row
    components: tuple[FirstComponent, ...]
    dimensions: tuple[str, ...]
    problems: int

    @property
    def name(self) -> str:
        """The row within names of quantities, e.g. `"context-norm"`."""
        return self.row.claim.cell.rpartition("/")[0]


@final
@dataclass(frozen=True, kw_only=True)
class EmbeddingsByDimension:
    """First principal component of the embeddings against each latent dimension.

    A row's quantities have the name of its cells without the regime, then `share` for the
    component's share of the variance and `linearity/` with the dimension for the R² of the
    straight line, e.g. `context-norm/share` and `context-norm/linearity/size`.
    """

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The embeddings behind the cells of a figure; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If a cell's problems are not analogies drawn from levels, in parts by the
                dimension that varies.
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        looked = [_looked_into(row, store) for row in report.run]
        if not looked:
            return None
        seeds = sorted({one.row.records[0].seed for one in looked})
        return Plate(
            name="embeddings",
            title="Embeddings against what they show",
            caption=CAPTION.format(
                problems=looked[0].problems,
                seed=text.span(str(seeds[0]), str(seeds[-1])),
                bins=BINS,
            ),
            draw=partial(_draw, looked),
            findings=tuple(finding for one in looked for finding in _findings(figure, one)),
        )


def _looked_into(row: Row, store: Store) -> _Looked:
    task = row.claim.experiment.problem_task
    if not isinstance(task, HasSubsets) or not isinstance(task, Candidates):
        raise ValueError(f"{row.name} must be of analogies in parts, got {type(task).__name__}")
    some = problems_of_run(task, row.records[0].seed)[row.claim.regime][:PROBLEMS]
    return _Looked(
        row=row,
        components=tuple(_component(row, record, store) for record in row.records),
        dimensions=tuple(task.parts(some)),
        problems=len(some),
    )


def _component(row: Row, record: Record, store: Store) -> FirstComponent:
    """The first component in a run's network."""
    run = looked_into(row, record, store)
    problems = run.sets[row.claim.regime][:PROBLEMS]
    parts = cast("HasSubsets", run.task).parts(problems)
    context = _context_of_values(row.claim.experiment, len(parts))
    everything = [chosen | True for chosen in parts.values()]
    shown = everything if context is None else [*parts.values()]
    return first_component(embeddings_of(run.network, problems, context), shown)


def _context_of_values(experiment: Experiment, num_values: int) -> nn.Module | None:
    """The normalization of an experiment, for as many values; None where it has none."""
    model, task = experiment.model, experiment.problem_task
    if not isinstance(model, ScoringNetwork):
        raise ValueError(f"model must be a ScoringNetwork, got {type(model).__name__}")
    if model.context is None:
        return None
    offered: dict[str, object] = {"num_features": num_values, "segments": task.segments}
    return model.context.build(offered, stream(0, "values")).double().eval()


def _findings(figure: Figure, looked: _Looked) -> list[Finding]:
    """The share of the component, then how it follows each dimension, over the networks."""
    label = looked.row.claim.row
    share = [100 * component.share for component in looked.components]
    found = [
        Finding(
            what=f"{label}: share of variance of component 1",
            paper=figure.words(f"{looked.name}/share"),
            ours=text.over_counted(share),
        )
    ]
    for place, dimension in enumerate(looked.dimensions):
        fits = [component.along[place].fit.share for component in looked.components]
        found.append(
            Finding(
                what=f"{label}: linearity along {dimension}",
                paper=figure.words(f"{looked.name}/linearity/{dimension}"),
                ours=text.over_counted(fits, digits=3, unit=""),
            )
        )
    return found


@in_style
def _draw(looked: Sequence[_Looked], theme: Theme) -> Picture:
    """A row of panels for each normalization, a column for each dimension."""
    down, across = len(looked), len(looked[0].dimensions)
    size = (WIDTH, 1.55 * down + 0.55)
    picture = Picture(figsize=size)
    grid = picture.subplots(down, across, squeeze=False, sharey="row")
    for panels, one in zip(grid, looked, strict=True):
        component = one.components[0]
        for axes, along in zip(panels, component.along, strict=True):
            _panel(axes, along, theme)
            normalized = one.row.claim.experiment.model.context is not None  # type: ignore[attr-defined]
            axes.set_xlabel(
                f"{'normalized ' * normalized}level", fontsize=7, color=theme.foreground
            )
        panels[0].set_ylabel(
            f"{one.row.claim.row}\ncomponent 1 ({100 * component.share:.0f} %)",
            fontsize=7.3, color=theme.foreground,
        )  # fmt: skip
    for axes, dimension in zip(grid[0], looked[0].dimensions, strict=True):
        axes.set_title(
            dimension.replace("-", " ").title(),
            fontsize=8.2, pad=6,
        )  # fmt: skip
    picture.suptitle(_subject(looked), x=0.01, ha="left", fontsize=7.7, color=theme.muted)
    legend(picture, _marks(theme), columns=3)
    return picture


def _subject(looked: Sequence[_Looked]) -> str:
    """Subject and network, e.g. `VAEC, regions, Region 2: seed 0, 20 % of steps`."""
    rows = [one.row for one in looked]
    seeds = sorted({row.records[0].seed for row in rows})
    fractions = [row.judgement.fraction or 0.0 for row in rows]
    return (
        f"{rows[0].claim.subject}, {rows[0].claim.column}: "
        f"seed {text.span(str(seeds[0]), str(seeds[-1]))}, "
        f"{text.shares(min(fractions), max(fractions))} of steps"
    )


def _marks(theme: Theme) -> Mapping[str, Line2D]:
    """Legend entries."""
    dots, red = theme.models[0], theme.models[1]
    return {
        "embedding": Line2D(
            [], [], color=dots, marker="o", markersize=2.5, linestyle="", alpha=0.6
        ),
        "mean": Line2D([], [], color=theme.foreground, linewidth=1.6),
        "linear fit": Line2D([], [], color=red, linewidth=0.9),
    }


def _panel(axes: Axes, along: ComponentFit, theme: Theme) -> None:
    """Points, their mean and the line through them."""
    some = stream(0, "points", "drawn").numpy().permutation(len(along.values))[:DRAWN]
    axes.scatter(
        along.values[some], along.heights[some],
        s=3, color=theme.models[0], linewidths=0, alpha=0.3, zorder=2,
    )  # fmt: skip
    means = mean_line(along.values, along.heights, BINS).numpy()
    axes.plot(*means, color=theme.foreground, linewidth=1.6, zorder=3)
    axes.margins(y=0.1)
    ends = [float(along.values.min()), float(along.values.max())]
    line = [along.fit.intercept + along.fit.slope * end for end in ends]
    axes.plot(ends, line, color=theme.models[1], linewidth=0.9, zorder=4)
    axes.annotate(
        f"R² {along.fit.share:.2f}", (0.97 if along.fit.slope < 0 else 0.03, 1), (0, -1),
        ("axes fraction", "axes fraction"), textcoords="offset points", fontsize=6.5,
        color=theme.foreground, va="top", ha="right" if along.fit.slope < 0 else "left", zorder=5,
        path_effects=[withStroke(linewidth=1.6, foreground=theme.background)],
    )  # fmt: skip
