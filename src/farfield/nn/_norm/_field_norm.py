"""Normalizers over a field of a batch of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.types import Device

from farfield.core.internal import (
    NonNegativeFloat,
    NonNegativeInt,
    Size,
    check_arguments,
    extend_arguments,
)
from farfield.functional import (
    field_norm,
    field_statistics,
    over_batch,
    over_batch_and_places,
    over_batch_and_time,
    over_pieces,
    over_sub_batches,
    sliding_context_norm,
)
from farfield.functional.internal import (
    ContextStatistics,
    Fold,
    field_center,
    field_moments,
    norm_by_statistics,
    sliding_context_center,
)
from farfield.nn._norm._normalizer import Normalizer


class FieldOptions(TypedDict, total=False):
    """Options of every normalizer over a field."""

    eps: NonNegativeFloat
    affine: bool
    learned_sigma: bool
    test_batch_size: Size
    device: Device
    dtype: torch.dtype | None


class FieldNorm(Normalizer):
    r"""Base of normalizers over a field of a batch, the numbers that share mean and variance.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    A subclass gives the field, `_field`.

    Args:
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *candidate, time, feature)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of features differs.
    """

    correction: int = 0

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        test_batch_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, affine, learned_sigma, device, dtype, eps=eps)
        self.test_batch_size = test_batch_size

    def _field(self, z: Tensor) -> Fold:
        """Fold a batch into the field that is pooled."""
        raise NotImplementedError

    def forward(
        self, z: Float[Tensor, "batch *position feature"]
    ) -> Float[Tensor, "batch *position feature"]:
        """Normalize the embeddings of a batch of problems."""
        affine, eps, kept = (self.weight, self.bias), self._smoothing(), self._kept(z)

        def normalized(part: Tensor) -> Tensor:
            return field_norm(part, self._field, *affine, correction=self.correction, eps=eps)

        if kept is None:
            return self._in_batches(normalized, z)
        return norm_by_statistics(z, *kept, *affine, eps=eps)

    def center(
        self, z: Float[Tensor, "batch *position feature"]
    ) -> Float[Tensor, "batch *position feature"]:
        """Subtract the mean from the embeddings, and divide nothing."""
        if self._kept(z) is None:
            return self._in_batches(lambda part: field_center(part, self._field), z)
        return z - self.statistics(z).mean

    def statistics(self, z: Float[Tensor, "batch *position feature"]) -> ContextStatistics:
        """Return location and scale that `forward` removes; `denormalize` restores them."""
        eps, kept = self._smoothing(), self._kept(z)

        def found(part: Tensor) -> Tensor:
            statistics = field_statistics(part, self._field, correction=self.correction, eps=eps)
            return torch.stack(statistics, dim=1)

        if kept is None:
            return ContextStatistics(*self._in_batches(found, z).unbind(1))
        mean, variance = kept
        norm_by_statistics(z[:1].detach(), mean, variance)  # for its refusals
        return ContextStatistics(mean.expand(z.shape), (variance + eps).sqrt().expand(z.shape))

    def _kept(self, z: Tensor) -> tuple[Tensor, Tensor] | None:
        """Return mean and variance of the training set, if they are kept and used now."""
        self._check(z)
        mean, variance = getattr(self, "mean", None), getattr(self, "variance", None)
        if self.training or mean is None or variance is None:
            return None
        return mean, variance


class TrainedFieldNorm(FieldNorm):
    r"""Base of normalizers over a field that may keep statistics of a training set for evaluation.

    In evaluation mode the statistics are those of the problems given, `test_batch_size` of them at
    a time, or with `training_statistics` those of a training set, taken once by `calibrate`.

    Args:
        correction: Number subtracted from the number of embeddings in the variance: 0 as published,
            1 as in the released PyTorch code of webb2020.

    Shape:
        `(batch, *position, feature)` in and out.

    Attributes:
        mean: Mean of the training set, nan before `calibrate`; None without training statistics.
        variance: Variance of the training set, likewise.

    Raises:
        ValueError: If an argument is out of range, the number of features differs, or training
            statistics are needed before `calibrate`.
    """

    mean: Tensor | None
    variance: Tensor | None

    def __init__(
        self,
        num_features: int,
        kept_shape: Sequence[int] | None,
        correction: int,
        **options: Unpack[FieldOptions],
    ) -> None:
        super().__init__(num_features, **options)
        self.correction = correction
        factory = (options.get("device"), options.get("dtype"))
        self._keep(("mean", "variance"), kept_shape, *factory)

    @property
    def wants_statistics(self) -> bool:
        """True if evaluation mode normalizes by a training set."""
        return self.mean is not None

    @torch.no_grad()
    def calibrate(self, z: Float[Tensor, "batch *position feature"]) -> None:
        """Take mean and variance of the embeddings of a whole training set, summed in float64."""
        if self.mean is None or self.variance is None:
            raise ValueError(
                "training_statistics must be asked for when the module is made, got none"
            )
        self._check(z)
        if self.mean.ndim > 1 and z.shape[1:] != self.mean.shape:
            raise ValueError(
                f"z must be (batch, {', '.join(map(str, self.mean.shape))}), "
                f"got shape {tuple(z.shape)}"
            )
        moments = field_moments(z, self._field, correction=self.correction)
        for buffer, moment in zip((self.mean, self.variance), moments, strict=True):
            buffer.copy_(moment.reshape(buffer.shape))


@final
class BatchContextNorm(FieldNorm):
    """Normalize every feature over all problems and time steps, separately for each candidate.

    `ContextNorm` normalizes over the time steps of one problem, `SlotBatchNorm` over the problems
    at one time step.

    Reference:
        webb2020, section 4.2 (batch and context normalization).
    """

    _field = staticmethod(over_batch_and_time)


@final
class MisalignedContextNorm(FieldNorm):
    """Normalize every feature over pieces of a sequence of all problems.

    The problems of a batch are concatenated, separately for each candidate, and cut into pieces of
    `piece_size`: 32 problems of 4 into 25 pieces of 5 and one of 3. Pieces do not agree with
    problems, which shows how much `ContextNorm` owes to contexts that do.

    Args:
        piece_size: Number of embeddings in a piece; the last piece of a batch may be smaller.

    Reference:
        webb2020, section 4.2 (mis-aligned context normalization).
    """

    @extend_arguments(FieldNorm)
    def __init__(
        self, num_features: Size, *, piece_size: Size = 5, **options: Unpack[FieldOptions]
    ) -> None:
        super().__init__(num_features, **options)
        self.piece_size = piece_size

    def _field(self, z: Tensor) -> Fold:
        return over_pieces(self.piece_size)(z)


@final
class SubBatchNorm(FieldNorm):
    """Normalize every feature at every time step over a few consecutive problems.

    It is `SlotBatchNorm` with samples as small as those of `ContextNorm`.

    Args:
        group_size: Number of consecutive problems in a group; the last group of a batch may be
            smaller.

    Reference:
        webb2020, section 4.2 (sub-batch normalization).
    """

    @extend_arguments(FieldNorm)
    def __init__(
        self, num_features: Size, *, group_size: Size = 4, **options: Unpack[FieldOptions]
    ) -> None:
        super().__init__(num_features, **options)
        self.group_size = group_size

    def _field(self, z: Tensor) -> Fold:
        return over_sub_batches(self.group_size)(z)


@final
class PooledBatchNorm(TrainedFieldNorm):
    r"""Normalize every feature over the problems of a batch and all their positions.

    $$y_{ijk} = \gamma_k \frac{z_{ijk} - \mu_k}{\sqrt{\sigma^2_k + \epsilon}} + \beta_k$$

    with mean and variance of feature $k$ over the problems $i$ and positions $j$. It is
    `torch.nn.BatchNorm1d` on `(batch · position, feature)`, without running averages.
    `SlotBatchNorm` has a mean for every position.

    Args:
        training_statistics: True to normalize by the training set in evaluation mode, False by the
            test batch.

    Reference:
        webb2020, section 4.2 (batch normalization).
    """

    @extend_arguments(FieldNorm)
    def __init__(
        self,
        num_features: Size,
        *,
        training_statistics: bool = False,
        correction: NonNegativeInt = 0,
        **options: Unpack[FieldOptions],
    ) -> None:
        shape = (num_features,) if training_statistics else None
        super().__init__(num_features, shape, correction, **options)
        self.training_statistics = training_statistics

    _field = staticmethod(over_batch_and_places)


@final
class SlotBatchNorm(TrainedFieldNorm):
    r"""Normalize every feature at every position over the problems of a batch.

    $$y_{ijk} = \gamma_k \frac{z_{ijk} - \mu_{jk}}{\sqrt{\sigma^2_{jk} + \epsilon}} + \beta_k$$

    with mean and variance of feature $k$ at position $j$, a candidate and a time step, over the
    problems $i$; gain and shift are the same at all positions. It is the batch normalization of
    webb2020's released code. `PooledBatchNorm` has one mean for all positions.

    Args:
        training_statistics: Sizes of the axes of positions, such as `(7, 4)` for candidate and
            time, to normalize by the training set in evaluation mode; None for the test batch.

    Reference:
        webb2020, section 4.2 (batch normalization).
    """

    @extend_arguments(FieldNorm)
    def __init__(
        self,
        num_features: Size,
        *,
        training_statistics: Sequence[int] | None = None,
        correction: NonNegativeInt = 0,
        **options: Unpack[FieldOptions],
    ) -> None:
        sizes = training_statistics
        shape = None if sizes is None else (*sizes, num_features)
        super().__init__(num_features, shape, correction, **options)
        self.training_statistics = training_statistics

    _field = staticmethod(over_batch)


@final
class SlidingContextNorm(Normalizer):
    r"""Normalize every embedding over itself and the embeddings before it, of any problem.

    $$y_j = \gamma \frac{z_j - \mu_j}{\sqrt{\sigma_j^2 + \epsilon}} + \beta$$

    with mean and variance over the embeddings $j - n + 1, …, j$ of a sequence of all problems,
    separately for each candidate. The text leaves the first window of a batch open; here it wraps
    round to the end of the batch, as in the released code. The windows of `ContextNorm` are the
    problems.

    Args:
        window: Number of embeddings in a window, $n$.
        include_self: True for a window that ends with the embedding, as in the text, False for one
            that ends just before, as in the released code.
        test_batch_size: Number of problems that form one sequence in evaluation mode, in the order
            given; the last ones may be fewer.

    Shape:
        `(batch, *candidate, time, feature)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of features differs.

    Reference:
        webb2020, section 4.2 (sliding-window context normalization).
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        num_features: Size,
        *,
        window: Size = 4,
        include_self: bool = True,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        test_batch_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, affine, learned_sigma, device, dtype, eps=eps)
        self.window, self.include_self, self.test_batch_size = window, include_self, test_batch_size

    @classmethod
    def released(cls, num_features: int) -> SlidingContextNorm:
        """Make one as in webb2020's released code: the window ends just before the embedding."""
        return cls(num_features, include_self=False)

    def forward(
        self, z: Float[Tensor, "batch *candidate time feature"]
    ) -> Float[Tensor, "batch *candidate time feature"]:
        """Normalize the embeddings of a batch of problems."""

        def function(part: Tensor) -> Tensor:
            return sliding_context_norm(
                part,
                self.weight,
                self.bias,
                length=self.window,
                include_self=self.include_self,
                eps=self._smoothing(),
            )

        return self._in_batches(function, z)

    def center(
        self, z: Float[Tensor, "batch *candidate time feature"]
    ) -> Float[Tensor, "batch *candidate time feature"]:
        """Subtract the mean of the window from the embeddings, and divide nothing."""

        def function(part: Tensor) -> Tensor:
            return sliding_context_center(part, length=self.window, include_self=self.include_self)

        return self._in_batches(function, z)
