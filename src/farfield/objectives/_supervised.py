"""Supervised learning, with smoothed labels too."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Checked, Fraction
from farfield.functional import label_smoothing
from farfield.objectives._consistency import check_classes, check_logits
from farfield.objectives._objective import Bound, Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class Supervised(Objective):
    r"""The mean of the task's loss over the batch.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $B$ the number of problems of the batch.
    """

    takes_embeddings: ClassVar[bool] = True

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss."""
        return update.task_loss(update.outputs(), update.problems).mean(), update.state


@final
@dataclass(frozen=True, kw_only=True)
class LabelSmoothing(Checked, Objective):
    r"""The task's loss for the right class, and a little of that for every class.

    $$L = \frac{1}{B} \sum_b (1 - s)\, \ell(f(x_b), y_b) + \frac{s}{K} \sum_k \ell(f(x_b), k)$$

    with $\ell$ the loss of the task, $f$ the model and $K$ classes: as many as the network gives
    logits, two for one logit of yes and no. It is a control for rules that mix labels. Answers that
    are not asked for stay so. The function is `farfield.functional.label_smoothing`.

    Args:
        smoothing: Weight $s$ of all classes, in 0…1.

    Raises:
        ValueError: If the weight is out of range.

    Reference:
        Szegedy et al. 2016, section 7.
    """

    smoothing: Fraction = 0.1

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Remember nothing; the answers are checked.

        Raises:
            ValueError: If answers are no classes.
        """
        del network, stream
        check_classes(sets, TRAINING)
        return {}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss of smoothed labels.

        Raises:
            ValueError: If the outputs are not logits of classes.
        """
        outputs, problems = update.outputs(), update.problems
        check_logits(outputs, problems)
        target, asked = problems.target, problems.asked

        def loss(outputs: Tensor, classes: Tensor) -> Tensor:
            answers = torch.where(asked, classes, target)
            return update.task_loss(outputs, dataclasses.replace(problems, target=answers))

        values = label_smoothing(
            outputs, target, smoothing=self.smoothing, loss=loss, reduction="none"
        )
        return values.mean(), update.state
