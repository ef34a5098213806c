"""Normalizers over the context of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.types import Device

from farfield.core import NonNegativeFloat, NonNegativeInt, Size, check_arguments
from farfield.functional import (
    ContextStatistics,
    Fold,
    check_segments,
    context_norm,
    context_statistics,
    context_whiten,
    field_center,
    field_norm,
    field_statistics,
    over_batch_and_time,
    over_time,
    sliding_context_center,
    sliding_context_norm,
)
from farfield.nn._norm._field_norm import BatchNormalizer, FieldNorm
from farfield.nn._norm._normalizer import Normalizer, check_places


@final
class ContextNorm(Normalizer):
    r"""Normalize every feature over the time of one problem, or over segments of it.

    $$y_{jk} = \gamma_k \frac{z_{jk} - \mu_k}{\sqrt{\sigma^2_k + \epsilon}} + \beta_k$$

    with mean $\mu_k$ and variance $\sigma^2_k$ of feature $k$ over the places $j$ of a segment.
    `torch.nn.LayerNorm` normalizes over the features of one place and `torch.nn.BatchNorm1d`
    over a batch; this one needs a single problem, and keeps how its places relate to each other.

    Args:
        segments: Places that form one context each, e.g. `((0, 1), (2, 3), (4, 5))`; together
            they name every place once. None is one context of all places, of any length.
        correction: Subtracted from the number of places in the variance: 0 as published, 1 as in
            the released code of webb2021.
        eps: Added to the variance.
        affine: Whether gain and shift are learned; they are shared by all segments.
        learned_sigma: Whether $\sigma$, the root of `eps` at first, is learned, one for the layer.

    Shape:
        `(*batch, time, feature)` in and out, with an axis before time at least, and a mask
        `(*batch, time)`: True for padding, which comes out as zeros and changes nothing else.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The learned $\sigma$; None without `learned_sigma`.

    Raises:
        ValueError: If `z` is (batch, feature), which has no time, the segments overlap, leave a gap
            or are no sequences, or one has no more than `correction` places, `correction` is below
            0, `eps` negative or not finite, or the features are others.

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
        super().__init__(
            num_features,
            affine=affine,
            eps=eps,
            learned_sigma=learned_sigma,
            device=device,
            dtype=dtype,
        )
        self.segments = segments
        if segments is not None:
            self.segments = check_segments(None, segments, correction)
        self.correction = correction

    @classmethod
    def released(
        cls, num_features: int, *, segments: Sequence[Sequence[int]] | None = None
    ) -> ContextNorm:
        """As in webb2021's released code: variances are unbiased.

        Args:
            segments: Places that form one context each; None is one context of all places.
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
        """The embeddings without the mean of their context, before anything is divided."""
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
        """Location and scale that `forward` takes out; `denormalize` puts them back."""
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


class SmoothedNorm(Normalizer):
    """A normalizer with a constant; a subclass gives its field and torch's kernel."""

    def _field(self, z: Tensor) -> Fold:
        """The field that is pooled."""
        raise NotImplementedError

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        """Result of torch's kernel with a number added to the variance."""
        raise NotImplementedError

    def forward(self, z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """Normalize the activations."""
        self._check(z)
        eps = self._smoothing()
        if not isinstance(eps, Tensor):
            return self._by_torch(z, eps)
        return self._scaled_and_shifted(field_norm(z, self._field, eps=eps))

    def center(self, z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """The activations without the mean of their field, before anything is divided."""
        self._check(z)
        return field_center(z, self._field)


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


@final
class ContextWhitening(Normalizer):
    r"""Make the embeddings of one problem orthogonal wherever they differ.

    $$Y = \sqrt{D} \left(\tfrac{1}{s} Z Z^\top + \epsilon I\right)^{-1/2} \tfrac{1}{\sqrt s} Z,
      \qquad s = \tfrac{1}{T} \mathrm{tr}\, Z Z^\top$$

    with $T$ places and $D$ features. What a reasoner that compares embeddings then finds is which
    places are equal, exactly and whatever the encoder makes of the items, as long as the
    embeddings of different items are linearly independent. `ContextNorm` takes out location and
    scale of every feature by itself, and leaves the reasoner to learn which inner products mean
    equal. It learns nothing; it does not know the places, so it needs no segments.

    Args:
        eps: Added to the spectrum, relative to its mean; at least 1e-13.

    Shape:
        `(*batch, time, feature)` in and out, with an axis before time at least, and a mask
        `(*batch, time)`: True for padding, which comes out as zeros and changes nothing else.

    Raises:
        ValueError: If `num_features` is below 1, `eps` too small or not finite, the features are
            others, or `z` is (batch, feature), which has no time.

    Reference:
        A mechanism of this library; Huang et al. 2018 (huang2018) whiten over a batch.
    """

    @check_arguments
    def __init__(self, num_features: Size, *, eps: NonNegativeFloat = 1e-6) -> None:
        super().__init__(num_features, affine=False, eps=eps)
        context_whiten(torch.zeros(1, num_features, device="cpu"), eps=eps)  # for its refusals

    def forward(
        self,
        z: Float[Tensor, "*batch time feature"],
        padding_mask: Bool[Tensor, "*batch time"] | None = None,
    ) -> Float[Tensor, "*batch time feature"]:
        """Whiten the embeddings of a problem."""
        check_places(z, self.num_features)
        return context_whiten(z, eps=self.eps, padding_mask=padding_mask)
