"""Joint histograms of the responses of two channels, and their dependence over all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Picture

from farfield.analysis import Dependence, dependence, map_responses
from farfield.core import Size, check_fields, stream
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

COLUMNS: Final = 4
"""Panels side by side."""
SQUARES: Final = 48
"""Squares along each axis of a histogram."""
BINS: Final = 24
"""Bins of the values of a channel, for their mutual information."""
OUTSIDE: Final = 0.005
"""Share of the responses beyond each end of an axis."""

CAPTION: Final = (
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
            caption=CAPTION.format(
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
