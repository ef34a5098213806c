"""Attention over the layers of a network, position by position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._nfm._first_largest import first_largest, kth_largest
from farfield.functional._nfm._nfm_rules import NFMRules
from farfield.functional._nfm._rescale_state import nearest_state
from farfield.functional._nfm._shared_grid import SharedGrid, shared_grid

_EPS = 1e-7
"""Of the released code, where weights are lowered and where they are divided."""


class WrittenState(NamedTuple):
    """Keys and values of the state of a layer, for the layers that read it.

    Attributes:
        key: (batch, *position, head · key).
        value: (batch, *position, head · value).

    Reference:
        lamb2022, section 10.3.2.1.
    """

    key: Tensor
    value: Tensor


class NFMRead(NamedTuple):
    """Result of a read of neural function modules.

    Attributes:
        values: Heads side by side: (batch, *position, head · value).
        attention: Weights of each state that was written: (batch, *position, head, window), one
            for every position of a larger state that falls on one of the reader's.
        null: Weight of the null element: (batch, *position, head).

    Reference:
        lamb2022, section 10.3.2.
    """

    values: Tensor
    attention: tuple[Tensor, ...]
    null: Tensor


def nfm_read(
    query: Float[Tensor, "batch *position _"],
    written: Sequence[WrittenState],
    rules: NFMRules,
    *,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> NFMRead:
    r"""Attention of every position over a null element and all states that were written.

    $$A = \mathrm{softmax}\left(\frac{\hat Q \hat K^\top}{d_k}\right) \hat V$$

    in each head, over the $k$ largest scores. Keys and values are those that `rescale_state` finds
    at the same position; the null element's are zero.

    Args:
        query: $\hat Q$ of all heads, side by side.
        written: $\hat K$ and $\hat V$ of each state, of any sizes.
        rules: The options.
        training: Whether weights are dropped.
        generator: Where attention weights are drawn from, as standard normal numbers in place of
            those of the scores: the ablation of section 10.4.4. None draws none.

    Raises:
        ValueError: If nothing was written, or states of another batch or of sizes that do not fit.

    Reference:
        lamb2022, section 10.3.2 and algorithm 2.
    """
    check_written(query, written)
    if not rules.space_to_depth:
        sizes = tuple(query.shape[1:-1])
        written = [WrittenState(*(nearest_state(x, sizes) for x in each)) for each in written]
    grids = grids_of(query, [each.key for each in written])
    entries = nfm_scores(query / rules.temperature, [each.key for each in written], grids, rules)
    weights = nfm_weights(entries, rules, training=training, generator=generator)
    values = nfm_sum(weights, [each.value for each in written], grids, rules)
    attention, null = by_state(weights, grids, rules)
    return NFMRead(values, tuple(each.movedim(0, -1) for each in attention), null.squeeze(0))


def grids_of(query: Tensor, keys: Sequence[Tensor]) -> list[SharedGrid]:
    """The grid of each state and the reader."""
    sizes = tuple(query.shape[1:-1])
    return [shared_grid(tuple(key.shape[1:-1]), sizes) for key in keys]


def nfm_scores(
    query: Tensor, keys: Sequence[Tensor], grids: Sequence[SharedGrid], rules: NFMRules
) -> Tensor:
    """Products with all entries, zero with the null element: (entry, batch, *position, head).

    Entries come first: along a last axis of a few numbers torch takes ten times as long.
    """
    heads = rules.num_heads
    scores = [
        grid.entries((grid.of_reader(query, heads) * grid.of_state(key, heads)).sum(-1))
        for grid, key in zip(grids, keys, strict=True)
    ]
    null = torch.zeros_like(scores[0][:1])
    return torch.cat([null, *scores] if rules.null_first else [*scores, null])


def by_state(
    entries: Tensor, grids: Sequence[SharedGrid], rules: NFMRules
) -> tuple[list[Tensor], Tensor]:
    """Entries of each state, and of the null element."""
    windows = [grid.window for grid in grids]
    sizes = [1, *windows] if rules.null_first else [*windows, 1]
    parts = torch.split_with_sizes(entries, sizes)
    return ([*parts[1:]], parts[0]) if rules.null_first else ([*parts[:-1]], parts[-1])


def nfm_sum(
    weights: Tensor, values: Sequence[Tensor], grids: Sequence[SharedGrid], rules: NFMRules
) -> Tensor:
    """Sum of values by their weights, heads side by side."""
    heads, (attention, _) = rules.num_heads, by_state(weights, grids, rules)
    # A product with scattered weights would take three times as long as their copy and it.
    read = [
        grid.gather(grid.of_state(value, heads) * grid.spread(weight).contiguous().unsqueeze(-1))
        for grid, value, weight in zip(grids, values, attention, strict=True)
    ]
    return reduce(torch.add, read)


def check_written(query: Tensor, written: Sequence[WrittenState]) -> None:
    """Raise `ValueError` unless there are states, of the batch of the reader."""
    if not written:
        raise ValueError("written must hold a state before the first read, got none")
    if any(each.key.shape[0] != query.shape[0] for each in written):
        sizes = [each.key.shape[0] for each in written]
        raise ValueError(f"written must be of the reader's batch of {len(query)}, got {sizes}")


def nfm_weights(
    scores: Tensor,
    rules: NFMRules,
    *,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Attention weights from scores, both (entry, batch, *position, head)."""
    if generator is not None:
        drawn = torch.randn(scores.shape, generator=generator, device=generator.device)
        return drawn.to(scores)
    k = rules.top_k
    if k is None or len(scores) <= k + rules.subtract_next:
        return F.dropout(scores.softmax(0), rules.dropout, training)
    if rules.subtract_next:
        return _above_next(F.dropout(scores.softmax(0), rules.dropout, training), k)
    chosen = scores.masked_fill(~first_largest(scores, k), -torch.inf)
    return F.dropout(chosen.softmax(0), rules.dropout, training)


def _above_next(weights: Tensor, k: int) -> Tensor:
    """The k largest weights less the next one, over their sum, as in the released code."""
    least = kth_largest(weights, k + 1) + _EPS
    above = (weights - least).clamp(min=0)
    return above / (above.sum(0) + _EPS)
