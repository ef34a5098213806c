"""Divisive normalization of vectors whose windows are sums by a product with a matrix.

A vector of a few hundred numbers is too short for sums by halves: a product with ones around the
diagonal calculates more and is done sooner, in two operations where those take twenty.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

import torch
from torch import Tensor

from farfield.functional._autograd._gradient_of_gradient import differentiable_gradients
from farfield.functional._autograd._products import (
    as_table,
    is_recorded,
    is_transformed,
    product,
)

LONGEST: Final = 1024
"""Most numbers of a vector whose windows are summed by a product."""


def normalized_vectors(
    z: Tensor, smoothing: Tensor, window: int, suppression_window: int
) -> Tensor:
    """Vectors `(*batch, feature)`, centered and divided by the root of their local power.

    Args:
        z: The vectors.
        smoothing: Added to the power.
        window: Number of units in the summation field.
        suppression_window: Number of units in the suppression field.
    """
    means = window_mean(z, window), window_mean(z, suppression_window)
    if is_recorded() or is_transformed():
        return _plain(z, smoothing, *means)
    # On rows, since the output of a `Function` that is a view may not be changed in place;
    # torch leaves `apply` untyped.
    found: Tensor = _ByHand.apply(as_table(z), smoothing, *means)  # type: ignore[no-untyped-call]
    return found.view(z.shape)


def _plain(z: Tensor, smoothing: Tensor, summation: Tensor, suppression: Tensor) -> Tensor:
    """The formula, as autograd differentiates it."""
    v = z - z @ summation
    return v * (v.square() @ suppression + smoothing).rsqrt()


class _ByHand(torch.autograd.Function):
    r"""The values of `_plain` for rows, in few operations; not for `torch.func`.

    With $g$ the gradient of the result, $r$ the reciprocal root and the means $A$ and $B$,

    $$\partial v = g r - v\, (g v r^3) B^\top, \qquad \partial z = \partial v (1 - A)^\top$$
    """

    @staticmethod
    def forward(
        ctx: Any, z: Tensor, smoothing: Tensor, summation: Tensor, suppression: Tensor
    ) -> Tensor:
        v = z - product(z, summation)
        root = product(v.square(), suppression).add_(smoothing).rsqrt_()
        ctx.save_for_backward(z, smoothing, summation, suppression, v, root)
        return v * root

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        z, smoothing, summation, suppression, v, root = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            plain = partial(_plain, summation=summation, suppression=suppression)
            return (*differentiable_gradients(plain, (z, smoothing), [gradient]), None, None)
        along = (gradient * v).mul_(root).mul_(root).mul_(root)
        of_v = torch.addcmul(gradient * root, v, product(along, suppression.t()), value=-1)
        of_z = of_v.sub_(product(of_v, summation.t()))
        of_smoothing = along.sum().mul(-0.5) if ctx.needs_input_grad[1] else None
        return of_z, of_smoothing, None, None


def centered_vectors(z: Tensor, window: int) -> Tensor:
    """Vectors without the mean of the window around each unit.

    Args:
        z: The vectors.
        window: Number of units in a window.
    """
    return z - z @ window_mean(z, window)


def window_mean(z: Tensor, window: int) -> Tensor:
    """The matrix whose columns are the windows, for vectors on the left."""
    made = _mean_matrix.__wrapped__ if is_recorded() else _mean_matrix
    return made(z.shape[-1], window, z.dtype, z.device)


@lru_cache(maxsize=16)
def _mean_matrix(size: int, window: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Ones over `window` from the first to the last unit of each column's window, else zeros."""
    with torch.inference_mode(False):
        unit = torch.arange(size, device=device)
        behind = unit.unsqueeze(1) - unit.unsqueeze(0)  # row less column
        first = (window - 1) // 2
        inside = (behind >= -first) & (behind < window - first)
        return inside.to(dtype) / window
