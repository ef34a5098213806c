"""The positions of a reader and of what it reads, as views of one grid."""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor


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
        """The smaller size of each axis."""
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
        """Numbers of the reader on the grid, as in `of_state`."""
        return self._split(x, self.reader, heads)

    def of_state(self, x: Tensor, heads: int) -> Tensor:
        """Numbers of the state on the grid: (batch, *(least, part), head, number).

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
            # Axis by axis: torch takes ten times as long to sum a gradient over two at once.
            x = x.expand(*x.shape[: 2 + 2 * axis], part, *x.shape[3 + 2 * axis :])
        return x

    def entries(self, x: Tensor) -> Tensor:
        """From (batch, *(least, part), head) to entries (window, batch, *position, head)."""
        windows = self.windows
        first = x.movedim(windows, tuple(range(len(windows))))
        return first.reshape(self.window, x.shape[0], *self.positions, x.shape[-1])

    def spread(self, x: Tensor) -> Tensor:
        """The inverse of `entries`."""
        windows, axes, within = self.windows, list[int](), list[int]()
        for axis, (least, part) in enumerate(zip(self.least, self.parts, strict=True)):
            seen = 2 + 2 * axis in windows
            axes += [least] if seen else [least, part]
            within += [part] if seen else []
        x = x.reshape(*within, x.shape[1], *axes, x.shape[-1])
        return x.movedim(tuple(range(len(within))), windows)

    def gather(self, x: Tensor) -> Tensor:
        """Sums over what a reader sees of (batch, *(least, part), head, number), heads joined."""
        for number, axis in enumerate(self.windows):
            x = _summed(x, axis - number)
        return x.reshape(x.shape[0], *self.positions, x.shape[-2] * x.shape[-1])

    def turned(self, positions: tuple[int, ...]) -> SharedGrid:
        """The same grid with the state as the reader.

        Args:
            positions: Sizes of the state, empty if it has none.
        """
        return SharedGrid(self.state, self.reader, positions)


def _summed(x: Tensor, axis: int) -> Tensor:
    """A sum along an axis; of two parts in a third of the time of `torch.sum`."""
    if x.shape[axis] != 2:
        return x.sum(axis)
    first, second = x.unbind(axis)
    return first + second


def shared_grid(own: tuple[int, ...], sizes: tuple[int, ...]) -> SharedGrid:
    """The grid of a state of sizes `own` and a reader of `sizes`.

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
    """Sizes of a state and of its reader, axis by axis; ones for what has no positions.

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
