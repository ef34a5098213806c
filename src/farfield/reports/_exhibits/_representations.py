"""Representations by component: embeddings by dimension, and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast, final

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from torch import Tensor, nn

from farfield.analysis import embeddings_of, key_overlap, keys_of, principal_components
from farfield.analysis.internal import (
    ComponentFit,
    FirstComponent,
    KeyOverlap,
    Keys,
    PrincipalComponents,
    first_component,
    mean_line,
)
from farfield.core import stream
from farfield.experiments import Experiment, ScoringNetwork
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING
from farfield.tasks.internal import Candidates, HasSubsets
from farfield.training.internal import problems_of_run

EMBEDDINGS_PROBLEMS: Final = 512
"""Most problems of a region that are looked at: whole test batches of 32."""
EMBEDDINGS_DRAWN: Final = 600
"""Most points of a panel."""
BINS: Final = 29
"""Bins of the mean line; levels of a region fall into a bin each."""

EMBEDDINGS_CAPTION: Final = (
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
        looked = [_looked_into_embeddings(row, store) for row in report.run]
        if not looked:
            return None
        seeds = sorted({one.row.records[0].seed for one in looked})
        return Plate(
            name="embeddings",
            title="Embeddings against what they show",
            caption=EMBEDDINGS_CAPTION.format(
                problems=looked[0].problems,
                seed=text.span(str(seeds[0]), str(seeds[-1])),
                bins=BINS,
            ),
            draw=partial(_draw_embeddings, looked),
            findings=tuple(
                finding for one in looked for finding in _findings_embeddings(figure, one)
            ),
        )


def _looked_into_embeddings(row: Row, store: Store) -> _Looked:
    task = row.claim.experiment.problem_task
    if not isinstance(task, HasSubsets) or not isinstance(task, Candidates):
        raise ValueError(f"{row.name} must be of analogies in parts, got {type(task).__name__}")
    some = problems_of_run(task, row.records[0].seed)[row.claim.regime][:EMBEDDINGS_PROBLEMS]
    return _Looked(
        row=row,
        components=tuple(_component(row, record, store) for record in row.records),
        dimensions=tuple(task.parts(some)),
        problems=len(some),
    )


def _component(row: Row, record: Record, store: Store) -> FirstComponent:
    """The first component in a run's network."""
    run = looked_into(row, record, store)
    problems = run.sets[row.claim.regime][:EMBEDDINGS_PROBLEMS]
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


def _findings_embeddings(figure: Figure, looked: _Looked) -> list[Finding]:
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
def _draw_embeddings(looked: Sequence[_Looked], theme: Theme) -> Picture:
    """A row of panels for each normalization, a column for each dimension."""
    down, across = len(looked), len(looked[0].dimensions)
    size = (WIDTH, 1.55 * down + 0.55)
    picture = Picture(figsize=size)
    grid = picture.subplots(down, across, squeeze=False, sharey="row")
    for panels, one in zip(grid, looked, strict=True):
        component = one.components[0]
        for axes, along in zip(panels, component.along, strict=True):
            _panel_embeddings(axes, along, theme)
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


def _panel_embeddings(axes: Axes, along: ComponentFit, theme: Theme) -> None:
    """Points, their mean and the line through them."""
    some = stream(0, "points", "drawn").numpy().permutation(len(along.values))[:EMBEDDINGS_DRAWN]
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


BESIDE: Final = ((-7, 5), (3, 9), (8, -6))
"""Offset of the numbers of the first places from their means, points; those of later places are on
them."""

KEYS_PROBLEMS: Final = 360
"""Most problems of a set that are looked at, so that both sets weigh alike."""
KEYS_DRAWN: Final = 120
"""Most problems of a set that are drawn."""

KEYS_CAPTION: Final = (
    "Keys along the first two principal components of all keys shown, those of seed {seed}; "
    "{problems} problems of each set. (a) Written at each place, training problems. (b) Written at "
    "the first {first} places. (c) Read where the items of the first {first} places come again. "
    "Numbers stand at the means. Distances are in units of the root mean square distance between "
    "the mean keys of the first {first} places. Nearest: of the mean keys written at all {length} "
    "places on training problems. Distinguished: share of keys nearer to the mean of their own of "
    "two sets, cross-validated; 50 % is complete overlap. Keys of places 1 and 2 are the same for "
    "every problem by construction: when they are written, the controller has read nothing."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Network:
    """The keys of one trained network.

    Args:
        seed: Number of its run.
        training: Keys of training problems.
        test: Keys of problems of the claim's regime.
    """

    seed: int
    training: Keys
    test: Keys


@final
@dataclass(frozen=True, kw_only=True)
class KeysByPlace:
    """Principal components of the keys of an ESBN, and their overlap between places and sets.

    The quantities are named after the fields of `farfield.analysis.KeyOverlap`.
    """

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The keys behind a figure of one cell; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cell with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If the figure has several cells.
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        if len(report.rows) != 1:
            raise ValueError(f"{report.key} must have one cell, got {len(report.rows)}")
        (row,) = report.rows
        if not row.records:
            return None
        networks = [_looked_into_keys(row, record, store) for record in row.records]
        first, overlaps = networks[0], [key_overlap(one.training, one.test) for one in networks]
        problems, length, _ = first.training.written.shape
        return Plate(
            name="keys",
            title="Keys written and recalled",
            caption=KEYS_CAPTION.format(
                seed=first.seed, problems=problems, first=_followed(first), length=length
            ),
            draw=partial(_draw_keys, row, first),
            findings=_findings_keys(figure, overlaps),
        )


def _looked_into_keys(row: Row, record: Record, store: Store) -> _Network:
    """The keys of a run's network, on as many problems of both sets."""
    run, names = looked_into(row, record, store), (TRAINING, row.claim.regime)
    count = min(KEYS_PROBLEMS, *(len(run.sets[name]) for name in names))
    training, test = (keys_of(run.network, run.sets[name][:count]) for name in names)
    return _Network(seed=record.seed, training=training, test=test)


def _followed(network: _Network) -> int:
    """Number of first places whose items are followed."""
    return network.training.recalled.shape[1]


def _findings_keys(figure: Figure, overlaps: Sequence[KeyOverlap]) -> tuple[Finding, ...]:
    """Findings over the networks."""
    first = len(overlaps[0].recognized)
    length = len(overlaps[0].spread)
    earlier, later = f"places 1–{first}", f"places {first + 1}–{length}"
    each = ", ".join(str(place) for place in range(1, first + 1))

    def share(*parts: Sequence[float]) -> str:
        return _over_networks(parts, text.networks(len(overlaps)), scale=100, digits=1, unit=" %")

    def length_of(*parts: Sequence[float]) -> str:
        return _over_networks(parts, text.networks(len(overlaps)), scale=1, digits=3, unit="")

    def column(name: str) -> list[list[float]]:
        """A quantity of each place, over the networks."""
        return [list(values) for values in zip(*(getattr(o, name) for o in overlaps), strict=True)]

    def average(name: str, start: int, stop: int) -> list[float]:
        return [sum(getattr(o, name)[start:stop]) / (stop - start) for o in overlaps]

    rows = (
        ("spread", f"spread of the keys written, mean over {earlier}; over {later}",
         length_of(average("spread", 0, first), average("spread", first, length))),
        ("confused", f"keys of {later} nearest to one of {earlier}",
         share([overlap.confused for overlap in overlaps])),
        ("written_shift", f"written, places {each}: shift from training to test",
         length_of(*column("written_shift"))),
        ("written_accuracy", f"written, places {each}: training distinguished from test",
         share(*column("written_accuracy"))),
        ("recognized", f"written on test problems, places {each}: nearest to their own",
         share(*column("recognized"))),
        ("recalled", f"recalled on test problems, places {each}: nearest to what was written there",
         share(*column("recalled"))),
        ("recalled_shift", f"recalled, places {each}: shift from training to test",
         length_of(*column("recalled_shift"))),
        ("recalled_accuracy", f"recalled, places {each}: training distinguished from test",
         share(*column("recalled_accuracy"))),
    )  # fmt: skip
    return tuple(
        Finding(what=what, paper=figure.words(name), ours=ours) for name, what, ours in rows
    )


def _over_networks(
    parts: Sequence[Sequence[float]], networks: str, *, scale: float, digits: int, unit: str
) -> str:
    """Mean and standard error of quantities over the networks, e.g. `0.01 ± 0.00; 0.5 ± 0.1`."""
    written = [
        text.over_networks([scale * value for value in values], digits=digits, unit=unit)
        for values in parts
    ]
    return f"{'; '.join(written)} ({networks})"


@in_style
def _draw_keys(row: Row, network: _Network, theme: Theme) -> Picture:
    """Panels (a), (b) and (c)."""
    components = _components(network)
    first = _followed(network)
    picture = Picture(figsize=(WIDTH, 2.75))
    panels = picture.subplots(1, 3)
    written, recalled = (
        [getattr(keys, part) for keys in (network.training, network.test)]
        for part in ("written", "recalled")
    )
    colors = _colors(first, written[0].shape[1], theme)
    heads = ("a  written, training", f"b  written, places 1–{first}", "c  read when seen again")
    contents = (written[:1], [keys[:, :first] for keys in written], recalled)
    for axes, head, sets in zip(panels, heads, contents, strict=True):
        _panel_keys(axes, components, sets, colors, theme)
        axes.set_title(head, fontsize=8.2, pad=6)
    for axes in panels[2:]:
        axes.sharex(panels[1])
        axes.sharey(panels[1])
    panels[0].set_ylabel(_label(components, 1))
    networks = f"seed {network.seed}, {text.budget(row)} of steps"
    subject = f"{row.claim.subject}, {row.claim.row}, {row.claim.column}: {networks}"
    picture.suptitle(subject, x=0.01, ha="left", fontsize=7.7, color=theme.muted)
    ink = theme.foreground
    legend(
        picture,
        {
            "training": Line2D([], [], color=ink, marker="o", markersize=3, linestyle=""),
            "test, withheld shapes": Line2D(
                [], [], color=ink, marker="D", markersize=5, linestyle="", markerfacecolor="none"
            ),
        },
        columns=2,
    )
    return picture


def _components(network: _Network) -> PrincipalComponents:
    """Of all keys written and recalled, of both sets."""
    points = [part.flatten(0, 1) for keys in (network.training, network.test) for part in keys]
    return principal_components(torch.cat(points))


def _colors(first: int, length: int, theme: Theme) -> list[str]:
    """A color for each place: the first ones as models have, the later ones growing faint."""
    late = length - first
    weights = np.linspace(0, 0.75, late)
    shades = np.outer(1 - weights, to_rgb(theme.muted)) + np.outer(
        weights, to_rgb(theme.background)
    )
    ramp = [to_hex((red, green, blue)) for red, green, blue in shades]
    return [*theme.models[:first], *ramp]


def _panel_keys(
    axes: Axes,
    components: PrincipalComponents,
    sets: Sequence[Tensor],
    colors: Sequence[str],
    theme: Theme,
) -> None:
    """Keys of one or two sets, a color for each place, a number at each mean."""
    axes.set_xlabel(_label(components, 0))
    places = sets[0].shape[1]
    for number, keys in enumerate(sets):
        spots = components.project(keys[:KEYS_DRAWN])
        for place in reversed(range(places)):
            x, y = spots[:, place].T.numpy()
            if number == 0:
                axes.scatter(x, y, s=9, color=colors[place], linewidths=0, alpha=0.75, zorder=3)
            else:
                axes.scatter(
                    x, y, s=26, marker="D", facecolors="none", edgecolors=colors[place],
                    linewidths=0.6, alpha=0.75, zorder=2.5,
                )  # fmt: skip
    halo = [withStroke(linewidth=1.6, foreground=theme.background)]
    for place in range(places):
        x, y = components.project(sets[0][:, place]).mean(0).tolist()
        followed = place < len(BESIDE)
        axes.annotate(
            str(place + 1), (x, y), BESIDE[place] if followed else (0, 0), fontsize=7.5,
            textcoords="offset points", color=colors[place] if followed else theme.foreground,
            ha="center", va="center", weight="bold", path_effects=halo, zorder=5,
        )  # fmt: skip
    axes.margins(0.12)


def _label(components: PrincipalComponents, axis: int) -> str:
    """Label of a component, with its share of the variance."""
    return f"component {axis + 1} ({100 * float(components.shares[axis]):.0f} % of variance)"
