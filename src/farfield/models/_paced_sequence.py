"""A model that reads sequences which repeat themselves at one pace."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import periods
from farfield.models._resized_sequence import answer_resized
from farfield.models._sequence_model import SequenceModel


@final
class PacedSequence(nn.Module):
    """Read every sequence that repeats itself as so many periods of so many steps.

    Each sequence is compared with itself, item by item (`farfield.functional.periods`). One in
    which a period stands out is read as `pace` periods of `pace` steps, each the nearest that
    there is; one in which none does is read as it is. So a sequence that is twice as fast, or
    twice as long, takes the same steps. That is measured, neither known before nor learned:
    of a picture in rows, the period is the length of a row.

    Args:
        inner: What reads the sequence.
        pace: Steps of a period, and periods of a sequence.

    Shape:
        As the inner model. Where it answers at every place, a place gets the answer of the
        nearest step that was read.

    Raises:
        ValueError: If `pace` is below 1.

    Reference:
        Farfield's own, for pictures as in lamb2022, section 8.4.1.
    """

    @check_arguments
    def __init__(self, inner: SequenceModel, *, pace: Size) -> None:
        super().__init__()
        self.inner = inner
        self.pace = pace

    def forward(
        self, items: Float[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch.

        Args:
            items: The distinct items.
            index: Which item stands at which place of which problem.
        """
        found = periods(items.flatten(1)[index])
        embeddings = self.inner.encode(items)
        answers: list[Tensor] = []
        order: list[Tensor] = []
        for period in set(found.tolist()) or {0}:
            (rows,) = (found == period).nonzero(as_tuple=True)
            order.append(rows)
            answers.append(self._read(embeddings, index[rows], period))
        return torch.cat(answers)[torch.cat(order).argsort()]

    def _read(self, embeddings: Tensor, index: Tensor, period: int) -> Tensor:
        """Answers for sequences of one period, or none."""
        if period == 0:
            return self.inner.answer(embeddings, index)
        shown, read = (index.shape[1] // period, period), (self.pace, self.pace)
        return answer_resized(self.inner, embeddings, index, shown, read)
