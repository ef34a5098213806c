"""Classification by nearest neighbors among representations."""

from __future__ import annotations

from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

CHUNK: Final = 256
"""Representations whose neighbors are looked up at once."""


def nearest_neighbor_error(
    memory: Float[Tensor, "item feature"],
    classes: Int[Tensor, " item"],
    representations: Float[Tensor, "batch feature"],
    target: Int[Tensor, " batch"],
    *,
    k: int,
) -> float:
    """Measure the share of representations that k nearest neighbors in a memory classify wrongly.

    Distances are Euclidean, in float64. Each neighbor has one vote; of classes with as many votes,
    that of the nearest neighbor wins.

    Args:
        memory: Representations of training examples, e.g. from `representations_of`.
        classes: Their classes.
        representations: Representations of other examples.
        target: The right class of each.
        k: Number of neighbors.

    Raises:
        ValueError: If there are fewer examples in memory, or none to classify.

    Reference:
        lamb2022, section 4.5.1, which does not state k.
    """
    if not 1 <= k <= len(memory):
        raise ValueError(f"k must be 1…{len(memory)}, the examples in memory, got {k}")
    if not len(representations):
        raise ValueError("representations must be at least one, got none")
    known, found = memory.double(), []
    for some in torch.split(representations.double(), CHUNK):
        nearest = torch.cdist(some, known).topk(k, largest=False).indices
        votes = classes[nearest]
        counts = (votes.unsqueeze(1) == votes.unsqueeze(2)).sum(2)
        found.append(votes.gather(1, counts.argmax(1, keepdim=True)).squeeze(1))
    return float((torch.cat(found) != target).double().mean())
