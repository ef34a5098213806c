"""The PrediNet."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import (
    kaiming_normal_,
    pair_attention,
    tag_positions,
    uninitialized,
    xavier_normal_,
)
from farfield.models._checks import check_length, check_sequence


@final
class PrediNet(nn.Module):
    r"""Pick two places in each head, compare them along learned directions, and answer.

    $$d_h = W_S (e_{1h} - e_{2h}), \qquad e_{nh} = \sum_t a_{nht} \, (z_t \parallel t)$$

    for the two attentions $a_{1h}, a_{2h}$ of each head, whose queries come from the whole
    sequence. The comparisons $d_h$ of all heads, each with the two places attended to, go through
    a layer of ReLU units to the answer. Keys and directions are shared by all heads, so that a
    relation means the same whichever head asks; in a Transformer nothing is shared.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        length: Number of places of a sequence; the queries have weights for each.
        num_heads: Number of heads.
        key_size: Size of a key.
        num_relations: Number of directions to compare along.
        hidden_size: Units of the hidden layer.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, length, in_features)` to `(batch, num_outputs)`.

    Attributes:
        query1, query2: Queries of all heads, from the whole sequence.
        shared_key: Key of a place, for all heads.
        shared_relation: $W_S$, for all heads.
        hidden: The hidden layer.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or a sequence has another length.

    Reference:
        Shanahan et al. 2020; webb2021, appendix A.3.10.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        length: Size,
        *,
        num_heads: Size = 32,
        key_size: Size = 16,
        num_relations: Size = 16,
        hidden_size: Size = 8,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.length = length
        tagged = in_features + 1

        def layer(inputs: int, outputs: int) -> nn.Linear:
            return xavier_normal_(uninitialized(nn.Linear, inputs, outputs, bias=False), generator)

        self.query1 = layer(length * tagged, num_heads * key_size)
        self.query2 = layer(length * tagged, num_heads * key_size)
        self.shared_key = layer(tagged, key_size)
        self.shared_relation = layer(tagged, num_relations)
        self.hidden = kaiming_normal_(
            uninitialized(nn.Linear, num_heads * (num_relations + 2), hidden_size), generator
        )
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
        check_length(z, self.length)
        z = tag_positions(z)
        first, second = pair_attention(
            z, self.query1.weight, self.query2.weight, self.shared_key.weight
        )
        # Linear, so that places are compared first and what is attended to is summed after.
        differences = (first - second) @ self.shared_relation(z)
        places = z[..., -1:]
        heads = torch.cat((differences, first @ places, second @ places), dim=-1)
        return self.output(torch.relu(self.hidden(heads.flatten(1))))
