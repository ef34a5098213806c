"""Base of tasks of a choice among candidates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import LazyItems, Problems
from farfield.metrics import correct
from farfield.tasks._protocol._answer_task import AnswerTask
from farfield.tasks._protocol._answers import check_outputs

_PART: Final = 10_000
"""Problems whose descriptions are processed together."""


class ChoiceTask(AnswerTask):
    """Base of tasks whose last positions are candidates."""

    @property
    @abstractmethod
    def num_candidates(self) -> int:
        """Number of candidates, at the last places of a problem."""

    @property
    def num_outputs(self) -> int:
        """A score for each candidate."""
        return self.num_candidates

    def score(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """1 where the right candidate scores higher than every other one, 0 where not.

        A tie is wrong: a model that scores all candidates alike has not chosen the first.

        Args:
            outputs: A score for each candidate.
            problems: The problems they answer.
        """
        return choice_score(outputs, problems, self.num_outputs)


def choice_score(
    outputs: Float[Tensor, "batch candidate"], problems: Problems, num_candidates: int
) -> Float[Tensor, " batch"]:
    """1 where the right candidate scores higher than every other one, 0 where not.

    A tie is wrong: a model that scores all candidates alike has not chosen the first.

    Args:
        outputs: A score for each candidate.
        problems: The problems they answer.
        num_candidates: Number of candidates of a problem.

    Raises:
        ValueError: If `outputs` is not of `(batch, num_candidates)`.
    """
    check_outputs(outputs, problems, num_candidates)
    return correct(outputs, problems.target).to(torch.float32)


def described_outputs(
    problems: Problems, fitting: Callable[[np.ndarray], np.ndarray]
) -> Float[Tensor, "batch candidate"]:
    """The outputs of a rule on the descriptions of panels: 1 where a candidate fits, −1 else.

    Args:
        problems: Problems with the items they were drawn with.
        fitting: From the descriptions of the panels of a few problems, `(batch, time, …)`, to
            whether each candidate fits, `(batch, candidate)`.

    Raises:
        ValueError: If the panels are pictures already.
    """
    items = problems.items
    if not isinstance(items, LazyItems):
        raise ValueError(
            "problems must have the items they were drawn with, got a tensor: pictures do "
            "not say what they were drawn from"
        )
    parts = torch.split(problems.index.cpu(), _PART)
    fits = torch.from_numpy(np.concatenate([fitting(items.latent[p].numpy()) for p in parts]))
    return fits.to(problems.index.device, torch.float32) * 2 - 1
