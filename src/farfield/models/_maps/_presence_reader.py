"""A reader of which things are anywhere in an image."""

from __future__ import annotations

from typing import Final, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import fan_in_uniform_, uninitialized
from farfield.models._maps._answer_layers import dense_layers
from farfield.models._maps._positions import QuestionSize, check_read

_NOTHING: Final = 4.0
"""First bias of nothing, with which hardly any position shows a thing."""
_TINY: Final = 1e-6
"""Least probability that a thing is missing at a position, and that it is in the image."""


@final
class PresenceReader(nn.Module):
    r"""Answer whether each thing is at any position, each position showing one of them or nothing.

    $$p_i = \mathrm{softmax}(W \, \mathrm{ReLU}(V (z_i \parallel q) + b) + c), \qquad
      y_k = \mathrm{logit}\Big(1 - \prod_i (1 - p_{ik})\Big)$$

    with one more class for nothing. A thing is there if it is at one position or more (a noisy or),
    whatever else is there: from one answer nobody can learn which number of things is usual. As
    things exclude each other at a position, every position learns to tell them apart. `RNReader`
    adds up positions, and can count.

    Args:
        map_shape: Channels, height and width of the maps.
        num_outputs: Numbers in an answer.
        question_size: Numbers of a question; 0 for none.
        hidden_size: Units of the hidden layer.
        generator: Where the first weights are drawn from; None is torch's global generator.

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
        super().__init__()
        self.map_shape, self.question_size = tuple(map_shape), question_size
        self.hidden = dense_layers(map_shape[0] + question_size, hidden_size, 1, generator)
        self.output = fan_in_uniform_(
            uninitialized(nn.Linear, hidden_size, num_outputs + 1), generator
        )
        nn.init.constant_(self.output.bias[-1:], _NOTHING)

    def forward(
        self,
        maps: Float[Tensor, "batch channel height width"],
        question: Float[Tensor, "batch feature"],
    ) -> Float[Tensor, "batch _"]:
        """Answer for every image."""
        check_read(maps, question, map_shape=self.map_shape, question_size=self.question_size)
        z = maps.flatten(2).transpose(1, 2)
        asked = question.unsqueeze(1).expand(-1, z.shape[1], -1)
        shown = self.output(self.hidden(torch.cat((z, asked), dim=2))).softmax(2)[..., :-1]
        missing = torch.log1p(-shown.clamp(max=1 - _TINY)).sum(1)
        return (-torch.expm1(missing)).clamp(min=_TINY).log() - missing
