"""Batch normalization of sequences, all places pooled."""

from __future__ import annotations

from typing import final

import torch
from torch.types import Device

from farfield.core import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import over_batch_and_places
from farfield.nn._norm._field_norm import TrainedFieldNorm


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
        num_features: Number of features.
        training_statistics: Whether to normalize by the training set in evaluation mode, and not
            by the test batch.
        correction: Subtracted from the number of embeddings in the variance: 0 as published, 1 as
            in the released PyTorch code of webb2020.
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
