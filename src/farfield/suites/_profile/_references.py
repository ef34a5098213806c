"""Nearest neighbors as a reference: is the answer still in the items, and is it a hard shift?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farfield.analysis import Shift
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


def compared_with_neighbors(
    curve: Curve, shift: Shift, at_failure: Any, measured: Measured
) -> dict[str, float]:
    """Compare a network with three nearest neighbors at its failure.

    `information` is the share of their skill that neighbors keep that saw the shift: near 0, no
    model could answer. `ratio` is the failure of the network over the failure of neighbors that did
    not see it: below 1, the network is worse than the simplest model.

    Args:
        curve: The curve of the network.
        shift: The shift.
        at_failure: Items changed by the strength of the failure.
        measured: Items and models.
    """
    count = min(len(measured.x), MOST_ITEMS)
    x, y = measured.x[:count], measured.y[:count]
    plain = _features(x)
    changed = {d: _features(shift(measured.x, d, measured.seed)[:count]) for d in curve.strengths}
    if any(one.shape != plain.shape for one in changed.values()):
        return {}
    floor = measured.floor
    clean = _score(plain, plain, y)
    if clean - floor <= 0.1 * (1 - floor):
        return {}
    failed = _features(at_failure[:count])
    skill = np.array([[(_score(plain, changed[d], y) - floor) / (clean - floor)
                       for d in curve.strengths]])  # fmt: skip
    theirs = float(first_crossings(np.array(curve.strengths), skill, 0.5)[0])
    notes = {"information": (_score(failed, failed, y) - floor) / (clean - floor)}
    if np.isfinite(theirs):
        notes["ratio"] = curve.failure.value / theirs
    return notes


def _features(x: Any) -> NDArray[np.float64]:
    """Return items as rows of at most `MOST_FEATURES` numbers, evenly taken."""
    table = x.reshape(len(x), -1).astype(np.float64)
    step = -(-table.shape[1] // MOST_FEATURES)
    return np.nan_to_num(table[:, ::step])


def _score(known: NDArray[np.float64], asked: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Score the vote of the nearest neighbors among the items of the other folds."""
    fold = np.arange(len(y)) % FOLDS
    middle, spread = known.mean(0), known.std(0)
    scale = np.where(spread > 1e-6, spread, 1.0)
    known, asked = (known - middle) / scale, (asked - middle) / scale
    squares = (asked**2).sum(1)[:, None] + (known**2).sum(1) - 2 * asked @ known.T
    squares[fold[:, None] == fold] = np.inf
    near = y[np.argpartition(squares, NEIGHBORS, 1)[:, :NEIGHBORS]]
    first, second, third = near.T
    vote = np.where(second == third, second, first)
    return float((vote == y).mean())
