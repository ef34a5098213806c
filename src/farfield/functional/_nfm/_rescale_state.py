"""The state of a layer at the positions of another."""

from __future__ import annotations

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._nfm._shared_grid import paired_sizes, shared_grid


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
    """A state of which each position of a reader sees one, by nearest neighbors.

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
