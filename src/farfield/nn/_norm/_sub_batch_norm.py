"""Batch normalization over a few problems at a time."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import Fold, over_sub_batches
from farfield.nn._norm._field_norm import FieldNorm


@final
class SubBatchNorm(FieldNorm):
    r"""Normalize every feature at every place over a few consecutive problems.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    with mean and variance over the problems of a group, at one place. It is `SlotBatchNorm` with
    samples as small as those of `ContextNorm`.

    Args:
        num_features: Number of features.
        group_size: Number of consecutive problems in a group; the last ones of a batch may be
            fewer.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are normalized together in evaluation mode, in the
            order given; the last ones may be fewer.
        device: Where its tensors are.
        dtype: Of its parameters.

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
