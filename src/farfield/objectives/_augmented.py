"""Supervised learning on images that are changed at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, final

from torch import Tensor

from farfield.core import TRAINING, Depth, Limits, Problems, Stream, check_fields
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._pillow_operations import change_images
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
    Items are images in color; those of bytes stay bytes, and numbers of 0…1 are rounded to bytes.

    With $s$ = `magnitude` / 30 and a sign that is drawn for each image and operation, the
    operations are Pillow's: `rotate` by ±30 $s$ degrees; `posterize` to 8 − 4 $s$ bits; `solarize`
    from a level of 256 (1 − $s$); `color`, `contrast`, `brightness` and `sharpness` by factors of
    1 ± 0.9 $s$; shear by ±0.3 $s$; translate by ±150/331 $s$ of the side. Bits, levels and pixels
    of a translation are rounded; pixels from outside an image are black. No operation is weaker at
    a larger magnitude.

    Args:
        operations: Number of operations on each image.
        magnitude: Strength of the operations, 0…30; 30 is the end of the published ranges.
        kornia_operations: Whether the operations are those of kornia
            (`pip install 'farfield[vision]'`), as in the recorded networks of gondal2021. There
            the magnitude is a position in kornia's ranges, not a strength: color, contrast,
            brightness and sharpness change nothing at 15, go down below and up above, and solarize
            is weaker at a larger magnitude.

    Raises:
        ValueError: If no operation is given, or the magnitude is out of range.

    Reference:
        gondal2021, section 4.2, which says neither how many operations nor how strong; the
        defaults are those for ImageNet of Cubuk et al. 2020. The ranges are those of Table 6 of
        Cubuk et al. 2019.
    """

    operations: Depth = 2
    magnitude: Annotated[float, Limits(at_least=0, at_most=STRONGEST)] = 9.0
    kornia_operations: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.kornia_operations and self.magnitude in (0, STRONGEST):
            raise ValueError(
                "magnitude must be above 0 and below 30 with kornia_operations, "
                f"got {self.magnitude:g}"
            )

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The images of the batch, changed.

        Args:
            batches: The batch of training problems, over images of `(item, 3, height, width)`:
                bytes, or floating-point numbers of 0…1.
            stream: Source of the operations and of their signs.

        Raises:
            ValueError: If the items are no such images.
            ModuleNotFoundError: If the operations are those of kornia, which is not installed.
        """
        images = batches[TRAINING].table()
        change = rand_augmented if self.kornia_operations else change_images
        changed = change(
            images, operations=self.operations, magnitude=self.magnitude, stream=stream
        )
        return {"items": changed}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss on changed images.

        Args:
            update: The step.
        """
        changed = dataclasses.replace(update.problems, items=update.draws["items"])
        return update.task_loss(update.outputs(changed), changed).mean(), update.state
