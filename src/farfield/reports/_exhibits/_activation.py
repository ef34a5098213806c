"""Activity of the mechanisms of trained RIMs, and its difference between phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.figure import Figure as Picture
from torch import Tensor

from farfield.analysis import PhaseDifference, active_of, phase_difference
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

SEQUENCES: Final = 100
"""Sequences that are looked at."""

CAPTION: Final = (
    "Mechanisms over the steps of one sequence, seed {seed}: filled where active. Between the "
    "lines is the dormant phase. Differs: share of dormant steps whose active set occurs at no "
    "step of reading the symbols. Changes: share of dormant steps whose active set is not that of "
    "the step before. Both over {sequences} sequences of each network."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Network:
    """Activity of one trained network.

    Args:
        seed: Number of its run.
        active: Which mechanisms are active on the first sequence, `(time, mechanism)`.
        difference: Of the dormant phase from that of reading, over all sequences.
    """

    seed: int
    active: Tensor
    difference: PhaseDifference


@final
@dataclass(frozen=True, kw_only=True)
class ActivationOverTime:
    """Activity of the mechanisms of RIMs by step, and the difference of two phases.

    The quantities are named after the fields of `farfield.analysis.PhaseDifference`.

    Args:
        regime: Whose sequences are shown.
        reading: First step of the phase of reading, and the one after its last.
        dormant: The same of the dormant phase.
    """

    regime: str
    reading: tuple[int, int]
    dormant: tuple[int, int]

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The mechanisms of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        shown = [
            (row, [_network(row, record, self, store) for record in row.records])
            for row in report.rows
            if row.records
        ]
        if not shown:
            return None
        seed = shown[0][1][0].seed
        return Plate(
            name="activation",
            title="Which mechanisms are active",
            caption=CAPTION.format(seed=seed, sequences=SEQUENCES),
            draw=partial(
                _draw,
                [(row, networks[0]) for row, networks in shown],
                [row.claim.row for row in report.rows if not row.records],
                self,
            ),
            findings=tuple(
                finding for row, networks in shown for finding in _findings(figure, row, networks)
            ),
        )


def _network(row: Row, record: Record, analysis: ActivationOverTime, store: Store) -> _Network:
    run = looked_into(row, record, store)
    active = active_of(run.network, run.sets[analysis.regime][:SEQUENCES])
    first, second = (slice(*steps) for steps in (analysis.reading, analysis.dormant))
    return _Network(
        seed=record.seed,
        active=active[0],
        difference=phase_difference(active, first, second),
    )


def _findings(figure: Figure, row: Row, networks: Sequence[_Network]) -> tuple[Finding, ...]:
    """Both shares of a row, over its networks."""
    found = []
    for name, what in (
        ("differing", "dormant steps whose active set differs from all of reading"),
        ("changing", "dormant steps whose active set changes"),
    ):
        shares = [100 * getattr(network.difference, name) for network in networks]
        found.append(
            Finding(
                what=f"{row.claim.row}: {what}",
                paper=figure.words(name),
                ours=text.over_counted(shares),
            )
        )
    return tuple(found)


@in_style
def _draw(
    rows: Sequence[tuple[Row, _Network]],
    absent: Sequence[str],
    analysis: ActivationOverTime,
    theme: Theme,
) -> Picture:
    """A strip for each row: mechanisms against steps, with the phases named at the foot."""
    picture = Picture(figsize=(WIDTH, 0.6 + 0.85 * len(rows)))
    panels = picture.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (row, network) in zip(panels, rows, strict=True):
        steps, mechanisms = np.nonzero(network.active.numpy())
        axes.barh(
            mechanisms + 1, 1.0, left=steps + 0.5, height=0.72, color=theme.foreground, linewidth=0
        )
        for edge in analysis.dormant:
            axes.axvline(edge + 0.5, color=theme.models[0], linewidth=1.0)
        length, count = network.active.shape
        axes.set(xlim=(0.5, length + 0.5), ylim=(count + 0.6, 0.4), ylabel="mechanism")
        axes.set_yticks(range(1, count + 1))
        axes.yaxis.label.set(fontsize=7, color=theme.foreground)
        axes.set_title(f"{row.claim.row}, {text.budget(row)} of steps, seed {network.seed}")
    start, stop = analysis.dormant
    phases = (
        f"step: reading to {start}, dormant phase {start + 1}–{stop} (between the lines), "
        f"recall from {stop + 1}"
    )
    panels[-1].set_xlabel(phases + f"\nnot run: {', '.join(absent)}" * bool(absent))
    return picture
