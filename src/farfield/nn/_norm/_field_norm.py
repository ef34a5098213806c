"""Normalizers over a field of a batch of sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.types import Device

from farfield.core import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import (
    ContextStatistics,
    Fold,
    field_center,
    field_moments,
    field_norm,
    field_statistics,
    norm_by_statistics,
    over_batch,
    over_batch_and_places,
    over_batch_and_time,
    over_pieces,
    over_sub_batches,
    sliding_context_center,
    sliding_context_norm,
)
from farfield.nn._norm._normalizer import Normalizer


class BatchNormalizer(Normalizer):
    """A normalizer of the problems of a batch together, in evaluation a few at a time.

    Args:
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether the root of `eps` is learned.
        test_batch_size: Number of problems that are normalized together in evaluation mode.
    """

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
        super().__init__(
            num_features,
            affine=affine,
            eps=eps,
            learned_sigma=learned_sigma,
            device=device,
            dtype=dtype,
        )
        self.test_batch_size = test_batch_size

    def _in_batches(self, function: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
        """Apply a function to the whole batch, or in evaluation mode to smaller ones in turn."""
        self._check(z)
        if self.training or len(z) <= self.test_batch_size:
            return function(z)
        return torch.cat([function(part) for part in torch.split(z, self.test_batch_size)])


class FieldNorm(BatchNormalizer):
    """A normalizer over a field of each batch; a subclass says which (`_field`)."""

    correction: int = 0

    def _field(self, z: Tensor) -> Fold:
        """The field that is pooled."""
        raise NotImplementedError

    def forward(
        self, z: Float[Tensor, "batch *places feature"]
    ) -> Float[Tensor, "batch *places feature"]:
        """Normalize the embeddings of a batch of problems."""
        affine, eps, kept = (self.weight, self.bias), self._smoothing(), self._kept(z)

        def normalized(part: Tensor) -> Tensor:
            return field_norm(part, self._field, *affine, correction=self.correction, eps=eps)

        if kept is None:
            return self._in_batches(normalized, z)
        return norm_by_statistics(z, *kept, *affine, eps=eps)

    def center(
        self, z: Float[Tensor, "batch *places feature"]
    ) -> Float[Tensor, "batch *places feature"]:
        """The embeddings without their mean, before anything is divided."""
        if self._kept(z) is None:
            return self._in_batches(lambda part: field_center(part, self._field), z)
        return z - self.statistics(z).mean

    def statistics(self, z: Float[Tensor, "batch *places feature"]) -> ContextStatistics:
        """Location and scale that `forward` takes out; `denormalize` puts them back."""
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
        """Mean and variance of the training set, in evaluation mode and where they are kept."""
        self._check(z)
        mean, variance = getattr(self, "mean", None), getattr(self, "variance", None)
        if self.training or mean is None or variance is None:
            return None
        return mean, variance


class TrainedFieldNorm(FieldNorm):
    """A normalizer over a field that may keep statistics of a training set for evaluation.

    Args:
        kept_shape: Shape of the statistics; None where none are kept.
        correction: Subtracted from the number of what is pooled in the variance.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether the root of `eps` is learned.
        test_batch_size: Number of problems that are normalized together in evaluation mode.
    """

    mean: Tensor | None
    variance: Tensor | None

    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        num_features: int,
        *,
        kept_shape: Sequence[int] | None,
        correction: int,
        eps: float,
        affine: bool,
        learned_sigma: bool,
        test_batch_size: int,
        device: Device,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__(
            num_features,
            eps=eps,
            affine=affine,
            learned_sigma=learned_sigma,
            test_batch_size=test_batch_size,
            device=device,
            dtype=dtype,
        )
        self.correction = correction
        self._keep(("mean", "variance"), kept_shape, device=device, dtype=dtype)

    @property
    def wants_statistics(self) -> bool:
        """True where it normalizes by a training set in evaluation mode."""
        return self.mean is not None

    @torch.no_grad()
    def calibrate(self, z: Float[Tensor, "batch *places feature"]) -> None:
        """Take mean and variance of these embeddings, those of the whole training set.

        They are summed in float64, whatever the embeddings are.
        """
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
class MisalignedContextNorm(FieldNorm):
    r"""Normalize over pieces of a sequence of all problems, cut without regard to the problems.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    with mean and variance over a piece. The problems of a batch are put one behind the other, for
    every candidate by itself, and cut into pieces of `piece_size`: 32 problems of 4 into 25 pieces
    of 5 and one of 3. It shows what `ContextNorm` owes to its contexts being the problems.

    Args:
        piece_size: Number of embeddings in a piece; the last ones of a batch may be fewer.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *candidate, time, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.

    Raises:
        ValueError: If an argument is out of range or the features are others.

    Reference:
        webb2020, section 4.2 (mis-aligned context normalization).
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        piece_size: Size = 5,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        test_batch_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_features,
            eps=eps,
            affine=affine,
            learned_sigma=learned_sigma,
            test_batch_size=test_batch_size,
            device=device,
            dtype=dtype,
        )
        self.piece_size = piece_size

    def _field(self, z: Tensor) -> Fold:
        return over_pieces(self.piece_size)(z)


@final
class SubBatchNorm(FieldNorm):
    r"""Normalize every feature at every place over a few consecutive problems.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    with mean and variance over the problems of a group, at one place. It is `SlotBatchNorm` with
    samples as small as those of `ContextNorm`.

    Args:
        group_size: Number of consecutive problems in a group; the last ones of a batch may be
            fewer.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *candidate, time, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.

    Raises:
        ValueError: If an argument is out of range or the features are others.

    Reference:
        webb2020, section 4.2 (sub-batch normalization).
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        group_size: Size = 4,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        test_batch_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_features,
            eps=eps,
            affine=affine,
            learned_sigma=learned_sigma,
            test_batch_size=test_batch_size,
            device=device,
            dtype=dtype,
        )
        self.group_size = group_size

    def _field(self, z: Tensor) -> Fold:
        return over_sub_batches(self.group_size)(z)


@final
class PooledBatchNorm(TrainedFieldNorm):
    r"""Normalize every feature over the problems of a batch and all their places.

    $$y_{ijk} = \gamma_k \frac{z_{ijk} - \mu_k}{\sqrt{\sigma^2_k + \epsilon}} + \beta_k$$

    with mean and variance of feature $k$ over the problems $i$ and places $j$. It is
    `torch.nn.BatchNorm1d` on `(batch · places, feature)`, without running averages.
    `SlotBatchNorm` has a mean for every place.

    In evaluation mode the statistics are those of the problems given, `test_batch_size` of them
    at a time, or with `training_statistics` those of a training set, taken once by
    `calibrate`.

    Args:
        training_statistics: Whether to normalize by the training set in evaluation mode, and not
            by the test batch.
        correction: Subtracted from the number of embeddings in the variance: 0 as published, 1 as
            in the released PyTorch code of webb2020.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *places, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.
        mean: Mean of the training set, nan until it is taken; None by the test batch.
        variance: Its variance, likewise.

    Raises:
        ValueError: If an argument is out of range, the features are others, or training
            statistics are needed that were never taken.

    Reference:
        webb2020, section 4.2 (batch normalization).
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        num_features: Size,
        *,
        training_statistics: bool = False,
        correction: NonNegativeInt = 0,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        test_batch_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_features,
            kept_shape=(num_features,) if training_statistics else None,
            correction=correction,
            eps=eps,
            affine=affine,
            learned_sigma=learned_sigma,
            test_batch_size=test_batch_size,
            device=device,
            dtype=dtype,
        )
        self.training_statistics = training_statistics

    _field = staticmethod(over_batch_and_places)


@final
class SlotBatchNorm(TrainedFieldNorm):
    r"""Normalize every feature at every place over the problems of a batch.

    $$y_{ijk} = \gamma_k \frac{z_{ijk} - \mu_{jk}}{\sqrt{\sigma^2_{jk} + \epsilon}} + \beta_k$$

    with mean and variance of feature $k$ at place $j$ over the problems $i$; gain and shift are
    the same at all places. It is the batch normalization of webb2020's released code, where a
    place is a candidate and a time. `PooledBatchNorm` has one mean for all places.

    In evaluation mode the statistics are those of the problems given, `test_batch_size` of them
    at a time, or with `training_statistics` those of a training set, taken once by
    `calibrate`.

    Args:
        training_statistics: Shape of the places, such as `(7, 4)` for candidate and time, to
            normalize by the training set in evaluation mode. None is by the test batch.
        correction: Subtracted from the number of problems in the variance: 0 as published, 1 as in
            the released PyTorch code of webb2020.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *places, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.
        mean: Mean of the training set, nan until it is taken; None by the test batch.
        variance: Its variance, likewise.

    Raises:
        ValueError: If an argument is out of range, the features are others, or training
            statistics are needed that were never taken.

    Reference:
        webb2020, section 4.2 (batch normalization).
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        num_features: Size,
        *,
        training_statistics: Sequence[int] | None = None,
        correction: NonNegativeInt = 0,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        test_batch_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_features,
            kept_shape=None
            if training_statistics is None
            else (*training_statistics, num_features),
            correction=correction,
            eps=eps,
            affine=affine,
            learned_sigma=learned_sigma,
            test_batch_size=test_batch_size,
            device=device,
            dtype=dtype,
        )
        self.training_statistics = training_statistics

    _field = staticmethod(over_batch)


@final
class BatchContextNorm(FieldNorm):
    r"""Normalize every feature over problems and times together, every candidate by itself.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    with mean and variance over all problems of the batch and all their places. `ContextNorm` takes
    them over the places of one problem, `SlotBatchNorm` over the problems at one place.

    Args:
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *candidate, time, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.

    Raises:
        ValueError: If an argument is out of range or the features are others.

    Reference:
        webb2020, section 4.2 (batch and context normalization).
    """

    _field = staticmethod(over_batch_and_time)


@final
class SlidingContextNorm(BatchNormalizer):
    r"""Normalize every embedding over itself and those before it, whatever problem they are of.

    $$y_j = \gamma \frac{z_j - \mu_j}{\sqrt{\sigma_j^2 + \epsilon}} + \beta$$

    with mean and variance over the embeddings $j - n + 1, …, j$ of a sequence of all problems, for
    every candidate by itself. At the beginning of a batch, which the text leaves open, the window
    wraps round to its end, as in the released code. `ContextNorm` has the windows that are the
    problems.

    Args:
        window: Number of embeddings in a window, $n$.
        include_self: Whether the window ends with the embedding itself, as the text has it, or
            just before it, as the released code has it.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are put in sequence in evaluation mode, in the
            order given; the last ones may be fewer.

    Shape:
        `(batch, *candidate, time, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.

    Raises:
        ValueError: If an argument is out of range or the features are others.

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
        super().__init__(
            num_features,
            eps=eps,
            affine=affine,
            learned_sigma=learned_sigma,
            test_batch_size=test_batch_size,
            device=device,
            dtype=dtype,
        )
        self.window, self.include_self = window, include_self

    @classmethod
    def released(cls, num_features: int) -> SlidingContextNorm:
        """As in webb2020's released code: the window ends just before the embedding."""
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
        """The embeddings without the mean of their window, before anything is divided."""

        def function(part: Tensor) -> Tensor:
            return sliding_context_center(part, length=self.window, include_self=self.include_self)

        return self._in_batches(function, z)
