"""Quality of restored images: peak signal-to-noise ratio and structural similarity."""

from __future__ import annotations

import math
from typing import Final

import torch
from jaxtyping import Float, Float64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import PositiveFloat, check_arguments

_RADIUS: Final = 5
"""Pixels of the window of the structural similarity on either side of its middle."""
_WINDOW: Final = 2 * _RADIUS + 1
_DEVIATION: Final = 1.5
"""Standard deviation of its weights, pixels."""
_CONSTANTS: Final = (0.01, 0.03)
"""Of luminance and contrast, in peaks."""


@check_arguments
def psnr(
    first: Float[Tensor, "*batch height width"],
    second: Float[Tensor, "*batch height width"],
    *,
    peak: PositiveFloat = 255.0,
) -> Float64[Tensor, "*batch"]:
    r"""Peak signal-to-noise ratio in decibels, one number per image.

    $$10 \log_{10} \frac{L^2}{\frac{1}{n} \sum_i (x_i - y_i)^2}$$

    Args:
        first: Some images, $x$.
        second: The others, $y$.
        peak: $L$, the largest value that a pixel can have.

    Shape:
        Two times `(*batch, height, width)` to `(*batch)`.

    Returns:
        Decibels; infinite for equal images.

    Raises:
        ValueError: If the shapes differ or `peak` is not positive.
    """
    _check(first, second)
    error = (first.double() - second.double()).square().mean((-2, -1))
    return 10 * torch.log10(peak**2 / error)


@check_arguments
def ssim(
    first: Float[Tensor, "*batch height width"],
    second: Float[Tensor, "*batch height width"],
    *,
    peak: PositiveFloat = 255.0,
    padded: bool = False,
) -> Float64[Tensor, "*batch"]:
    r"""Structural similarity, averaged over the image, one number per image.

    $$\frac{(2 \mu_x \mu_y + C_1)(2 \sigma_{xy} + C_2)}
           {(\mu_x^2 + \mu_y^2 + C_1)(\sigma_x^2 + \sigma_y^2 + C_2)}, \qquad
      C_1 = (0.01 L)^2, \quad C_2 = (0.03 L)^2$$

    with means, variances and covariance under Gaussian weights of standard deviation 1.5 in a
    window of 11 × 11 pixels, divided by the sum of the weights.

    Args:
        first: Some images, $x$.
        second: The others, $y$.
        peak: $L$, the largest value that a pixel can have.
        padded: Whether windows stand around all pixels, with those of the border repeated outwards,
            as in MATLAB's `ssim`; otherwise they lie within the image, as in the paper and in
            scikit-image.

    Shape:
        Two times `(*batch, height, width)` to `(*batch)`.

    Raises:
        ValueError: If the shapes differ, `peak` is not positive, or no window lies within the
            image.

    Reference:
        Wang et al. 2004.
    """
    _check(first, second)
    if not padded and min(first.shape[-2:]) < _WINDOW:
        raise ValueError(
            f"first must be of at least {_WINDOW} × {_WINDOW} pixels, or padded, "
            f"got shape {tuple(first.shape)}"
        )
    x, y = (images.double().reshape(-1, *images.shape[-2:]) for images in (first, second))
    if padded:
        x, y = (F.pad(images, [_RADIUS] * 4, mode="replicate") for images in (x, y))
    mean_x, mean_y = _blurred(x), _blurred(y)
    variances = _blurred(x * x) - mean_x**2 + _blurred(y * y) - mean_y**2
    covariance = _blurred(x * y) - mean_x * mean_y
    luminance, contrast = ((constant * peak) ** 2 for constant in _CONSTANTS)
    similarity = (2 * mean_x * mean_y + luminance) * (2 * covariance + contrast)
    similarity /= (mean_x**2 + mean_y**2 + luminance) * (variances + contrast)
    return similarity.mean((-2, -1)).reshape(first.shape[:-2])


def _blurred(images: Float64[Tensor, "item height width"]) -> Float64[Tensor, "item _ _"]:
    """Gaussian means over the windows that lie within the images."""
    weights = [math.exp(-(step**2) / (2 * _DEVIATION**2)) for step in range(-_RADIUS, _RADIUS + 1)]
    # Not a convolution, for which torch has no fast code in float64.
    for dim in (-2, -1):
        length = images.shape[dim] - 2 * _RADIUS
        total = images.narrow(dim, 0, length) * (weights[0] / sum(weights))
        for place, weight in enumerate(weights[1:], start=1):
            total.add_(images.narrow(dim, place, length), alpha=weight / sum(weights))
        images = total
    return images


def _check(first: Tensor, second: Tensor) -> None:
    """Raise `ValueError` unless these are images of one shape."""
    if first.shape != second.shape or first.ndim < 2:
        raise ValueError(
            "first and second must be (*batch, height, width) of one shape, "
            f"got {tuple(first.shape)} and {tuple(second.shape)}"
        )
