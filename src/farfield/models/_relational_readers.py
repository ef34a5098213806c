"""Reasoners of one layer over relations: the Abstractor and relational convolution."""

from __future__ import annotations

from functools import partial
from typing import final

import torch
from torch import Tensor

from farfield.core.internal import Depth, Size, check_arguments
from farfield.functional.internal import default_layer
from farfield.models._sequence_reader import SequenceReader
from farfield.nn import Abstractor, GroupAttentionConvolution, SymbolLibrary


@final
class AbstractorNet(SequenceReader):
    r"""Answer from the mean of the symbols that an Abstractor transforms by relations.

    $$y = W \, \mathrm{ReLU}\Big(V \, \tfrac{1}{n} \sum_i s_i + b\Big) + c, \qquad
      s = \mathrm{Abstractor}(z)$$

    with symbols of a library (`farfield.nn.SymbolLibrary`), so that the order of the objects means
    nothing. `SlotAbstractor` has positions of objects for symbols.

    Args:
        num_layers: Number of layers of the Abstractor.
        num_heads: Number of heads of both kinds of attention; must divide `in_features`.
        num_symbols: Number of symbols of the library.
        feedforward_size: Hidden units of the network of a layer.
        hidden_size: Units of the hidden layer.
        generator: Source of the first weights; `None` for torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        abstractor: The Abstractor.
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, or the heads do not divide `in_features`.

    Reference:
        altabaa2024, sections 2.4 and 4; symbols of lafferty2024, section 2.3.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        num_layers: Depth = 1,
        num_heads: Size = 2,
        num_symbols: Size = 16,
        feedforward_size: Size = 64,
        hidden_size: Size = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        self.abstractor = Abstractor(
            in_features,
            symbols=partial(SymbolLibrary, num_symbols=num_symbols, generator=generator),
            num_layers=num_layers,
            num_heads=num_heads,
            feedforward_size=feedforward_size,
            generator=generator,
        )
        self.hidden = default_layer(in_features, hidden_size, generator)
        self.output = default_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        return torch.relu(self.hidden(self.abstractor(z).mean(1)))


@final
class RelConvNet(SequenceReader):
    r"""Answer from filters over the relations inside groups of objects.

    $$y = W \, \mathrm{ReLU}(V \, \mathrm{flatten}(u) + b) + c, \qquad
      u = \mathrm{GroupAttentionConvolution}(z)$$

    Attention chooses the members of each group (`farfield.nn.GroupAttentionConvolution`), so that
    there are equally many groups for any number of objects, and their order means nothing.
    `CoRelNet` reads one similarity of each pair.

    Args:
        num_groups: Number of groups.
        group_size: Number of members of a group.
        num_relations: Number of relations of a pair.
        projection_size: Numbers of each side of a relation.
        num_filters: Number of filters.
        hidden_size: Units of the hidden layer.
        generator: Source of the first weights; `None` for torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        groups: The relational convolution.
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        altabaa2023, sections 3.3 and 4.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — numbers of relations, filters and groups
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        num_groups: Size = 8,
        group_size: Size = 3,
        num_relations: Size = 16,
        projection_size: Size = 4,
        num_filters: Size = 16,
        hidden_size: Size = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features)
        self.groups = GroupAttentionConvolution(
            in_features,
            num_groups=num_groups,
            group_size=group_size,
            num_relations=num_relations,
            projection_size=projection_size,
            num_filters=num_filters,
            generator=generator,
        )
        self.hidden = default_layer(num_groups * num_filters, hidden_size, generator)
        self.output = default_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        return torch.relu(self.hidden(self.groups(z).flatten(1)))
