"""Base of models that encode items one by one."""

from __future__ import annotations

from abc import abstractmethod

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from farfield.core import LazyItems


class Composition(nn.Module):
    """A model in two stages: embed every distinct item once, then answer from the embeddings.

    What is done with the embeddings is its own.
    """

    encoder: nn.Module
    """From items `(item, *shape)` to embeddings `(item, *)`."""

    def forward(
        self, items: Shaped[Tensor, "item ..."] | LazyItems, index: Int[Tensor, "*shape"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch.

        Args:
            items: The distinct items. Of those that a task draws on demand, the ones that the
                index names are drawn.
            index: Which item stands at which position of which problem.
        """
        if isinstance(items, LazyItems):
            rows, index = torch.unique(index, return_inverse=True)
            items = items.index_select(0, rows)
        return self.answer(self.encode(items), index)

    def encode(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item ..."]:
        """Embed every item: the first of two stages.

        Args:
            items: The distinct items.
        """
        return self.encoder(items)

    @abstractmethod
    def answer(
        self, embeddings: Float[Tensor, "item ..."], index: Int[Tensor, "*shape"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem from the embeddings of the items: the second of two stages.

        Args:
            embeddings: What `encode` gave.
            index: Which item stands at which position of which problem.
        """
