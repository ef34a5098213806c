"""Readers of maps, which answer questions."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import partial
from typing import Annotated, Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import Depth, Dropout, Limits, Size, check_arguments
from farfield.functional.internal import default_layer

QuestionSize = Annotated[int, Limits(at_least=0, at_most=10_000)]
"""Numbers of a question; 0 for none."""


class MapReader(nn.Module):
    """Network that answers from maps of an image and a question; a subclass answers (`_answer`).

    Args:
        map_shape: Channels, height and width of the maps.
        question_size: Numbers of a question; 0 for none.
    """

    def __init__(self, map_shape: tuple[int, int, int], question_size: int) -> None:
        super().__init__()
        self.map_shape, self.question_size = tuple(map_shape), question_size

    def forward(
        self,
        maps: Float[Tensor, "batch channel height width"],
        question: Float[Tensor, "batch feature"],
    ) -> Float[Tensor, "batch _"]:
        """Answer for every image."""
        if tuple(maps.shape[1:]) != self.map_shape:
            shape = ", ".join(map(str, self.map_shape))
            raise ValueError(f"maps must be (batch, {shape}), got {tuple(maps.shape)}")
        if question.shape != (len(maps), self.question_size):
            raise ValueError(
                f"question must be ({len(maps)}, {self.question_size}), got {tuple(question.shape)}"
            )
        return self._answer(maps, question)

    @abstractmethod
    def _answer(self, maps: Tensor, question: Tensor) -> Tensor:
        """Answer from maps and questions of the right shapes."""


def located(
    maps: Float[Tensor, "batch channel height width"],
) -> Float[Tensor, "batch item feature"]:
    """List features of each position, row by row; append its row and column from −1 to 1.

    Args:
        maps: The maps.
    """
    rows, columns = (
        torch.linspace(-1, 1, side, dtype=maps.dtype, device=maps.device)
        for side in maps.shape[-2:]
    )
    where = torch.stack(torch.meshgrid(rows, columns, indexing="ij"))
    with_place = torch.cat((maps, where.expand(len(maps), -1, -1, -1)), dim=1)
    return with_place.flatten(2).transpose(1, 2)


HIDDEN_LAYERS: Final = 2


def answer_layers(
    in_features: int,
    num_outputs: int,
    *,
    hidden_size: int,
    dropout: float,
    generator: torch.Generator | None,
) -> nn.Sequential:
    """Build two hidden layers of ReLU units, dropout and a linear layer.

    Args:
        in_features: Numbers that are read.
        hidden_size: Units of a hidden layer.
        dropout: Probability that a unit of the second is dropped in training.
    """
    layers = dense_layers(in_features, hidden_size, HIDDEN_LAYERS, generator)
    output = default_layer(hidden_size, num_outputs, generator)
    return nn.Sequential(*layers, nn.Dropout(dropout), output)


def dense_layers(
    in_features: int, hidden_size: int, number: int, generator: torch.Generator | None
) -> nn.Sequential:
    """Build layers of ReLU units.

    Args:
        in_features: Numbers that are read.
        hidden_size: Units of a layer.
        number: Number of layers.
    """
    layers: list[nn.Module] = []
    for layer in range(number):
        inputs = hidden_size if layer else in_features
        layers += [default_layer(inputs, hidden_size, generator), nn.ReLU()]
    return nn.Sequential(*layers)


@final
class MLPReader(MapReader):
    """Answer from maps as one vector, with the question behind it if there is one.

    Two hidden layers of ReLU units and a linear layer.

    Args:
        map_shape: Channels, height and width of the maps.
        question_size: Numbers of a question; 0 for none.
        hidden_size: Units of a hidden layer.
        dropout: Probability that a unit of the second hidden layer is dropped in training.
        pooled: Whether the mean of each channel is read in place of its positions.

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
        super().__init__(map_shape, question_size)
        self.pooled = pooled
        read = map_shape[0] if pooled else math.prod(map_shape)
        self.layers = answer_layers(
            read + question_size,
            num_outputs,
            hidden_size=hidden_size,
            dropout=dropout,
            generator=generator,
        )

    def _answer(self, maps: Tensor, question: Tensor) -> Tensor:
        read = maps.mean((-2, -1)) if self.pooled else maps.flatten(1)
        return self.layers(torch.cat((read, question), dim=1))


_NOTHING: Final = 4.0
"""First bias of nothing, with which hardly any position shows a thing."""
_TINY: Final = 1e-6
"""Least probability that a thing is missing at a position, and that it is in the image."""


@final
class PresenceReader(MapReader):
    r"""Answer whether each thing is at any position, each position showing one of them or nothing.

    $$p_i = \mathrm{softmax}(W \, \mathrm{ReLU}(V (z_i \parallel q) + b) + c), \qquad
      y_k = \mathrm{logit}\Big(1 - \prod_i (1 - p_{ik})\Big)$$

    with one more class for nothing. A thing is there if it is at one position or more (a noisy or),
    whatever else is there: from one answer nobody can learn which number of things is usual. As
    things exclude each other at a position, every position learns to tell them apart. `RNReader`
    adds up positions, and can count.

    Args:
        map_shape: Channels, height and width of the maps.
        question_size: Numbers of a question; 0 for none.
        hidden_size: Units of the hidden layer.

    Shape:
        Maps `(batch, *map_shape)` and questions `(batch, question_size)` to `(batch, num_outputs)`.

    Attributes:
        hidden: The hidden layer.
        output: The linear output layer; its last output is nothing.

    Raises:
        ValueError: If a number is out of range, or maps or questions have another shape.

    Reference:
        Made for lamb2022, section 10.4.2, where tests have other numbers of objects than training.
    """

    @check_arguments
    def __init__(
        self,
        map_shape: tuple[Size, Size, Size],
        num_outputs: Size,
        *,
        question_size: QuestionSize = 0,
        hidden_size: Size = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(map_shape, question_size)
        self.hidden = dense_layers(map_shape[0] + question_size, hidden_size, 1, generator)
        self.output = default_layer(hidden_size, num_outputs + 1, generator)
        nn.init.constant_(self.output.bias[-1:], _NOTHING)

    def _answer(self, maps: Tensor, question: Tensor) -> Tensor:
        z = maps.flatten(2).transpose(1, 2)
        asked = question.unsqueeze(1).expand(-1, z.shape[1], -1)
        shown = self.output(self.hidden(torch.cat((z, asked), dim=2))).softmax(2)[..., :-1]
        missing = torch.log1p(-shown.clamp(max=1 - _TINY)).sum(1)
        return (-torch.expm1(missing)).clamp(min=_TINY).log() - missing


@final
class RNReader(MapReader):
    r"""Sum a small network over every pair of positions and the question.

    $$y = f\Big(\sum_{i, j} g(z_i, z_j, q)\Big)$$

    over all pairs of positions in both orders, each with itself included; an object $z$ is the
    features at a position of the maps, with row and column, and $q$ the question. `RN` reads a
    sequence of embeddings without a question. The first layer of $g$ is applied to positions and
    questions, then added up for pairs.

    Args:
        map_shape: Channels, height and width of the maps.
        question_size: Numbers of a question; 0 for none.
        hidden_size: Units of a layer of $g$ and of $f$.
        relation_layers: Layers of $g$.
        dropout: Probability that a unit of the second hidden layer of $f$ is dropped in training.

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
        super().__init__(map_shape, question_size)

        layer = partial(default_layer, out_features=hidden_size, generator=generator, bias=False)
        size = map_shape[0] + 2
        self.first, self.second = layer(size, bias=True), layer(size)
        self.asked = layer(question_size) if question_size else None
        self.pair = dense_layers(hidden_size, hidden_size, relation_layers - 1, generator)
        self.layers = answer_layers(
            hidden_size, num_outputs, hidden_size=hidden_size, dropout=dropout, generator=generator
        )

    def _answer(self, maps: Tensor, question: Tensor) -> Tensor:
        z = located(maps)
        first = self.first(z)
        if self.asked is not None:
            first = first + self.asked(question).unsqueeze(1)
        pairs = torch.relu(first.unsqueeze(2) + self.second(z).unsqueeze(1))
        return self.layers(self.pair(pairs).sum((1, 2)))
