"""Whitening of images by fixed statistics."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeFloat, PositiveFloat, check_arguments
from farfield.functional import PixelSpectrum, zca_matrix
from farfield.nn._images._standardize import Standardize


@final
class ZCA(nn.Module):
    r"""Standardize images, then make all of their values uncorrelated.

    $$y = W (x - \bar x), \qquad
      W = U \, \mathrm{diag}\Bigl(\frac{1}{\sqrt{s_i}} + \epsilon\Bigr) \, U^\top$$

    with $x$ a standardized image as a vector, and mean $\bar x$, variances $s$ and principal
    directions $U$ of all training images. `Standardize` treats every channel by itself. In an
    experiment on images the statistics are those of the task; no state dictionary has them.

    Args:
        channel_mean: Mean of each channel, of values of 0…1.
        channel_std: Standard deviation of each channel, likewise.
        pixel_spectrum: Statistics of standardized images as vectors, channel by channel and row by
            row.
        eps: $\epsilon$.
        eps_inside: Whether it is added to the variances, under the root.
        device: Where its tensors are.
        dtype: Of its tensors.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to the same in
        floating point.

    Raises:
        ValueError: If statistics do not fit together, a direction has no variance and `eps` is not
            under the root, or images have another shape.

    Reference:
        lamb2022, section 6.3.1; the form with $\epsilon$ outside of the root is that of the
        released code.
    """

    is_pure: ClassVar[bool] = True
    mean: Tensor
    matrix: Tensor

    @check_arguments
    def __init__(
        self,
        channel_mean: tuple[float, ...],
        channel_std: tuple[PositiveFloat, ...],
        pixel_spectrum: PixelSpectrum,
        *,
        eps: NonNegativeFloat = 1e-6,
        eps_inside: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.standardize = Standardize(channel_mean, channel_std, device=device, dtype=dtype)
        kind = dtype or torch.get_default_dtype()
        matrix = zca_matrix(pixel_spectrum, eps=eps, eps_inside=eps_inside)
        for name, tensor in (("mean", pixel_spectrum.mean), ("matrix", matrix)):
            self.register_buffer(name, tensor.to(device=device, dtype=kind), persistent=False)

    def forward(
        self, items: Shaped[Tensor, "item channel height width"]
    ) -> Float[Tensor, "item channel height width"]:
        """Whiten every image."""
        standardized = self.standardize(items)
        flat = standardized.flatten(1)
        if flat.shape[1] != len(self.mean):
            raise ValueError(
                f"items must have {len(self.mean)} values each, as those of pixel_spectrum, "
                f"got shape {tuple(items.shape)}"
            )
        return nn.functional.linear(flat - self.mean, self.matrix).view_as(standardized)
