"""Similarity of every embedding of a sequence to every other."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def relation_matrix(
    z: Float[Tensor, "*batch time feature"], *, causal: bool = False
) -> Float[Tensor, "*batch time time"]:
    r"""Inner products of all embeddings with each other, as weights.

    $$R_{ij} = \frac{\exp z_i \cdot z_j}{\sum_k \exp z_i \cdot z_k}$$

    These are the weights of self-attention without scale, queries or keys; nothing is gathered
    with them.

    Args:
        z: The sequence.
        causal: Whether the sum goes over places up to $i$ alone; later ones have weight zero.

    Reference:
        Kerg et al. 2022 (kerg2022), section 3.
    """
    scores = z @ z.transpose(-1, -2)
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=z.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return scores.softmax(-1)
