"""Context normalization over pieces that do not fit the problems."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import Fold, over_pieces
from farfield.nn._norm._field_norm import FieldNorm


@final
class MisalignedContextNorm(FieldNorm):
    r"""Normalize over pieces of a sequence of all problems, cut without regard to the problems.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    with mean and variance over a piece. The problems of a batch are put one behind the other, for
    every candidate by itself, and cut into pieces of `piece_size`: 32 problems of 4 into 25 pieces
    of 5 and one of 3. It shows what `ContextNorm` owes to its contexts being the problems.

    Args:
        num_features: Number of features.
        piece_size: Number of embeddings in a piece; the last ones of a batch may be fewer.
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
