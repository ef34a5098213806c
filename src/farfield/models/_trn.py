"""The temporal relation network."""

from __future__ import annotations

from itertools import combinations
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import (
    kaiming_normal_,
    relation_sum,
    tag_positions,
    uninitialized,
    xavier_normal_,
)
from farfield.models._checks import check_sequence


@final
class TRN(nn.Module):
    r"""Add up what small networks make of ordered pairs and triples of embeddings, and answer.

    $$y = W f\Big(f_2\Big(\sum_{i < j} g_2(z_i, z_j)\Big)
      + f_3\Big(\sum_{i < j < k} g_3(z_i, z_j, z_k)\Big)\Big)$$

    with each $z_i$ carrying its place, $g_n$ networks of two ReLU layers and $f_n$, $f$ layers
    of ReLU units. `RN` takes every pair in both orders, and each place with itself; here a set
    stands once, in order of time, and there are sets of three. No set is left out.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Hidden units of $g_2$ and of $g_3$.
        relation_size: Outputs of $g_2$ and $g_3$, and units of $f_2$, $f_3$ and $f$.
        order_layers: Whether there are $f_2$ and $f_3$. The released code defines them but adds
            the bare sums, as here without.
        position_tags: Whether each embedding carries its place, an integer from 0.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1; where
        there are too few places for a pair or a triple, its sum is zero.

    Attributes:
        pair1, pair2: The layers of $g_2$.
        pair3: The layer of $f_2$, or None.
        triple1, triple2: The layers of $g_3$.
        triple3: The layer of $f_3$, or None.
        hidden: The layer of $f$.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Zhou et al. 2018; webb2021, appendix A.3.8.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        relation_size: Size = 256,
        order_layers: bool = True,
        position_tags: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.position_tags = position_tags
        tagged = in_features + int(position_tags)

        def layer(inputs: int, outputs: int) -> nn.Linear:
            return kaiming_normal_(uninitialized(nn.Linear, inputs, outputs), generator)

        self.pair1 = layer(2 * tagged, hidden_size)
        self.pair2 = layer(hidden_size, relation_size)
        self.pair3 = layer(relation_size, relation_size) if order_layers else None
        self.triple1 = layer(3 * tagged, hidden_size)
        self.triple2 = layer(hidden_size, relation_size)
        self.triple3 = layer(relation_size, relation_size) if order_layers else None
        self.hidden = layer(relation_size, relation_size)
        self.output = xavier_normal_(
            uninitialized(nn.Linear, relation_size, num_outputs), generator
        )

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> TRN:
        """As in webb2021's released code: the bare sums, without layers for pairs and triples.

        Args:
            in_features: Size of an embedding.
            num_outputs: Numbers in an answer.
            generator: Where the first weights are drawn from; None is torch's global generator.
        """
        return cls(in_features, num_outputs, order_layers=False, generator=generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
        if self.position_tags:
            z = tag_positions(z)
        pairs = _relations(z, 2, self.pair1, self.pair2, self.pair3)
        triples = _relations(z, 3, self.triple1, self.triple2, self.triple3)
        return self.output(torch.relu(self.hidden(pairs + triples)))


def _relations(
    z: Tensor, size: int, first: nn.Linear, second: nn.Linear, third: nn.Linear | None
) -> Tensor:
    """The vector of all sets of one size."""
    sets = list(combinations(range(z.shape[1]), size))
    total = relation_sum(z, sets, first.weight, first.bias, second.weight, second.bias)
    return total if third is None else torch.relu(third(total))
