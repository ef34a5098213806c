"""Normalizers over the context of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.types import Device

from farfield.core.internal import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import context_norm, context_whiten, field_statistics
from farfield.functional.internal import (
    ContextStatistics,
    check_segments,
    context_statistics,
    field_center,
    over_time,
)
from farfield.nn._norm._normalizer import Normalizer, check_places


@final
class ContextNorm(Normalizer):
    r"""Normalize every feature over the time of one problem, or over segments of it.

    $$y_{jk} = \gamma_k \frac{z_{jk} - \mu_k}{\sqrt{\sigma^2_k + \epsilon}} + \beta_k$$

    with mean $\mu_k$ and variance $\sigma^2_k$ of feature $k$ over the time steps $j$ of a segment.
    `torch.nn.LayerNorm` normalizes over the features of one time step and `torch.nn.BatchNorm1d`
    over a batch; this one needs a single problem, and keeps the relations between its time steps.

    Args:
        segments: Time steps that form one context each, e.g. `((0, 1), (2, 3), (4, 5))`; together
            they name every time step once. None is one context of all time steps, of any length.
        correction: Number subtracted from the number of time steps in the variance: 0 as
            published, 1 as in the released code of webb2021.
        affine: True for a learned gain and shift, shared by all segments.

    Shape:
        `(*batch, time, feature)` in and out, with an axis before time at least, and a mask
        `(*batch, time)`: True for padding, which comes out as zeros and changes nothing else.

    Raises:
        ValueError: If `z` is (batch, feature), which has no time, the segments overlap, leave a gap
            or are no sequences, or one has no more than `correction` time steps, `correction` is
            below 0, `eps` negative or not finite, or the number of features differs.

    Reference:
        webb2020, equations 1 to 3; webb2021, section 3.1.

    Example:
        >>> norm = ContextNorm(2)
        >>> norm(torch.tensor([[[1.0, 2.0], [3.0, 6.0]]])).detach()
        tensor([[[-1., -1.],
                 [ 1.,  1.]]])
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        segments: Sequence[Sequence[int]] | None = None,
        correction: NonNegativeInt = 0,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        learned_sigma: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, affine, learned_sigma, device, dtype, eps=eps)
        self.segments = segments
        if segments is not None:
            self.segments = check_segments(None, segments, correction)
        self.correction = correction

    @classmethod
    def released(
        cls, num_features: int, *, segments: Sequence[Sequence[int]] | None = None
    ) -> ContextNorm:
        """Build the normalizer of webb2021's released code: variances are unbiased.

        Args:
            segments: Time steps that form one context each; None is one context of all.
        """
        return cls(num_features, segments=segments, correction=1)

    def forward(
        self,
        z: Float[Tensor, "*batch time feature"],
        padding_mask: Bool[Tensor, "*batch time"] | None = None,
    ) -> Float[Tensor, "*batch time feature"]:
        """Normalize the embeddings of a problem."""
        check_places(z, self.num_features)
        return context_norm(
            z,
            self.weight,
            self.bias,
            segments=self.segments,
            correction=self.correction,
            eps=self._smoothing(),
            padding_mask=padding_mask,
        )

    def center(
        self,
        z: Float[Tensor, "*batch time feature"],
        padding_mask: Bool[Tensor, "*batch time"] | None = None,
    ) -> Float[Tensor, "*batch time feature"]:
        """Subtract the mean of the context from the embeddings, and divide nothing."""
        check_places(z, self.num_features)
        if padding_mask is None:
            return field_center(z, over_time(self.segments))
        centered = z - self.statistics(z, padding_mask).mean
        return centered.masked_fill(padding_mask.unsqueeze(-1), 0.0).to(z.dtype)

    def statistics(
        self,
        z: Float[Tensor, "*batch time feature"],
        padding_mask: Bool[Tensor, "*batch time"] | None = None,
    ) -> ContextStatistics:
        """Return location and scale that `forward` removes; `denormalize` restores them."""
        check_places(z, self.num_features)
        if padding_mask is None:
            return field_statistics(
                z, over_time(self.segments), correction=self.correction, eps=self._smoothing()
            )
        found = context_statistics(
            z,
            segments=self.segments,
            correction=self.correction,
            eps=self._smoothing(),
            padding_mask=padding_mask,
        )
        return ContextStatistics(*(part.expand(z.shape) for part in found))


@final
class ContextWhitening(Normalizer):
    r"""Make the embeddings of one problem orthogonal wherever they differ.

    $$Y = \sqrt{D} \left(\tfrac{1}{s} Z Z^\top + \epsilon I\right)^{-1/2} \tfrac{1}{\sqrt s} Z,
      \qquad s = \tfrac{1}{T} \mathrm{tr}\, Z Z^\top$$

    with $T$ time steps and $D$ features. A reasoner that compares embeddings then finds exactly
    the equal time steps, for any encoder, as long as the embeddings of different items are linearly
    independent. `ContextNorm` removes location and scale of every feature by itself, and leaves the
    reasoner to learn which inner products mean equal. It learns nothing; it ignores the order of
    time steps, so it needs no segments.

    Args:
        eps: Added to the spectrum, relative to its mean; at least 1e-13. Showings of one item that
            differ by less than about its square root count as equal; 1e-6, the default of recorded
            experiments, asks for equality to the last bit.

    Shape:
        `(*batch, time, feature)` in and out, with an axis before time at least, and a mask
        `(*batch, time)`: True for padding, which comes out as zeros and changes nothing else.

    Raises:
        ValueError: If `num_features` is below 1, `eps` too small or not finite, the features are
            of another number, or `z` is (batch, feature), which has no time.

    Reference:
        A mechanism of this library; Huang et al. 2018 (huang2018) whiten over a batch.
    """

    @check_arguments
    def __init__(self, num_features: Size, *, eps: NonNegativeFloat = 1e-2) -> None:
        super().__init__(num_features, False, eps=eps)
        context_whiten(torch.zeros(1, num_features, device="cpu"), eps=eps)  # for its refusals

    def forward(
        self,
        z: Float[Tensor, "*batch time feature"],
        padding_mask: Bool[Tensor, "*batch time"] | None = None,
    ) -> Float[Tensor, "*batch time feature"]:
        """Whiten the embeddings of a problem."""
        check_places(z, self.num_features)
        return context_whiten(z, eps=self.eps, padding_mask=padding_mask)
