"""Rules with pseudo-labels: FixMatch with one threshold, FreeMatch with one for each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Depth, Fraction, NonNegativeFloat, Size, joined
from farfield.functional.internal import (
    ClassStatistics,
    are_accepted,
    fairness,
    log_probabilities,
    pseudo_label_loss,
)
from farfield.objectives._augmentation import shift_and_flip
from farfield.objectives._consistency import check_logits
from farfield.objectives._objective import Bound, Tensors, Update
from farfield.objectives._pillow_operations import strong_views
from farfield.objectives._teachers import AveragedRule

SHIFT: Final = 8
"""Sides of an image are that many times the largest shift of weak views."""
STATISTICS: Final = ("mean confidence", "mean probabilities", "mean frequencies")
"""Names of the running statistics of `FreeMatch`; no parameter has blanks in its."""


@dataclass(frozen=True, kw_only=True)
class PseudoLabelRule(AveragedRule):
    """A learning rule that takes confident answers to weak views as labels of strong views.

    Args:
        weight: Weight of the loss of pseudo-labels.
        operations: Number of operations of a strong view.
        flip: Whether images are mirrored at random, left to right.

    Raises:
        ValueError: If a field is of another type, or a number out of range.
    """

    decay: Fraction | None = 0.999
    weight: NonNegativeFloat = 1.0
    operations: Depth = 2
    flip: bool = True

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start the running means of the weights, if there are any.

        Raises:
            ValueError: If answers are not one class each, or there is no problem to agree on.
        """
        state = super().start(network, sets, stream)
        shape = sets[TRAINING].target.shape
        if len(shape) != 1:
            raise ValueError(f"targets must be one class for each problem, got shape {(*shape,)}")
        return state

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw the weak views of both batches, and strong views of problems to agree on.

        Args:
            batches: Batches over images of `(item, color, height, width)`, of one color or three:
                bytes, or floating-point numbers of 0…1.
            stream: Source of the views.

        Raises:
            ValueError: If the items are no such images.
        """

        def weak(name: str, view: str) -> Tensor:
            problems, source = batches[name], stream.child(view)
            padding = min(problems.items.shape[-2:]) // SHIFT
            return shift_and_flip(problems, source, padding=padding, flip=self.flip, reflect=True)

        shown = weak(self.consistency, "strong")
        return {
            "labeled": weak(TRAINING, "labeled"),
            "weak": weak(self.consistency, "weak"),
            "strong": strong_views(
                shown, operations=self.operations, stream=stream.child("operations")
            ),
        }

    def answers(self, update: Update) -> tuple[Tensor, Tensor, Tensor]:
        """Answer all views as one batch, and compute the mean loss of labels.

        Returns:
            Loss, probabilities of weak views without gradient, and logarithms of the probabilities
            of strong views.

        Raises:
            ValueError: If the outputs are not logits of classes.
        """
        labeled, other = update.problems, update.batches[self.consistency]
        views = [labeled, other, other]
        names = ("labeled", "weak", "strong")
        shown = [
            view.with_items(update.draws[name]) for name, view in zip(names, views, strict=True)
        ]
        outputs = update.outputs(joined(shown))
        check_logits(outputs, labeled)
        first, weak, strong = outputs.split([len(view) for view in views])
        supervised = update.task_loss(first, labeled).mean()
        return supervised, log_probabilities(weak.detach()).exp(), log_probabilities(strong)


@final
@dataclass(frozen=True, kw_only=True)
class FixMatch(PseudoLabelRule):
    r"""The task's loss of weak views, whose confident answers are labels of strong views.

    $$L = \frac{1}{B} \sum_b \ell(f(a(x_b)), y_b) + \frac{w}{B'} \sum_b [\max_k p_{bk} \ge \tau]\,
      (-\log q_{b \hat y_b}), \qquad \hat y_b = \arg\max_k p_{bk}$$

    with $p_b = \sigma(f(a(u_b)))$ the probabilities of classes for a weak view, without gradient,
    $q_b = \sigma(f(A(u_b)))$ those for a strong view, and $u$ problems of the set `consistency`.
    All views of a step go through the network as one batch.

    Items are images of one color or three. A *weak* view is shifted by up to an eighth of its
    side, with mirrored borders, and mirrored left to right with probability ½ (`flip`). A *strong*
    view begins with another weak view. Then come `operations` of fourteen operations of Pillow,
    each with a strength drawn evenly: identity, auto-contrast, equalize; brightness, color,
    contrast and sharpness by factors of 0.05…0.95; posterize to 4…7 bits; solarize from a level of
    0…256; rotate by ±30 degrees; shear by ±0.3; translate by ±0.3 of the side. Last, a gray square
    of a side of up to half the width is cut out. The rule draws these views itself: `CropAndFlip`
    around it would change images twice.

    The network is scored with running means of weights. Choose a decay for which
    `decay ** steps` is below 0.1, or `warmup=True`; a run warns otherwise.

    Args:
        threshold: Least probability $\tau$ of an answer that becomes a label.
        weight: Weight $w$ of the loss of strong views.
        operations: Number of operations of a strong view: 2 in the paper, 3 in widespread code.
        flip: Whether images are mirrored; not for digits.
        decay: Decay of the running means that are scored, in 0…1; `None` to score the weights.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$.
        consistency: Name of the set without labels. Its batch is as large as that of the labels;
            published are seven times as many.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Sohn et al. 2020, section 2.
    """

    threshold: Fraction = 0.95

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss of labels, and the weighted mean loss of pseudo-labels.

        Raises:
            ValueError: If the outputs are not logits of classes.
        """
        supervised, weak, strong = self.answers(update)
        loss = supervised + self.weight * pseudo_label_loss(weak, strong, self.threshold).mean()
        return loss, self.average_buffers(update, update.state)


@final
@dataclass(frozen=True, kw_only=True)
class FreeMatch(PseudoLabelRule):
    r"""FixMatch with a threshold for each class that follows the answers, and a fairness term.

    $$\tau_k = \tau\, \tilde p_k / \max_j \tilde p_j, \qquad
      L = L_\text{FixMatch} + w_f \sum_k \nu(\tilde p / \tilde h)_k \log \nu(\bar p / \bar h)_k$$

    with $\tau$, $\tilde p$ and $\tilde h$ running means over the weak views of the set
    `consistency`: of the largest probability, of the probabilities, and of the histogram of the
    most probable classes. They begin at $1 / K$ for $K$ classes and take in a batch before it is
    judged. $\bar p$ and $\bar h$ are mean and histogram of the strong views of accepted rows, and
    $\nu$ divides by the sum. Views and other terms are as in `FixMatch`. The last term is the
    negative of a cross-entropy and is added, as in the released code.

    Args:
        num_outputs: Logits of a problem, `task.num_outputs`.
        momentum: Decay of the three running means, in 0…1.
        fairness: Weight $w_f$ of the fairness term.
        weight: Weight of the loss of strong views.
        operations: Number of operations of a strong view.
        flip: Whether images are mirrored; not for digits.
        decay: Decay of the running means of weights that are scored; `None` to score the weights.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$.
        consistency: Name of the set without labels.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Wang et al. 2023, section 3; the weight of the fairness term is that of the released
        settings for CIFAR-10.
    """

    num_outputs: Size
    momentum: Fraction = 0.999
    fairness: NonNegativeFloat = 0.001

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start the running means of weights, and of answers from equal classes.

        Raises:
            ValueError: If answers are not one class each, or there is no problem to agree on.
        """
        state = super().start(network, sets, stream)
        classes = max(2, self.num_outputs)
        like = next(t for t in network.tensors().values() if t.is_floating_point())
        even = torch.full((classes,), 1 / classes, dtype=like.dtype, device=like.device)
        means = dict(zip(STATISTICS, (even[0].clone(), even, even.clone()), strict=True))
        return {**state, **means}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the losses of labels and pseudo-labels, and the weighted fairness term.

        Raises:
            ValueError: If the outputs are not `num_outputs` logits of each problem.
        """
        supervised, weak, strong = self.answers(update)
        means = ClassStatistics(*(update.state[name] for name in STATISTICS))
        if weak.shape[-1] != len(means.probability):
            raise ValueError(
                f"num_outputs must be that of the network, {weak.shape[-1]}, got {self.num_outputs}"
            )
        means = means.updated(weak, self.momentum)
        thresholds = means.thresholds()
        accepted = are_accepted(weak, thresholds)
        loss = supervised + self.weight * pseudo_label_loss(weak, strong, thresholds).mean()
        loss = loss + self.fairness * fairness(strong, accepted, means)
        state = {**update.state, **dict(zip(STATISTICS, means, strict=True))}
        return loss, self.average_buffers(update, state)
