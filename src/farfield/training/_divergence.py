"""Networks whose loss is not finite: the first such step, and the mark in their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.records import DIVERGED, Score
from farfield.tasks import TRAINING


def not_finite_since(
    before: Int64[Tensor, " seed"], losses: Float[Tensor, " seed"], step: int
) -> Int64[Tensor, " seed"]:
    """First step of the losses that are not finite, 0 where they are.

    On the device of the losses, and without waiting for it.

    Args:
        before: What this gave at the step before; zeros at first.
        losses: Loss of each network at this step.
        step: Number of the step, counted from 1.
    """
    before = before.to(losses.device)
    since = torch.where(before > 0, before, step)
    return torch.where(losses.isfinite(), 0, since)


def mark(scores: list[Score], since: int, steps: int) -> None:
    """Mark the scores of a finished network that diverged.

    It did if its loss on training problems is not finite after the last step. A loss that was
    infinite on the way, or on the last batch alone, is not a divergence.

    Args:
        scores: Of one network, all of them; added to in place.
        since: From `not_finite_since` at the last step.
        steps: Number of the last step.
    """
    if not _all_finite(scores, steps):
        point = Score(step=since or steps, regime=TRAINING, metric=DIVERGED, value=1.0, count=1)
        scores.append(point)


def _all_finite(scores: Sequence[Score], step: int) -> bool:
    """True if the scores and losses on training problems are finite at a step."""
    last = [score.value for score in scores if (score.step, score.regime) == (step, TRAINING)]
    return all(map(math.isfinite, last))
