"""The composition of models that answer from maps of an image."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from farfield.core.internal import check_arguments, floating_dtype
from farfield.functional.internal import as_fractions
from farfield.models._maps._readers import QuestionSize


@final
class MapModel(nn.Module):
    """Maps of an image and their reader, with or without a question about it.

    A problem shows one image, or an image and then a question: an item of the shape of an image,
    whose first numbers are the question. As for `ItemModel`, every problem of a batch is a row of
    the network of maps, and batch normalization counts problems; `encode` and `answer` make the
    maps of each image once, for the many questions on it in a test.

    Args:
        maps: From images `(batch, *shape)` to maps `(batch, channel, height, width)`.
        reader: From maps and questions `(batch, question_size)` to answers
            `(batch, num_outputs)`, e.g. `RNReader`.
        map_shape: Channels, height and width of the maps.
        question_size: Numbers of a question; 0 for problems of an image alone.

    Shape:
        Items `(item, *shape)`, uint8 of 0…255 or floating-point, and their index, `(batch, 2)`, or
        `(batch, 1)` without questions, to `(batch, num_outputs)`. Bytes are read as fractions of
        255.

    Raises:
        ValueError: If a part is no module.

    Reference:
        lamb2022, sections 10.4.2 and 10.4.3.
    """

    @check_arguments
    def __init__(
        self,
        maps: nn.Module,
        reader: nn.Module,
        *,
        map_shape: tuple[int, ...],
        question_size: QuestionSize = 0,
    ) -> None:
        super().__init__()
        self.maps, self.reader = maps, reader
        self.map_shape, self.question_size = tuple(map_shape), question_size

    def forward(
        self, items: Shaped[Tensor, "item ..."], index: Int[Tensor, "batch position"]
    ) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch.

        Args:
            index: Which image each problem shows, and which question.

        Raises:
            ValueError: If the index has another shape, or items are integers other than bytes.
        """
        self._check(index)
        shown = self._numbers(items.index_select(0, index[:, 0]))
        asked = items.index_select(0, index[:, -1]).flatten(1)[:, : self.question_size]
        return self.reader(self.maps(shown), self._numbers(asked))

    def encode(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item feature"]:
        """Compute maps of every item as a vector, and append its numbers as a question."""
        shown = self._numbers(items)
        asked = shown.flatten(1)[:, : self.question_size]
        return torch.cat((self.maps(shown).flatten(1), asked), dim=1)

    def answer(
        self, embeddings: Float[Tensor, "item feature"], index: Int[Tensor, "batch position"]
    ) -> Float[Tensor, "batch _"]:
        """Answer every problem from the results of `encode`.

        Args:
            embeddings: Of all items.
            index: Which image each problem shows, and which question.

        Raises:
            ValueError: If the index has another shape.
        """
        self._check(index)
        size = embeddings.shape[1] - self.question_size
        maps = embeddings.index_select(0, index[:, 0])[:, :size]
        asked = embeddings.index_select(0, index[:, -1])[:, size:]
        return self.reader(torch.unflatten(maps, 1, self.map_shape), asked)

    def _numbers(self, items: Tensor) -> Tensor:
        if items.is_floating_point():
            return items
        return as_fractions(items, floating_dtype(self))

    def _check(self, index: Tensor) -> None:
        places = 2 if self.question_size else 1
        if index.ndim != 2 or index.shape[1] != places:
            shown = "an image and a question" if self.question_size else "one image"
            raise ValueError(
                f"index must be (batch, {places}), {shown} a problem, got {tuple(index.shape)}"
            )
