"""The general form of normalization: one formula, and a field that says what is pooled."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._products import is_recorded, is_transformed
from farfield.functional._autograd._scalar import scalar_like
from farfield.functional._norm._context_norm import normalize_over_time
from farfield.functional._norm._context_statistics import ContextStatistics
from farfield.functional._norm._fields import Field


def field_norm(
    z: Float[Tensor, "batch *_ last"],
    field: Field,
    weight: Float[Tensor, " last"] | None = None,
    bias: Float[Tensor, " last"] | None = None,
    *,
    correction: int = 0,
    eps: float | Float[Tensor, ""] = 1e-8,
) -> Float[Tensor, "batch *_ last"]:
    r"""Center every number by the mean of its field, and divide it by the field's deviation.

    $$v_j = z_j - \mathbb{E}_{\mathcal{A}_j}[z], \qquad
      y_j = \gamma \frac{v_j}{\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{B}_j}[v^2]}} + \beta$$

    with the summation field $\mathcal{A}_j$ and the suppression field $\mathcal{B}_j$, which are
    the same here, and $\sigma^2$ as `eps`. What is pooled is the field's to say: `over_time()` is
    `context_norm`, `over_batch` batch normalization, `over_features` layer normalization. Windows
    that overlap are `divisive_norm_1d`, `divisive_norm_2d` and `sliding_context_norm`.

    Args:
        z: What is normalized, laid out as the field wants it.
        field: What is pooled.
        weight: Gain $\gamma$ of each feature, for fields over `(batch, *places, feature)`. None is
            one.
        bias: Shift $\beta$ of each feature, likewise. None is zero.
        correction: What is subtracted from the number of members in the mean of squares.
        eps: Added to the mean of squares; a tensor gets a gradient.

    Returns:
        The normalized numbers, in the dtype of `z`; statistics are taken in at least float32.

    Raises:
        ValueError: If `z` is not a batch, gain or shift do not fit, or a field has no more than
            `correction` members.

    Reference:
        ren2017, equations 3 and 4.
    """
    wide = _checked(z)
    if wide.shape[0] == 0:
        return _empty(z, weight, bias)
    parts, whole = field(wide)
    found = []
    _check_members(parts, correction)
    for part in parts:
        affine = [_tiled(name, own, z, part) for name, own in (("weight", weight), ("bias", bias))]
        found.append(_normalized(part, affine[0], affine[1], correction, eps))
    return whole(found).to(z.dtype)


def field_center(z: Float[Tensor, "batch *_ last"], field: Field) -> Float[Tensor, "batch *_ last"]:
    r"""Center every number by the mean of its field, $v_j = z_j - \mathbb{E}_{\mathcal{A}_j}[z]$.

    These are the activations whose absolute values the L1 penalty of ren2017 prices.

    Args:
        z: What is centered, laid out as the field wants it.
        field: What is pooled.

    Returns:
        The centered numbers, in the dtype of `z`.

    Raises:
        ValueError: If `z` is not a batch.

    Reference:
        ren2017, equations 3 and 5.
    """
    wide = _checked(z)
    if wide.shape[0] == 0:
        return _empty(z)
    parts, whole = field(wide)
    return whole([part - part.mean(1, keepdim=True) for part in parts]).to(z.dtype)


def field_statistics(
    z: Float[Tensor, "batch *_ last"],
    field: Field,
    *,
    correction: int = 0,
    eps: float | Float[Tensor, ""] = 1e-8,
) -> ContextStatistics:
    r"""Mean and scale of every number's field, with which `denormalize` undoes `field_norm`.

    Args:
        z: What is normalized, laid out as the field wants it.
        field: What is pooled.
        correction: What is subtracted from the number of members in the mean of squares.
        eps: Added to the mean of squares.

    Returns:
        $\mathbb{E}_{\mathcal{A}}[z]$ and $\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{B}}[v^2]}$, both of
        the shape of `z`, in its dtype, at least float32.

    Raises:
        ValueError: If `z` is not a batch, or a field has no more than `correction` members.

    Reference:
        webb2020, equations 1, 2 and 4; ren2017, equations 3 and 4.
    """
    wide = _checked(z)
    if wide.shape[0] == 0:
        return ContextStatistics(wide.clone(), wide.clone())
    parts, whole = field(wide)
    _check_members(parts, correction)
    means = [part.mean(1, keepdim=True) for part in parts]
    scales = [
        ((part - mean).square().sum(1, keepdim=True) / (part.shape[1] - correction) + eps).sqrt()
        for part, mean in zip(parts, means, strict=True)
    ]
    mean, scale = (
        whole([one.expand_as(part) for one, part in zip(each, parts, strict=True)])
        for each in (means, scales)
    )
    return ContextStatistics(mean, scale)


def field_moments(
    z: Float[Tensor, "batch *_ last"], field: Field, *, correction: int = 0
) -> tuple[Float[Tensor, " column"], Float[Tensor, " column"]]:
    """Mean and variance of each column of a field that is one group, summed in float64.

    Args:
        z: A whole training set, laid out as the field wants it.
        field: What is pooled, such as `over_batch` or `over_batch_and_places`.
        correction: What is subtracted from the number of members in the variance.

    Raises:
        ValueError: If `z` is not a batch, the field has several groups, or no more than
            `correction` members.

    Reference:
        webb2020, section 4.2.
    """
    wide = _checked(z)
    if wide.shape[0] == 0:
        raise ValueError(f"z must hold at least one problem, got shape {tuple(z.shape)}")
    parts, _ = field(wide)
    if len(parts) != 1 or len(parts[0]) != 1:
        raise ValueError(f"field must be one group, got {sum(map(len, parts))} of them")
    _check_members(parts, correction)
    rows = parts[0][0]
    mean = rows.mean(0, dtype=torch.float64)
    # By pieces, as twice the memory of a training set is much.
    pieces = torch.split(rows, 4096)
    squares = torch.stack([(piece - mean).square().sum(0) for piece in pieces]).sum(0)
    return mean, squares / (len(rows) - correction)


def norm_by_statistics(
    z: Float[Tensor, "batch *places feature"],
    mean: Float[Tensor, "*_ feature"],
    variance: Float[Tensor, "*_ feature"],
    weight: Float[Tensor, " feature"] | None = None,
    bias: Float[Tensor, " feature"] | None = None,
    *,
    eps: float | Float[Tensor, ""] = 1e-8,
) -> Float[Tensor, "batch *places feature"]:
    r"""Normalize by statistics taken elsewhere, as from the training set.

    Args:
        z: Embeddings.
        mean: Mean of every feature, or of every feature at every place.
        variance: Variance, likewise.
        weight: Gain of each feature. None is one.
        bias: Shift of each feature. None is zero.
        eps: Added to the variance.

    Raises:
        ValueError: If the statistics are nan, as before any were taken, or do not fit.

    Reference:
        webb2020, section 4.2.
    """
    wide = _checked(z)
    for name, statistic in (("mean", mean), ("variance", variance)):
        if statistic.shape not in (z.shape[1:], z.shape[-1:]):
            raise ValueError(
                f"{name} must have the shape {tuple(z.shape[1:])} or {tuple(z.shape[-1:])} for "
                f"these embeddings, got {tuple(statistic.shape)}"
            )
    known = is_transformed() or is_recorded() or not bool(variance.isnan().any())
    if not known:
        raise ValueError(
            "variance must be known, got nan; take the statistics of the training set first"
        )
    scaled = (wide - mean) * (variance + eps).rsqrt()
    if weight is not None:
        scaled = scaled * weight
    if bias is not None:
        scaled = scaled + bias
    return scaled.to(z.dtype)


def _normalized(
    part: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    correction: int,
    eps: float | Tensor,
) -> Tensor:
    """One part `(group, member, column)`; a single group is what torch has a kernel for."""
    if not isinstance(eps, Tensor) and correction == 0 and part.shape[0] == 1:
        # torch.nn.functional's own refuses a single member.
        return torch.batch_norm(
            part[0], weight, bias, None, None, True, 0.0, eps, torch.backends.cudnn.enabled
        ).unsqueeze(0)
    smoothing = scalar_like(eps, part)
    return normalize_over_time(part, weight, bias, smoothing, correction)


def _check_members(parts: Sequence[Tensor], correction: int) -> None:
    smallest = min(part.shape[1] for part in parts)
    if not 0 <= correction < smallest:
        raise ValueError(
            f"correction must be at least 0 and less than the {smallest} number(s) of a field, "
            f"got {correction}; use correction=0 or a larger batch"
        )


def _tiled(name: str, parameter: Tensor | None, z: Tensor, part: Tensor) -> Tensor | None:
    """Gain or shift for each column: columns are the features, once or several times."""
    if parameter is None:
        return None
    times = part.shape[-1] // z.shape[-1]
    if parameter.shape != z.shape[-1:] or part.shape[-1] % z.shape[-1]:
        raise ValueError(
            f"{name} must have one number per feature ({z.shape[-1]}) of a field that keeps "
            f"features apart, got shape {tuple(parameter.shape)}"
        )
    return parameter.to(part.dtype).repeat(times)


def _checked(z: Tensor) -> Tensor:
    """The batch in at least float32."""
    if z.ndim < 2 or 0 in z.shape[1:] or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of problems of at least one feature, "
            f"got {z.dtype} of shape {tuple(z.shape)}"
        )
    return z.to(torch.promote_types(z.dtype, torch.float32))


def _empty(z: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """No problems, still with zeros for the gradients of gain and shift."""
    scaled = z if weight is None else z * weight
    return (scaled if bias is None else scaled + bias).to(z.dtype)
