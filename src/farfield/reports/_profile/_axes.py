"""Shared parts of pictures: sizes, axes, titles, legends, and a color for each model."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import measure_of
from farfield.reports._profile._panels import DASHES, MARKERS, Series
from farfield.reports._profile._theme import CEILING, FLOOR, Theme, label_powers
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.reproductions import TABLES

WIDTH: Final = 7.0
"""Width of a figure over both columns of a paper, inches."""
LONGEST_NAME: Final = 26
"""Characters of a name at the end of a line where two panels are side by side, at most."""
LEGEND: Final = 0.24
"""Height of the line at the foot that says what the markers are, inches."""


def distances(rows: Iterable[Row]) -> int:
    """Number of distances of the rows.

    Args:
        rows: Some cells.
    """
    return len({row.distance for row in rows})


def shared_suffix(rows: Sequence[Row]) -> str:
    """Common suffix of all rows after the model's name, e.g. ` + TCN`; empty if they differ.

    Args:
        rows: Some cells.
    """
    suffixes = {row.claim.row.partition(" + ")[2] for row in rows}
    only = suffixes.pop()
    return f" + {only}" if only and not suffixes else ""


def series_of(rows: Sequence[Row], theme: Theme, shared: str) -> list[Series]:
    """The models of a panel: a color for each model, a line for each variant of it.

    Models beyond the theme's colors have the first colors again, with the next line.

    Args:
        rows: The cells of the panel.
        theme: Colors.
        shared: What is left off the labels, from `shared_suffix`.
    """
    by_row: dict[str, list[Row]] = {}
    for row in rows:
        by_row.setdefault(row.claim.row, []).append(row)
    variants: dict[str, list[str]] = {}
    for label in by_row:
        variants.setdefault(_model(label), []).append(label)
    models, markers = _models(rows), [*MARKERS]
    states = states_of(rows)
    series: list[Series] = []
    for label, cells in by_row.items():
        again, color = divmod(models.index(_model(label)), len(theme.models))
        line = variants[_model(label)].index(label) + again
        series.append(
            Series(
                label=label.removesuffix(shared) + states[label],
                color=theme.models[color],
                dashes=DASHES[line % len(DASHES)],
                marker=markers[line % len(markers)],
                rows=tuple(sorted(cells, key=lambda row: row.distance)),
            )
        )
    return series


def abreast(labels: Iterable[str]) -> int:
    """Number of panels that fit side by side, with names at their lines.

    Args:
        labels: The names.
    """
    return 2 if max(map(len, labels), default=0) <= LONGEST_NAME else 1


def states_of(rows: Sequence[Row]) -> dict[str, str]:
    """Steps and networks of each row where those of a panel differ, e.g. ` (0.4 %, n = 3)`.

    Args:
        rows: The cells of the panel.
    """
    steps: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {}
    for row in rows:
        own = steps.setdefault(row.claim.row, []), counts.setdefault(row.claim.row, [])
        if row.judgement.fraction is not None:
            own[0].append(row.judgement.fraction)
            own[1].append(len(row.records))
    run = [label for label, found in steps.items() if found]
    said = {
        label: [
            text.shares(min(steps[label]), max(steps[label])),
            f"n = {text.span(str(min(counts[label])), str(max(counts[label])))}",
        ]
        for label in run
    }
    telling = [len({said[label][part] for label in run}) > 1 for part in (0, 1)]
    parts = {label: list(itertools.compress(said[label], telling)) for label in run}
    return {label: f" ({', '.join(parts[label])})" if parts.get(label) else "" for label in steps}


def _models(rows: Sequence[Row]) -> list[str]:
    """The models of the rows' whole tables, so that one keeps its color in every picture."""
    whole = [
        claim.row
        for home in dict.fromkeys(row.claim.home for row in rows if row.claim.home in TABLES)
        for claim in TABLES[home].claims
    ]
    labels = [*whole, *(row.claim.row for row in rows)]
    return list(dict.fromkeys(map(_model, labels)))


def _model(label: str) -> str:
    """The model of a row: the first word of its name, as in `RIMs, all active`."""
    return label.partition(" ")[0].rstrip(",")


def is_by_column(rows: Collection[Row]) -> bool:
    """True if cells are on no common axis: several of a row at one distance, or of several units.

    Args:
        rows: Some cells.
    """
    places = [(row.claim.row, row.distance) for row in rows]
    units = {row.unit for row in rows if row.distance}
    return distances(rows) > 1 and (len(set(places)) < len(places) or len(units) > 1)


def score_label(row: Row) -> str:
    """Label of an axis of scores, with its unit.

    Args:
        row: One of the cells.
    """
    measure = measure_of(row.claim.metric)
    return f"{measure.label} (%)" if measure.percent else measure.label


def frame(
    axes: Axes,
    rows: Sequence[Row],
    theme: Theme,
    lowest: float,
    highest: float | None = None,
    *,
    across: bool = False,
) -> None:
    """Axes of scores, and the lines of floor and ceiling.

    Args:
        axes: Where to draw.
        rows: The cells of the panel.
        theme: Colors.
        lowest: Where the axis starts; that of an error goes by its logarithm unless this is 0.
        highest: Where the axis of an error ends.
        across: Whether scores go across, not upward.
    """
    scale = rows[0].claim.published.scale
    limit, line = (axes.set_xlim, axes.axvline) if across else (axes.set_ylim, axes.axhline)
    is_error = measure_of(rows[0].claim.metric).lower_is_better
    by_logarithm = is_error and lowest > 0
    if by_logarithm:
        (axes.set_xscale if across else axes.set_yscale)("log")
        label_powers(axes.xaxis if across else axes.yaxis)
    if is_error:
        limit(lowest, highest)
    else:
        limit(lowest, 1.035 * scale)
        ticks = [share * scale for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
        kept = [tick for tick in ticks if tick > lowest]
        (axes.set_xticks if across else axes.set_yticks)(kept)
    apart = distances(rows) > 1
    if not apart or len({row.floor for row in rows}) == 1:
        draw_floors(line, rows, theme)
    levels = {row.ceiling for row in rows if row.ceiling > 0 or not by_logarithm}
    for level in levels if not apart or len({row.ceiling for row in rows}) == 1 else ():
        line(level, color=theme.muted, linewidth=0.8, linestyle=CEILING, zorder=1)


def errors_of(rows: Sequence[Row]) -> np.ndarray | None:
    """Lengths of the interval below and above the mean of each row; `None` where no row has one.

    Args:
        rows: The rows, each with a mean.
    """
    found = [(mean_and_standard_error(row.values).mean, row.interval) for row in rows]
    if not any(interval for _, interval in found):
        return None
    ends = [(mean - one.low, one.high - mean) if one else (0.0, 0.0) for mean, one in found]
    return np.array(ends).T


def draw_floors(line: Callable[..., object], rows: Iterable[Row], theme: Theme) -> None:
    """The lines of answers that ignore the problem.

    Args:
        line: Draws one at a score: `axhline` of some axes, or `axvline`.
        rows: The cells of the panel.
        theme: Colors.
    """
    for level in {row.floor for row in rows}:
        line(level, color=theme.muted, linewidth=0.8, linestyle=FLOOR, zorder=1)


def floor_mark(theme: Theme) -> dict[str, Line2D]:
    """Entries of a legend for the lines of `draw_floors`.

    Args:
        theme: Colors.
    """
    return {
        "floor (chance)": Line2D([], [], color=theme.muted, linewidth=0.8, linestyle=FLOOR),
    }


def networks_note(counts: Collection[int], absent: Sequence[str] = ()) -> str:
    """Networks behind the rows of a panel, and the rows without any.

    Args:
        counts: Networks of each row that was run.
        absent: Names of the rows that were not.
    """
    note = text.networks(min(counts), max(counts)) + " each" * (len(counts) > 1)
    missing = absent[0] if len(absent) == 1 else f"{len(absent)} rows"
    return f"{note}; not run: {missing}" if absent else note


def title(
    axes: Axes,
    subject: str,
    rows: Sequence[Row],
    shared: str,
    theme: Theme,
    *,
    narrow: bool = False,
    note: str = "",
) -> None:
    """The panel's name, and beneath it what all of the panel has in common.

    Args:
        axes: Of the panel.
        subject: Its name.
        rows: Its cells.
        shared: What all of them have after their model's name, from `shared_suffix`.
        theme: Colors.
        narrow: Whether four panels stand side by side.
        note: What else to say beneath it.
    """
    fractions = [row.judgement.fraction for row in rows if row.judgement.fraction is not None]
    columns = {row.claim.column for row in rows}
    parts = [*columns] if distances(rows) == 1 and len(columns) == 1 else []
    parts += [shared.removeprefix(" + ")] if shared else []
    parts += [f"{text.shares(min(fractions), max(fractions))} of steps"] if fractions else []
    parts += [note] if note else []
    size, letters = (7.1, 27) if narrow else (8.2, 1_000)
    lines = textwrap.wrap(", ".join(parts).replace(" %", "\N{NO-BREAK SPACE}%"), letters)
    beneath = "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")
    pad = 16 + 1.2 * 0.94 * size * max(len(lines) - 1, 0)
    axes.set_title(textwrap.fill(subject, letters, break_long_words=False), fontsize=size, pad=pad)
    axes.annotate(
        beneath, (0, 1), (0, 5), "axes fraction", textcoords="offset points",
        fontsize=0.94 * size, color=theme.muted, va="bottom",
    )  # fmt: skip


def legend(figure: Figure, handles: Mapping[str, Artist | Container], columns: int) -> None:
    """Legend at the foot of a figure.

    Args:
        figure: The figure.
        handles: A mark by what it stands for.
        columns: Marks in a line.
    """
    # matplotlib's stub leaves containers (of bars, of error bars) out, which a legend does draw.
    figure.legend(  # type: ignore[call-overload]
        [*handles.values()], [*handles], loc="outside lower center", ncols=columns,
    )  # fmt: skip
