"""Batch normalization of sequences, every place with statistics of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import ContextStatistics, over_batch
from farfield.nn._norm._gain_and_shift import gain_and_shift, learned_root
from farfield.nn._norm._over_fields import (
    centred_as_trained,
    keep_statistics,
    normalized_as_trained,
    statistics_as_trained,
)


@final
class SlotBatchNorm(nn.Module):
    r"""Normalize every feature at every place over the problems of a batch.

    $$y_{ijk} = \gamma_k \frac{z_{ijk} - \mu_{jk}}{\sqrt{\sigma^2_{jk} + \epsilon}} + \beta_k$$

    with mean and variance of feature $k$ at place $j$ over the problems $i$; gain and shift are
    the same at all places. It is the batch normalization of webb2020's released code, where a
    place is a candidate and a time. `PooledBatchNorm` has one mean for all places.

    In evaluation mode the statistics are those of the problems at hand, `test_batch_size` of them
    at a time, or with `training_statistics` those of a training set, taken once by
    `take_statistics`.

    Args:
        num_features: Number of features.
        training_statistics: Shape of the places, such as `(7, 4)` for candidate and time, to
            normalize by the training set in evaluation mode. None is by the test batch.
        correction: Subtracted from the number of problems in the variance: 0 as printed, 1 as in
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
        training_statistics: Sequence[int] | None = None,
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
        unknown = None
        if training_statistics is not None:
            unknown = torch.full((*training_statistics, num_features), torch.nan)
        self.register_buffer("mean", unknown)
        self.register_buffer("variance", None if unknown is None else unknown.clone())
        self.to(device=device, dtype=dtype)

    def forward(
        self, z: Float[Tensor, "batch *places feature"]
    ) -> Float[Tensor, "batch *places feature"]:
        """Normalize the embeddings of a batch of problems."""
        return normalized_as_trained(self, over_batch, z)

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
            raise ValueError("training_statistics must be given when the module is made, got None")
        if z.shape[1:] != self.mean.shape:
            raise ValueError(
                f"z must be (batch, {', '.join(map(str, self.mean.shape))}), "
                f"got shape {tuple(z.shape)}"
            )
        keep_statistics(z, over_batch, self.mean, self.variance, self.correction)

    def centre(
        self, z: Float[Tensor, "batch *places feature"]
    ) -> Float[Tensor, "batch *places feature"]:
        """The embeddings without their mean, before anything is divided."""
        return centred_as_trained(self, over_batch, z)

    def statistics(self, z: Float[Tensor, "batch *places feature"]) -> ContextStatistics:
        """Location and scale that `forward` takes out; `denormalize` puts them back."""
        return statistics_as_trained(self, over_batch, z)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.num_features}, training_statistics={self.training_statistics}, "
            f"correction={self.correction}, eps={self.eps}, affine={self.weight is not None}, "
            f"learned_sigma={self.sigma is not None}, test_batch_size={self.test_batch_size}"
        )
