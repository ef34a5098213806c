"""Batch normalization of sequences, all places pooled."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import ContextStatistics, over_batch_and_places
from farfield.nn._norm._gain_and_shift import check_features, gain_and_shift, learned_root
from farfield.nn._norm._over_fields import (
    centred_as_trained,
    keep_statistics,
    normalized_as_trained,
    statistics_as_trained,
)


@final
class PooledBatchNorm(nn.Module):
    r"""Normalize every feature over the problems of a batch and all their places.

    $$y_{ijk} = \gamma_k \frac{z_{ijk} - \mu_k}{\sqrt{\sigma^2_k + \epsilon}} + \beta_k$$

    with mean and variance of feature $k$ over the problems $i$ and places $j$. It is
    `torch.nn.BatchNorm1d` on `(batch · places, feature)`, without running averages.
    `SlotBatchNorm` has a mean for every place.

    In evaluation mode the statistics are those of the problems at hand, `test_batch_size` of them
    at a time, or with `training_statistics` those of a training set, taken once by
    `take_statistics`.

    Args:
        num_features: Number of features.
        training_statistics: Whether to normalize by the training set in evaluation mode, and not
            by the test batch.
        correction: Subtracted from the number of embeddings in the variance: 0 as printed, 1 as in
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

    mean: Tensor | None
    variance: Tensor | None

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
        super().__init__()
        self.num_features = num_features
        self.training_statistics = training_statistics
        self.correction = correction
        self.eps = eps
        self.test_batch_size = test_batch_size
        self.weight, self.bias = gain_and_shift(num_features, affine=affine)
        self.sigma = learned_root(eps, learned_sigma=learned_sigma)
        unknown = torch.full((num_features,), torch.nan) if training_statistics else None
        self.register_buffer("mean", unknown)
        self.register_buffer("variance", None if unknown is None else unknown.clone())
        self.to(device=device, dtype=dtype)

    def forward(
        self, z: Float[Tensor, "batch *places feature"]
    ) -> Float[Tensor, "batch *places feature"]:
        """Normalize the embeddings of a batch of problems."""
        return normalized_as_trained(self, over_batch_and_places, z)

    @property
    def wants_statistics(self) -> bool:
        """Whether it normalizes by a training set in evaluation mode."""
        return self.mean is not None

    @torch.no_grad()
    def take_statistics(self, z: Float[Tensor, "batch *places feature"]) -> None:
        """Take mean and variance of these embeddings, those of the whole training set.

        They are summed in float64, whatever the embeddings are.
        """
        if self.mean is None or self.variance is None:
            raise ValueError("training_statistics must be true when the module is made, got False")
        check_features(z, self.num_features)
        keep_statistics(z, over_batch_and_places, self.mean, self.variance, self.correction)

    def centre(
        self, z: Float[Tensor, "batch *places feature"]
    ) -> Float[Tensor, "batch *places feature"]:
        """The embeddings without their mean, before anything is divided."""
        return centred_as_trained(self, over_batch_and_places, z)

    def statistics(self, z: Float[Tensor, "batch *places feature"]) -> ContextStatistics:
        """Location and scale that `forward` takes out; `denormalize` puts them back."""
        return statistics_as_trained(self, over_batch_and_places, z)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.num_features}, training_statistics={self.training_statistics}, "
            f"correction={self.correction}, eps={self.eps}, affine={self.weight is not None}, "
            f"learned_sigma={self.sigma is not None}, test_batch_size={self.test_batch_size}"
        )
