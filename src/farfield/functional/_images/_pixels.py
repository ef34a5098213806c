"""Values of pixels: fractions, mean images, luma and chroma, whitening."""

from __future__ import annotations

from typing import Final, NamedTuple, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def as_fractions(
    items: Shaped[Tensor, "*item"], dtype: torch.dtype | None = None
) -> Float[Tensor, "*item"]:
    """Scale levels 0…255 to fractions 0…1; keep real items.

    Args:
        items: Pixels, uint8 or floating-point.
        dtype: Type of the result; `None` for that of real items, and float32 for bytes.

    Raises:
        ValueError: If the items are of another integer type, whose range nobody can know.
    """
    if items.dtype == torch.uint8:
        return items.to(dtype or torch.float32) / 255
    if not items.is_floating_point():
        raise ValueError(
            f"items must be uint8 of 0…255 or floating-point of 0…1, got {items.dtype}"
        )
    return items if dtype is None else items.to(dtype)


def check_bounds(bounds: tuple[float, float] | None) -> None:
    """Raise `ValueError` unless the least number of an item is below the largest.

    Args:
        bounds: Least and largest number of an item; `None` for no bounds.
    """
    if bounds is not None and not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be a number and a larger one, got {bounds}")


def box_around(
    items: Tensor, eps: float, bounds: tuple[float, float] | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute items as real numbers, and the least and largest numbers of a box around them.

    Args:
        items: Items; bytes are taken as fractions 0…1, and stay within them.
        eps: Largest change of a number.
        bounds: Least and largest number of an item; `None` for no bounds.

    Raises:
        ValueError: If the items are neither floating-point numbers nor bytes.
    """
    if items.dtype == torch.uint8:
        bounds = (0.0, 1.0)
    items = as_fractions(items)
    low, high = items - eps, items + eps
    if bounds is not None:
        low, high = low.clamp(*bounds), high.clamp(*bounds)
    return items, low, high


@final
class MeanImages(NamedTuple):
    """Means over images, pixel by pixel, as fractions 0…1 (ren2017, section 4.1).

    Args:
        training: Mean of all training images.
        with_test: Mean of training and test images together, as in the released code.
    """

    training: Float[Tensor, "channel height width"]
    with_test: Float[Tensor, "channel height width"]


_WEIGHTS: Final = (
    (65.481, 128.553, 24.966),
    (-37.797, -74.203, 112.0),
    (112.0, -93.786, -18.214),
)
"""Weights of red, green and blue as fractions, for each of Y, Cb and Cr."""
_OFFSETS: Final = (16.0, 128.0, 128.0)


def rgb_to_ycbcr(
    images: Float[Tensor, "*batch 3 height width"],
) -> Float[Tensor, "*batch 3 height width"]:
    """Convert red, green and blue of 0…255 to Y of 16…235, Cb and Cr of 16…240, not rounded.

    It is MATLAB's `rgb2ycbcr`. Pillow's mode `YCbCr` is another, that of JPEG files, with all
    three in 0…255.

    Args:
        images: The images, channels before height and width.

    Raises:
        ValueError: If there are not three channels.

    Reference:
        ITU-R BT.601; ren2017, section 4.3, whose measures are of Y.
    """
    _check(images)
    weights, offsets = _constants(images)
    return torch.einsum("cd,...dhw->...chw", weights / 255, images) + offsets


def ycbcr_to_rgb(
    images: Float[Tensor, "*batch 3 height width"],
) -> Float[Tensor, "*batch 3 height width"]:
    """Invert `rgb_to_ycbcr`; colors that no screen shows lie outside 0…255.

    Args:
        images: Y, Cb and Cr, channels before height and width.

    Raises:
        ValueError: If there are not three channels.

    Reference:
        ITU-R BT.601; ren2017, section 4.3.
    """
    _check(images)
    weights, offsets = _constants(images)
    inverse = torch.linalg.inv(weights.double()).to(images) * 255
    return torch.einsum("cd,...dhw->...chw", inverse, images - offsets)


def _constants(images: Tensor) -> tuple[Tensor, Tensor]:
    weights = torch.tensor(_WEIGHTS, dtype=torch.float64).to(images)
    return weights, torch.tensor(_OFFSETS).to(images).reshape(3, 1, 1)


def _check(images: Tensor) -> None:
    if images.ndim < 3 or images.shape[-3] != 3:
        raise ValueError(
            "images must have three channels, (*batch, 3, height, width), "
            f"got shape {tuple(images.shape)}"
        )


@final
class PixelSpectrum(NamedTuple):
    """Mean of flat images and spectral decomposition of their covariance (lamb2022, 6.3.1).

    Args:
        mean: Mean of each value.
        values: Variance along each principal direction, from the least on.
        vectors: The principal directions, one a column.
    """

    mean: Float[Tensor, " feature"]
    values: Float[Tensor, " feature"]
    vectors: Float[Tensor, "feature feature"]


def zca_matrix(
    spectrum: PixelSpectrum, *, eps: float = 1e-6, eps_inside: bool = False
) -> Float[Tensor, "feature feature"]:
    r"""Compute the symmetric matrix that makes values uncorrelated, each of variance 1.

    $$W = U \, \mathrm{diag}\Bigl(\frac{1}{\sqrt{s_i}} + \epsilon\Bigr) \, U^\top$$

    for a covariance $U \, \mathrm{diag}(s) \, U^\top$. Of all whitening matrices it changes an
    image the least. With `eps_inside` the diagonal is $1 / \sqrt{s_i + \epsilon}$, which bounds
    the gain of directions without variance; outside of the root, $\epsilon$ hardly changes
    them.

    Args:
        spectrum: Of the images.
        eps: $\epsilon$.
        eps_inside: Whether it is added to the variances.

    Raises:
        ValueError: If a direction has no variance, and `eps` is not inside the root.

    Reference:
        lamb2022, section 6.3.1; the form with `eps` outside of the root is that of the released
        code.
    """
    values = spectrum.values + eps if eps_inside else spectrum.values
    least = values.max() * len(values) * torch.finfo(values.dtype).eps
    if not (values > least).all():
        raise ValueError(
            "pixel_spectrum must have variance along every direction, got none along "
            f"{int((values <= least).sum())} of {len(values)}: pass eps_inside=True or a larger eps"
        )
    scales = values.rsqrt() + (0.0 if eps_inside else eps)
    return (spectrum.vectors * scales) @ spectrum.vectors.mT
