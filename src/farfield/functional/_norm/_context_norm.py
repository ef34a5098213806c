"""Context normalization: its formula, then its gradient by hand."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield._machine import on_cpu
from farfield.functional._autograd._products import is_recorded, is_transformed
from farfield.functional._autograd._segments import (
    Segments,
    check_segments,
    scalar_like,
    segment_moments,
    without_padding,
)
from farfield.functional._autograd._unroll import differentiable_gradients


def context_norm_plain(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, smoothing: Tensor, correction: int
) -> Tensor:
    """Normalize `(batch, time, feature)` over time, as autograd differentiates it."""
    centered = z - z.mean(1, keepdim=True)
    variance = centered.square().sum(1, keepdim=True) / (z.shape[1] - correction)
    scaled = centered * (variance + smoothing).rsqrt()
    if weight is not None:
        scaled = scaled * weight
    return scaled if bias is None else scaled + bias


class ContextStatistics(NamedTuple):
    r"""Location and scale of a context: taken out, and put back.

    Attributes:
        mean: $\mu$ of each feature, `(*batch, 1 or time, feature)`.
        scale: $\sqrt{\sigma^2 + \epsilon}$ of each feature, of the same shape.

    Reference:
        webb2020, equations 1 and 2.
    """

    mean: Tensor
    scale: Tensor


def context_statistics(
    z: Float[Tensor, "*batch time feature"],
    *,
    segments: Segments | None = None,
    correction: int = 0,
    eps: float | Float[Tensor, ""] = 1e-8,
    padding_mask: Bool[Tensor, "*batch time"] | None = None,
) -> ContextStatistics:
    r"""Compute mean and scale of every feature over the positions of a problem or segment.

    $$\mu_k = \frac{1}{T} \sum_j z_{jk}, \qquad
      s_k = \sqrt{\frac{1}{T - c} \sum_j (z_{jk} - \mu_k)^2 + \epsilon}$$

    with $T$ positions and the correction $c$. `(z - mean) / scale` is `context_norm` without gain
    and shift. For the statistics of the first positions alone, give only them:
    `context_statistics(z[:, :19])`.

    Args:
        z: Embeddings.
        segments: Positions that form one context each. None is one context of all positions.
        correction: Number subtracted from the number of positions in the variance: 0 as published,
            1 as in the released code of webb2020's dynamic prediction.
        eps: Added to the variance; a tensor gets a gradient.
        padding_mask: True at positions that hold padding, which count for nothing.

    Returns:
        Statistics of shape `(*batch, 1, feature)`, with segments `(*batch, time, feature)`, in the
        dtype of `z`, at least float32.

    Raises:
        ValueError: If there are no positions, no more than `correction`, or segments or mask do
            not fit.

    Reference:
        webb2020, equations 1 and 2.
    """
    wide = _checked(z)
    if not 0 <= correction < z.shape[-2]:
        raise ValueError(
            f"correction must be at least 0 and less than the {z.shape[-2]} position(s), "
            f"got {correction}; use correction=0 or more positions"
        )
    if segments is not None or padding_mask is not None:
        groups = check_segments(z.shape[-2], segments, correction)
        if padding_mask is not None:
            wide = without_padding(wide, padding_mask)
        mean, variance, which = segment_moments(wide, groups, correction, padding_mask)
        scale = (variance + eps).sqrt()
        at = which[:1] if segments is None else which
        return ContextStatistics(mean[..., at, :], scale[..., at, :])
    mean = wide.mean(-2, keepdim=True)
    squares = (wide - mean).square().sum(-2, keepdim=True)
    return ContextStatistics(mean, (squares / (z.shape[-2] - correction) + eps).sqrt())


def running_context_statistics(
    z: Float[Tensor, "*batch time feature"], *, correction: int = 0, eps: float = 1e-8
) -> ContextStatistics:
    r"""Compute mean and scale of every feature at every position, over the positions up to it.

    $$\mu_t = \frac{1}{t} \sum_{j \le t} z_j, \qquad
      s_t = \sqrt{\frac{1}{\max(t - c, 1)} \sum_{j \le t} (z_j - \mu_t)^2 + \epsilon}$$

    Later positions change nothing. At the first position there is no variance yet: the scale is
    $\sqrt\epsilon$ and the normalized embedding is 0. The squares are summed by

    $$\sum_{j \le t} (z_j - \mu_t)^2 = \sum_{j \le t} \tfrac{j - 1}{j} (z_j - \mu_{j-1})^2$$

    all of whose terms are positive, so that nothing cancels as it does in
    $\overline{z^2} - \bar z^2$.

    Args:
        z: Embeddings, in order.
        correction: Number subtracted from the number of positions in the variance, 0 or 1.
        eps: Added to the variance.

    Returns:
        Statistics of the shape of `z`, in its dtype, at least float32.

    Raises:
        ValueError: If there are no positions, or `correction` is neither 0 nor 1.

    Reference:
        webb2020, equations 1 and 2, over the frames seen so far.
    """
    wide = _checked(z)
    if correction not in (0, 1):
        raise ValueError(f"correction must be 0 or 1, got {correction}")
    number = torch.arange(1, z.shape[-2] + 1, dtype=wide.dtype, device=z.device).unsqueeze(-1)
    # Relative to the first position a common offset costs no digits.
    moved = wide - wide[..., :1, :]
    mean = moved.cumsum(-2) / number
    before = torch.cat((mean[..., :1, :], mean[..., :-1, :]), dim=-2)
    squares = ((moved - before).square() * ((number - 1) / number)).cumsum(-2)
    variance = squares / (number - correction).clamp_min(1)
    return ContextStatistics(mean + wide[..., :1, :], (variance + eps).sqrt())


def denormalize(
    normalized: Float[Tensor, "*batch time feature"],
    mean: Float[Tensor, "*#batch #time feature"],
    scale: Float[Tensor, "*#batch #time feature"],
) -> Float[Tensor, "*batch time feature"]:
    r"""Put location and scale of a context back.

    $$z_{jk} = s_k \, \hat z_{jk} + \mu_k$$

    It undoes a normalization without gain and shift: embeddings come back, and results that were
    predicted among normalized embeddings get the size that a decoder needs.

    Args:
        normalized: Normalized embeddings $\hat z$.
        mean: Location $\mu$, of the same shape or with one position for all.
        scale: Scale $s$, likewise.

    Returns:
        Embeddings in the dtype of `normalized`.

    Raises:
        ValueError: If `normalized` is of integers, or location or scale have other features, or
            neither one position nor as many.

    Reference:
        webb2020, equation 4.
    """
    if not normalized.is_floating_point():
        raise ValueError(f"normalized must be a floating-point tensor, got {normalized.dtype}")
    for name, statistic in (("mean", mean), ("scale", scale)):
        if (
            statistic.ndim < 2
            or statistic.shape[-1] != normalized.shape[-1]
            or statistic.shape[-2] not in (1, normalized.shape[-2])
        ):
            raise ValueError(
                f"{name} must hold a number per feature, for all or for each of the positions of "
                f"{tuple(normalized.shape)}, got shape {tuple(statistic.shape)}"
            )
    return (normalized * scale + mean).to(normalized.dtype)


def _checked(z: Tensor) -> Tensor:
    """Convert the embeddings to at least float32."""
    if z.ndim < 2 or z.shape[-2] == 0 or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (*batch, time, feature) with at least one "
            f"position, got {z.dtype} of shape {tuple(z.shape)}"
        )
    return z.to(torch.promote_types(z.dtype, torch.float32))


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

    with $T$ positions and the correction $c$. Relations between the positions of a problem survive,
    their common location and scale do not. `torch.nn.functional.layer_norm` takes the same
    statistics over the features of one position, `batch_norm` over the problems of a batch.

    Args:
        z: Embeddings.
        weight: Gain $\gamma$ of each feature, shared by all segments. None is one.
        bias: Shift $\beta$ of each feature, shared by all segments. None is zero.
        segments: Positions that form one context each. None is one context of all positions.
        correction: Number subtracted from the number of positions in the variance: 0 as published,
            1 as in the released code of webb2021.
        eps: Added to the variance; a tensor gets a gradient.
        padding_mask: True at positions that hold padding: they count for nothing, and become 0.
            Where no more than `correction` positions of a segment are left, the variance is divided
            by 1.

    Returns:
        The normalized embeddings, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If a shape does not fit, the segments do not cover every position exactly once,
            `correction` is below 0 or a segment has no more positions than that, or `eps` is a
            number that is negative or not finite.

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
            f"position, got {z.dtype} of shape {tuple(z.shape)}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != z.shape[-1:]:
            raise ValueError(
                f"{name} must have one number per feature ({z.shape[-1]}), "
                f"got shape {tuple(parameter.shape)}"
            )


def _are_equal_and_contiguous(groups: tuple[tuple[int, ...], ...]) -> bool:
    in_order = [position for group in groups for position in group]
    return in_order == sorted(in_order) and len({len(group) for group in groups}) == 1


def _normalize_scattered(
    z: Tensor,
    groups: tuple[tuple[int, ...], ...],
    correction: int,
    eps: Tensor,
    padding_mask: Tensor | None,
) -> Tensor:
    """Normalize within segments of any size and order, of any number of positions."""
    mean, variance, which = segment_moments(z, groups, correction, padding_mask)
    return (z - mean[..., which, :]) * (variance + eps).rsqrt()[..., which, :]


_FEW_PLACES: Final = 32
"""Most positions that a compiler is given one by one."""


# Compiled, 0.9 to 1.7 times as fast as the formula in training, 1.4 to 2.5 times in inference.
def context_norm_unrolled(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, smoothing: Tensor, correction: int
) -> Tensor:
    """Normalize position by position: a compiler needs one pass, and several for sums over time."""
    positions = z.unbind(1)
    mean = sum(positions[1:], positions[0]) / len(positions)
    centered = [position - mean for position in positions]
    squares = sum([v.square() for v in centered[1:]], centered[0].square())
    gain = (squares / (len(positions) - correction) + smoothing).rsqrt()
    if weight is not None:
        gain = gain * weight
    shift = 0.0 if bias is None else bias
    return torch.stack([v * gain + shift for v in centered], dim=1)


_BLOCK: Final = 2**18
"""Numbers in a block."""


# Its cost is memory traffic. Every operation runs over a block of problems that the
# processor's cache holds, so that each number comes from memory once forward and twice backward,
# and goes there once.
# As fast as the formula times 0.75 at 32 × 9 × 128, 1.4 at 224 × 4 × 256, 1.9 at 1024 × 9 × 128.
class ContextNormByHand(torch.autograd.Function):
    """The values of `context_norm_plain`; not for the transformations of `torch.func`."""

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        smoothing: Tensor,
        correction: int,
    ) -> Tensor:
        batch, time, feature = z.shape
        out = torch.empty_like(z, memory_format=torch.contiguous_format)
        means, roots = z.new_empty(2, batch, 1, feature)
        rows = _rows(z)
        centered, squares = z.new_empty(2, rows, time, feature)
        for block, result, mean, root in _blocks(rows, z, out, means, roots):
            v, vv = centered[: len(block)], squares[: len(block)]
            _sum_over_time(block, mean, 1 / time)
            torch.sub(block, mean, out=v)
            torch.sum(torch.mul(v, v, out=vv), 1, keepdim=True, out=root)
            torch.add(smoothing, root, alpha=1 / (time - correction), out=root).rsqrt_()
            gain = root if weight is None else root * weight
            if bias is None:
                torch.mul(v, gain, out=result)
            else:
                torch.addcmul(bias, v, gain, out=result)
        ctx.save_for_backward(z, weight, bias, smoothing, means, roots)
        ctx.correction = correction
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        z, weight, bias, smoothing, means, roots = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            plain = partial(context_norm_plain, correction=ctx.correction)
            primals = (z, weight, bias, smoothing)
            again = differentiable_gradients(plain, primals, [gradient])
            return (*again, None)
        of_z = torch.empty_like(z, memory_format=torch.contiguous_format)
        sums, products = torch.empty_like(means), torch.empty_like(means)
        of_rows = (gradient, z, of_z, means, roots, sums, products)
        _gradient_of_rows(of_rows, weight, ctx.correction)
        of_scale = None
        if ctx.needs_input_grad[3]:
            each = products if weight is None else products * weight
            # dε = −½ Σ γ r² Σ g y
            of_scale = (each * roots.square()).sum().mul(-0.5)
        # dγ = Σ g y, dβ = Σ g
        return (
            of_z,
            None if weight is None else products.sum((0, 1)),
            None if bias is None else sums.sum((0, 1)).mul_(-z.shape[1]),
            of_scale,
            None,
        )


def _gradient_of_rows(tensors: tuple[Tensor, ...], weight: Tensor | None, correction: int) -> None:
    r"""Write the gradient of each problem, and the summands of the gradients of gain and shift.

    With $g$ the gradient of the result, $y = v r$ the normalized embeddings and $a = \gamma r$,

    $$\partial z = a \left(g - \tfrac{1}{T} \sum g - \tfrac{1}{T - c}\, y \sum g y\right)$$

    Args:
        tensors: Gradient, embeddings, their gradient to be written, means, reciprocal roots, and
            the sums of $-g/T$ and of $g y$ to be written.
        weight: The gain.
        correction: Number subtracted from the number of positions in the variance.
    """
    time, rows = tensors[1].shape[1], _rows(tensors[1])
    buffers = tensors[1].new_empty(2, rows, *tensors[1].shape[1:])
    for g, block, result, mean, root, total, product in _blocks(rows, *tensors):
        v, gv = buffers[:, : len(block)]
        _sum_over_time(g, total, -1 / time)  # −Σ g / T
        torch.sub(block, mean, out=v)
        torch.sum(torch.mul(g, v, out=gv), 1, keepdim=True, out=product)
        product.mul_(root)  # Σ g y = r Σ g v
        gain = root if weight is None else root * weight
        torch.addcmul(total * gain, g, gain, out=gv)  # a (g − Σ g / T)
        along = (product * gain).mul_(root)  # a r Σ g y, and y = r v
        torch.addcmul(gv, v, along, value=-1 / (time - correction), out=result)


def _rows(z: Tensor) -> int:
    """Choose the number of problems in a block: all of them, except on a CPU."""
    return max(1, _BLOCK // max(1, z[0].numel())) if on_cpu(z) and len(z) else max(1, len(z))


def _blocks(rows: int, *tensors: Tensor) -> zip[tuple[Tensor, ...]]:
    return zip(*(torch.split(tensor, rows) for tensor in tensors), strict=True)


def _sum_over_time(block: Tensor, out: Tensor, factor: float) -> None:
    """Sum over axis 1, times a factor, of numbers that still lie in memory."""
    if on_cpu(block) and torch.get_float32_matmul_precision() == "highest":
        # 0.9 to 1.0 times as fast as torch's sum, which would round otherwise.
        ones = block.new_full((1, 1, block.shape[1]), factor)
        torch.bmm(ones.expand(len(block), -1, -1), block, out=out)
    else:
        torch.sum(block, 1, keepdim=True, out=out).mul_(factor)
