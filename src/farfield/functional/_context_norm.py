"""Context normalization: each feature normalized over the time of its own problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._context_norm_by_hand import (
    ContextNormByHand,
    context_norm_plain,
    context_norm_unrolled,
)
from farfield.functional._products import is_transformed

_FEW_PLACES: Final = 32
"""As many as a compiler is given one by one."""

Segments = Sequence[Sequence[int]]
"""Places that form one context each, e.g. `((0, 1), (2, 3), (4, 5))`."""


def context_norm(
    z: Float[Tensor, "*batch time feature"],
    weight: Float[Tensor, " feature"] | None = None,
    bias: Float[Tensor, " feature"] | None = None,
    *,
    segments: Segments | None = None,
    correction: int = 0,
    eps: float | Float[Tensor, ""] = 1e-8,
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
        correction: What is subtracted from the number of places in the variance: 0 as printed,
            1 as in the released code of webb2021.
        eps: Added to the variance; a tensor gets a gradient.

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
    smoothing = torch.as_tensor(eps, dtype=wide.dtype, device=z.device)
    if _are_equal_and_contiguous(groups):
        folded = torch.unflatten(wide, -2, (len(groups), len(groups[0]))).flatten(0, -3)
        scaled = normalize_over_time(folded, gain, shift, smoothing, correction)
        return scaled.reshape(z.shape).to(z.dtype)
    scaled = _normalize_scattered(wide, groups, correction, smoothing)
    if gain is not None:
        scaled = scaled * gain
    if shift is not None:
        scaled = scaled + shift
    return scaled.to(z.dtype)


def normalize_over_time(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, smoothing: Tensor, correction: int
) -> Tensor:
    """Normalize `(batch, time, feature)` over time; everything in one dtype, unchecked."""
    if torch.compiler.is_compiling() and z.shape[1] <= _FEW_PLACES:
        return context_norm_unrolled(z, weight, bias, smoothing, correction)
    if is_transformed() or torch.compiler.is_compiling():
        return context_norm_plain(z, weight, bias, smoothing, correction)
    # torch leaves `apply` untyped.
    found: Tensor = ContextNormByHand.apply(  # type: ignore[no-untyped-call]
        z, weight, bias, smoothing, correction
    )
    return found


def check_segments(
    length: int | None, segments: Segments | None, correction: int = 0
) -> tuple[tuple[int, ...], ...]:
    """The segments as tuples, after checking that they cover `length` places exactly once.

    Args:
        length: Number of places of a problem. None is as many as the segments name.
        segments: Places that form one context each. None is one context of all places.
        correction: What is subtracted from the number of places in the variance.

    Raises:
        ValueError: If the segments are no sequences, a place is missing, repeated or outside, a
            segment is empty or has no more than `correction` places, or `correction` is below 0.
    """
    if correction < 0:
        raise ValueError(f"correction must be at least 0, got {correction}")
    groups = (tuple(range(length or 0)),) if segments is None else _groups(segments)
    named = sorted(place for group in groups for place in group)
    if length is None:
        length = len(named)
    if named != list(range(length)):
        raise ValueError(
            f"segments must name each of the places 0…{length - 1} exactly once, got {groups}"
        )
    shortest = min([len(group) for group in groups]) if groups else 0
    if shortest == 0:
        raise ValueError(f"segments must each hold at least one place, got {groups}")
    if shortest <= correction:
        raise ValueError(
            f"correction={correction} divides by zero in a segment of {shortest} place(s); "
            "use correction=0 or longer segments"
        )
    return groups


def _groups(segments: Segments) -> tuple[tuple[int, ...], ...]:
    try:
        return tuple(tuple(segment) for segment in segments)
    except TypeError:
        raise ValueError(
            "segments must be a sequence of sequences of places, e.g. ((0, 1), (2, 3)), "
            f"got {segments!r}"
        ) from None


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
    z: Tensor, groups: tuple[tuple[int, ...], ...], correction: int, eps: Tensor
) -> Tensor:
    """Normalize within segments of any size and order, by sums over a membership matrix."""
    sizes = z.new_tensor([len(group) for group in groups]).unsqueeze(-1)
    which = torch.zeros(z.shape[-2], dtype=torch.int64, device=z.device)
    for number, group in enumerate(groups):
        which[list(group)] = number
    members = torch.nn.functional.one_hot(which, len(groups)).T.to(z.dtype)
    centred = z - ((members @ z) / sizes)[..., which, :]
    variance = (members @ centred.square()) / (sizes - correction)
    return centred * (variance + eps).rsqrt()[..., which, :]
