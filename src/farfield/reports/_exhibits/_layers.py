"""Outputs of layers: singular values of classes, nearest neighbors, pairs of channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from farfield.analysis import representations_of
from farfield.analysis.internal import (
    ClassSpectra,
    Dependence,
    class_spectra,
    dependence,
    map_responses,
    nearest_neighbor_error,
)
from farfield.core import stream
from farfield.core.internal import Size, check_fields
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._profile._axes import LEGEND, WIDTH, legend, networks_note
from farfield.reports._profile._theme import Theme, in_style, label_powers
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING

LEAST: Final = 1e-3
"""Least singular value that is drawn, as a fraction of the largest."""

FLATTENING_CAPTION: Final = (
    "Singular values of the representations of {regime} problems of one class, the largest first: "
    "mean over classes and networks. Others: all but the largest."
)

Spectra = Mapping[str, list[ClassSpectra]]
"""Spectra of each network, by layer."""


@final
@dataclass(frozen=True, kw_only=True)
class Flattening:
    """Singular values of the representations of classes at some layers.

    A row's quantities have the name of its cells without the regime, the layer, and `largest` or
    `others`, e.g. `manifold-mixup/hidden.0/others`.

    Args:
        layers: Names of the layers in the network, each with its name in words.
        regime: Whose problems are represented.
    """

    layers: tuple[tuple[str, str], ...]
    regime: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The spectra of every row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If a network has no such layer.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        found = [(row, self._spectra(row, store)) for row in report.run]
        return Plate(
            name="flattening",
            title="Singular values of classes",
            caption=FLATTENING_CAPTION.format(regime=self.regime),
            draw=partial(
                draw_spectra,
                {row.claim.row: self._means(spectra) for row, spectra in found},
                _note(report.run),
            ),
            findings=tuple(
                finding
                for row, spectra in found
                for finding in self._findings(figure, row, spectra)
            ),
        )

    def _spectra(self, row: Row, store: Store) -> Spectra:
        """The spectra of the networks of a row."""
        found: dict[str, list[ClassSpectra]] = {layer: [] for layer, _ in self.layers}
        for record in row.records:
            run = looked_into(row, record, store)
            problems = run.sets[self.regime]
            for layer, spectra in found.items():
                points = representations_of(run.network, problems, layer)
                spectra.append(class_spectra(points, problems.target))
        return found

    def _means(self, spectra: Spectra) -> dict[str, np.ndarray]:
        """Mean over classes and networks of each singular value, by the layer in words."""
        return {
            words: np.mean([one.values.mean(0).numpy() for one in spectra[layer]], axis=0)
            for layer, words in self.layers
        }

    def _findings(self, figure: Figure, row: Row, spectra: Spectra) -> Iterator[Finding]:
        """The largest singular value and the sum of the others, mean over classes."""
        name = row.claim.cell.rpartition("/")[0]
        for layer, words in self.layers:
            for quantity, what, values in (
                ("largest", "largest singular value", [one.largest for one in spectra[layer]]),
                ("others", "sum of the others", [one.others for one in spectra[layer]]),
            ):
                yield Finding(
                    what=f"{row.claim.row}, {words}: {what}",
                    paper=figure.words(f"{name}/{layer}/{quantity}"),
                    ours=text.over_counted(
                        [float(one.mean()) for one in values], digits=2, unit=""
                    ),
                )


def _note(rows: Sequence[Row]) -> str:
    """Steps and networks behind the picture."""
    fractions = [row.judgement.fraction or 0.0 for row in rows]
    steps = text.shares(min(fractions), max(fractions))
    return f"mean over classes and networks; {steps} of steps, " + networks_note(
        [len(row.records) for row in rows]
    )


@in_style
def draw_spectra(rows: Mapping[str, Mapping[str, np.ndarray]], note: str, theme: Theme) -> Picture:
    """A panel for each layer, a line in it for each row.

    Args:
        rows: Singular values, the largest first, by row and layer.
        note: Steps and networks behind them.
        theme: Colors.
    """
    layers = list(next(iter(rows.values())))
    picture = Picture(figsize=(WIDTH, 2.4 + LEGEND))
    picture.suptitle(note, x=0.006, ha="left", fontsize=7, color=theme.muted)
    colors = dict(zip(rows, theme.models, strict=False))
    for axes, layer in zip(picture.subplots(1, len(layers), squeeze=False)[0], layers, strict=True):
        least = LEAST * max(own[layer][0] for own in rows.values())
        for name, color in colors.items():
            values = rows[name][layer][rows[name][layer] >= least]
            axes.loglog(range(1, 1 + len(values)), values, color=color, linewidth=1.2)
        label_powers(axes.yaxis)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        axes.xaxis.set_minor_formatter(StrMethodFormatter(""))
        axes.set_title(layer)
        axes.set_xlabel("rank")
    picture.axes[0].set_ylabel("singular value")
    marks = {name: Line2D([], [], color=color, linewidth=1.2) for name, color in colors.items()}
    legend(picture, marks, columns=len(marks))
    return picture


NEIGHBORS_CAPTION: Final = (
    "Error of the {k} nearest neighbors of {regime} problems among all training problems, by the "
    "outputs of the layer {layer}. Each dot is a network."
)


@final
@dataclass(frozen=True, kw_only=True)
class NearestNeighbors:
    """Error of nearest neighbors on the outputs of a layer.

    The quantities have the names of the rows.

    Args:
        layer: Name of the layer.
        regime: Whose problems are classified.
        k: Number of neighbors.

    Raises:
        ValueError: If a field is of another type, or the number is below 1.
    """

    layer: str
    regime: str
    k: Size

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The errors of every row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If a network has no such layer.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        errors = {row.claim.row: self._errors(row, store) for row in report.run}
        return Plate(
            name="nearest-neighbors",
            title="Nearest neighbors",
            caption=NEIGHBORS_CAPTION.format(k=self.k, regime=self.regime, layer=self.layer),
            draw=partial(draw_errors, errors),
            findings=tuple(
                Finding(
                    what=f"{row}: error of nearest neighbors",
                    paper=figure.words(row),
                    ours=text.over_counted([100 * error for error in found]),
                )
                for row, found in errors.items()
            ),
        )

    def _errors(self, row: Row, store: Store) -> list[float]:
        """The error of each network of a row."""
        return [self._error(row, record, store) for record in row.records]

    def _error(self, row: Row, record: Record, store: Store) -> float:
        run = looked_into(row, record, store)
        known, asked = run.sets[TRAINING], run.sets[self.regime]
        memory, points = (
            representations_of(run.network, problems, self.layer) for problems in (known, asked)
        )
        return nearest_neighbor_error(memory, known.target, points, asked.target, k=self.k)


@in_style
def draw_errors(errors: Mapping[str, Sequence[float]], theme: Theme) -> Picture:
    """A line of dots for each row.

    Args:
        errors: Error of each network, a fraction, by row.
        theme: Colors.
    """
    picture = Picture(figsize=(WIDTH, 0.8 + 0.3 * len(errors)))
    axes = picture.subplots()
    for place, found in enumerate(errors.values()):
        axes.plot(
            [100 * error for error in found], [place] * len(found), "o", color=theme.models[0]
        )
    axes.set_yticks(range(len(errors)), list(errors))
    axes.set_ylim(len(errors) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("error, %")
    return picture


COLUMNS: Final = 4
"""Panels side by side."""
SQUARES: Final = 48
"""Squares along each axis of a histogram."""
BINS: Final = 24
"""Bins of the values of a channel, for their mutual information."""
OUTSIDE: Final = 0.005
"""Share of the responses beyond each end of an axis."""

PAIRS_CAPTION: Final = (
    "Responses of two channels of the layer {layer}, drawn at random, at the same position: joint "
    "histogram over {samples:,} positions of {problems} {regime} images, a network of seed {seed}. "
    "Corr.: mean absolute correlation coefficient of all pairs of its channels. MI: their mean "
    "mutual information, nats, from joint histograms of {bins} quantiles a channel, less what the "
    "number of samples adds (Miller 1955)."
)


@final
@dataclass(frozen=True, kw_only=True)
class ResponsePairs:
    """Pairs of channels of a layer.

    A row's quantities have its name, then `correlation` or `information`, e.g. `BN/information`.

    Args:
        layer: Name of a layer that gives maps.
        regime: Whose problems are shown to the networks.
        problems: How many of them, the first ones.
        samples: Positions drawn from their maps.

    Raises:
        ValueError: If a field is of another type, or a number is below 1.
    """

    layer: str
    regime: str
    problems: Size = 500
    samples: Size = 20_000

    def __post_init__(self) -> None:
        check_fields(self)

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The responses of every row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            ValueError: If a network has no such layer, or it gives no maps or too few.
            StoreError: If a trained network is missing.
        """
        if store is None or not report.run:
            return None
        pairs: dict[str, tuple[np.ndarray, Dependence]] = {}
        findings: list[Finding] = []
        for row in report.run:
            responses = [self._responses(row, record, store) for record in row.records]
            place = stream(row.records[0].seed, "response pairs", "channels")
            channels = place.numpy().choice(responses[0].shape[1], 2, replace=False)
            both = [dependence(own, bins=BINS) for own in responses]
            pairs[row.claim.row] = responses[0][:, channels].numpy(), both[0]
            for quantity, what, values in (
                ("correlation", "Corr.", [one.correlation for one in both]),
                ("information", "MI", [one.information for one in both]),
            ):
                findings.append(
                    Finding(
                        what=f"{row.claim.row}: {what}",
                        paper=figure.words(f"{row.claim.row}/{quantity}"),
                        ours=text.over_counted(values, digits=2, unit=""),
                    )
                )
        seeds = sorted({row.records[0].seed for row in report.run})
        return Plate(
            name="pairs",
            title="Responses of two channels",
            caption=PAIRS_CAPTION.format(
                layer=self.layer,
                samples=self.samples,
                bins=BINS,
                problems=self.problems,
                regime=self.regime,
                seed=text.span(str(seeds[0]), str(seeds[-1])),
            ),
            draw=partial(draw_pairs, pairs),
            findings=tuple(findings),
        )

    def _responses(self, row: Row, record: Record, store: Store) -> torch.Tensor:
        """Responses of all channels, a row for each position."""
        run = looked_into(row, record, store)
        some = run.sets[self.regime][: self.problems]
        place = stream(record.seed, "response pairs", "positions")
        return map_responses(run.network, some, self.layer, self.samples, place)


@in_style
def draw_pairs(pairs: Mapping[str, tuple[np.ndarray, Dependence]], theme: Theme) -> Picture:
    """A panel for each row.

    Args:
        pairs: Responses of two channels, `(sample, 2)`, and the dependence of all, by row.
        theme: Colors.
    """
    height = -(-len(pairs) // COLUMNS)
    picture = Picture(figsize=(WIDTH, 1.9 * height))
    colors = LinearSegmentedColormap.from_list("counts", [theme.background, theme.foreground])
    panels = [*picture.subplots(height, COLUMNS, squeeze=False).flat]
    for axes in panels[len(pairs) :]:
        axes.set_axis_off()
    for axes, (name, (both, said)) in zip(panels, pairs.items(), strict=False):
        (left, bottom), (right, top) = np.quantile(both, [OUTSIDE, 1 - OUTSIDE], axis=0).tolist()
        sides = [(left, right), (bottom, top)]
        counts, *_ = np.histogram2d(both[:, 0], both[:, 1], bins=SQUARES, range=sides)
        axes.imshow(
            np.log1p(counts).T,
            origin="lower",
            extent=(left, right, bottom, top),
            aspect="auto",
            cmap=colors,
        )
        axes.set_title(name)
        axes.set_xlabel(f"Corr. {said.correlation:.2f}, MI {said.information:.2f}")
        axes.set_xticks([])
        axes.set_yticks([])
    return picture
