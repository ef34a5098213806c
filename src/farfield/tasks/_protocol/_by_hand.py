"""Rules by hand, which answer problems of a task without training."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems

_NEAREST = 32
"""Number of training points that a value is interpolated from."""


class OracleByHand(ABC):
    """A task whose oracle reads the items that networks see, and is its rule by hand."""

    @abstractmethod
    def oracle(self, problems: Problems) -> Tensor:
        """Outputs of the rule of the task, computed from the items."""

    def by_hand(self, problems: Problems, training: Problems) -> Tensor:  # noqa: ARG002
        """Outputs of the oracle.

        Args:
            problems: Items and their index; without targets.
            training: Not used.
        """
        return self.oracle(problems)


def nearest_class(
    items: Float[Tensor, "batch feature"],
    known: Float[Tensor, "item feature"],
    classes: Int64[Tensor, " item"],
    num_classes: int,
) -> Float[Tensor, "batch answer"]:
    """Outputs by the nearest class mean: minus the distance of an item to the mean of each class.

    Args:
        items: Items to classify.
        known: Training items.
        classes: Class of each training item.
        num_classes: Number of classes.
    """
    of_class = F.one_hot(classes, num_classes).to(known.dtype)
    means = of_class.T @ known / of_class.sum(0)[:, None]
    return -(items[:, None] - means).norm(dim=2)


def interpolate(
    points: Float[np.ndarray, "batch feature"],
    known: Float[np.ndarray, "item feature"],
    values: Float[np.ndarray, "item value"],
) -> Float[np.ndarray, "batch value"]:
    """Interpolate values by a plane through the nearest training points, by least squares.

    Args:
        points: Points to interpolate at.
        known: Training points.
        values: Values of each training point.
    """
    from scipy.spatial import KDTree  # noqa: PLC0415 — a tenth of a second to import

    nearest = KDTree(known).query(points, k=min(_NEAREST, len(known)))[1]
    offsets = known[nearest].astype(np.float64) - points[:, None]
    planes = np.concatenate([np.ones_like(offsets[..., :1]), offsets], axis=2)
    intercepts: Float[np.ndarray, "batch 1 value"]
    intercepts = np.linalg.pinv(planes)[:, :1] @ values[nearest]
    return intercepts[:, 0]
