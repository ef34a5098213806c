"""Context normalization over a window that slides along the batch."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import sliding_context_center, sliding_context_norm
from farfield.nn._norm._field_norm import BatchNormalizer


@final
class SlidingContextNorm(BatchNormalizer):
    r"""Normalize every embedding over itself and those before it, whatever problem they are of.

    $$y_j = \gamma \frac{z_j - \mu_j}{\sqrt{\sigma_j^2 + \epsilon}} + \beta$$

    with mean and variance over the embeddings $j - n + 1, …, j$ of a sequence of all problems, for
    every candidate by itself. At the beginning of a batch, which the text leaves open, the window
    wraps round to its end, as in the released code. `ContextNorm` has the windows that are the
    problems.

    Args:
        num_features: Number of features.
        window: Number of embeddings in a window, $n$.
        include_self: Whether the window ends with the embedding itself, as the text has it, or
            just before it, as the released code has it.
        eps: Added to the variance.
        affine: Whether gain and shift of each feature are learned.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.
        test_batch_size: Number of problems that are put in sequence in evaluation mode, in the
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
        """As in webb2020's released code: the window ends just before the embedding.

        Args:
            num_features: Number of features.
        """
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
