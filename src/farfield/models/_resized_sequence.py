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
        As the inner model, for any square number of places. Where it answers at every place, a
        place gets the answer of the nearest one that was read.

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
        count = index.shape[1]
        shown = math.isqrt(count)
        if shown < 1 or shown * shown != count:
            raise ValueError(f"index must have a square number of places, got {count}")
        return answer_resized(self.inner, embeddings, index, (shown, shown), (self.side, self.side))


def answer_resized(
    inner: SequenceModel,
    embeddings: Float[Tensor, "item ..."],
    index: Int[Tensor, "batch time"],
    shown: tuple[int, int],
    read: tuple[int, int],
) -> Float[Tensor, "batch ..."]:
    """Answers of a model that reads a grid of another size than that of the problems.

    Args:
        inner: The model.
        embeddings: What its `encode` gave.
        index: Which item stands at which place of which problem.
        shown: Rows and columns of the problems.
        read: Those that are read.
    """
    answers = inner.answer(embeddings, index[:, _nearest_places(shown, read, index.device)])
    if not inner.answers_everywhere:
        return answers
    return answers[:, _nearest_places(read, shown, index.device)]


def _nearest_places(
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
