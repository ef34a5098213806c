"""Subtraction of the mean image."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import PositiveFloat, check_arguments
from farfield.functional import MeanImages, as_fractions


@final
class CenterImages(nn.Module):
    r"""Subtract the mean image of a data set.

    $$y = s (x - \bar x)$$

    with $\bar x$ the mean of all images, pixel by pixel. `Standardize` subtracts one number from a
    channel, and divides. In an experiment on images the mean is that of the task; no state
    dictionary has it.

    Args:
        mean_images: Means of the images of a data set.
        includes_test: Whether the mean is that of training and test images, as in the released
            code; otherwise it is that of training images.
        scale: $s$, the number that full intensity is: 255 keeps levels as they are in files.
        device: Where its tensors are.
        dtype: Of its tensors.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to the same in
        floating point.

    Raises:
        ValueError: If images have another shape than their mean.

    Reference:
        ren2017, section 4.1, which does not say what images the mean is of.
    """

    is_pure: ClassVar[bool] = True
    mean: Tensor

    @check_arguments
    def __init__(
        self,
        mean_images: MeanImages,
        *,
        includes_test: bool = False,
        scale: PositiveFloat = 255.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.scale = scale
        mean = mean_images.with_test if includes_test else mean_images.training
        kind = dtype or torch.get_default_dtype()
        self.register_buffer("mean", mean.to(device=device, dtype=kind), persistent=False)

    def forward(
        self, items: Shaped[Tensor, "item channel height width"]
    ) -> Float[Tensor, "item channel height width"]:
        """Center every image."""
        if items.shape[1:] != self.mean.shape:
            raise ValueError(
                f"items must be (item, {', '.join(map(str, self.mean.shape))}), "
                f"got shape {tuple(items.shape)}"
            )
        return (as_fractions(items, self.mean.dtype) - self.mean) * self.scale
