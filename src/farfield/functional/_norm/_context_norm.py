"""Context normalization: each feature normalized over the time of its own problem."""

from __future__ import annotations

import math
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.functional._autograd._products import is_recorded, is_transformed
from farfield.functional._autograd._scalar import scalar_like
from farfield.functional._autograd._segments import (
    Segments,
    check_segments,
    segment_moments,
    without_padding,
)
from farfield.functional._norm._context_norm_by_hand import (
    ContextNormByHand,
    context_norm_plain,
    context_norm_unrolled,
)

_FEW_PLACES: Final = 32
"""As many as a compiler is given one by one."""


def context_norm(
    z: Float[Tensor, "*batch time feature"],
    weight: Float[Tensor, " feature"] | None = None,
    bias: Float[Tensor, " feature"] | None = None,
    *,
    segments: Segments | None = None,
    correction: int = 0,
    eps: float | Float[Tensor, ""] = 1e-8,
    padding_mask: Bool[Tensor, "*batch time"] | None = None,
) -> Float[Tensor, "*batch time feature"]:
    r"""Normalize every feature over time, within one problem.

    $$y_{jk} = \gamma_k \frac{z_{jk} - \mu_k}{\sqrt{\sigma^2_k + \epsilon}} + \beta_k, \qquad
      \mu_k = \frac{1}{T} \sum_j z_{jk}, \qquad
      \sigma^2_k = \frac{1}{T - c} \sum_j (z_{jk} - \mu_k)^2$$

    with $T$ places and the correction $c$. Relations between the places of a problem survive,
    their common location and scale do not. `torch.nn.functional.layer_norm` takes the same
    statistics over the features of one place, `batch_norm` over the problems of a batch.

    Args:
        z: Embeddings.
        weight: Gain $\gamma$ of each feature, shared by all segments. None is one.
        bias: Shift $\beta$ of each feature, shared by all segments. None is zero.
        segments: Places that form one context each. None is one context of all places.
        correction: What is subtracted from the number of places in the variance: 0 as published,
            1 as in the released code of webb2021.
        eps: Added to the variance; a tensor gets a gradient.
        padding_mask: True at places that hold padding: they count for nothing, and become 0. Where
            no more than `correction` places of a segment are left, the variance is divided by 1.

    Returns:
        The normalized embeddings, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If a shape does not fit, the segments do not cover every place exactly once,
            `correction` is below 0 or a segment has no more places than that, or `eps` is a number
            that is negative or not finite.

    Reference:
        webb2020, equations 1 to 3; webb2021, section 3.1.
    """
    _check_shapes(z, weight, bias)
    if not isinstance(eps, Tensor) and not 0 <= eps < math.inf:
        raise ValueError(f"eps must be at least 0 and finite, got {eps}")
    wide = z.to(torch.promote_types(z.dtype, torch.float32))
    length = z.shape[-2]
    groups = check_segments(length, segments, correction)
    gain, shift = (None if own is None else own.to(wide.dtype) for own in (weight, bias))
    smoothing = scalar_like(eps, wide)
    if padding_mask is not None:
        wide = without_padding(wide, padding_mask)
    elif _are_equal_and_contiguous(groups):
        folded = torch.unflatten(wide, -2, (len(groups), len(groups[0]))).flatten(0, -3)
        scaled = normalize_over_time(folded, gain, shift, smoothing, correction)
        return scaled.reshape(z.shape).to(z.dtype)
    scaled = _normalize_scattered(wide, groups, correction, smoothing, padding_mask)
    if gain is not None:
        scaled = scaled * gain
    if shift is not None:
        scaled = scaled + shift
    if padding_mask is not None:
        scaled = without_padding(scaled, padding_mask)
    return scaled.to(z.dtype)


def normalize_over_time(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, smoothing: Tensor, correction: int
) -> Tensor:
    """Normalize `(batch, time, feature)` over time; everything in one dtype, unchecked."""
    if torch.compiler.is_compiling() and z.shape[1] <= _FEW_PLACES:
        return context_norm_unrolled(z, weight, bias, smoothing, correction)
    if is_transformed() or is_recorded():
        return context_norm_plain(z, weight, bias, smoothing, correction)
    # torch leaves `apply` untyped.
    found: Tensor = ContextNormByHand.apply(  # type: ignore[no-untyped-call]
        z, weight, bias, smoothing, correction
    )
    return found


def _check_shapes(z: Tensor, weight: Tensor | None, bias: Tensor | None) -> None:
    if z.ndim < 2 or z.shape[-2] == 0 or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (*batch, time, feature) with at least one "
            f"place, got {z.dtype} of shape {tuple(z.shape)}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != z.shape[-1:]:
            raise ValueError(
                f"{name} must have one number per feature ({z.shape[-1]}), "
                f"got shape {tuple(parameter.shape)}"
            )


def _are_equal_and_contiguous(groups: tuple[tuple[int, ...], ...]) -> bool:
    in_order = [place for group in groups for place in group]
    return in_order == sorted(in_order) and len({len(group) for group in groups}) == 1


def _normalize_scattered(
    z: Tensor,
    groups: tuple[tuple[int, ...], ...],
    correction: int,
    eps: Tensor,
    padding_mask: Tensor | None,
) -> Tensor:
    """Normalize within segments of any size and order, of any number of places."""
    mean, variance, which = segment_moments(z, groups, correction, padding_mask)
    return (z - mean[..., which, :]) * (variance + eps).rsqrt()[..., which, :]
