"""Nearest neighbors as a reference: is the answer still in the items, and is it a hard shift?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from farfield.analysis.internal import Items, nearest_neighbor_error
from farfield.metrics.internal import first_crossings
from farfield.suites._profile._curves import Curve, Measured

NEIGHBORS: Final = 3
FOLDS: Final = 5
FEWEST_ITEMS: Final = 200
"""Least items of a reference; with fewer its numbers are noise."""
FEWEST_OF_CLASS: Final = 10
"""Least items of each class of a reference."""
MOST_ITEMS: Final = 1000
MOST_FEATURES: Final = 1024


def can_compare(measured: Measured) -> bool:
    """Check whether there are enough items, of classes, that neighbors can answer.

    Args:
        measured: Items and models.
    """
    y = measured.y
    return (
        measured.is_class
        and y.ndim == 1
        and isinstance(measured.x, np.ndarray)
        and measured.x.dtype.kind in "fiub"
        and len(y) >= FEWEST_ITEMS
        and np.unique(y, return_counts=True)[1].min() >= FEWEST_OF_CLASS
    )


def features_of(x: Any) -> NDArray[Any]:
    """Return the first items as rows of at most `MOST_FEATURES` numbers, evenly taken.

    Args:
        x: Items.
    """
    table = x[:MOST_ITEMS].reshape(min(len(x), MOST_ITEMS), -1)
    step = -(-table.shape[1] // MOST_FEATURES)
    return np.nan_to_num(table[:, ::step])


def compared_with_neighbors(
    curve: Curve,
    changed: Mapping[float, NDArray[Any]],
    at_failure: Any,
    measured: Measured,
    items: Items,
) -> dict[str, float]:
    """Compare a network with three nearest neighbors at its failure.

    `information` is the share of their skill that neighbors keep that saw the shift: near 0, no
    model could answer. `ratio` is the failure of the network over the failure of neighbors that did
    not see it: below 1, the network is worse than the simplest model. `displacement` is the
    distance by which items moved, over their distance to the nearest item of another class (both
    medians): below 1, a change breaks the network that is smaller than the gap between classes.

    Args:
        curve: The curve of the network.
        changed: Features of the items at each strength of the curve.
        at_failure: Items changed by the strength of the failure.
        measured: Items and models.
        items: Kind and axes of the items.
    """
    failed, plain = features_of(at_failure), changed[0.0]
    if any(one.shape != plain.shape for one in (failed, *changed.values())):
        return {}
    y, floor = torch.from_numpy(measured.y[: len(plain)]), measured.floor
    channel = features_of(_channels(items)[None])[0]

    def skill(known: NDArray[Any], asked: NDArray[Any]) -> float:
        memory, questions = (_in_units_of(known, rows, channel) for rows in (known, asked))
        return (_score(memory, questions, y) - floor) / (1 - floor)

    clean = skill(plain, plain)
    if clean <= 0.1:
        return {}
    kept = np.array([[skill(plain, changed[d]) / clean for d in curve.strengths]])
    theirs = float(first_crossings(np.array(curve.strengths), kept, 0.5)[0])
    notes = {"information": skill(failed, failed) / clean}
    if np.isfinite(theirs):
        notes["ratio"] = curve.failure.value / theirs
    before, after = (_in_units_of(plain, rows, channel) for rows in (plain, failed))
    gap = _gap(before, y)
    if gap > 0:
        notes["displacement"] = float(np.median((after - before).norm(dim=1))) / gap
    return notes


def _channels(items: Items) -> NDArray[np.int64]:
    """Return the number of the column, channel or feature of each number of an item.

    All pixels have number 0: their values have one unit.
    """
    numbers = np.zeros(items.shape, np.int64)
    for axis, name in enumerate(items.axes):
        if name in ("column", "channel", "feature") and items.kind != "images":
            np.moveaxis(numbers, axis, -1)[...] = np.arange(items.shape[axis])
    return numbers


def _in_units_of(known: NDArray[Any], rows: NDArray[Any], channel: NDArray[np.int64]) -> Tensor:
    """Return rows in standard deviations of each channel of the known rows."""
    variances = np.bincount(channel, known.var(0)) / np.bincount(channel).clip(1)
    spread = np.sqrt(variances)[channel]
    return torch.from_numpy(rows / np.where(spread > 1e-6, spread, 1.0)).double()


def _gap(rows: Tensor, y: Tensor) -> float:
    """Compute the median distance of a row to the nearest row of another class."""
    distances = torch.cdist(rows, rows)
    distances[y[:, None] == y] = torch.inf
    return float(np.median(distances.amin(1)))


def _score(known: Tensor, asked: Tensor, y: Tensor) -> float:
    """Score the vote of the nearest neighbors among the items of the other folds."""
    fold, wrong = torch.arange(len(y)) % FOLDS, 0.0
    for one in range(FOLDS):
        at, rest = fold == one, fold != one
        error = nearest_neighbor_error(known[rest], y[rest], asked[at], y[at], k=NEIGHBORS)
        wrong += error * int(at.sum())
    return 1 - wrong / len(y)
