"""Normalization over a field of an input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._products import is_recorded, is_transformed
from farfield.functional._autograd._segments import check_segments, scalar_like
from farfield.functional._norm._context_norm import ContextStatistics, normalize_over_time


# A field takes a batch to a `Fold`: parts `(group, member, column)` whose members are normalized
# together, each column of a group by itself, and the way back. The local windows of divisive
# normalization, which overlap, are no fields of this kind.
class Fold(NamedTuple):
    """A batch in parts, and the way back.

    Attributes:
        parts: Tensors `(group, member, column)`; more than one where groups differ in size.
        whole: From parts of these shapes to a tensor of the batch's shape.

    Reference:
        ren2017, table 1.
    """

    parts: tuple[Tensor, ...]
    whole: Callable[[Sequence[Tensor]], Tensor]


Field = Callable[[Tensor], Fold]
"""Function from a batch to its fold."""


def over_time(segments: Sequence[Sequence[int]] | None = None) -> Field:
    """Pool the positions of a problem, or of a segment of it; `(*batch, time, feature)`.

    Args:
        segments: Positions that form one context each. None is one context of all positions.

    Reference:
        webb2020, equations 1 to 3.
    """

    def fold(z: Tensor) -> Fold:
        flat = z.reshape(-1, *z.shape[-2:])
        groups = check_segments(z.shape[-2], segments)
        # Index of a position once all groups are put one behind the other.
        positions = [position for group in groups for position in group]
        order = sorted(range(len(positions)), key=positions.__getitem__)
        return Fold(
            tuple(flat[:, list(group)] for group in groups) if segments else (flat,),
            lambda parts: torch.cat(tuple(parts), dim=1)[:, order].reshape(z.shape),
        )

    return fold


def over_batch(z: Tensor) -> Fold:
    """Pool all problems, every position by itself; `(batch, *positions, feature)`.

    Reference:
        webb2020, section 4.2.
    """
    return Fold((z.flatten(1).unsqueeze(0),), lambda parts: parts[0].reshape(z.shape))


def over_batch_and_places(z: Tensor) -> Fold:
    """Pool all problems and all their positions; `(batch, *positions, feature)`.

    Reference:
        webb2020, section 4.2.
    """
    return Fold((z.reshape(1, -1, z.shape[-1]),), lambda parts: parts[0].reshape(z.shape))


def over_batch_and_time(z: Tensor) -> Fold:
    """Pool all problems and times, every candidate by itself; `(batch, *candidate, time, feature)`.

    Raises:
        ValueError: If `z` has fewer axes.

    Reference:
        webb2020, section 4.2.
    """
    _check_time(z)
    times, features = z.shape[-2:]
    lines = z.reshape(z.shape[0], -1, times, features)
    part = rearrange(lines, "batch line time feature -> 1 (batch time) (line feature)")

    def whole(parts: Sequence[Tensor]) -> Tensor:
        back = parts[0].reshape(z.shape[0], times, lines.shape[1], features)
        return back.transpose(1, 2).reshape(z.shape)

    return Fold((part,), whole)


def over_sub_batches(group_size: int) -> Field:
    """Pool consecutive problems, every position by itself; `(batch, *positions, feature)`.

    Args:
        group_size: Number of problems; the last ones of a batch may be fewer.

    Raises:
        ValueError: If `group_size` is below 1.

    Reference:
        webb2020, section 4.2.
    """
    if group_size < 1:
        raise ValueError(f"group_size must be at least 1, got {group_size}")

    def fold(z: Tensor) -> Fold:
        rows = z.flatten(1).unsqueeze(0)
        return Fold(_pieces(rows, group_size), lambda parts: _joined(parts, 1).reshape(z.shape))

    return fold


def over_pieces(length: int) -> Field:
    """Pool consecutive embeddings of all problems, `(batch, *candidate, time, feature)`.

    The problems are put one behind the other, for every candidate by itself, and cut into pieces
    that need not fit them.

    Args:
        length: Number of embeddings; the last ones of a batch may be fewer.

    Raises:
        ValueError: If `length` is below 1, or the folded tensor has fewer axes.

    Reference:
        webb2020, section 4.2.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")

    def fold(z: Tensor) -> Fold:
        rows = in_sequence(z)
        return Fold(
            _pieces(rows, length), lambda parts: out_of_sequence(_joined(parts, len(rows)), z)
        )

    return fold


def over_channel_groups(num_groups: int) -> Field:
    """Pool positions and consecutive channels of one image; `(batch, channel, *position)`.

    All channels in one group is the layer normalization of an image, every channel in a group by
    its own instance normalization.

    Args:
        num_groups: Number of groups.

    Raises:
        ValueError: If the channels cannot be divided among the groups.

    Reference:
        ren2017, table 1; Wu and He 2018.
    """

    def fold(z: Tensor) -> Fold:
        if num_groups < 1 or z.shape[1] % num_groups:
            raise ValueError(
                f"num_groups must divide the {z.shape[1]} channels, got num_groups={num_groups}"
            )
        members = z[0].numel() // num_groups
        part = z.reshape(z.shape[0] * num_groups, members, 1)
        return Fold((part,), lambda parts: parts[0].reshape(z.shape))

    return fold


def over_features(z: Tensor) -> Fold:
    """Pool the features of one position; `(*batch, feature)`.

    Reference:
        ren2017, table 1.
    """
    return Fold((z.reshape(-1, z.shape[-1], 1),), lambda parts: parts[0].reshape(z.shape))


def over_images(z: Tensor) -> Fold:
    """Pool all images and positions, every channel by itself; `(batch, channel, *position)`.

    Reference:
        ren2017, table 1.
    """
    last = z.movedim(1, -1)
    return Fold(
        (last.reshape(1, -1, z.shape[1]),),
        lambda parts: parts[0].reshape(last.shape).movedim(-1, 1),
    )


def in_sequence(z: Tensor) -> Tensor:
    """Lay all problems one behind the other, `(candidate, batch · time, feature)`."""
    _check_time(z)
    lines = z.reshape(z.shape[0], math.prod(z.shape[1:-2]), *z.shape[-2:])
    return rearrange(lines, "batch line time feature -> line (batch time) feature")


def out_of_sequence(rows: Tensor, like: Tensor) -> Tensor:
    """Undo `in_sequence`."""
    lines = rows.reshape(len(rows), like.shape[0], *like.shape[-2:])
    return lines.transpose(0, 1).reshape(like.shape)


def _check_time(z: Tensor) -> None:
    if z.ndim < 3:
        raise ValueError(
            f"z must be a tensor of (batch, *candidate, time, feature), got shape {tuple(z.shape)}"
        )


def _pieces(rows: Tensor, size: int) -> tuple[Tensor, ...]:
    """Cut axis 1 of `(line, row, column)` into groups of `size`, and the rest."""
    lines, length, columns = rows.shape
    full = length - length % size
    groups = rows[:, :full].reshape(lines * (full // size), size, columns)
    return tuple(part for part in (groups, rows[:, full:]) if part.numel())


def _joined(parts: Sequence[Tensor], lines: int) -> Tensor:
    """Undo `_pieces`: return `(line, row, column)`."""
    return torch.cat([part.reshape(lines, -1, part.shape[-1]) for part in parts], dim=1)


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
    the same here, and $\sigma^2$ as `eps`. The field says which numbers are pooled: `over_time()`
    is `context_norm`, `over_batch` batch normalization, `over_features` layer normalization.
    Windows that overlap are `divisive_norm_1d`, `divisive_norm_2d` and `sliding_context_norm`.

    Args:
        z: Numbers to normalize, laid out as the field wants them.
        field: Field, which defines the numbers that are pooled together.
        weight: Gain $\gamma$ of each feature, for fields over `(batch, *positions, feature)`. None
            is one.
        bias: Shift $\beta$ of each feature, likewise. None is zero.
        correction: Number subtracted from the number of members in the mean of squares.
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
        z: Numbers to center, laid out as the field wants them.
        field: Field, which defines the numbers that are pooled together.

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
    r"""Compute mean and scale of every number's field, for `denormalize`.

    Args:
        z: Numbers to normalize, laid out as the field wants them.
        field: Field, which defines the numbers that are pooled together.
        correction: Number subtracted from the number of members in the mean of squares.
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
    """Compute the mean and variance of each column of a field that is one group, summed in float64.

    Args:
        z: A whole training set, laid out as the field wants it.
        field: Field, such as `over_batch` or `over_batch_and_places`: the numbers pooled together.
        correction: Number subtracted from the number of members in the variance.

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
    z: Float[Tensor, "batch *positions feature"],
    mean: Float[Tensor, "*_ feature"],
    variance: Float[Tensor, "*_ feature"],
    weight: Float[Tensor, " feature"] | None = None,
    bias: Float[Tensor, " feature"] | None = None,
    *,
    eps: float | Float[Tensor, ""] = 1e-8,
) -> Float[Tensor, "batch *positions feature"]:
    r"""Normalize by statistics taken elsewhere, as from the training set.

    Args:
        z: Embeddings.
        mean: Mean of every feature, or of every feature at every position.
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
    """Normalize one part `(group, member, column)`; torch has a kernel for a single group."""
    if not isinstance(eps, Tensor) and correction == 0 and part.shape[0] == 1:
        # 2.2 times as fast at 1024 × 512, 3.3 at 288 × 128; `F.batch_norm` refuses one member.
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
    """Repeat gain or shift for each column: columns are the features, once or several times."""
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
    """Convert the batch to at least float32."""
    if z.ndim < 2 or 0 in z.shape[1:] or not z.is_floating_point():
        raise ValueError(
            "z must be a floating-point tensor of problems of at least one feature, "
            f"got {z.dtype} of shape {tuple(z.shape)}"
        )
    return z.to(torch.promote_types(z.dtype, torch.float32))


def _empty(z: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Return no problems, still with zeros for the gradients of gain and shift."""
    scaled = z if weight is None else z * weight
    return (scaled if bias is None else scaled + bias).to(z.dtype)
