"""Keys of an ESBN along their first two principal components, and their overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from torch import Tensor

from farfield.analysis import (
    KeyOverlap,
    Keys,
    PrincipalComponents,
    key_overlap,
    keys_of,
    principal_components,
)
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import TRAINING

BESIDE: Final = ((-7, 5), (3, 9), (8, -6))
"""Offset of the numbers of the first places from their means, points; those of later places are on
them."""

PROBLEMS: Final = 360
"""Most problems of a set that are looked at, so that both sets weigh alike."""
DRAWN: Final = 120
"""Most problems of a set that are drawn."""

CAPTION: Final = (
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
        networks = [_looked_into(row, record, store) for record in row.records]
        first, overlaps = networks[0], [key_overlap(one.training, one.test) for one in networks]
        problems, length, _ = first.training.written.shape
        return Plate(
            name="keys",
            title="Keys written and recalled",
            caption=CAPTION.format(
                seed=first.seed, problems=problems, first=_followed(first), length=length
            ),
            draw=partial(_draw, row, first),
            findings=_findings(figure, overlaps),
        )


def _looked_into(row: Row, record: Record, store: Store) -> _Network:
    """The keys of a run's network, on as many problems of both sets."""
    run, names = looked_into(row, record, store), (TRAINING, row.claim.regime)
    count = min(PROBLEMS, *(len(run.sets[name]) for name in names))
    training, test = (keys_of(run.network, run.sets[name][:count]) for name in names)
    return _Network(seed=record.seed, training=training, test=test)


def _followed(network: _Network) -> int:
    """Number of first places whose items are followed."""
    return network.training.recalled.shape[1]


def _findings(figure: Figure, overlaps: Sequence[KeyOverlap]) -> tuple[Finding, ...]:
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
def _draw(row: Row, network: _Network, theme: Theme) -> Picture:
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
        _panel(axes, components, sets, colors, theme)
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


def _panel(
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
        spots = components.project(keys[:DRAWN])
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
