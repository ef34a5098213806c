"""Fixed standardizations of images."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core.internal import NonNegativeFloat, PositiveFloat, check_arguments
from farfield.functional.internal import MeanImages, PixelSpectrum, as_fractions, zca_matrix


@final
class Standardize(nn.Module):
    r"""Subtract a fixed mean from each channel and divide by a fixed deviation.

    $$y_{chw} = \frac{x_{chw} - \mu_c}{\sigma_c}$$

    It learns nothing and estimates nothing, unlike `torch.nn.BatchNorm2d`. In an experiment on
    images, mean and deviation are those of the task; no state dictionary has them.

    Args:
        channel_mean: $\mu$, of values of 0…1.
        channel_std: $\sigma$, likewise.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to the same in
        floating point.

    Raises:
        ValueError: If there are not as many deviations as means, or images have other channels.

    Reference:
        lamb2022, section 6.3.1.
    """

    is_pure: ClassVar[bool] = True
    mean: Tensor
    std: Tensor

    @check_arguments
    def __init__(
        self,
        channel_mean: tuple[float, ...],
        channel_std: tuple[PositiveFloat, ...],
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if not channel_mean or len(channel_std) != len(channel_mean):
            raise ValueError(
                "channel_mean and channel_std must be a number for each channel, "
                f"got {len(channel_mean)} and {len(channel_std)}"
            )
        for name, row in (("mean", channel_mean), ("std", channel_std)):
            column = torch.tensor(row, device=device, dtype=dtype)[:, None, None]
            self.register_buffer(name, column, persistent=False)

    def forward(
        self, items: Shaped[Tensor, "item channel height width"]
    ) -> Float[Tensor, "item channel height width"]:
        """Standardize every image."""
        if items.ndim != 4 or items.shape[1] != len(self.mean):
            raise ValueError(
                f"items must be (item, {len(self.mean)}, height, width), "
                f"got shape {tuple(items.shape)}"
            )
        return (as_fractions(items, self.mean.dtype) - self.mean) / self.std


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
        scale: $s$, the number that full intensity is: 255 keeps the levels of the files.

    Shape:
        `(item, channel, height, width)`, uint8 of 0…255 or floating-point of 0…1, to the same in
        floating point.

    Raises:
        ValueError: If images have another shape than their mean.

    Reference:
        ren2017, section 4.1, which does not name the images of the mean.
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
