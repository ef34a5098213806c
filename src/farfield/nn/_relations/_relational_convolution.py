"""Relational convolution: filters over the relations inside groups of objects."""

from __future__ import annotations

import itertools
import math
from typing import Literal, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, PositiveFloat, Size, take_factory_arguments
from farfield.functional.internal import default_layer
from farfield.nn._input_checks import check_dtype
from farfield.nn._interpreter._type_inference import check_set
from farfield.nn._relations._symbols import sinusoidal_halves

Aggregator = Literal["mean", "max"]
_FILTER_STD = 0.05


class _GroupFilters(nn.Module):
    """Relations of the members of a group, and filters over them.

    Args:
        num_features: Number of features of an object.
        num_relations: Number of relations of a pair.
        projection_size: Numbers of each side of a relation.
        num_filters: Number of filters.
        group_size: Number of members of a group.
        symmetric: Whether both sides of a relation have one map.
        aggregator: Mean or maximum over all orders of the members; None for the given order.
    """

    def __init__(
        self,
        num_features: int,
        num_relations: int,
        projection_size: int,
        num_filters: int,
        group_size: int,
        symmetric: bool,
        aggregator: Aggregator | None,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.num_relations, self.aggregator = num_relations, aggregator
        self.first = default_layer(num_features, num_relations * projection_size, generator)
        self.second = None
        if not symmetric:
            self.second = default_layer(num_features, num_relations * projection_size, generator)
        shape = (num_filters, group_size, group_size, num_relations)
        self.filters = nn.Parameter(torch.empty(shape, device="cpu"))
        nn.init.normal_(self.filters, std=_FILTER_STD, generator=generator)

    def relations(self, x: Float[Tensor, "*batch item feature"]) -> Tensor:
        """Compute inner products of all pairs: `(*batch, item, item, relation)`."""
        first, second = (
            side(x).unflatten(-1, (self.num_relations, -1))
            for side in (self.first, self.second or self.first)
        )
        return torch.einsum("...irp, ...jrp -> ...ijr", first, second)

    def forward(self, relations: Float[Tensor, "*batch _ _ _"]) -> Tensor:
        """Filter the relations inside groups: `(*batch, filter)`."""
        if self.aggregator is None:
            return torch.einsum("...abr, fabr -> ...f", relations, self.filters)
        orders = torch.tensor([*itertools.permutations(range(self.filters.shape[1]))])
        filters = self.filters[:, orders.unsqueeze(2), orders.unsqueeze(1)]
        found = torch.einsum("...abr, fcabr -> ...fc", relations, filters)
        return found.mean(-1) if self.aggregator == "mean" else found.amax(-1)


@final
class RelationalConvolution(nn.Module):
    r"""Filter the relations inside all groups of objects, as a convolution filters windows.

    $$R_{ijr} = \langle W_{1,r} x_i + b_r, \, W_{2,r} x_j + b'_r \rangle, \qquad
      y_{gf} = \sum_{a, b, r} R_{g_a g_b r} \, F_{fabr}$$

    for groups $g$ of a few objects. With `num_groups`, groups are soft: each is a mean of all $g$
    with the weights

    $$\alpha = \mathrm{softmax}_g\Big(\beta \prod_{i \in g} \mathrm{softplus}(\ell_i)\Big)$$

    of learned logits $\ell$, one for each position. `nn.Conv1d` filters the objects themselves.

    Args:
        num_features: Number of features of an object.
        num_relations: Number of relations $r$ of a pair.
        projection_size: Numbers of each side of a relation.
        num_filters: Number of filters $F$.
        group_size: Number of members of a group.
        ordered: Whether groups are all permutations of members; all combinations otherwise.
        symmetric: Whether both sides of a relation have one map.
        aggregator: `mean` or `max` over all orders of the members; None for the given order.
        num_groups: Number of soft groups; None for all groups.
        num_items: Number of objects, of soft groups.
        beta: $\beta$.

    Shape:
        `(batch, item, num_features)` to `(batch, group, num_filters)`.

    Attributes:
        inside: Relations and filters.
        logits: $\ell$, `(num_groups, num_items)`; None without soft groups.

    Raises:
        ValueError: If a number is below 1, only one of `num_groups` and `num_items` is given, or
            there are fewer objects than members, or another number than `num_items`.

    Reference:
        altabaa2023, sections 2 and 3.
    """

    @take_factory_arguments()
    def __init__(  # noqa: PLR0913 — numbers of relations, filters and groups
        self,
        num_features: Size,
        *,
        num_relations: Size = 16,
        projection_size: Size = 4,
        num_filters: Size = 16,
        group_size: Size = 3,
        ordered: bool = False,
        symmetric: bool = True,
        aggregator: Aggregator | None = None,
        num_groups: Size | None = None,
        num_items: Size | None = None,
        beta: PositiveFloat = 1.0,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if (num_groups is None) != (num_items is None):
            raise ValueError(
                "num_groups and num_items belong together, got "
                f"num_groups={num_groups} and num_items={num_items}"
            )
        self.num_features, self.group_size, self.ordered = num_features, group_size, ordered
        self.num_items, self.beta = num_items, beta
        self.inside = _GroupFilters(
            num_features, num_relations, projection_size, num_filters, group_size, symmetric,
            aggregator, generator,
        )  # fmt: skip
        self.logits = None
        if num_groups is not None and num_items is not None:
            logits = torch.randn(num_groups, num_items, generator=generator, device="cpu")
            self.logits = nn.Parameter(logits)

    def forward(self, x: Float[Tensor, "batch item feature"]) -> Float[Tensor, "batch _ _"]:
        """Filter the relations of every set of objects."""
        check_set(x, self.num_features, None)
        check_dtype(x, self)
        items = x.shape[1]
        if items < self.group_size or self.num_items not in (None, items):
            wanted = self.num_items or f"at least group_size={self.group_size}"
            raise ValueError(f"x must have {wanted} objects, got {items}")
        choose = itertools.permutations if self.ordered else itertools.combinations
        groups = torch.tensor([*choose(range(items), self.group_size)], device=x.device)
        relations = self.inside.relations(x)
        found: Tensor = self.inside(relations[:, groups.unsqueeze(2), groups.unsqueeze(1)])
        if self.logits is None:
            return found
        chosen = (self.beta * F.softplus(self.logits)[:, groups].prod(-1)).softmax(-1)
        return chosen @ found


@final
class GroupAttentionConvolution(nn.Module):
    r"""Filter the relations inside groups whose members attention chooses.

    $$A = \mathrm{softmax}(q_{gm} \cdot k_j / \sqrt k), \qquad m_g = A x$$

    with a learned query for each member of each group and keys $x W_k$. Relations and filters are
    those of `RelationalConvolution` inside each group; it has as many groups as asked for, and not
    as many as there are combinations.

    Args:
        num_features: Number of features of an object.
        num_groups: Number of groups.
        num_relations: Number of relations of a pair.
        projection_size: Numbers of each side of a relation.
        num_filters: Number of filters.
        group_size: Number of members of a group.
        key_size: Numbers of a key; `num_features` if None.
        positions: Whether sines and cosines of positions are added to keys times $\sqrt k$.
        symmetric: Whether both sides of a relation have one map.
        aggregator: `mean` or `max` over all orders of the members; None for the given order.

    Shape:
        `(batch, item, num_features)` to `(batch, num_groups, num_filters)`.

    Attributes:
        inside: Relations and filters.
        queries: Queries, `(num_groups · group_size, key_size)`.
        key: Linear layer on objects.

    Raises:
        ValueError: If a number is below 1, or objects or mask have another shape.

    Reference:
        altabaa2023, section 3.3.
    """

    @take_factory_arguments()
    def __init__(  # noqa: PLR0913 — numbers of relations, filters and groups
        self,
        num_features: Size,
        *,
        num_groups: Size = 8,
        num_relations: Size = 16,
        projection_size: Size = 4,
        num_filters: Size = 16,
        group_size: Size = 3,
        key_size: Size | None = None,
        positions: bool = False,
        symmetric: bool = True,
        aggregator: Aggregator | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.num_features, self.group_size, self.positions = num_features, group_size, positions
        self.inside = _GroupFilters(
            num_features, num_relations, projection_size, num_filters, group_size, symmetric,
            aggregator, generator,
        )  # fmt: skip
        width = num_features if key_size is None else key_size
        queries = torch.randn(num_groups * group_size, width, generator=generator, device="cpu")
        self.queries = nn.Parameter(queries)
        self.key = default_layer(num_features, width, generator, bias=False)

    def forward(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
    ) -> Float[Tensor, "batch _ _"]:
        """Filter the relations inside the groups of every set of objects.

        Args:
            x: The objects.
            key_padding_mask: True where there is no object but padding; None for no padding.
        """
        members = self.attention(x, key_padding_mask) @ x.unsqueeze(1)
        return self.inside(self.inside.relations(members))

    def attention(
        self,
        x: Float[Tensor, "batch item feature"],
        key_padding_mask: Tensor | None = None,
    ) -> Float[Tensor, "batch _ _ item"]:
        """Compute the attention of each member of each group over the objects."""
        check_set(x, self.num_features, key_padding_mask)
        check_dtype(x, self)
        key = self.key(x)
        width = key.shape[-1]
        if self.positions:
            waves = sinusoidal_halves(x.shape[1], width, key)
            key = key * math.sqrt(width) + waves
        scores = self.queries @ key.mT / math.sqrt(width)
        if key_padding_mask is not None:
            hidden = key_padding_mask.unsqueeze(1)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return scores.softmax(-1).unflatten(1, (-1, self.group_size))
