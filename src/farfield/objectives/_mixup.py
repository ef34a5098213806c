"""Mixup: supervised learning between pairs of problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from torch import Tensor

from farfield.core import TRAINING, PositiveFloat, Problems, Stream, check_fields
from farfield.objectives._mixing import mixed_loss
from farfield.objectives._mixing_layers import INPUT
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._pairs import draw_pairs


@final
@dataclass(frozen=True, kw_only=True)
class Mixup(Objective):
    r"""The task's loss on mixtures of pairs of problems, weighed as their items are.

    $$L = \frac{1}{B} \sum_b \lambda\, \ell(f(\tilde x_b), y_b)
      + (1 - \lambda)\, \ell(f(\tilde x_b), y_{\pi(b)}), \qquad
      \tilde x_b = \lambda x_b + (1 - \lambda) x_{\pi(b)}$$

    with $\ell$ the loss of the task, $f$ the model, $\pi$ a permutation of the batch and
    $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$, both drawn once a step. Items are mixed position
    by position, as floating-point numbers. `ManifoldMixup` mixes hidden layers as well.

    Args:
        alpha: Both parameters of the Beta distribution: near 0 leaves most problems as they are.

    Raises:
        ValueError: If `alpha` is not positive and finite.

    Reference:
        Zhang et al. 2018.
    """

    alpha: PositiveFloat = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Weight of the first of each pair, and positions of the second.

        Args:
            batches: The batch of training problems.
            stream: Source of the weight and of the permutation.
        """
        return draw_pairs(batches[TRAINING], self.alpha, stream)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss of the mixtures.

        Args:
            update: The step.

        Raises:
            ValueError: If the items are neither floating-point numbers nor bytes.
        """
        return mixed_loss(update, update.draws, (INPUT,)), update.state
