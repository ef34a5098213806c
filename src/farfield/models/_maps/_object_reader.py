"""A reader that finds the object that a question names, and then another one."""

from __future__ import annotations

from functools import partial
from typing import Final, final

import torch
from torch import Tensor, nn

from farfield.core.internal import Size, check_arguments
from farfield.functional.internal import default_layer
from farfield.models._maps._readers import MapReader, answer_layers, dense_layers, located

_KEY: Final = 16
"""Numbers of a query and of a key."""
_TINY: Final = 1e-6
"""Least share in a logarithm: a position without objects."""
_NEAR: Final = 1e-2
"""Added to squared distances, so that the root has a gradient."""
_OBJECTS: Final = 36
"""Divisor of sums over positions, about the number that the objects of a scene cover."""
_ALIKE: Final = 0.1
"""Distance of two colors at which they count as one to a share of 1/e."""
_COVERED: Final = 96
"""Most positions that whole objects are made of."""
_LEAST: Final = 4.0
"""Least number of covered positions of a whole object: edges of two objects are mixed colors."""


@final
class ObjectReader(MapReader):
    r"""Answer by two reads of objects: the named object, and an object related to it.

    $$a = \mathrm{softmax}_i(k_i \cdot q_{name} + \log m_i), \qquad s = \sum_i a_i v_i$$

    $$h_i = g(s, v_i, d_i), \qquad b = \mathrm{softmax}_i(h_i \cdot q_{rest} + \log m_i), \qquad
      y = f\Big(s, \sum_i b_i v_i, \sum_i m_i h_i, q_{rest}\Big)$$

    A position has a share $m$ that objects cover, a key from its color, a value $v$, which is its
    other maps with its row and column, and a distance $d$ from the named object, in positions. The
    name in a question chooses positions, and nothing else reads it, as nothing but the choice reads
    the colors: like the two pathways of `ESBN`, which keep items apart from the rules about them.
    `RNReader` relates every position to every other one; this one relates the named object
    alone. The products of the second read are divided by the root of their number of terms.

    Args:
        map_shape: Channels, height and width of the maps: the share, the colors, others.
        question_size: Numbers of a question.
        name_size: Numbers of a question that name an object, the first ones.
        color_size: Maps of colors.
        hidden_size: Units of $g$.
        whole_question: Whether the second read and $f$ are given the name too: a control.
        relations: Whether there is a second read; without, $y = f(s, q_{rest})$: a control.
        whole_objects: Whether values are first averaged over all positions of the same color, and
            shares divided by the number of them, so that every object counts once, whatever its
            size.

    Shape:
        Maps `(batch, *map_shape)` and questions `(batch, question_size)` to `(batch, num_outputs)`.

    Attributes:
        key: Network of one hidden layer on colors.
        query: Linear layer on names.
        layers: $f$.
        named, other: The first layer of $g$, on the named object and on each position.
        pair: The other layers of $g$.
        asked: Linear layer on the rest of a question, which gives the query of the second read.

    Raises:
        ValueError: If a number is out of range, or maps or questions have another shape.

    Reference:
        Made for lamb2022, section 10.4.3 and Table 7.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — three sizes are those of what is read
        self,
        map_shape: tuple[Size, Size, Size],
        num_outputs: Size,
        *,
        question_size: Size,
        name_size: Size = 6,
        color_size: Size = 3,
        hidden_size: Size = 64,
        whole_question: bool = False,
        relations: bool = True,
        whole_objects: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        if name_size >= question_size:
            raise ValueError(
                f"name_size must be below question_size={question_size}, got {name_size}"
            )
        if color_size + 1 >= map_shape[0]:
            raise ValueError(
                f"color_size must be at most {map_shape[0] - 2}, which leaves a share and a "
                f"feature of {map_shape[0]} maps, got {color_size}"
            )
        super().__init__(map_shape, question_size)
        self.name_size, self.color_size = name_size, color_size
        self.whole_question, self.relations = whole_question, relations
        self.whole_objects = whole_objects

        linear = partial(default_layer, generator=generator, bias=False)
        self.key = nn.Sequential(dense_layers(color_size, _KEY, 1, generator), linear(_KEY, _KEY))
        self.query = linear(name_size, _KEY)
        # Of the size of a key that differs: attention is not even at first.
        nn.init.normal_(self.query.weight, generator=generator)
        value = map_shape[0] - 1 - color_size + 2
        asked = question_size if whole_question else question_size - name_size
        read = value + asked
        if relations:
            self.named = linear(value, hidden_size, bias=True)
            self.other = linear(value + 1, hidden_size)
            self.pair = dense_layers(hidden_size, hidden_size, 1, generator)
            self.asked = linear(asked, hidden_size, bias=True)
            read += value + hidden_size
        self.layers = answer_layers(
            read, num_outputs, hidden_size=256, dropout=0.0, generator=generator
        )

    def _answer(self, maps: Tensor, question: Tensor) -> Tensor:
        share, colors, _ = maps.flatten(2).tensor_split((1, 1 + self.color_size), dim=1)
        share, values = share.squeeze(1), located(maps[:, 1 + self.color_size :])
        colors = colors.transpose(1, 2)
        if self.whole_objects:
            share, colors, values = _pool(share, colors, values)
        name, rest = question.tensor_split((self.name_size,), dim=1)
        asked = question if self.whole_question else rest
        match = self.key(colors) @ self.query(name).unsqueeze(2)
        subject = _read(match, share, values)
        if not self.relations:
            return self.layers(torch.cat((subject, asked), dim=1))
        pairs = self._pairs(subject, values)
        match = pairs @ self.asked(asked).unsqueeze(2) / pairs.shape[2] ** 0.5
        other = _read(match, share, values)
        total = (share.unsqueeze(2) * pairs).sum(1)
        total = total if self.whole_objects else total / _OBJECTS
        return self.layers(torch.cat((subject, other, total, asked), dim=1))

    def _pairs(self, subject: Tensor, values: Tensor) -> Tensor:
        """Relate each position to the named object."""
        sides = torch.tensor(self.map_shape[1:], dtype=values.dtype, device=values.device)
        away = (values[..., -2:] - subject[:, None, -2:]) * (sides - 1) / 2
        distance = (away.square().sum(2, keepdim=True) + _NEAR).sqrt()
        others = self.other(torch.cat((values, distance), dim=2))
        return self.pair(torch.relu(self.named(subject).unsqueeze(1) + others))


def _read(scores: Tensor, share: Tensor, values: Tensor) -> Tensor:
    """Average the values, by attention to positions that objects cover."""
    weights = (scores.squeeze(2) + share.clamp(min=_TINY).log()).softmax(1)
    return (weights.unsqueeze(2) * values).sum(1)


def _pool(share: Tensor, colors: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Divide shares by the size of their object, and average values over its positions.

    Only the positions that objects cover most are kept.
    """
    share, kept = share.clamp(min=0).topk(min(_COVERED, share.shape[1]))
    colors, values = (
        one.gather(1, kept.unsqueeze(2).expand(-1, -1, one.shape[2])) for one in (colors, values)
    )
    away = (colors.unsqueeze(2) - colors.unsqueeze(1)).square().sum(3)
    near = (-away / _ALIKE**2).exp() * share.unsqueeze(1)
    size = near.sum(2)
    pooled = near @ values / size.clamp(min=_TINY).unsqueeze(2)
    return share / size.clamp(min=_LEAST), colors, pooled
