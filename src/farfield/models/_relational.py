"""The composition that every relational model here is made of."""

from __future__ import annotations

from typing import final

from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import check_arguments
from farfield.models._abilities import TellsError
from farfield.models._composition import Composition


@final
class Relational(Composition):
    """Encoder, context and reasoner as one model of problems.

    Each distinct item is encoded once, however many problems show it; the embeddings are then
    put into place, set into the context of their problem, and reasoned about. The result equals
    that of encoding every place on its own.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`.
        context: From `(batch, time, feature)` to the same, e.g. `farfield.nn.ContextNorm`, or
            None.
        reasoner: From `(batch, time, feature)` to answers `(batch, num_outputs)`.

    Shape:
        Items `(item, *shape)` and their index `(batch, time)` to `(batch, num_outputs)`.

    Reference:
        webb2021, sections 3.1 and 3.2.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, context: nn.Module | None, reasoner: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context
        self.reasoner = reasoner

    def answer_and_error(
        self, items: Shaped[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch _"], Float[Tensor, " batch"]]:
        """Answers to every problem, and the reconstruction error of the reasoner's memory.

        Args:
            items: The distinct items.
            index: Which item stands at which place of which problem.

        Raises:
            TypeError: If the reasoner has no such error; `MNM` has.
            ValueError: If the index is not `(batch, time)`.
        """
        if not isinstance(self.reasoner, TellsError):
            raise TypeError(
                "reasoner must have a method answer_and_error, as MNM has, "
                f"got {type(self.reasoner).__name__}"
            )
        return self.reasoner.answer_and_error(self.embed(items, index))

    def embed(
        self, items: Shaped[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time _"]:
        """Inputs of the reasoner: embeddings in place and in context.

        Args:
            items: The distinct items.
            index: Which item stands at which place of which problem.

        Raises:
            ValueError: If the index is not `(batch, time)`.
        """
        return self._in_context(self.encode(items), index)

    def answer(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch _"]:
        """Answer every problem from the embeddings of the items: the second of two stages.

        Args:
            embeddings: What `encode` gave.
            index: Which item stands at which place of which problem.

        Raises:
            ValueError: If the index is not `(batch, time)`.
        """
        return self.reasoner(self._in_context(embeddings, index))

    def _in_context(self, embeddings: Tensor, index: Tensor) -> Tensor:
        if index.ndim != 2:
            raise ValueError(f"index must be (batch, time), got shape {tuple(index.shape)}")
        z = F.embedding(index, embeddings)
        return z if self.context is None else self.context(z)
