"""What the normalizers of a batch of problems have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from farfield.functional import (
    ContextStatistics,
    Field,
    field_centre,
    field_moments,
    field_norm,
    field_statistics,
    norm_by_statistics,
)
from farfield.nn._norm._gain_and_shift import check_features


@runtime_checkable
class BatchNormalizer(Protocol):
    """A module that normalizes the problems of a batch together.

    Attributes:
        num_features: Number of features.
        weight: Gain, or None.
        bias: Shift, or None.
        sigma: The learned constant, or None.
        eps: The square of the constant that is not learned.
        test_batch_size: Number of problems normalized together in evaluation mode.
        training: Whether in training mode.
    """

    num_features: int
    weight: nn.Parameter | None
    bias: nn.Parameter | None
    sigma: nn.Parameter | None
    eps: float
    test_batch_size: int
    training: bool


def smoothing_of(module: BatchNormalizer) -> float | Tensor:
    """What is added to the variance."""
    return module.eps if module.sigma is None else module.sigma.square()


def in_batches(module: BatchNormalizer, function: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
    """Apply a function to the whole batch, or in evaluation mode to smaller ones in turn."""
    check_features(z, module.num_features)
    if module.training or len(z) <= module.test_batch_size:
        return function(z)
    return torch.cat([function(part) for part in torch.split(z, module.test_batch_size)])


@runtime_checkable
class TrainedNormalizer(BatchNormalizer, Protocol):
    """A batch normalizer that may keep statistics of a training set.

    Attributes:
        correction: Subtracted from the number of what is pooled in the variance.
        mean: Mean of the training set, or None.
        variance: Its variance, or None.
    """

    correction: int
    mean: Tensor | None
    variance: Tensor | None


def kept_statistics(module: TrainedNormalizer) -> tuple[Tensor, Tensor] | None:
    """Mean and variance of the training set, in evaluation mode and where they are kept."""
    if module.training or module.mean is None or module.variance is None:
        return None
    return module.mean, module.variance


def normalized_as_trained(module: TrainedNormalizer, field: Field, z: Tensor) -> Tensor:
    """Normalize by the statistics kept, or over a field of each batch."""
    kept = kept_statistics(module)
    if kept is None:
        return normalized(module, field, z, correction=module.correction)
    check_features(z, module.num_features)
    return norm_by_statistics(z, *kept, module.weight, module.bias, eps=smoothing_of(module))


def centred_as_trained(module: TrainedNormalizer, field: Field, z: Tensor) -> Tensor:
    """Centre by the mean kept, or over a field of each batch."""
    kept = kept_statistics(module)
    if kept is None:
        return centred(module, field, z)
    _check_kept(module, z, *kept)
    return z - kept[0]


def statistics_as_trained(module: TrainedNormalizer, field: Field, z: Tensor) -> ContextStatistics:
    """Location and scale kept, or those over a field of each batch."""
    kept = kept_statistics(module)
    if kept is None:
        return statistics_of(module, field, z, correction=module.correction)
    mean, variance = kept
    _check_kept(module, z, mean, variance)
    scale = (variance + smoothing_of(module)).sqrt()
    return ContextStatistics(mean.expand(z.shape), scale.expand(z.shape))


def _check_kept(module: TrainedNormalizer, z: Tensor, mean: Tensor, variance: Tensor) -> None:
    """Refuse what `normalized_as_trained` refuses: statistics never taken, or of another shape."""
    check_features(z, module.num_features)
    norm_by_statistics(z[:1].detach(), mean, variance)  # for its refusals


def keep_statistics(
    z: Tensor, field: Field, mean: Tensor, variance: Tensor, correction: int
) -> None:
    """Take the moments of `z` over a field into the buffers `mean` and `variance`."""
    moments = field_moments(z, field, correction=correction)
    for buffer, moment in zip((mean, variance), moments, strict=True):
        buffer.copy_(moment.reshape(buffer.shape))


def normalized(module: BatchNormalizer, field: Field, z: Tensor, *, correction: int = 0) -> Tensor:
    """Normalize over a field of each batch."""

    def function(part: Tensor) -> Tensor:
        eps = smoothing_of(module)
        return field_norm(part, field, module.weight, module.bias, correction=correction, eps=eps)

    return in_batches(module, function, z)


def centred(module: BatchNormalizer, field: Field, z: Tensor) -> Tensor:
    """Centre over a field of each batch."""
    return in_batches(module, lambda part: field_centre(part, field), z)


def statistics_of(
    module: BatchNormalizer, field: Field, z: Tensor, *, correction: int = 0
) -> ContextStatistics:
    """Location and scale over a field of each batch."""

    def function(part: Tensor) -> Tensor:
        eps = smoothing_of(module)
        return torch.stack(field_statistics(part, field, correction=correction, eps=eps), dim=1)

    mean, scale = in_batches(module, function, z).unbind(1)
    return ContextStatistics(mean, scale)
