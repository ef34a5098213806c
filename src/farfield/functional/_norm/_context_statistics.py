"""Location and scale of each feature over the places of a problem, and the way back."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.functional._autograd._segments import (
    Segments,
    check_segments,
    segment_moments,
    without_padding,
)


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
    r"""Mean and scale of every feature over all places of a problem, or over segments of it.

    $$\mu_k = \frac{1}{T} \sum_j z_{jk}, \qquad
      s_k = \sqrt{\frac{1}{T - c} \sum_j (z_{jk} - \mu_k)^2 + \epsilon}$$

    with $T$ places and the correction $c$. `(z - mean) / scale` is `context_norm` without gain and
    shift. For the statistics of the first places alone give those: `context_statistics(z[:, :19])`.

    Args:
        z: Embeddings.
        segments: Places that form one context each. None is one context of all places.
        correction: What is subtracted from the number of places in the variance: 0 as published, 1
            as in the released code of webb2020's dynamic prediction.
        eps: Added to the variance; a tensor gets a gradient.
        padding_mask: True at places that hold padding, which count for nothing.

    Returns:
        Statistics of shape `(*batch, 1, feature)`, with segments `(*batch, time, feature)`, in the
        dtype of `z`, at least float32.

    Raises:
        ValueError: If there are no places, no more than `correction`, or segments or mask do
            not fit.

    Reference:
        webb2020, equations 1 and 2.
    """
    wide = _checked(z)
    if not 0 <= correction < z.shape[-2]:
        raise ValueError(
            f"correction must be at least 0 and less than the {z.shape[-2]} place(s), "
            f"got {correction}; use correction=0 or more places"
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
    r"""Mean and scale of every feature at every place, over the places up to and with it.

    $$\mu_t = \frac{1}{t} \sum_{j \le t} z_j, \qquad
      s_t = \sqrt{\frac{1}{\max(t - c, 1)} \sum_{j \le t} (z_j - \mu_t)^2 + \epsilon}$$

    What comes later changes nothing. At the first place there is no variance yet: the scale is
    $\sqrt\epsilon$ and what is normalized with it is 0. The squares are summed by

    $$\sum_{j \le t} (z_j - \mu_t)^2 = \sum_{j \le t} \tfrac{j - 1}{j} (z_j - \mu_{j-1})^2$$

    all of whose terms are positive, so that nothing cancels as it does in
    $\overline{z^2} - \bar z^2$.

    Args:
        z: Embeddings, in order.
        correction: What is subtracted from the number of places in the variance, 0 or 1.
        eps: Added to the variance.

    Returns:
        Statistics of the shape of `z`, in its dtype, at least float32.

    Raises:
        ValueError: If there are no places, or `correction` is neither 0 nor 1.

    Reference:
        webb2020, equations 1 and 2, over the frames seen so far.
    """
    wide = _checked(z)
    if correction not in (0, 1):
        raise ValueError(f"correction must be 0 or 1, got {correction}")
    number = torch.arange(1, z.shape[-2] + 1, dtype=wide.dtype, device=z.device).unsqueeze(-1)
    # Relative to the first place a common offset costs no digits.
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

    It undoes a normalization without gain and shift: what was normalized comes back, and what was
    predicted among normalized embeddings gets the size it needs to be decoded.

    Args:
        normalized: Normalized embeddings $\hat z$.
        mean: Location $\mu$, of the same shape or with one place for all.
        scale: Scale $s$, likewise.

    Returns:
        Embeddings in the dtype of `normalized`.

    Raises:
        ValueError: If `normalized` is of integers, or location or scale have other features, or
            neither one place nor as many.

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
                f"{name} must hold a number per feature, for all or for each of the places of "
                f"{tuple(normalized.shape)}, got shape {tuple(statistic.shape)}"
            )
    return (normalized * scale + mean).to(normalized.dtype)


def _checked(z: Tensor) -> Tensor:
    """The embeddings in at least float32."""
    if z.ndim < 2 or z.shape[-2] == 0 or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of (*batch, time, feature) with at least one "
            f"place, got {z.dtype} of shape {tuple(z.shape)}"
        )
    return z.to(torch.promote_types(z.dtype, torch.float32))
