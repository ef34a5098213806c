"""Bicubic resizing, as MATLAB and as Pillow do it."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor

from farfield.core.internal import Size, check_arguments


class _Taps(NamedTuple):
    """Input pixels of each pixel of a line, and their weights.

    Attributes:
        rows: Which pixels.
        weights: Their weights, which sum to 1.
    """

    rows: Int64[Tensor, "item slot"]
    weights: Float[Tensor, "item slot"]


_FIXED: Final = 2**22
"""Numbers that Pillow counts a weight in, for levels in bytes."""


@check_arguments
def bicubic_resize(
    images: Shaped[Tensor, "*batch height width"],
    size: tuple[Size, Size],
    *,
    mirrored: bool = True,
) -> Shaped[Tensor, "*batch _ _"]:
    r"""Resize images by cubic convolution, without aliasing where they become smaller.

    $$k(t) = \begin{cases}
      \frac32 |t|^3 - \frac52 |t|^2 + 1 & |t| \le 1 \\
      -\frac12 |t|^3 + \frac52 |t|^2 - 4 |t| + 2 & 1 < |t| \le 2
      \end{cases}, \qquad
      y_i = \frac{\sum_j k((c_i - j) / r)\, x_j}{\sum_j k((c_i - j) / r)}$$

    along either axis, with $c_i = (i + \frac12) n / m - \frac12$ from $n$ to $m$ pixels and
    $r = \max(1, n / m)$: the kernel becomes as much wider as the image becomes smaller. MATLAB's
    `imresize` continues in mirror beyond the border, Pillow leaves pixels beyond it out. Both round
    levels in bytes after each axis, half of a level upwards. MATLAB begins with the axis that
    becomes smaller, Pillow with the width and with weights of 22 binary digits (some releases
    choose the axis by the sizes). `torch.nn.functional.interpolate` has the coefficient −¾ in place
    of −½ unless `antialias` is set, and then Pillow's border.

    Args:
        images: The images, floating-point, or bytes that are resized to bytes.
        size: Height and width wanted, pixels.
        mirrored: Whether the image goes on in mirror beyond its border, as in MATLAB; otherwise
            the kernel is cut off there, as in Pillow.

    Shape:
        `(*batch, height, width)` to `(*batch, *size)`.

    Raises:
        ValueError: If a size is none, or the images are integers that are no bytes.

    Reference:
        Keys 1981; ren2017, section 4.3, whose images are made so.
    """
    in_bytes = images.dtype == torch.uint8
    if not (in_bytes or images.is_floating_point()):
        raise ValueError(f"images must be floating-point numbers or bytes, got {images.dtype}")
    kind = torch.float64 if in_bytes else torch.promote_types(images.dtype, torch.float32)
    resized = images.to(kind)
    for dim in _order(images, size) if mirrored else (-1, -2):
        if size[dim] == images.shape[dim]:
            continue
        taps = _taps(images.shape[dim], size[dim], mirrored)
        if in_bytes and not mirrored:
            taps = taps._replace(weights=(taps.weights * _FIXED).round() / _FIXED)
        resized = _along(resized, dim, taps)
        if in_bytes:
            resized = (resized + 0.5).floor().clamp(0, 255)
    return resized.to(images.dtype)


def _order(images: Tensor, size: tuple[int, int]) -> list[int]:
    """Order axes as MATLAB does: first the axis that becomes smaller."""
    return sorted((-2, -1), key=lambda dim: size[dim] / images.shape[dim])


def _taps(size: int, wanted: int, mirrored: bool) -> _Taps:
    """Compute taps from a line of `size` pixels to a line of `wanted` pixels."""
    stretch = max(1.0, size / wanted)
    centers = (torch.arange(wanted, dtype=torch.float64) + 0.5) * size / wanted - 0.5
    first = (centers - 2 * stretch).ceil()
    rows = first[:, None] + torch.arange(math.floor(4 * stretch) + 1, dtype=torch.float64)
    weights = _kernel((centers[:, None] - rows) / stretch)
    rows = rows.long()
    if mirrored:
        rows = rows.remainder(2 * size)
        rows = torch.minimum(rows, 2 * size - 1 - rows)
    else:
        weights = weights * ((rows >= 0) & (rows < size))
        rows = rows.clamp(0, size - 1)
    return _Taps(rows, weights / weights.sum(1, keepdim=True))


def _kernel(distance: Float[Tensor, "item slot"]) -> Float[Tensor, "item slot"]:
    """Evaluate the kernel of cubic convolution with the coefficient −½."""
    t = distance.abs()
    near = 1.5 * t**3 - 2.5 * t**2 + 1
    far = -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    return torch.where(t <= 1, near, torch.where(t <= 2, far, 0.0))


def _along(images: Tensor, dim: int, taps: _Taps) -> Tensor:
    """Sum weighted pixels of one axis, a tap at a time: all at once are many times the image."""
    weights = taps.weights.to(images)
    shape = (-1, 1) if dim == -2 else (-1,)
    parts = (
        images.index_select(dim, rows.to(images.device)) * weight.reshape(shape)
        for rows, weight in zip(taps.rows.unbind(1), weights.unbind(1), strict=True)
    )
    total = next(parts)
    for part in parts:
        total = total + part
    return total
