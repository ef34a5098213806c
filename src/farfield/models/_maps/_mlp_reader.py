"""A reader of maps as one vector."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Dropout, Size, check_arguments
from farfield.models._maps._answer_layers import answer_layers
from farfield.models._maps._positions import QuestionSize, check_read


@final
class MLPReader(nn.Module):
    """Answer from maps as one vector, with the question behind it if there is one.

    Two hidden layers of ReLU units and a linear layer.

    Args:
        map_shape: Channels, height and width of the maps.
        num_outputs: Numbers in an answer.
        question_size: Numbers of a question; 0 for none.
        hidden_size: Units of a hidden layer.
        dropout: Probability that a unit of the second hidden layer is dropped in training.
        pooled: Whether the mean of each channel is read in place of its positions.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        Maps `(batch, *map_shape)` and questions `(batch, question_size)` to `(batch, num_outputs)`.

    Raises:
        ValueError: If a number is out of range, or maps or questions have another shape.

    Reference:
        The network CNN_MLP of Santoro et al. 2017; lamb2022, section 10.4.3. The released code
        reads the mean of each channel, and drops half of the units also in tests.
    """

    @check_arguments
    def __init__(
        self,
        map_shape: tuple[Size, Size, Size],
        num_outputs: Size,
        *,
        question_size: QuestionSize = 0,
        hidden_size: Size = 256,
        dropout: Dropout = 0.5,
        pooled: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.map_shape, self.question_size, self.pooled = tuple(map_shape), question_size, pooled
        read = map_shape[0] if pooled else math.prod(map_shape)
        self.layers = answer_layers(
            read + question_size,
            num_outputs,
            hidden_size=hidden_size,
            dropout=dropout,
            generator=generator,
        )

    def forward(
        self,
        maps: Float[Tensor, "batch channel height width"],
        question: Float[Tensor, "batch feature"],
    ) -> Float[Tensor, "batch _"]:
        """Answer for every image."""
        check_read(maps, question, map_shape=self.map_shape, question_size=self.question_size)
        read = maps.mean((-2, -1)) if self.pooled else maps.flatten(1)
        return self.layers(torch.cat((read, question), dim=1))
