"""Divisive normalization: every unit by its neighbours, in space or along a vector."""

from __future__ import annotations

from numbers import Integral

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._products import is_recorded, is_transformed
from farfield.functional._autograd._scalar import scalar_like
from farfield.functional._norm._divisive_norm_by_hand import (
    DivisiveNormByHand,
    DivisiveNormCompiled,
    Windows,
    divisive_norm_plain,
    local_mean,
)
from farfield.functional._norm._divisive_vectors import (
    LONGEST,
    centered_vectors,
    normalized_vectors,
)


def divisive_norm_2d(
    z: Float[Tensor, "batch channel height width"],
    window: int,
    *,
    suppression_window: int | None = None,
    sigma: float | Float[Tensor, ""] = 1.0,
    released_suppression: bool = False,
) -> Float[Tensor, "batch channel height width"]:
    r"""Normalize every unit of an image by the units around it, over all channels.

    $$v = z - \mathbb{E}_{\mathcal{A}}[z], \qquad
      y = \frac{v}{\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{B}}[v^2]}}$$

    with the mean over all channels of a square window around the unit, whose side is `window` for
    the summation field $\mathcal{A}$ and `suppression_window` for the suppression field
    $\mathcal{B}$. Beyond the border there are zeros, and means are divided by the full window, so
    that they shrink there. A window of even side reaches one further after the unit than before.
    `torch.nn.functional.local_response_norm` divides by a window over channels, and centers
    nothing.

    Args:
        z: Activations.
        window: Side of the summation field, pixels; the paper's radius R is 2 R + 1 here.
        suppression_window: Side of the suppression field, pixels. None is `window`.
        sigma: The constant $\sigma$, whose square is added; a tensor gets a gradient.
        released_suppression: Divide the sum over the suppression field by the size of the summation
            field, as the released code does by mistake; with equal windows nothing changes.

    Returns:
        The normalized activations, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If `z` is not a batch of images, or a window is not an integer ≥ 1.

    Reference:
        ren2017, equations 3 and 4, table 1.
    """
    side = window if suppression_window is None else suppression_window
    size = window**2 if released_suppression else side**2
    windows = _checked(z, Windows((window, window), (side, side), size))
    return _normalized(z, windows, sigma)


def divisive_norm_1d(
    z: Float[Tensor, "*batch feature"],
    window: int,
    *,
    suppression_window: int | None = None,
    sigma: float | Float[Tensor, ""] = 1.0,
) -> Float[Tensor, "*batch feature"]:
    r"""Normalize every unit of a vector by the units beside it.

    $$v_j = z_j - \frac{1}{n} \sum_{i \in W_j} z_i, \qquad
      y_j = \frac{v_j}{\sqrt{\sigma^2 + \frac{1}{n} \sum_{i \in W_j} v_i^2}}$$

    with the window $W_j$ of $n$ units around $j$. Beyond both ends there are zeros, and sums are
    divided by the full window. An even window reaches one further after the unit than before.

    Args:
        z: Activations.
        window: Number of units in the summation field; the paper's radius R is 2 R + 1 here.
        suppression_window: Number of units in the suppression field. None is `window`.
        sigma: The constant $\sigma$, whose square is added; a tensor gets a gradient.

    Returns:
        The normalized activations, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If `z` has no feature, or a window is not an integer ≥ 1.

    Reference:
        ren2017, equations 6 and 7.
    """
    maps = _maps(z)
    side = window if suppression_window is None else suppression_window
    windows = _checked(maps, Windows((1, window), (1, side), side))
    if z.shape[-1] > LONGEST:
        return _normalized(maps, windows, sigma).reshape(z.shape)
    wide = _wide(z)
    smoothing = scalar_like(sigma, wide).square()
    return normalized_vectors(wide, smoothing, window, side).to(z.dtype)


def divisive_center_2d(
    z: Float[Tensor, "batch channel height width"], window: int
) -> Float[Tensor, "batch channel height width"]:
    r"""Every unit without the mean of its summation field, the $v$ of `divisive_norm_2d`.

    Args:
        z: Activations.
        window: Side of the summation field, pixels.

    Raises:
        ValueError: If `z` is not a batch of images, or the window is not an integer ≥ 1.

    Reference:
        ren2017, equations 3 and 5.
    """
    return _centered(z, _checked(z, Windows((window, window), (1, 1), 1)))


def divisive_center_1d(
    z: Float[Tensor, "*batch feature"], window: int
) -> Float[Tensor, "*batch feature"]:
    r"""Every unit without the mean of its summation field, the $v$ of `divisive_norm_1d`.

    Args:
        z: Activations.
        window: Number of units in the summation field.

    Raises:
        ValueError: If `z` has no feature, or the window is not an integer ≥ 1.

    Reference:
        ren2017, equations 5 and 6.
    """
    maps = _maps(z)
    windows = _checked(maps, Windows((1, window), (1, 1), 1))
    if z.shape[-1] > LONGEST:
        return _centered(maps, windows).reshape(z.shape)
    return centered_vectors(_wide(z), window).to(z.dtype)


def _maps(z: Tensor) -> Tensor:
    """Vectors as images of one channel and one row."""
    if z.ndim < 1 or z.shape[-1] == 0 or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (*batch, feature) with at least one feature, "
            f"got {z.dtype} of shape {tuple(z.shape)}"
        )
    return z.reshape(-1, 1, 1, z.shape[-1])


def _checked(z: Tensor, windows: Windows) -> Windows:
    """The fields, after checking them and what they are put over."""
    if z.ndim != 4 or 0 in z.shape[1:] or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (batch, channel, height, width), "
            f"got {z.dtype} of shape {tuple(z.shape)}"
        )
    sides = (windows.summation[1], windows.suppression[1])
    if not all(isinstance(side, Integral) for side in sides) or min(sides) < 1:
        raise ValueError(
            "window and suppression_window must be integers of at least 1, "
            f"got {sides[0]} and {sides[1]}"
        )
    return windows


def _wide(z: Tensor) -> Tensor:
    return z.to(torch.promote_types(z.dtype, torch.float32))


def _centered(z: Tensor, windows: Windows) -> Tensor:
    wide = _wide(z)
    return (wide - local_mean(wide, windows)).to(z.dtype)


def _normalized(z: Tensor, windows: Windows, sigma: float | Tensor) -> Tensor:
    wide = _wide(z)
    smoothing = scalar_like(sigma, wide).square()
    compiled = torch.compiler.is_compiling()
    if is_transformed() or (is_recorded() and not compiled):
        return divisive_norm_plain(wide, smoothing, windows).to(z.dtype)
    by_hand = DivisiveNormCompiled if compiled else DivisiveNormByHand
    # torch leaves `apply` untyped.
    found: Tensor = by_hand.apply(wide, smoothing, windows)  # type: ignore[no-untyped-call]
    return found.to(z.dtype)
