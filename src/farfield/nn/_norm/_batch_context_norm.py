"""Normalization over batch and time together."""

from __future__ import annotations

from typing import final

from farfield.functional import over_batch_and_time
from farfield.nn._norm._field_norm import FieldNorm


@final
class BatchContextNorm(FieldNorm):
    r"""Normalize every feature over problems and times together, every candidate by itself.

    $$y = \gamma \frac{z - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$$

    with mean and variance over all problems of the batch and all their places. `ContextNorm` takes
    them over the places of one problem, `SlotBatchNorm` over the problems at one place.

    Args:
        num_features: Number of features.
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
        webb2020, section 4.2 (batch and context normalization).
    """

    _field = staticmethod(over_batch_and_time)
