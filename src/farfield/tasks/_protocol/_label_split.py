"""Split of problems: those with labels, those held out, and those without labels."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Int64

from farfield.core import Stream
from farfield.tasks._protocol._draws import permutation
from farfield.tasks._protocol._task import TRAINING, VALIDATION

UNLABELLED: Final = "unlabelled"
"""Name of the set of problems to learn from without their labels; it is no regime."""
NO_LABEL: Final = -1
"""Target of a problem without a label: the number of no class."""


def label_split(
    labels: Int64[np.ndarray, " item"],
    classes: int,
    place: Stream,
    *,
    labels_per_class: int | None,
    validation_per_class: int,
) -> dict[str, Int64[np.ndarray, " batch"]]:
    """Rows of three sets, as many of each class as of any other where there are so many.

    In random order, the first of each class are for validation and the next for training.
    Unlabelled are all that are not for validation, those for training among them. Those of fewer
    labels are so among those of more, and validation is the same.

    Args:
        labels: Class of each row.
        classes: Number of classes.
        place: Stream of the split.
        labels_per_class: Most training rows of each class; `None` for all.
        validation_per_class: Validation rows of each class.

    Raises:
        ValueError: If a class has no row for training.
    """
    counts = np.bincount(labels, minlength=classes)
    if (fewest := counts.min()) <= validation_per_class:
        raise ValueError(
            "validation_per_class must leave every class a training problem, "
            f"class {counts.argmin()} has {fewest}, got {validation_per_class}"
        )
    order = permutation(place.numpy(), len(labels))
    ranks = _ranks(labels[order], classes)
    most = len(labels) if labels_per_class is None else validation_per_class + labels_per_class
    return {
        TRAINING: order[(validation_per_class <= ranks) & (ranks < most)],
        VALIDATION: order[ranks < validation_per_class],
        UNLABELLED: order[validation_per_class <= ranks],
    }


def _ranks(labels: Int64[np.ndarray, " item"], classes: int) -> Int64[np.ndarray, " item"]:
    """Number of earlier rows of the same class."""
    ranks = np.empty_like(labels)
    for number in range(classes):
        own = np.flatnonzero(labels == number)
        ranks[own] = np.arange(len(own))
    return ranks
