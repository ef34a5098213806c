"""Context whitening as a module."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.functional import context_whiten


@final
class ContextWhitening(nn.Module):
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
        `(*batch, time, feature)` in and out.

    Raises:
        ValueError: If `num_features` is below 1, `eps` too small or not finite, or the features
            are others.

    Reference:
        A mechanism of this library; Huang et al. 2018 (huang2018) whiten over a batch.
    """

    def __init__(self, num_features: int, *, eps: float = 1e-6) -> None:
        super().__init__()
        if num_features < 1:
            raise ValueError(f"num_features must be at least 1, got {num_features}")
        context_whiten(torch.zeros(1, num_features, device="cpu"), eps=eps)  # for its refusals
        self.num_features = num_features
        self.eps = eps

    def forward(
        self, z: Float[Tensor, "*batch time feature"]
    ) -> Float[Tensor, "*batch time feature"]:
        """Whiten the embeddings of a problem."""
        if z.shape[-1] != self.num_features:
            raise ValueError(
                f"z must have num_features={self.num_features} features, got shape {tuple(z.shape)}"
            )
        return context_whiten(z, eps=self.eps)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"{self.num_features}, eps={self.eps}"
