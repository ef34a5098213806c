"""The keys that a trained ESBN writes and recalls."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.core import Problems
from farfield.models import ESBN, Relational

FIRST = 3
"""Places whose items are followed to where they come again: the first row of an array."""


class Keys(NamedTuple):
    """Keys of a set of problems.

    Attributes:
        written: Keys written, place by place.
        recalled: Keys read where the items of the first places are seen for the second time, in
            the order of their first appearance.
    """

    written: Float[Tensor, "batch time key"]
    recalled: Float[Tensor, "batch item key"]


def keys_of(network: nn.Module, problems: Problems, *, first: int = FIRST) -> Keys:
    """The keys that a trained network writes and recalls on a set of problems.

    Args:
        network: A `Relational` network with an `ESBN`, e.g. from `trained_network`.
        problems: What it is shown.
        first: Places whose items are followed to their second appearance.

    Raises:
        ValueError: If the network has no keys, or an item of the first places does not come again.

    Reference:
        webb2021, appendix A.6.
    """
    if not isinstance(network, Relational) or not isinstance(network.reasoner, ESBN):
        raise ValueError(f"network must be a Relational one with an ESBN, got {network!r}")
    again = second_appearance(problems.index, first)
    with torch.inference_mode():
        keys = network.reasoner.keys(network.embed(problems.table(), problems.index))
    width = keys.read.shape[-1]
    return Keys(
        written=keys.written,
        recalled=keys.read.gather(1, again.unsqueeze(-1).expand(-1, -1, width)),
    )


def second_appearance(index: Int[Tensor, "batch time"], first: int) -> Int[Tensor, "batch item"]:
    """Position of the next appearance of each of the first items.

    Args:
        index: Which item stands at which place.
        first: Number of first places.

    Returns:
        For each of the first places the nearest later place with the same item.

    Raises:
        ValueError: If there are fewer places, or an item does not come again.
    """
    length = index.shape[1]
    if not 1 <= first < length:
        raise ValueError(f"first must be 1…{length - 1} of {length} places, got {first}")
    same = index[:, :first, None] == index[:, None, :]
    later = torch.arange(length) > torch.arange(first).unsqueeze(1)
    again = same & later.to(same.device)
    if not again.any(-1).all():
        raise ValueError(f"every item of the first {first} places must come again")
    return again.int().argmax(-1)
