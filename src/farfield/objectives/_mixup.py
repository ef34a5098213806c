"""Mixup: supervised learning between pairs of problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import TRAINING, PositiveFloat, Problems, Stream, check_fields
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class Mixup(Objective):
    r"""The task's loss on mixtures of pairs of problems, weighed as their items are.

    $$L = \frac{1}{B} \sum_b \lambda\, \ell(f(\tilde x_b), y_b)
      + (1 - \lambda)\, \ell(f(\tilde x_b), y_{\pi(b)}), \qquad
      \tilde x_b = \lambda x_b + (1 - \lambda) x_{\pi(b)}$$

    with $\ell$ the loss of the task, $f$ the model, $\pi$ a permutation of the batch and
    $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$, both drawn once a step. Items are mixed position
    by position, as floating-point numbers.

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
        generator = stream.numpy()
        weight = generator.beta(self.alpha, self.alpha)
        partner = generator.permutation(len(batches[TRAINING]))
        device = batches[TRAINING].index.device
        return {
            "weight": torch.tensor(weight, dtype=torch.float64, device=device),
            "partner": torch.from_numpy(partner).to(device),
        }

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss of the mixtures.

        Args:
            update: The step.
        """
        weight, partner = update.draws["weight"], update.draws["partner"]
        problems = update.problems
        items = problems.sequences()
        if items.dtype == torch.uint8:  # pixels: what of 0…255 is of 0…1 as a number
            items = items.float() / 255
        weight = weight.to(items.dtype)
        mixed = mix(items, items[partner], weight)
        index = torch.arange(problems.index.numel(), device=partner.device)
        mixture = Problems(
            items=mixed.flatten(0, 1),
            index=index.reshape(problems.index.shape),
            target=problems.target,
        )
        outputs = update.outputs(mixture)
        others = Problems(items=mixture.items, index=mixture.index, target=problems.target[partner])
        first, second = (update.task_loss(outputs, targets) for targets in (mixture, others))
        return mix(first, second, weight).mean(), update.state


def mix(first: Tensor, second: Tensor, weight: Tensor) -> Tensor:
    """The mixture `weight · first + (1 − weight) · second`.

    Args:
        first: Any tensor.
        second: One of the same shape.
        weight: Weight of the first.
    """
    return weight * first + (1 - weight) * second
