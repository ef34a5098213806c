"""The relation network."""

from __future__ import annotations

from itertools import product
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
class RN(nn.Module):
    r"""Add up what a small network makes of every pair of embeddings, and answer from the sum.

    $$y = W f\Big(\sum_{i, j} g(z_i \parallel i, \; z_j \parallel j)\Big)$$

    over all pairs of places in both orders, each place with itself included; $g$ is a network of
    two ReLU layers, $f$ a layer of ReLU units. A Transformer weighs places by their pairs; here
    the pairs themselves are what is computed with.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Hidden units of $g$.
        relation_size: Outputs of $g$, and units of $f$.
        position_tags: Whether each embedding carries its place, an integer from 0. Without, the
            answer does not depend on the order.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        pair1, pair2: The layers of $g$.
        hidden: The layer of $f$.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Santoro et al. 2017; webb2021, appendix A.3.7.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        relation_size: Size = 256,
        position_tags: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.position_tags = position_tags
        tagged = in_features + int(position_tags)
        self.pair1 = kaiming_normal_(uninitialized(nn.Linear, 2 * tagged, hidden_size), generator)
        self.pair2 = kaiming_normal_(
            uninitialized(nn.Linear, hidden_size, relation_size), generator
        )
        self.hidden = kaiming_normal_(
            uninitialized(nn.Linear, relation_size, relation_size), generator
        )
        self.output = xavier_normal_(
            uninitialized(nn.Linear, relation_size, num_outputs), generator
        )

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
        pairs = list(product(range(z.shape[1]), repeat=2))
        if self.position_tags:
            z = tag_positions(z)
        first, second = self.pair1, self.pair2
        relations = relation_sum(z, pairs, first.weight, first.bias, second.weight, second.bias)
        return self.output(torch.relu(self.hidden(relations)))
