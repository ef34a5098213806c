"""Rows as series of a picture: color, line and marker of each model, and words on all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import measure_of
from farfield.reports._profile._theme import Theme
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.reproductions import TABLES

Dashes = str | tuple[float, tuple[float, ...]]

DASHES: Final[tuple[Dashes, ...]] = (
    "-",
    (0, (3.5, 1.8)),
    (0, (1, 1.4)),
    (0, (5, 1.4, 1, 1.4)),
    (0, (5, 1.4, 1, 1.4, 1, 1.4)),
    (0, (8, 2.4)),
    (0, (8, 1.4, 3, 1.4)),
    (0, (1, 3.2)),
)
"""Lines of the variants of one model (with and without normalization), in the table's order."""
MARKERS: Final = {
    "o": "●", "s": "■", "^": "▲", "v": "▼", "D": "◆", "P": "✚", "X": "✖", "*": "★"
}  # fmt: skip
"""Markers of the variants of one model in the table's order, and the sign of each in a text."""
FEWEST: Final = 3
"""Least networks for an interval of the mean; of two, it would cover the whole axis."""
GOLDEN: Final = (math.sqrt(5) - 1) / 2
"""Golden ratio: its multiples spread dots so that few cover each other."""
LONGEST_NAME: Final = 26
"""Characters of a name at the end of a line where two panels are side by side, at most."""


@final
@dataclass(frozen=True, kw_only=True)
class Series:
    """One model in one panel.

    Args:
        label: Name in the panel.
        color: Its color.
        dashes: Its line.
        marker: Its marker, filled for ours and open for the published.
        rows: Its cells, by growing distance.
    """

    label: str
    color: str
    dashes: Dashes
    marker: str
    rows: tuple[Row, ...]

    @property
    def marked(self) -> str:
        """Label behind the marker."""
        return f"{MARKERS[self.marker]} {self.label}"


def distances(rows: Iterable[Row]) -> int:
    """Compute the number of distances of the rows.

    Args:
        rows: Some cells.
    """
    return len({row.distance for row in rows})


def shared_suffix(rows: Sequence[Row]) -> str:
    """Find the common suffix of all rows after the model's name, e.g. ` + TCN`, or no text.

    Args:
        rows: Some cells.
    """
    suffixes = {row.claim.row.partition(" + ")[2] for row in rows}
    only = suffixes.pop()
    return f" + {only}" if only and not suffixes else ""


def series_of(rows: Sequence[Row], theme: Theme, shared: str) -> list[Series]:
    """Return the models of a panel: a color for each model, a line for each variant of it.

    Models beyond the theme's colors have the first colors again, with the next line.

    Args:
        rows: The cells of the panel.
        shared: Suffix left off the labels, from `shared_suffix`.
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
    """Compute the number of panels that fit side by side, with names at their lines.

    Args:
        labels: The names.
    """
    return 2 if max(map(len, labels), default=0) <= LONGEST_NAME else 1


def states_of(rows: Sequence[Row]) -> dict[str, str]:
    """Format steps and networks of each row where rows of a panel differ, e.g. ` (0.4 %, n = 3)`.

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
    """Return the models of the rows' whole tables, so that one keeps its color in every picture."""
    whole = [
        claim.row
        for home in dict.fromkeys(row.claim.home for row in rows if row.claim.home in TABLES)
        for claim in TABLES[home].claims
    ]
    labels = [*whole, *(row.claim.row for row in rows)]
    return list(dict.fromkeys(map(_model, labels)))


def _model(label: str) -> str:
    """Build the model of a row: the first word of its name, as in `RIMs, all active`."""
    return label.partition(" ")[0].rstrip(",")


def is_by_column(rows: Collection[Row]) -> bool:
    """Tell if cells are on no common axis: several of a row at one distance, or of several units.

    Args:
        rows: Some cells.
    """
    places = [(row.claim.row, row.distance) for row in rows]
    units = {row.unit for row in rows if row.distance}
    return distances(rows) > 1 and (len(set(places)) < len(places) or len(units) > 1)


def score_label(row: Row) -> str:
    """Format the label of an axis of scores, with its unit.

    Args:
        row: One of the cells.
    """
    measure = measure_of(row.claim.metric)
    return f"{measure.label} (%)" if measure.percent else measure.label


def errors_of(rows: Sequence[Row]) -> np.ndarray | None:
    """Return lengths of the interval below and above the mean of each row; `None` without any.

    Args:
        rows: The rows, each with a mean.
    """
    found = [(mean_and_standard_error(row.values).mean, row.interval) for row in rows]
    if not any(interval for _, interval in found):
        return None
    ends = [(mean - one.low, one.high - mean) if one else (0.0, 0.0) for mean, one in found]
    return np.array(ends).T


def networks_note(counts: Collection[int], absent: Sequence[str] = ()) -> str:
    """Format the networks behind the rows of a panel, and the rows without any.

    Args:
        counts: Networks of each row that was run.
        absent: Names of the rows that were not.
    """
    note = text.networks(min(counts), max(counts)) + " each" * (len(counts) > 1)
    missing = absent[0] if len(absent) == 1 else f"{len(absent)} rows"
    return f"{note}; not run: {missing}" if absent else note


def subtitle(rows: Sequence[Row], shared: str, note: str = "") -> str:
    """Write the common settings of all cells of a panel: column, encoder, steps and a note.

    Args:
        rows: The cells.
        shared: Common suffix of the rows, from `shared_suffix`.
        note: Further words.
    """
    columns = {row.claim.column for row in rows}
    parts = [*columns] if distances(rows) == 1 and len(columns) == 1 else []
    parts += [shared.removeprefix(" + ")] if shared else []
    run = [row for row in rows if row.judgement.fraction is not None]
    return ", ".join([*parts, *([text.steps(run)] if run else []), *([note] if note else [])])
