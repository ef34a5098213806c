"""The composition of models that make a set of elements of each item."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import check_arguments
from farfield.models._checks import check_one_item
from farfield.models._composition import Composition


@final
class SetModel(Composition):
    """An encoder that makes a set of each item, and what reads the set, as a model of problems.

    A problem shows one item, e.g. an image whose patches are the elements of the set. `Relational`
    is for problems that show several items, each of which is one element.

    Args:
        encoder: From items `(item, *shape)` to `(item, element, feature)`, e.g.
            `farfield.nn.PatchEncoder`.
        reader: From `(batch, element, feature)` to answers `(batch, num_outputs)`, e.g.
            `TokenReader`.

    Shape:
        Items `(item, *shape)` and their index `(batch, 1)` to `(batch, num_outputs)`.

    Reference:
        gondal2021, sections 4.1 and 4.2.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, reader: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.reader = reader

    def answer(
        self,
        embeddings: Float[Tensor, "item element feature"],
        index: Int[Tensor, "batch place"],
    ) -> Float[Tensor, "batch _"]:
        """Answer every problem from the elements of the items: the second of two stages.

        Args:
            embeddings: What `encode` gave.
            index: Which item each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`.
        """
        return self.reader(self.sets(embeddings, index))

    def sets(
        self,
        embeddings: Float[Tensor, "item element feature"],
        index: Int[Tensor, "batch place"],
    ) -> Float[Tensor, "batch element feature"]:
        """Inputs of the reader: the set of every problem.

        Args:
            embeddings: What `encode` gave.
            index: Which item each problem shows.

        Raises:
            ValueError: If the index is not `(batch, 1)`.
        """
        check_one_item(index)
        chosen = F.embedding(index[:, 0], embeddings.flatten(1))
        return torch.unflatten(chosen, -1, embeddings.shape[1:])
