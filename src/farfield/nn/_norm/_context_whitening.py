"""Context whitening as a module."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import context_whiten
from farfield.nn._norm._normalizer import Normalizer, check_places


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
        num_features: Number of features.
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
