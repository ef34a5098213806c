"""A sequence as its distinct items and an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F


@final
@dataclass(frozen=True, eq=False)
class Indexed:
    """A sequence of few recurring items: `items[index]`, not yet gathered.

    Layers that take one apply what no state enters to the items, each once, and not to every place
    at which one stands.

    Args:
        items: The distinct items, each on the first axis.
        index: Which one stands where: (time, batch), or in the order of axes that a layer takes.
    """

    items: Float[Tensor, "item ..."]
    index: Int[Tensor, "*place"]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the sequence as one tensor."""
        return (*self.index.shape, *self.items.shape[1:])

    @property
    def repeats(self) -> bool:
        """True if the items are fewer than the positions, so that something is gained."""
        return len(self.items) < self.index.numel()

    def at(self, index: Int[Tensor, "*place"]) -> Indexed:
        """The same items at other places.

        Args:
            index: Which item stands where.
        """
        return Indexed(self.items, index)

    def gathered(self) -> Float[Tensor, "*place_and_feature"]:
        """Every item at all its places: the sequence as one tensor."""
        rows = F.embedding(self.index, self.items.flatten(1))
        return torch.unflatten(rows, -1, self.items.shape[1:])
