"""Routing within trained networks: paths, types, and reads between layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from torch import Tensor

from farfield._text import fixed
from farfield.analysis import clustering, tsne
from farfield.analysis.internal import Routing, layer_reads_of, path_similarity
from farfield.nn import MultiPass
from farfield.nn.internal import LayerRead
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, OneNetwork, Plate
from farfield.reports._exhibits._looked_into import looked_into, routings
from farfield.reports._profile._axes import LEGEND, WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

SHOWN: Final = 3
"""Samples whose paths are drawn."""
PATHS_SAMPLES: Final = 50
"""Samples whose paths are compared."""
WIDTHS: Final = (0.2, 4.0)
"""Widths in points of the lines that the fewest and the most elements follow."""
AREA: Final = 200.0
"""Of a dot with access to all elements, square points."""

PATHS_CAPTION: Final = (
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
        looked = routings(report, self.regime, PATHS_SAMPLES, store)
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
            caption=PATHS_CAPTION.format(
                row=row.claim.row, seed=row.records[0].seed, samples=PATHS_SAMPLES
            ),
            draw=partial(_draw_paths, row, found[0].compatibility[:, :SHOWN]),
            findings=(finding,),
        )


@in_style
def _draw_paths(
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
        _draw_path_panel(axes, shares[:, number], np.interp(flows[:, number], ends, WIDTHS), theme)
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


def _draw_path_panel(
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


TYPES_SAMPLES: Final = 12
"""Samples whose elements are drawn."""
DRAWN: Final = 3
"""Networks that are drawn, at most; all are measured."""
PANELS: Final = 4
"""Iterations that are drawn, at most: evenly spaced, the first and the last among them."""

TYPES_CAPTION: Final = (
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
        looked = routings(report, self.regime, TYPES_SAMPLES, store)
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
            caption=TYPES_CAPTION.format(
                row=row.claim.row,
                samples=TYPES_SAMPLES,
                seeds=" and ".join(str(record.seed) for record in row.records[:DRAWN]),
            )
            + (SCRIPTS if found[0].script.any() else ""),
            draw=partial(_draw_types, row, found[:DRAWN]),
            findings=findings,
        )


@in_style
def _draw_types(row: Row, found: Sequence[Routing], theme: Theme) -> Picture:
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


PROBLEMS: Final = 100
"""Problems over which attention is averaged, the first of the regime."""
DARK: Final = 0.6
"""Share of attention from which a number is in the color of the background."""

READS_CAPTION: Final = (
    "Attention of each layer that reads (rows) to the null element and to the layers of this pass "
    "and those before (columns) in percent: means over heads, positions and the first {problems} "
    "problems of each network. A layer reads its own output too."
)


class _Reads(NamedTuple):
    """Reads of the networks of a row.

    Attributes:
        row: The cell.
        readers: Pass and name of each layer that reads.
        written: The same of all that is read.
        shares: Attention of each network to the null element, then to each layer: (network,
            reader, entry).
    """

    row: Row
    readers: tuple[tuple[int, str], ...]
    written: tuple[tuple[int, str], ...]
    shares: torch.Tensor


@final
@dataclass(frozen=True, kw_only=True)
class LayerReads:
    """Layers that the neural function modules of each row read.

    The quantities are named by the row, e.g. `nfm-two-passes/above`: attention to layers above, in
    the passes before, of all that is read, where there are several; and `…/null`, that to the null
    element.

    Args:
        regime: Whose problems are shown.
    """

    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The attention in a panel for each row; `None` where none was run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        found = [each for row in report.run if (each := _reads(row, self.regime, store))]
        if not found:
            return None
        return Plate(
            name="reads",
            title="Which layers are read",
            caption=READS_CAPTION.format(problems=PROBLEMS),
            draw=partial(_draw_reads, found),
            findings=tuple(finding for each in found for finding in _findings(figure, each)),
        )


def _reads(row: Row, regime: str, store: Store) -> _Reads | None:
    """The reads of a row's networks; `None` if they do not read."""
    shares, reads = [], tuple[LayerRead, ...]()
    for record in row.records:
        looked = looked_into(row, record, store)
        if not any(isinstance(part, MultiPass) for part in looked.network.modules()):
            return None
        reads = layer_reads_of(looked.network, looked.sets[regime][:PROBLEMS])
        shares.append(_shares(reads))
    written = reads[-1].written
    return _Reads(row, tuple(read.reader for read in reads), written, torch.stack(shares))


def _shares(reads: Sequence[LayerRead]) -> torch.Tensor:
    """Mean attention (reader, entry); NaN where there was nothing to read yet."""
    found = torch.full((len(reads), len(reads[-1].written) + 1), torch.nan)
    for place, read in enumerate(reads):
        own = read.attention.flatten(0, -2).mean(0)
        found[place, : len(own)] = own
    return found


def _findings(figure: Figure, found: _Reads) -> list[Finding]:
    """Reads from above, and attention to the null element."""
    layers = [name for number, name in found.written if number == found.written[0][0]]
    above = torch.tensor(
        [
            [
                number < own[0] and layers.index(name) > layers.index(own[1])
                for number, name in found.written
            ]
            for own in found.readers
        ]
    )
    read = found.shares[..., 1:].nan_to_num()
    from_above = (read * above).sum((1, 2)) / read.sum((1, 2))
    name, row = found.row.claim.cell.partition("/")[0], found.row.claim.row
    parts = {
        "above": ("of what is read, from layers above in a pass before", from_above),
        "null": ("attention to the null element", found.shares[..., 0].mean(1)),
    }
    if not above.any():
        del parts["above"]
    return [
        Finding(
            what=f"{row}: {what}",
            paper=figure.words(f"{name}/{key}"),
            ours=text.over_counted([100 * float(value) for value in values]),
        )
        for key, (what, values) in parts.items()
    ]


@in_style
def _draw_reads(found: Sequence[_Reads], theme: Theme) -> Picture:
    """A panel for each row, one below the other."""
    heights = [1 + len(each.readers) for each in found]
    picture = Picture(figsize=(WIDTH, 0.5 + 0.27 * sum(heights)))
    panels = picture.subplots(len(found), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, each in zip(panels, found, strict=True):
        _draw_read_panel(axes, each, theme)
        axes.set_title(each.row.claim.row)
    picture.supxlabel("what is read")
    picture.supylabel("reader")
    return picture


def _draw_read_panel(axes: Axes, found: _Reads, theme: Theme) -> None:
    shares = found.shares.mean(0)
    colors = LinearSegmentedColormap.from_list("", [theme.background, theme.models[0]])
    axes.imshow(shares.numpy(), cmap=colors, vmin=0, vmax=1, aspect="auto")
    for place, entry in torch.nonzero(~shares.isnan()).tolist():
        share = float(shares[place, entry])
        ink = theme.background if share > DARK else theme.foreground
        axes.text(
            entry, place, f"{100 * share:.0f}", ha="center", va="center", fontsize=6.5, color=ink
        )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xticks(
        range(shares.shape[1]),
        ["null", *(f"{name}\npass {number}" for number, name in found.written)],
    )
    axes.set_yticks(
        range(len(shares)), [f"{name}, pass {number}" for number, name in found.readers]
    )
