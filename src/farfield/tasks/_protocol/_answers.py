"""Bases of tasks with right answers: loss, score and outputs, candidates, and rules by hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems
from farfield.core.internal import LazyItems
from farfield.metrics import correct
from farfield.tasks._protocol._draws import DrawnSets
from farfield.tasks._protocol._task import Regime, check_regime


def check_outputs(outputs: Tensor, problems: Problems, num_outputs: int) -> None:
    """Raise `ValueError` if `outputs` is not of `(batch, num_outputs)`."""
    if tuple(outputs.shape) != (len(problems), num_outputs):
        raise ValueError(
            f"outputs must be of (batch, outputs) = ({len(problems)}, {num_outputs}), "
            f"got shape {tuple(outputs.shape)}"
        )


def check_sequence_outputs(outputs: Tensor, problems: Problems, num_outputs: int) -> None:
    """Raise `ValueError` if `outputs` is not of `(batch, time, num_outputs)`."""
    wanted = (*problems.index.shape, num_outputs)
    if tuple(outputs.shape) != wanted:
        raise ValueError(
            f"outputs must be of (batch, time, outputs) = {wanted}, got {tuple(outputs.shape)}"
        )


def binary_outputs(
    answer: Bool[Tensor, " batch"], num_outputs: int
) -> Float[Tensor, "batch candidate"]:
    """Return the outputs of a model that is sure of a yes (1) or no (0)."""
    logit = answer.to(torch.float32)[:, None] * 2 - 1
    return logit if num_outputs == 1 else torch.cat([-logit, logit], dim=1)


def target_outputs(problems: Problems, num_outputs: int) -> Float[Tensor, "batch candidate"]:
    """Return the outputs of a model that is sure of the published answers: 1 for them, −1 else."""
    return F.one_hot(problems.target, num_outputs).to(torch.float32) * 2 - 1


class AnswerTask(DrawnSets):
    """A task with a logit for each answer, or one for yes and no."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """Logits of one problem."""

    @property
    @abstractmethod
    def regimes(self) -> tuple[Regime, ...]:
        """Training first, then the test distributions."""

    def loss(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy: of one logit (positive: 1), or of a logit for each answer.

        Args:
            outputs: Logits, `num_outputs` of them per problem.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        check_outputs(outputs, problems, self.num_outputs)
        if self.num_outputs == 1:
            wanted = problems.target.to(outputs.dtype)
            return F.binary_cross_entropy_with_logits(outputs[:, 0], wanted, reduction="none")
        return F.cross_entropy(outputs, problems.target, reduction="none")

    def score(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Score 1 for a right answer, 0 for one that is wrong, a tie or not a number.

        Raises:
            ValueError: As `loss`.
        """
        check_outputs(outputs, problems, self.num_outputs)
        return correct(outputs, problems.target).to(torch.float32)

    def chance(self, regime: str) -> float:
        """Return the share of right answers by guessing, each answer as likely as any other."""
        check_regime(regime, self.regimes)
        return 1 / max(2, self.num_outputs)


class ClassTask(AnswerTask):
    """A task whose ceiling is the published labels."""

    def oracle(self, problems: Problems) -> Float[Tensor, "batch answer"]:
        """Return the published labels as outputs."""
        return target_outputs(problems, self.num_outputs)


_PART: Final = 10_000
"""Problems whose descriptions are processed together."""


class ChoiceTask(AnswerTask):
    """Base of tasks whose last positions are candidates."""

    @property
    @abstractmethod
    def num_candidates(self) -> int:
        """Number of candidates, at the last positions of a problem."""

    @property
    def num_outputs(self) -> int:
        """Number of candidates, each with a score."""
        return self.num_candidates


class DescribedChoice(ABC):
    """A task whose oracle is its rule, read off the descriptions of panels."""

    @staticmethod
    @abstractmethod
    def _fitting(panels: np.ndarray) -> np.ndarray:
        """Check whether each candidate fits, from descriptions `(batch, time, …)`."""

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """Return the outputs of the rule: 1 for candidates that fit, −1 else.

        Read off the descriptions of the panels, not off the answer or its latent description.

        Args:
            problems: Problems of any regime, as drawn.

        Raises:
            ValueError: If the panels are pictures already.
        """
        items = problems.items
        if not isinstance(items, LazyItems):
            raise ValueError(
                "problems must have the items they were drawn with, got a tensor: pictures do "
                "not show their descriptions"
            )
        parts = torch.split(problems.index.cpu(), _PART)
        fits = [torch.from_numpy(self._fitting(items.latent[part].numpy())) for part in parts]
        return torch.cat(fits).to(problems.index.device, torch.float32) * 2 - 1


_NEAREST = 32
"""Number of training points that a value is interpolated from."""


class OracleByHand(ABC):
    """A task whose oracle reads the items that networks see, and is its rule by hand."""

    @abstractmethod
    def oracle(self, problems: Problems) -> Tensor:
        """Return the outputs of the rule of the task, computed from the items."""

    def by_hand(self, problems: Problems, training: Problems) -> Tensor:  # noqa: ARG002
        """Return the outputs of the oracle.

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
    """Score classes by their means: minus the distance of an item to the mean of each class.

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
