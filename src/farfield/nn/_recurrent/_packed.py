"""Packed sequences as one table of rows, in pieces in which no sequence ends.

The rows of a step are consecutive, and the rows of later steps follow. Some sequences end before
others, so a later step has fewer rows, and never more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from farfield.nn._recurrent._states import State


def sizes_of(x: PackedSequence, *, feature_axes: int) -> list[int]:
    """Return the number of rows at each step, after checking that the parts fit together.

    Args:
        x: The packed sequences.
        feature_axes: Number of axes of an input at one step of one sequence.

    Raises:
        ValueError: If they do not.
    """
    sizes: list[int] = x.batch_sizes.tolist()
    if not sizes or min(sizes) < 1 or sizes != sorted(sizes, reverse=True):
        raise ValueError(
            "input must be packed sequences of one step or more, so with batch_sizes from the "
            f"batch down to 1 or more, got batch_sizes {sizes}"
        )
    if x.data.ndim != 1 + feature_axes or len(x.data) != sum(sizes):
        features = "feature" if feature_axes == 1 else "element, feature"
        raise ValueError(
            f"input must hold data of (row, {features}) with as many rows as batch_sizes add up "
            f"to, {sum(sizes)}, got shape {tuple(x.data.shape)}"
        )
    return sizes


def pieces_of(rows: Tensor, sizes: list[int]) -> Iterator[Tensor]:
    """Yield the rows of consecutive steps of equal numbers: (time, batch, …) each.

    Args:
        rows: The table.
        sizes: Its number of rows at each step.
    """
    steps = [(size, len(list(same))) for size, same in groupby(sizes)]
    pieces = torch.split_with_sizes(rows, [size * number for size, number in steps])
    for (size, number), piece in zip(steps, pieces, strict=True):
        yield torch.unflatten(piece, 0, (number, size))


class Walk:
    """State during a run over a table, in which shorter sequences end before longer sequences.

    Args:
        state: Initial state, the batch on axis 1.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._ended: list[State] = []

    def narrow(self, rows: int) -> State:
        """Return the state of the first `rows` sequences, and set the rest aside as final.

        Args:
            rows: Number of sequences that continue.
        """
        over = self.state[0].shape[1] - rows
        if over:
            parts = [part.split_with_sizes((rows, over), 1) for part in self.state]
            self.state, ended = zip(*parts, strict=True)
            self._ended.insert(0, ended)
        return self.state

    def last(self) -> State:
        """Return the last state of each sequence."""
        if not self._ended:
            return self.state
        states = zip(self.state, *self._ended, strict=True)
        return tuple(torch.cat(parts, 1) for parts in states)
