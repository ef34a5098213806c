"""Supervised learning on images that are changed at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Problems, Stream
from farfield.objectives._rand_augment import STRONGEST, rand_augmented


@final
@dataclass(frozen=True, kw_only=True)
class Augmented:
    r"""The mean of the task's loss over the batch, with every image changed at random.

    $$L = \frac{1}{B} \sum_b \ell(f(a_b(x_b)), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $a_b$ some operations one after the other,
    drawn for each image from fourteen that are equally likely: identity, auto-contrast, equalize,
    rotate, posterize, solarize, colour, contrast, brightness, sharpness, shear and translate along
    either axis (RandAugment, Cubuk et al. 2020). Each distinct image of a batch is changed once.
    The operations are those of kornia (`pip install 'farfield[vision]'`), with its scale of
    magnitudes; it takes images in colour alone. Items of bytes stay bytes.

    Args:
        operations: Operations on each image.
        magnitude: How strong they are, above 0 and below 30.

    Raises:
        ValueError: If there is no operation, or the magnitude is out of range.

    Reference:
        gondal2021, section 4.2, which says neither how many operations nor how strong; the
        defaults are those for ImageNet of Cubuk et al. 2020.
    """

    operations: int = 2
    magnitude: float = 9.0

    def __post_init__(self) -> None:
        if self.operations < 1:
            raise ValueError(
                f"operations must be at least 1, got {self.operations}; Supervised does without"
            )
        if not 0 < self.magnitude < STRONGEST:
            raise ValueError(
                f"magnitude must be above 0 and below {STRONGEST:g}, got {self.magnitude}"
            )

    def __call__(
        self,
        model: nn.Module,
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Float[Tensor, ""]:
        """The mean loss on changed images.

        Args:
            model: From `(items, index)` to outputs.
            problems: The batch, over images of `(item, 3, height, width)`: bytes, or
                floating-point numbers of 0…1.
            loss: The task's loss, one number per problem.
            stream: Where operations and their signs are drawn from.

        Raises:
            ValueError: If the items are no such images.
            ModuleNotFoundError: If kornia is not installed.
        """
        items = rand_augmented(
            problems.table(), operations=self.operations, magnitude=self.magnitude, stream=stream
        )
        changed = dataclasses.replace(problems, items=items)
        return loss(model(items, changed.index), changed).mean()
