"""Reading of neural function modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import on_cpu
from farfield.functional._nfm._nfm_rules import NFMRules


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
    r"""Compute attention of every position over a null element and all states that were written.

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


def nfm_scores(
    query: Tensor, keys: Sequence[Tensor], grids: Sequence[SharedGrid], rules: NFMRules
) -> Tensor:
    """Compute products with all entries, (entry, batch, *position, head), 0 with the null element.

    Entries come first: along a last axis of a few numbers torch takes ten times as long.
    """
    heads = rules.num_heads
    scores = [
        grid.entries((grid.of_reader(query, heads) * grid.of_state(key, heads)).sum(-1))
        for grid, key in zip(grids, keys, strict=True)
    ]
    null = torch.zeros_like(scores[0][:1])
    return torch.cat([null, *scores] if rules.null_first else [*scores, null])


def nfm_weights(
    scores: Tensor,
    rules: NFMRules,
    *,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Compute attention weights from scores, both (entry, batch, *position, head)."""
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
    """Compute the k largest weights less the next one, over their sum, as in the released code."""
    least = kth_largest(weights, k + 1) + _EPS
    above = (weights - least).clamp(min=0)
    return above / (above.sum(0) + _EPS)


def nfm_sum(
    weights: Tensor, values: Sequence[Tensor], grids: Sequence[SharedGrid], rules: NFMRules
) -> Tensor:
    """Compute the sum of values by their weights, heads side by side."""
    heads, (attention, _) = rules.num_heads, by_state(weights, grids, rules)
    # A product with scattered weights would take three times as long as their copy and it.
    read = [
        grid.gather(grid.of_state(value, heads) * grid.spread(weight).contiguous().unsqueeze(-1))
        for grid, value, weight in zip(grids, values, attention, strict=True)
    ]
    return reduce(torch.add, read)


def by_state(
    entries: Tensor, grids: Sequence[SharedGrid], rules: NFMRules
) -> tuple[list[Tensor], Tensor]:
    """List entries of each state, and of the null element."""
    windows = [grid.window for grid in grids]
    sizes = [1, *windows] if rules.null_first else [*windows, 1]
    parts = torch.split_with_sizes(entries, sizes)
    return ([*parts[1:]], parts[0]) if rules.null_first else ([*parts[:-1]], parts[-1])


_EPS = 1e-7
"""Constant of the released code, which lowers and divides weights by it."""


def check_written(query: Tensor, written: Sequence[WrittenState]) -> None:
    """Raise `ValueError` unless there are states, of the batch of the reader."""
    if not written:
        raise ValueError("written must hold a state before the first read, got none")
    if any(each.key.shape[0] != query.shape[0] for each in written):
        sizes = [each.key.shape[0] for each in written]
        raise ValueError(f"written must be of the reader's batch of {len(query)}, got {sizes}")


def grids_of(query: Tensor, keys: Sequence[Tensor]) -> list[SharedGrid]:
    """Make the grid of each state and the reader."""
    sizes = tuple(query.shape[1:-1])
    return [shared_grid(tuple(key.shape[1:-1]), sizes) for key in keys]


def rescale_state(
    x: Float[Tensor, "batch *_ channel"], sizes: Sequence[int], *, space_to_depth: bool = True
) -> Float[Tensor, "batch ... window channel"]:
    """Bring a state to other sizes: at each position there, all that it may read.

    An axis that is too short is made longer by its nearest neighbors. One that is too long is cut
    into windows, whose positions stay apart: `window` counts them, row by row. A state without
    positions has one, which is that of all others.

    Args:
        x: The state, features last.
        sizes: Of the positions of the reader, e.g. `(height, width)`; empty for one without.
        space_to_depth: Whether windows are kept; else also a long axis goes by its nearest
            neighbors, whatever the sizes, as in the released code.

    Raises:
        ValueError: If the state has another number of axes or, with `space_to_depth`, one whose
            size is neither a multiple nor a divisor.

    Reference:
        lamb2022, section 10.3.2.2.
    """
    x = x if space_to_depth else nearest_state(x, tuple(sizes))
    grid = shared_grid(tuple(x.shape[1:-1]), tuple(sizes))
    return grid.entries(grid.of_state(x, 1).squeeze(-2)).movedim(0, -2)


def nearest_state(
    x: Float[Tensor, "batch *_ channel"], sizes: tuple[int, ...]
) -> Float[Tensor, "batch *_ channel"]:
    """Read a state of which each position of a reader sees one, by nearest neighbors.

    Axes that are longer by a whole factor are a view; those shorter by a power of two, whose
    inverse is exact, are left to the grid. All others go as torch rounds, as in the released code.

    Args:
        x: The state, features last.
        sizes: Of the positions of the reader.

    Raises:
        ValueError: If the state has another number of axes.
    """
    pairs = paired_sizes(tuple(x.shape[1:-1]), sizes)
    if not all(map(_is_exact, pairs)):
        return F.interpolate(x.movedim(-1, 1), list(sizes), mode="nearest").movedim(1, -1)
    for axis, (own, size) in enumerate(pairs, start=1):
        if own > size:
            x = x.movedim(axis, 0)[:: own // size].movedim(0, axis)
    return x


def _is_exact(pair: tuple[int, int]) -> bool:
    own, size = pair
    factor, rest = divmod(size, own)
    return own % size == 0 or (rest == 0 and factor.bit_count() == 1)


def first_largest(scores: Tensor, k: int) -> Tensor:
    """Mask the k largest numbers along the first axis; of equal numbers the first are chosen.

    Args:
        scores: Numbers to compare, (entry, …), with at least k entries.
        k: How many are chosen.
    """
    scores = scores.detach()
    least = kth_largest(scores, k)
    above, ties = scores > least, scores == least
    room = k - above.sum(0, dtype=torch.int32)
    return above | (ties & (ties.cumsum(0, dtype=torch.int32) <= room))


class SharedGrid(NamedTuple):
    """A grid for two states: each axis as the smaller of their sizes, and parts of each of these.

    Of a pair of axes the state with fewer positions has one in place of the parts. Products
    broadcast it, so neither state is copied to the positions of the other.

    Attributes:
        reader: Sizes of the reader, as many as those of the state; ones if it has none.
        state: Sizes of the state, in the same way.
        positions: Sizes of the reader, empty if it has none.
    """

    reader: tuple[int, ...]
    state: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def least(self) -> tuple[int, ...]:
        """Smaller size of each axis."""
        return tuple(map(min, self.reader, self.state))

    @property
    def parts(self) -> tuple[int, ...]:
        """Parts of each position of the smaller size."""
        return tuple(max(pair) // min(pair) for pair in zip(self.reader, self.state, strict=True))

    @property
    def windows(self) -> tuple[int, ...]:
        """Axes of the grid along which a position of the reader sees several of the state."""
        pairs = zip(self.reader, self.state, strict=True)
        return tuple(2 + 2 * axis for axis, (own, other) in enumerate(pairs) if other > own)

    @property
    def window(self) -> int:
        """Number of positions of the state that one of the reader sees."""
        pairs = zip(self.reader, self.state, strict=True)
        return math.prod(max(1, other // own) for own, other in pairs)

    def of_reader(self, x: Tensor, heads: int) -> Tensor:
        """Lay numbers of the reader on the grid, as in `of_state`."""
        return self._split(x, self.reader, heads)

    def of_state(self, x: Tensor, heads: int) -> Tensor:
        """Lay numbers of the state on the grid: (batch, *(least, part), head, number).

        Args:
            x: (batch, *position, head · number).
            heads: Number of heads.
        """
        return self._split(x, self.state, heads)

    def _split(self, x: Tensor, sizes: tuple[int, ...], heads: int) -> Tensor:
        pairs = zip(sizes, self.least, strict=True)
        axes = [n for size, least in pairs for n in (least, size // least)]
        x = x.reshape(x.shape[0], *axes, heads, x.shape[-1] // heads)
        for axis, part in enumerate(self.parts):
            # Axis by axis: 1.6 times as fast for a reader of 32 × 32 and states of 4 × 4 and 8 × 8.
            x = x.expand(*x.shape[: 2 + 2 * axis], part, *x.shape[3 + 2 * axis :])
        return x

    def entries(self, x: Tensor) -> Tensor:
        """Turn (batch, *(least, part), head) into entries (window, batch, *position, head)."""
        windows = self.windows
        first = x.movedim(windows, tuple(range(len(windows))))
        return first.reshape(self.window, x.shape[0], *self.positions, x.shape[-1])

    def spread(self, x: Tensor) -> Tensor:
        """Undo `entries`."""
        windows, axes, within = self.windows, list[int](), list[int]()
        for axis, (least, part) in enumerate(zip(self.least, self.parts, strict=True)):
            seen = 2 + 2 * axis in windows
            axes += [least] if seen else [least, part]
            within += [part] if seen else []
        x = x.reshape(*within, x.shape[1], *axes, x.shape[-1])
        return x.movedim(tuple(range(len(within))), windows)

    def gather(self, x: Tensor) -> Tensor:
        """Sum (batch, *(least, part), head, number) over the view of a reader, heads joined."""
        for number, axis in enumerate(self.windows):
            x = x.sum(axis - number)
        return x.reshape(x.shape[0], *self.positions, x.shape[-2] * x.shape[-1])

    def turned(self, positions: tuple[int, ...]) -> SharedGrid:
        """Return the same grid with the state as the reader.

        Args:
            positions: Sizes of the state, empty if it has none.
        """
        return SharedGrid(self.state, self.reader, positions)


def shared_grid(own: tuple[int, ...], sizes: tuple[int, ...]) -> SharedGrid:
    """Make the grid of a state of sizes `own` and a reader of `sizes`.

    Raises:
        ValueError: If they have another number of axes, or a size is neither a multiple nor a
            divisor.
    """
    pairs = paired_sizes(own, sizes)
    if any(max(pair) % min(pair) for pair in pairs):
        raise ValueError(
            f"written must have sizes that are multiples or divisors of the reader's {sizes}, got "
            f"{own}; space_to_depth=False takes any"
        )
    reader, state = tuple(size for _, size in pairs), tuple(size for size, _ in pairs)
    return SharedGrid(reader, state, sizes)


def paired_sizes(own: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return sizes of a state and of its reader, axis by axis; a side without positions has 1 each.

    Raises:
        ValueError: If they have another number of axes.
    """
    if own and sizes and len(own) != len(sizes):
        raise ValueError(
            f"written must have as many axes of positions as the reader's {sizes}, got {own}"
        )
    one = (1,) * max(len(own), len(sizes))
    # In a trace sizes are tensors.
    return [(int(a), int(b)) for a, b in zip(own or one, sizes or one, strict=True)]


_FEW = 24
"""Entries up to which numbers are compared one by one; a read of 6 is 1.2 times as fast as with
`torch.topk`."""


def kth_largest(scores: Tensor, k: int) -> Tensor:
    """Find the k-th largest number along the first axis.

    Args:
        scores: Numbers to compare, (entry, …), with at least k entries.
        k: Which one, from 1.
    """
    if len(scores) > _FEW or not on_cpu(scores):
        return scores.topk(k, 0).values[-1]
    largest: list[Tensor] = []
    for entry in scores.unbind():
        row = entry
        for position, other in enumerate(largest):
            largest[position], row = torch.maximum(other, row), torch.minimum(other, row)
        largest += [row] if len(largest) < k else []
    return largest[-1]
