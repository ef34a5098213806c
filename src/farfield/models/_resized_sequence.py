"""A model that reads squares of any size at the size it was trained on."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.models._sequence_model import SequenceModel


@final
class ResizedSequence(nn.Module):
    """Read the positions of a problem as a square image, resized to one side.

    A problem of s² places is a square of side s. Row r and column c of the square of `side` that
    the inner model reads are row ⌊(r + ½) s / side⌋ and column ⌊(c + ½) s / side⌋ of it: the
    nearest places. It is what `side` itself gives where s is `side`, so training changes in
    nothing. That the sequence is a picture, and of which size, is known, not learned.

    Args:
        inner: What reads the square.
        side: Its side.

    Shape:
        As the inner model, for any square number of places.

    Raises:
        ValueError: If `side` is below 1, or the number of places is not a square.

    Reference:
        lamb2022, section 8.4.1: the task that it is made for. The reading is Farfield's own.
    """

    @check_arguments
    def __init__(self, inner: SequenceModel, *, side: Size) -> None:
        super().__init__()
        self.inner = inner
        self.side = side

    def forward(
        self, items: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch.

        Args:
            items: The distinct items.
            index: Which item stands at which place of which problem.
        """
        return self.answer(self.encode(items), index)

    def encode(self, items: Float[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Embed every item: the first of two stages.

        Args:
            items: The distinct items.
        """
        return self.inner.encode(items)

    def answer(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem from the embeddings of the items: the second of two stages.

        Args:
            embeddings: What `encode` gave.
            index: Which item stands at which place of which problem.
        """
        return self.inner.answer(embeddings, index[:, self._places(index.shape[1], index.device)])

    def _places(self, count: int, device: torch.device) -> Int[Tensor, " time"]:
        """Positions that are read, of `count`, in order."""
        shown = math.isqrt(count)
        if shown < 1 or shown * shown != count:
            raise ValueError(f"index must have a square number of places, got {count}")
        return nearest_places((shown, shown), (self.side, self.side), device)


def nearest_places(
    shown: tuple[int, int], read: tuple[int, int], device: torch.device
) -> Int[Tensor, " time"]:
    """Places of a grid, row by row, nearest to those of a grid of another size.

    Args:
        shown: Rows and columns of the grid whose places they are.
        read: Those of the other one, which has as many places as the result.
        device: Where the result is.
    """
    rows, columns = (
        (2 * torch.arange(count, device=device) + 1) * there // (2 * count)
        for there, count in zip(shown, read, strict=True)
    )
    return (shown[1] * rows[:, None] + columns).flatten()
