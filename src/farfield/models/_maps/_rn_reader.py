"""The relation network on the positions of maps."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Depth, Dropout, Size, check_arguments
from farfield.functional import fan_in_uniform_, uninitialized
from farfield.models._maps._answer_layers import answer_layers, dense_layers
from farfield.models._maps._positions import QuestionSize, check_read, located


@final
class RNReader(nn.Module):
    r"""Add up what a small network makes of every pair of positions and the question.

    $$y = f\Big(\sum_{i, j} g(z_i, z_j, q)\Big)$$

    over all pairs of positions in both orders, each with itself included; an object $z$ is what
    stands at a position of the maps, with row and column, and $q$ the question. `RN` reads a
    sequence of embeddings without a question. The first layer of $g$ is applied to positions and
    questions, then added up for pairs.

    Args:
        map_shape: Channels, height and width of the maps.
        num_outputs: Numbers in an answer.
        question_size: Numbers of a question; 0 for none.
        hidden_size: Units of a layer of $g$ and of $f$.
        relation_layers: Layers of $g$.
        dropout: Probability that a unit of the second hidden layer of $f$ is dropped in training.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        Maps `(batch, *map_shape)` and questions `(batch, question_size)` to `(batch, num_outputs)`.

    Attributes:
        first: First layer of $g$ on the first object of a pair, with the bias.
        second: The same on the second object.
        asked: The same on the question.
        pair: The other layers of $g$.
        layers: $f$.

    Raises:
        ValueError: If a number is out of range, or maps or questions have another shape.

    Reference:
        Santoro et al. 2017, equation 1 and section 4; a rival in lamb2022, section 10.4.3. Four
        layers of 256 units and a dropout of a half are those for CLEVR.
    """

    @check_arguments
    def __init__(
        self,
        map_shape: tuple[Size, Size, Size],
        num_outputs: Size,
        *,
        question_size: QuestionSize = 0,
        hidden_size: Size = 256,
        relation_layers: Depth = 4,
        dropout: Dropout = 0.5,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.map_shape, self.question_size = tuple(map_shape), question_size

        def layer(inputs: int, *, bias: bool = False) -> nn.Linear:
            linear = uninitialized(nn.Linear, inputs, hidden_size, bias=bias)
            return fan_in_uniform_(linear, generator)

        size = map_shape[0] + 2
        self.first, self.second = layer(size, bias=True), layer(size)
        self.asked = layer(question_size) if question_size else None
        self.pair = dense_layers(hidden_size, hidden_size, relation_layers - 1, generator)
        self.layers = answer_layers(
            hidden_size, num_outputs, hidden_size=hidden_size, dropout=dropout, generator=generator
        )

    def forward(
        self,
        maps: Float[Tensor, "batch channel height width"],
        question: Float[Tensor, "batch feature"],
    ) -> Float[Tensor, "batch _"]:
        """Answer for every image."""
        check_read(maps, question, map_shape=self.map_shape, question_size=self.question_size)
        z = located(maps)
        first = self.first(z)
        if self.asked is not None:
            first = first + self.asked(question).unsqueeze(1)
        pairs = torch.relu(first.unsqueeze(2) + self.second(z).unsqueeze(1))
        return self.layers(self.pair(pairs).sum((1, 2)))
