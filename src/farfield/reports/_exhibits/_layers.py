"""Outputs of layers: singular values, nearest neighbors, pairs of channels, constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor

from farfield.analysis import representations_of
from farfield.analysis.internal import (
    ClassSpectra,
    class_spectra,
    dependence,
    divisive_activation,
    map_responses,
    nearest_neighbor_error,
    normalizer_scales,
)
from farfield.core import stream
from farfield.core.internal import NonNegativeFloat, Size
from farfield.records import Record
from farfield.reports._exhibits._exhibit import Evidence, Plate, exhibit, network_exhibit
from farfield.reports._exhibits._frames import Cells, Curve, Dots, Drawing, Panel, down, in_rows
from farfield.reports._profile._series import networks_note
from farfield.reports._profile._theme import FLOOR, LEGEND
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.tasks import TRAINING

LEAST: Final = 1e-3
"""Least singular value that is drawn, as a fraction of the largest."""
ACROSS: Final = 4
"""Number of histograms side by side."""
SQUARES: Final = 48
"""Number of squares along each axis of a histogram."""
BINS: Final = 24
"""Number of bins of the values of a channel, for mutual information."""
OUTSIDE: Final = 0.005
"""Share of the responses beyond each end of an axis."""
POINTS: Final = 301
"""Number of inputs that a curve is drawn through."""

SPECTRA: Final = (
    "Singular values of the representations of {regime} problems of one class, the largest first: "
    "mean over classes and networks. Others: all but the largest."
)
NEIGHBORS: Final = (
    "Error of the {k} nearest neighbors of {regime} problems among all training problems, by the "
    "outputs of the layer {layer}. Each dot is a network."
)
PAIRS: Final = (
    "Responses of two channels of the layer {layer}, drawn at random, at the same position: joint "
    "histogram over {samples:,} positions of {problems} {regime} images, a network of seed {seed}. "
    "Corr.: mean absolute correlation coefficient of all pairs of its channels. MI: their mean "
    "mutual information, nats, from joint histograms of {bins} quantiles a channel, less the bias "
    "that the number of samples adds (Miller 1955)."
)
CURVES: Final = (
    "Output of the first of two units that are normalized together, behind a ReLU, against its "
    "input. Left: the second unit has the input {fixed:g}. Right: it has others, at σ = {sigma:g}. "
    "Dashed: the ReLU alone."
)
CONSTANTS: Final = (
    "Each dot is a normalizer of a network of seed {seed}: the constant σ that it has learned "
    "against the mean absolute value of its inputs, over {problems} {regime} problems, and "
    "colored by its number from the first to the last. The rank correlation with depth is "
    "Spearman's, of σ and this number."
)


@network_exhibit
def flattening(evidence: Evidence, *, layers: tuple[tuple[str, str], ...], regime: str) -> Plate:
    """Measure the singular values of the representations of classes at some layers.

    A row's quantities have the name of its cells without the regime, the layer, and `largest` or
    `others`, e.g. `manifold-mixup/hidden.0/others`.

    Args:
        evidence: Classifiers.
        layers: Names of the layers in the network, each with its name in words.
        regime: Regime of the represented problems.
    """
    found = {row.name: _spectra(evidence, row, layers, regime) for row in evidence.run}
    findings = [
        evidence.finding(
            f"{row.claim.row}, {words}: {what}",
            f"{row.claim.cell.rpartition('/')[0]}/{layer}/{quantity}",
            text.over_counted(
                [float(getattr(one, quantity).mean()) for one in found[row.name][layer]],
                digits=2,
                unit="",
            ),
        )
        for row in evidence.run
        for layer, words in layers
        for quantity, what in (
            ("largest", "largest singular value"),
            ("others", "sum of the others"),
        )
    ]
    panels = list[Panel]()
    for layer, words in layers:
        means = [
            np.mean([one.values.mean(0).numpy() for one in found[row.name][layer]], axis=0)
            for row in evidence.run
        ]
        least = LEAST * max(values[0] for values in means)
        shown = [values[values >= least] for values in means]
        last = max(map(len, shown))
        panels.append(
            Panel(
                marks=tuple(
                    Curve(x=range(1, 1 + len(own)), y=own, color=number, name=row.claim.row)
                    for number, (row, own) in enumerate(zip(evidence.run, shown, strict=True))
                ),
                title=words,
                x_label="rank",
                x_ticks={rank: str(rank) for rank in (1, 3, 10, 30, 100, 300) if rank <= last},
                y_label="singular value" * (not panels),
                logarithmic="xy",
            )
        )
    counts = [len(row.records) for row in evidence.run]
    return Plate(
        name="flattening",
        title="Singular values of classes",
        caption=SPECTRA.format(regime=regime),
        draw=Drawing(
            rows=[panels],
            height=2.4 + LEGEND,
            note=f"mean over classes and networks; {evidence.steps}, {networks_note(counts)}",
            columns=len(evidence.run),
        ),
        findings=tuple(findings),
    )


def _spectra(
    evidence: Evidence, row: Row, layers: tuple[tuple[str, str], ...], regime: str
) -> dict[str, list[ClassSpectra]]:
    """Measure the spectra of the networks of a row, by layer."""
    found: dict[str, list[ClassSpectra]] = {layer: [] for layer, _ in layers}
    for record in row.records:
        run = evidence.looked_into(row, record)
        for layer, spectra in found.items():
            points = representations_of(run.network, run.sets[regime], layer)
            spectra.append(class_spectra(points, run.sets[regime].target))
    return found


@network_exhibit
def nearest_neighbors(evidence: Evidence, *, layer: str, regime: str, k: Size) -> Plate:
    """Measure the error of nearest neighbors on the outputs of a layer.

    The quantities have the names of the rows.

    Args:
        evidence: Classifiers.
        layer: Name of the layer.
        regime: Regime of the classified problems.
        k: Number of neighbors.
    """

    def error(row: Row, record: Record) -> float:
        run = evidence.looked_into(row, record)
        known, asked = run.sets[TRAINING], run.sets[regime]
        memory, points = (
            representations_of(run.network, problems, layer) for problems in (known, asked)
        )
        return 100 * nearest_neighbor_error(memory, known.target, points, asked.target, k=k)

    errors = {row.claim.row: [error(row, one) for one in row.records] for row in evidence.run}
    panel = Panel(
        marks=tuple(
            Dots(x=found, y=[line] * len(found), color=0, size=36)
            for line, found in enumerate(errors.values())
        ),
        y_ticks=dict(enumerate(errors)),
        y_limits=(len(errors) - 0.5, -0.5),
        x_limits=(0, None),
        x_label="error, %",
    )
    return Plate(
        name="nearest-neighbors",
        title="Nearest neighbors",
        caption=NEIGHBORS.format(k=k, regime=regime, layer=layer),
        draw=Drawing(rows=[[panel]], height=0.8 + 0.3 * len(errors)),
        findings=tuple(
            evidence.finding(f"{row}: error of nearest neighbors", row, text.over_counted(found))
            for row, found in errors.items()
        ),
    )


@network_exhibit
def response_pairs(
    evidence: Evidence, *, layer: str, regime: str, problems: Size = 500, samples: Size = 20_000
) -> Plate:
    """Measure the dependence of the channels of a layer.

    A row's quantities have its name, then `correlation` or `information`, e.g. `BN/information`.

    Args:
        evidence: Networks of images.
        layer: Name of a layer whose outputs are maps.
        regime: Regime of the images.
        problems: Number of images, the first ones.
        samples: Number of positions drawn from their maps.
    """

    def responses(row: Row, record: Record) -> Tensor:
        run = evidence.looked_into(row, record)
        source = stream(record.seed, "response pairs", "positions")
        return map_responses(run.network, run.sets[regime][:problems], layer, samples, source)

    panels, findings = [], []
    for row in evidence.run:
        found = [responses(row, record) for record in row.records]
        source = stream(row.records[0].seed, "response pairs", "channels")
        channels = source.numpy().choice(found[0].shape[1], 2, replace=False)
        measured = [dependence(own, bins=BINS) for own in found]
        for quantity, what in (("correlation", "Corr."), ("information", "MI")):
            values = [getattr(one, quantity) for one in measured]
            ours = text.over_counted(values, digits=2, unit="")
            name = row.claim.row
            findings.append(evidence.finding(f"{name}: {what}", f"{name}/{quantity}", ours))
        said = f"Corr. {measured[0].correlation:.2f}, MI {measured[0].information:.2f}"
        panels.append(_histogram(row.claim.row, said, found[0][:, channels].numpy()))
    return Plate(
        name="pairs",
        title="Responses of two channels",
        caption=PAIRS.format(
            layer=layer,
            samples=samples,
            bins=BINS,
            problems=problems,
            regime=regime,
            seed=evidence.seed,
        ),
        draw=Drawing(
            rows=in_rows([*panels, *[Panel(marks=(), frame="none")] * (-len(panels) % ACROSS)],
                         ACROSS),
            height=1.9 * down(len(panels), ACROSS),
        ),
        findings=tuple(findings),
    )  # fmt: skip


def _histogram(title: str, said: str, pairs: np.ndarray) -> Panel:
    """Count pairs of responses in squares."""
    (left, low), (right, high) = np.quantile(pairs, [OUTSIDE, 1 - OUTSIDE], axis=0).tolist()
    counts, *_ = np.histogram2d(
        pairs[:, 0], pairs[:, 1], bins=SQUARES, range=[(left, right), (low, high)]
    )
    tints = np.log1p(counts).T
    return Panel(
        marks=(Cells(tints={"foreground": tints / tints.max()}, plane=(left, right, low, high)),),
        title=title,
        x_label=said,
        frame="box",
    )


@exhibit
def activation_curves(
    evidence: Evidence,
    *,
    sigmas: tuple[NonNegativeFloat, ...] = (0.1, 0.5, 1.0, 2.0),
    fixed: float = 0.5,
    others: tuple[float, ...] = (-1.0, 0.0, 1.0, 2.0),
    sigma: NonNegativeFloat = 0.5,
) -> Plate:
    """Compute activation functions of divisive normalization of two units; nothing is trained.

    Args:
        evidence: Not used.
        sigmas: Constants of the left panel.
        fixed: Input of the second unit in the left panel.
        others: Inputs of the second unit in the right panel.
        sigma: Constant of the right panel.
    """
    del evidence
    left = [(f"σ = {one:g}", fixed, one) for one in sigmas]
    right = [(f"x₂ = {other:g}".replace("-", "−"), other, sigma) for other in others]
    return Plate(
        name="curves",
        title="Divisive normalization and a ReLU as an activation",
        caption=CURVES.format(fixed=fixed, sigma=sigma),
        draw=Drawing(rows=[[_activations(left, "output"), _activations(right, "")]], height=2.7),
        findings=(),
    )


def _activations(curves: Sequence[tuple[str, float, float]], label: str) -> Panel:
    """Lay out curves by their name, the input of the second unit and the constant."""
    x = torch.linspace(-2, 4, POINTS, dtype=torch.float64)
    marks = [Curve(x=x, y=x.relu(), color="muted", line=FLOOR, width=0.8)]
    for number, (name, other, sigma) in enumerate(curves):
        y = divisive_activation(x, torch.full_like(x, other), sigma)
        marks.append(Curve(x=x, y=y, color=number, end=name))
    return Panel(
        marks=tuple(marks),
        y_limits=(-0.05, 1.3),
        x_label="input of the first unit, x₁",
        y_label=label,
        gap=0.09,
    )


@network_exhibit
def constants_by_layer(evidence: Evidence, *, regime: str, problems: Size = 500) -> Plate:
    """Measure learned constants of normalizers against the scales of their inputs.

    A row's quantities have the name of its cells, then `depth` or `last`.

    Args:
        evidence: Networks with normalizers that have a constant.
        regime: Regime of the problems.
        problems: Number of problems, the first ones.
    """
    panels, findings = list[Panel](), []
    for row in evidence.run:
        runs = [evidence.looked_into(row, record) for record in row.records]
        scales = [normalizer_scales(run.network, run.sets[regime][:problems]) for run in runs]
        constants = [[scale.sigma for scale in own] for own in scales]
        name = f"{row.claim.row}, {row.claim.column}"
        for quantity, what, values in (
            ("depth", "rank correlation of σ with depth", [_with_depth(own) for own in constants]),
            ("last", "last σ over the largest", [own[-1] / max(own) for own in constants]),
        ):
            ours = text.over_counted(values, digits=2, unit="")
            cell = f"{row.claim.cell}/{quantity}"
            findings.append(evidence.finding(f"{name}: {what}", cell, ours))
        panels.append(
            Panel(
                marks=(
                    Dots(
                        x=[scale.input_scale for scale in scales[0]],
                        y=constants[0],
                        color=np.linspace(0.0, 1.0, len(constants[0])).tolist(),
                        size=16,
                    ),
                ),
                title=name,
                x_limits=(0, None),
                y_limits=(0, None),
                x_label="mean |x|",
                y_label="σ" * (not panels),
            )
        )
    return Plate(
        name="constants",
        title="Learned constants by layer",
        caption=CONSTANTS.format(seed=evidence.seed, problems=problems, regime=regime),
        draw=Drawing(
            rows=[panels],
            height=2.8,
            legend=(
                Dots(color=0.0, name="first normalizer"),
                Dots(color=0.5, name="halfway"),
                Dots(color=1.0, name="last normalizer"),
            ),
        ),
        findings=tuple(findings),
    )


def _with_depth(constants: Sequence[float]) -> float:
    """Measure the rank correlation of constants with their number."""
    from scipy.stats import spearmanr  # noqa: PLC0415 — a quarter of a second to import

    return float(spearmanr(range(len(constants)), constants).statistic)
