"""Π-model: consistency of two answers under noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from torch import Tensor

from farfield.core import Fraction, NonNegativeFloat, Problems, Stream
from farfield.objectives._consistency import (
    ConsistencyRule,
    draw_noise,
    mean_of_asked,
    moved,
    probabilities,
    ramp_up,
)
from farfield.objectives._objective import Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class PiModel(ConsistencyRule):
    r"""The task's loss, and the distance of two answers to the same problems under noise.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f(u_b + s\, \epsilon_b)) - \sigma_k(f(u_b + s\, \epsilon'_b))\right)^2$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency` and $\epsilon$
    and $\epsilon'$ standard normal numbers for every item. The gradient passes to both answers. The
    weight $w$ grows as that of `MeanTeacher`. Dropout in the network is noise too, and so are
    changes of images, which `CropAndFlip` draws for each of the two answers.

    Args:
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        noise: Standard deviation $s$ of the noise; pixels of bytes are 0…1.
        consistency: Name of the set on which the two answers are to agree.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Laine and Aila 2017, section 2.1.
    """

    weight: NonNegativeFloat = 1.0
    ramp: Fraction = 0.25
    noise: NonNegativeFloat = 0.15

    @property
    def second_views(self) -> tuple[str, ...]:
        """The set on which the two answers are to agree."""
        return (self.consistency,)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Noise of both answers.

        Args:
            batches: The batches.
            stream: Source of the noise.
        """
        problems = batches[self.consistency]
        return {name: draw_noise(problems, stream.child(name)) for name in ("first", "second")}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted distance.

        Args:
            update: The step.

        Raises:
            ValueError: If the items are neither floating-point numbers nor bytes, or the outputs
                are not logits of classes.
        """
        supervised = self.supervised(update)
        views = update.batches[self.consistency], update.second_view(self.consistency)
        first, second = (
            probabilities(update.outputs(moved(problems, self.noise * update.draws[name])))
            for name, problems in zip(("first", "second"), views, strict=True)
        )
        weight = self.weight * ramp_up(update.progress, self.ramp)
        apart = mean_of_asked((first - second).square(), views[0])
        return supervised + weight * apart, update.state
