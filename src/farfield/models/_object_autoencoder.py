"""The autoencoder of dynamic object prediction."""

from __future__ import annotations

from typing import final

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import check_arguments
from farfield.models._composition import Composition


@final
class ObjectAutoencoder(Composition):
    """Encoder and decoder as one model of problems of a single item: what is shown comes back.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`.
        decoder: From embeddings `(batch, feature)` to items `(batch, *shape)`.

    Shape:
        Items `(item, *shape)` and their index `(batch, 1)` to `(batch, *shape)`.

    Reference:
        webb2020, sections 3.3 and 4.3.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def answer(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Give every item back from its embedding: the second of two stages.

        Args:
            embeddings: What `encode` gave.
            index: Which item each problem shows.

        Raises:
            ValueError: If a problem shows another number of items than one.
        """
        if index.ndim != 2 or index.shape[1] != 1:
            raise ValueError(
                f"index must be (batch, 1), one item a problem, got shape {tuple(index.shape)}"
            )
        return self.decoder(F.embedding(index[:, 0], embeddings))
