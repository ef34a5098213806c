"""Batch normalization of sequences, every place with statistics of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from torch.types import Device

from farfield.core import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import over_batch
from farfield.nn._norm._field_norm import TrainedFieldNorm


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
        num_features: Number of features.
        training_statistics: Shape of the places, such as `(7, 4)` for candidate and time, to
            normalize by the training set in evaluation mode. None is by the test batch.
        correction: Subtracted from the number of problems in the variance: 0 as published, 1 as in
            the released PyTorch code of webb2020.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.
        device: Where its tensors are.
        dtype: Of its parameters.

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
