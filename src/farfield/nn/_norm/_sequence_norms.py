"""Normalizers of a sequence whose next embedding is predicted, with the way back."""

from __future__ import annotations

import itertools
from typing import NamedTuple, TypedDict, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.types import Device

from farfield.core.internal import (
    NonNegativeFloat,
    NonNegativeInt,
    Size,
    check_arguments,
    extend_arguments,
)
from farfield.functional.internal import (
    ContextStatistics,
    context_statistics,
    is_recorded,
    is_transformed,
    running_context_statistics,
)
from farfield.nn._norm._normalizer import Normalizer

_Sequence = Float[Tensor, "batch time feature"]


class NormalizedSequence(NamedTuple):
    r"""Sequence for a predictor of the next embedding.

    Attributes:
        inputs: Embeddings $1 \dots T-1$, normalized, with gain and shift, to be read.
        targets: Embeddings $2 \dots T$, normalized, without gain and shift, to be predicted.
        mean: Location of the targets; `denormalize(prediction, mean, scale)` is a prediction as
            an embedding.
        scale: Their scale.

    Reference:
        webb2020, section 3.3 and equation 4.
    """

    inputs: Tensor
    targets: Tensor
    mean: Tensor
    scale: Tensor


class SequenceOptions(TypedDict, total=False):
    """Options of every normalizer of a sequence."""

    correction: NonNegativeInt
    eps: NonNegativeFloat
    affine: bool
    device: Device
    dtype: torch.dtype | None


class SequenceNormalizer(Normalizer):
    """Base of normalizers of sequences whose next embedding is predicted.

    Args:
        affine: True for a learned gain and shift of the inputs of the predictor.
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        correction: NonNegativeInt = 0,
        eps: NonNegativeFloat = 1e-8,
        affine: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, affine, False, device, dtype, eps=eps)
        self.correction = correction

    def _check_sequence(self, z: Tensor) -> None:
        """Raise `ValueError` unless there is something to read and something to predict."""
        is_sequence = z.ndim == 3 and z.shape[1] > 1 and z.shape[2] == self.num_features
        if not (is_sequence and z.is_floating_point()):
            raise ValueError(
                f"z must be (batch, time, {self.num_features}) with at least two time steps, "
                f"floating-point, got {z.dtype} of shape {tuple(z.shape)}"
            )

    def _normalized(
        self, z: Tensor, read: ContextStatistics, foreseen: ContextStatistics
    ) -> NormalizedSequence:
        """Normalize inputs by statistics of read embeddings, targets by statistics of targets."""
        inputs = self._scaled_and_shifted((z[:, :-1] - read.mean) / read.scale)
        targets = (z[:, 1:] - foreseen.mean) / foreseen.scale
        return NormalizedSequence(
            inputs.to(z.dtype), targets.to(z.dtype), foreseen.mean, foreseen.scale
        )


@final
class PastNorm(SequenceNormalizer):
    r"""Normalize each embedding over the sequence up to and with itself.

    $$\hat z_t = \frac{z_t - \mu_t}{\sigma_t}, \qquad
      \mu_t = \frac{1}{t} \sum_{j \le t} z_j, \qquad
      \sigma_t = \sqrt{\frac{1}{\max(t - c, 1)} \sum_{j \le t} (z_j - \mu_t)^2 + \epsilon}$$

    for each feature; the target $z_{t+1}$ is normalized, and its prediction put back, by $\mu_t$
    and $\sigma_t$. Nothing depends on later embeddings, unlike in `SequenceNorm`: predictions can
    be made while the frames arrive. At the first time step there is no spread yet, $\sigma_1 =
    \sqrt\epsilon$, so that a prediction from it is all but the first embedding itself, and its
    target is huge: train with `farfield.objectives.PredictingEmbeddings(denormalized=True)`.

    Args:
        correction: Number subtracted from the number of time steps in the variance, 0 or 1; $c$.

    Shape:
        `(batch, time, feature)` to four tensors of `(batch, time − 1, feature)`.

    Reference:
        webb2020, sections 3.1 and 3.3.
    """

    def forward(self, z: _Sequence) -> NormalizedSequence:
        """Normalize the embeddings of a sequence."""
        self._check_sequence(z)
        past = running_context_statistics(z[:, :-1], correction=self.correction, eps=self.eps)
        return self._normalized(z, past, past)


@final
class SequenceNorm(SequenceNormalizer):
    r"""Normalize all embeddings of a sequence over the sequence.

    $$\hat z_t = \frac{z_t - \mu}{\sigma}, \qquad \mu = \frac{1}{n} \sum_{j \le n} z_j, \qquad
      \sigma = \sqrt{\frac{1}{n - c} \sum_{j \le n} (z_j - \mu)^2 + \epsilon}$$

    for each feature, with $n = T - 1$, all that is ever read, or $n = T$. The input at one
    time step so depends on later embeddings: it looks ahead. `PastNorm` does not.

    Args:
        include_last: Whether the statistics are over all $T$ embeddings, the one that is only
            predicted among them, as in the released code; otherwise over the $T - 1$ before it.
        correction: Number subtracted from the number of time steps in the variance: 0 as
            published, 1 as in the released code of this task; $c$.
        eps: Added to the variance; 1e-15 in the released code of this task.

    Shape:
        `(batch, time, feature)` to two tensors of `(batch, time − 1, feature)` and two of
        `(batch, 1, feature)`.

    Reference:
        webb2020, sections 3.1 and 3.3.
    """

    @extend_arguments(SequenceNormalizer)
    def __init__(
        self, num_features: Size, *, include_last: bool = False, **options: Unpack[SequenceOptions]
    ) -> None:
        super().__init__(num_features, **options)
        self.include_last = include_last

    @classmethod
    def released(cls, num_features: int) -> SequenceNorm:
        """Build the normalizer of webb2020's released code: over all, with unbiased variances."""
        return cls(num_features, include_last=True, correction=1, eps=1e-15)

    def forward(self, z: _Sequence) -> NormalizedSequence:
        """Normalize the embeddings of a sequence."""
        self._check_sequence(z)
        counted = z if self.include_last else z[:, :-1]
        whole = context_statistics(counted, correction=self.correction, eps=self.eps)
        return self._normalized(z, whole, whole)


@final
class TimeStepNorm(SequenceNormalizer):
    r"""Normalize each time step of a sequence over the batch.

    $$\hat z_{it} = \frac{z_{it} - \mu_t}{\sigma_t}, \qquad
      \mu_t = \frac{1}{N} \sum_i z_{it}, \qquad
      \sigma_t = \sqrt{\frac{1}{N - c} \sum_i (z_{it} - \mu_t)^2 + \epsilon}$$

    for each feature. The target $z_{i,t+1}$ is normalized, and its prediction put back, by
    $\mu_{t+1}$ and $\sigma_{t+1}$: over the frames of a test batch these know the
    average of the targets. `torch.nn.BatchNorm1d` pools all time steps, and keeps an average over
    past batches where this keeps statistics of a sample.

    Args:
        length: Number of time steps, $T$.
        batch_size: Sequences that statistics are over, $N$, in the order given; the last group of
            a batch may be smaller, and a group too small for a variance joins the one before.
        sample: Training sequences whose statistics are used in evaluation, kept by
            `calibrate`; 0 for those of the batch itself, there as in training.
        correction: Subtracted from the number of sequences in the variance, 0 or 1; $c$.

    Shape:
        `(batch, time, feature)` to four tensors of `(batch, time − 1, feature)`.

    Attributes:
        mean: Mean of each time step in the sample, nan before `calibrate`; None if `sample` is 0.
        scale: Scale of each time step, likewise.

    Raises:
        ValueError: If there are fewer than two sequences to take statistics of, another number of
            time steps, or statistics of a sample are needed before `calibrate`.

    Reference:
        webb2020, sections 4.2 and 4.3.
    """

    mean: Tensor | None
    scale: Tensor | None

    @extend_arguments(SequenceNormalizer)
    def __init__(
        self,
        num_features: Size,
        length: Size,
        *,
        batch_size: Size = 32,
        sample: NonNegativeInt = 0,
        **options: Unpack[SequenceOptions],
    ) -> None:
        if batch_size < 2 or sample == 1:
            raise ValueError(
                "batch_size must be at least 2, and sample 0 or at least 2, "
                f"got {batch_size} and {sample}"
            )
        super().__init__(num_features, **options)
        self.length, self.batch_size, self.sample = length, batch_size, sample
        shape = (length, num_features) if sample else None
        factory = (options.get("device"), options.get("dtype"))
        self._keep(("mean", "scale"), shape, *factory)

    def forward(self, z: _Sequence) -> NormalizedSequence:
        """Normalize the embeddings of some sequences."""
        self._check_sequence(z)
        each = self._statistics(z)
        read, foreseen = (
            ContextStatistics(each.mean[:, steps], each.scale[:, steps])
            for steps in (slice(None, -1), slice(1, None))
        )
        return self._normalized(z, read, foreseen)

    @property
    def wants_statistics(self) -> bool:
        """True if it normalizes by a sample of training in evaluation mode."""
        return self.mean is not None

    @torch.no_grad()
    def calibrate(self, z: _Sequence) -> None:
        """Keep the statistics of each time step over the first `sample` sequences.

        Args:
            z: Embeddings of training sequences, at least as many.

        Raises:
            ValueError: If there are fewer than two sequences, or another number of time steps.
        """
        if self.mean is None or self.scale is None:
            return
        chosen = z[: self.sample]
        if len(chosen) < 2 or chosen.shape[1:] != self.mean.shape:
            raise ValueError(
                f"z must hold at least 2 sequences of {tuple(self.mean.shape)}, "
                f"got shape {tuple(z.shape)}"
            )
        found = self._over_batch(chosen)
        self.mean.copy_(found.mean[0])
        self.scale.copy_(found.scale[0])

    def _statistics(self, z: Tensor) -> ContextStatistics:
        """Return statistics for every sequence and time step."""
        if self.mean is not None and self.scale is not None and not self.training:
            if z.shape[1:] != self.mean.shape:
                raise ValueError(
                    f"z must be (batch, {', '.join(map(str, self.mean.shape))}), "
                    f"got shape {tuple(z.shape)}"
                )
            looked_at = not (is_transformed() or is_recorded())
            if looked_at and bool(self.scale.isnan().any()):
                raise ValueError(
                    "statistics must be taken by calibrate before evaluation, got none"
                )
            return ContextStatistics(self.mean.unsqueeze(0), self.scale.unsqueeze(0))
        if len(z) < 2:
            raise ValueError(f"z must hold at least 2 sequences to normalize over, got {len(z)}")
        starts = [*range(0, len(z) - 1, self.batch_size), len(z)]
        groups = [z[start:end] for start, end in itertools.pairwise(starts)]
        each = [self._over_batch(group) for group in groups]
        rows = [len(group) for group in groups]
        return ContextStatistics(
            *(
                torch.cat([part.expand(n, -1, -1) for part, n in zip(parts, rows, strict=True)])
                for parts in zip(*each, strict=True)
            )
        )

    def _over_batch(self, z: Tensor) -> ContextStatistics:
        """Return statistics of each time step over the sequences: `(1, time, feature)`."""
        places = context_statistics(
            z.transpose(0, 1), correction=self.correction, eps=self.eps
        )  # (time, 1, feature)
        return ContextStatistics(*(each.transpose(0, 1) for each in places))
