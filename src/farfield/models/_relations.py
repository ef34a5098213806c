"""Reasoners that relate the positions of a problem, or only pool them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import combinations, product
from typing import final

import torch
from torch import Tensor, nn

from farfield.core.internal import Size, check_arguments
from farfield.functional.internal import (
    linear_layer,
    pair_attention,
    relation_matrix,
    relation_sum,
    relu_layer,
    tag_positions,
)
from farfield.models._sequence_reader import SequenceReader


@final
class CoRelNet(SequenceReader):
    r"""Answer from the similarities of the embeddings, and from nothing else.

    $$y = W \, \mathrm{ReLU}(V \, \mathrm{flatten}(R) + b), \qquad
      R = \mathrm{softmax}(Z Z^\top)$$

    with a softmax in each row. Like `ESBN` it knows embeddings by their inner products alone, but
    has neither recurrence nor memory: the simplest model that separates relations from the
    related items.

    Args:
        length: Number of positions of a sequence; the matrix has its square.
        hidden_size: Units of the hidden layer.
        causal: Whether each position is compared only with positions up to it, and only that
            triangle of the matrix is used, as in the released code.

    Shape:
        `(batch, length, in_features)` to `(batch, num_outputs)`.

    Attributes:
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or a sequence has another length.

    Reference:
        Kerg et al. 2022 (kerg2022), section 3. Initialized like the output networks of webb2021,
        appendix A.3.9.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        length: Size,
        *,
        hidden_size: Size = 256,
        causal: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features, length)
        self.causal = causal
        entries = length * (length + 1) // 2 if causal else length**2
        self.hidden = relu_layer(entries, hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        relations = relation_matrix(z, causal=self.causal)
        if not self.causal:
            return torch.relu(self.hidden(relations.flatten(1)))
        row, column = torch.tril_indices(*relations.shape[1:], device=z.device)
        return torch.relu(self.hidden(relations[:, row, column]))


@final
class DeepSets(SequenceReader):
    r"""Answer from one layer of each embedding, pooled over positions.

    $$y = W \, \mathrm{pool}_t \, \mathrm{ReLU}(V z_t + b) + c$$

    with the mean or the maximum over positions t. It compares nothing and knows no order: a problem
    that it solves needs no relation.

    Args:
        hidden_size: Units of the hidden layer.
        maximum: Whether the maximum is pooled, not the mean.
        generator: Source of the first weights; `None` for torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Zaheer et al. 2017 (zaheer2017), section 3. Initialized like the output networks of
        webb2021, appendix A.3.9.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 256,
        maximum: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        self.maximum = maximum
        self.hidden = relu_layer(in_features, hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    def extra_repr(self) -> str:
        """Format options that differ from the defaults."""
        return f"maximum={self.maximum}"

    def _read(self, z: Tensor) -> Tensor:
        hidden = torch.relu(self.hidden(z))
        return hidden.amax(1) if self.maximum else hidden.mean(1)


@final
class RN(SequenceReader):
    r"""Sum a small network over every pair of embeddings, and answer from the sum.

    $$y = W f\Big(\sum_{i, j} g(z_i \parallel i, \; z_j \parallel j)\Big)$$

    over all pairs of positions in both orders, each position with itself included; $g$ is a network
    of two ReLU layers, $f$ a layer of ReLU units. A Transformer weighs positions by their pairs;
    here the pairs are the inputs.

    Args:
        hidden_size: Hidden units of $g$.
        relation_size: Outputs of $g$, and units of $f$.
        position_tags: Whether each embedding carries its position, an integer from 0. Without, the
            answer does not depend on the order.

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
        super().__init__(in_features)
        self.position_tags = position_tags
        tagged = in_features + int(position_tags)
        layer = partial(relu_layer, generator=generator)
        self.pair1, self.pair2 = layer(2 * tagged, hidden_size), layer(hidden_size, relation_size)
        self.hidden = layer(relation_size, relation_size)
        self.output = linear_layer(relation_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        if self.position_tags:
            z = tag_positions(z)
        relations = _relations(z, product(range(z.shape[1]), repeat=2), self.pair1, self.pair2)
        return torch.relu(self.hidden(relations))


@final
class TRN(SequenceReader):
    r"""Sum small networks over ordered pairs and triples of embeddings, and answer.

    $$y = W f\Big(f_2\Big(\sum_{i < j} g_2(z_i, z_j)\Big)
      + f_3\Big(\sum_{i < j < k} g_3(z_i, z_j, z_k)\Big)\Big)$$

    with each $z_i$ carrying its position, $g_n$ networks of two ReLU layers and $f_n$, $f$ layers
    of ReLU units. `RN` takes every pair in both orders, and each position with itself; here a set
    occurs once, in order of time, and there are sets of three. No set is left out.

    Args:
        hidden_size: Hidden units of $g_2$ and of $g_3$.
        relation_size: Outputs of $g_2$ and $g_3$, and units of $f_2$, $f_3$ and $f$.
        order_layers: Whether there are $f_2$ and $f_3$. The released code defines them but adds
            the bare sums, as here without.
        position_tags: Whether each embedding carries its position, an integer from 0.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1; where
        there are too few positions for a pair or a triple, its sum is zero.

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
        super().__init__(in_features)
        self.position_tags = position_tags
        tagged = in_features + int(position_tags)

        layer = partial(relu_layer, generator=generator)
        self.pair1 = layer(2 * tagged, hidden_size)
        self.pair2 = layer(hidden_size, relation_size)
        self.pair3 = layer(relation_size, relation_size) if order_layers else None
        self.triple1 = layer(3 * tagged, hidden_size)
        self.triple2 = layer(hidden_size, relation_size)
        self.triple3 = layer(relation_size, relation_size) if order_layers else None
        self.hidden = layer(relation_size, relation_size)
        self.output = linear_layer(relation_size, num_outputs, generator)

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> TRN:
        """Build webb2021's released network: bare sums, no layers for pairs and triples."""
        return cls(in_features, num_outputs, order_layers=False, generator=generator)

    def _read(self, z: Tensor) -> Tensor:
        if self.position_tags:
            z = tag_positions(z)
        positions = range(z.shape[1])
        pairs = _relations(z, combinations(positions, 2), self.pair1, self.pair2, self.pair3)
        triples = _relations(
            z, combinations(positions, 3), self.triple1, self.triple2, self.triple3
        )
        return torch.relu(self.hidden(pairs + triples))


def _relations(
    z: Tensor,
    sets: Iterable[tuple[int, ...]],
    first: nn.Linear,
    second: nn.Linear,
    third: nn.Linear | None = None,
) -> Tensor:
    """Sum the relations of sets of positions, then apply the third layer, if there is one."""
    weights = (first.weight, first.bias, second.weight, second.bias)
    total = relation_sum(z, list(sets), *weights)
    return total if third is None else torch.relu(third(total))


@final
class PrediNet(SequenceReader):
    r"""Pick two positions in each head, compare them along learned directions, and answer.

    $$d_h = W_S (e_{1h} - e_{2h}), \qquad e_{nh} = \sum_t a_{nht} \, (z_t \parallel t)$$

    for the two attentions $a_{1h}, a_{2h}$ of each head, whose queries come from the whole
    sequence. The comparisons $d_h$ of all heads, each with the two positions attended to, go
    through a layer of ReLU units to the answer. Keys and directions are shared by all heads, so
    that a relation means the same whichever head asks; in a Transformer nothing is shared.

    Args:
        length: Number of positions of a sequence; the queries have weights for each.
        num_heads: Number of heads.
        key_size: Size of a key.
        num_relations: Number of directions to compare along.
        hidden_size: Units of the hidden layer.

    Shape:
        `(batch, length, in_features)` to `(batch, num_outputs)`.

    Attributes:
        query1, query2: Queries of all heads, from the whole sequence.
        shared_key: Key of a position, for all heads.
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
        super().__init__(in_features, length)
        tagged = in_features + 1

        layer = partial(linear_layer, generator=generator, bias=False)
        self.query1 = layer(length * tagged, num_heads * key_size)
        self.query2 = layer(length * tagged, num_heads * key_size)
        self.shared_key = layer(tagged, key_size)
        self.shared_relation = layer(tagged, num_relations)
        self.hidden = relu_layer(num_heads * (num_relations + 2), hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        z = tag_positions(z)
        first, second = pair_attention(
            z, self.query1.weight, self.query2.weight, self.shared_key.weight
        )
        # Linear, so that positions are compared first and attended values summed after.
        differences = (first - second) @ self.shared_relation(z)
        places = z[..., -1:]
        heads = torch.cat((differences, first @ places, second @ places), dim=-1)
        return torch.relu(self.hidden(heads.flatten(1)))
