"""Supervised learning on images that are changed at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, final

from torch import Tensor

from farfield.core import TRAINING, Depth, Limits, Problems, Stream, check_fields
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._rand_augment import STRONGEST, rand_augmented


@final
@dataclass(frozen=True, kw_only=True)
class Augmented(Objective):
    r"""The mean of the task's loss over the batch, with every image changed at random.

    $$L = \frac{1}{B} \sum_b \ell(f(a_b(x_b)), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $a_b$ some operations one after the other,
    drawn for each image from fourteen that are equally likely: identity, auto-contrast, equalize,
    rotate, posterize, solarize, color, contrast, brightness, sharpness, shear and translate along
    either axis (RandAugment, Cubuk et al. 2020). Each distinct image of a batch is changed once.
    The operations are those of kornia (`pip install 'farfield[vision]'`), with its scale of
    magnitudes; it takes images in color alone. Items of bytes stay bytes.

    Args:
        operations: Operations on each image.
        magnitude: How strong they are, above 0 and below 30.

    Raises:
        ValueError: If no operation is given, or the magnitude is out of range.

    Reference:
        gondal2021, section 4.2, which says neither how many operations nor how strong; the
        defaults are those for ImageNet of Cubuk et al. 2020.
    """

    operations: Depth = 2
    magnitude: Annotated[float, Limits(above=0, below=STRONGEST)] = 9.0

    def __post_init__(self) -> None:
        check_fields(self)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The images of the batch, changed.

        Args:
            batches: The batch of training problems, over images of `(item, 3, height, width)`:
                bytes, or floating-point numbers of 0…1.
            stream: Source of the operations and of their signs.

        Raises:
            ValueError: If the items are no such images.
            ModuleNotFoundError: If kornia is not installed.
        """
        images = batches[TRAINING].table()
        return {
            "items": rand_augmented(
                images, operations=self.operations, magnitude=self.magnitude, stream=stream
            )
        }

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss on changed images.

        Args:
            update: The step.
        """
        changed = dataclasses.replace(update.problems, items=update.draws["items"])
        return update.task_loss(update.outputs(changed), changed).mean(), update.state
