"""Sequences in every form that torch's recurrent layers take, as one table of rows.

The rows of a step stand together, and those of a later step follow. Of packed sequences some end
before others, so a later step has fewer rows, and never more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from farfield.nn._states import State

Run = Callable[[Tensor, list[int], State], tuple[Tensor, State]]
"""From a table, its number of rows at each step and a state, to outputs and the last state."""

Begin = Callable[[State | None, Tensor, int | None], State]
"""From the state that is given, if one is, the rows and the batch to the state to begin with.

The batch is None for one sequence without an axis for it; what is returned has one.
"""


def run_table(
    run: Run,
    begin: Begin,
    x: Tensor | PackedSequence,
    state: State | None,
    *,
    batch_first: bool,
    feature_axes: int = 1,
) -> tuple[Tensor | PackedSequence, State]:
    """Outputs in the form of the input, and the last state.

    Args:
        run: What runs over the table.
        begin: Checks rows and state, or makes the state.
        x: The inputs: `(time, batch, feature)`, without a batch, or packed.
        state: The state to begin with, if one is given.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        feature_axes: How many axes an input has at one step of one sequence.

    Raises:
        ValueError: If the inputs have another number of axes, or are empty, or what is packed does
            not fit together.
    """
    if isinstance(x, PackedSequence):
        return run_packed(run, begin, x, state, feature_axes=feature_axes)
    alone = x.ndim == 1 + feature_axes  # one sequence without an axis for the batch, as in torch
    if x.ndim - (not alone) != 1 + feature_axes or 0 in x.shape[: x.ndim - feature_axes]:
        axes = "batch, time" if batch_first else "time, batch"
        features = "feature" if feature_axes == 1 else "element, feature"
        raise ValueError(
            f"x must be ({axes}, {features}) or (time, {features}), with at least one step and one "
            f"sequence, got shape {tuple(x.shape)}"
        )
    swapped = batch_first and not alone
    by_time = x.unsqueeze(1) if alone else x.transpose(0, 1) if swapped else x
    time, batch = by_time.shape[:2]
    rows = by_time.flatten(0, 1)
    rows, last = run(rows, [batch] * time, begin(state, rows, None if alone else batch))
    outputs = torch.unflatten(rows, 0, (time, batch))
    if alone:
        return outputs.squeeze(1), tuple(part.squeeze(1) for part in last)
    return (outputs.transpose(0, 1) if swapped else outputs), last


def run_packed(
    run: Run, begin: Begin, x: PackedSequence, state: State | None, *, feature_axes: int = 1
) -> tuple[PackedSequence, State]:
    """The same for packed sequences, which stand longest first.

    States are in the order of before they were sorted.

    Args:
        run: What runs over the table.
        begin: Checks rows and state, or makes the state.
        x: The inputs.
        state: The state to begin with, if one is given.
        feature_axes: How many axes an input has at one step of one sequence.

    Raises:
        ValueError: If the parts do not fit together.
    """
    sizes: list[int] = x.batch_sizes.tolist()
    if not sizes or min(sizes) < 1 or sizes != sorted(sizes, reverse=True):
        raise ValueError(
            "x must be packed sequences of one step or more, so with batch_sizes from the batch "
            f"down to 1 or more, got batch_sizes {sizes}"
        )
    if x.data.ndim != 1 + feature_axes or len(x.data) != sum(sizes):
        features = "feature" if feature_axes == 1 else "element, feature"
        raise ValueError(
            f"x must hold data of (row, {features}) with as many rows as batch_sizes add up to, "
            f"{sum(sizes)}, got shape {tuple(x.data.shape)}"
        )
    state = begin(state, x.data, sizes[0])
    if x.sorted_indices is not None:
        state = tuple(part.index_select(1, x.sorted_indices) for part in state)
    rows, last = run(x.data, sizes, state)
    if x.unsorted_indices is not None:
        last = tuple(part.index_select(1, x.unsorted_indices) for part in last)
    return PackedSequence(rows, x.batch_sizes, x.sorted_indices, x.unsorted_indices), last


def pieces_of(rows: Tensor, sizes: list[int]) -> Iterator[Tensor]:
    """The rows of steps that follow each other and have as many: (time, batch, …) each.

    Args:
        rows: The table.
        sizes: Its number of rows at each step.
    """
    steps = [(size, len(list(same))) for size, same in groupby(sizes)]
    pieces = torch.split_with_sizes(rows, [size * number for size, number in steps])
    for (size, number), piece in zip(steps, pieces, strict=True):
        yield torch.unflatten(piece, 0, (number, size))


class Walk:
    """A state on its way over a table, of which the shortest sequences end before the others.

    Args:
        state: What to begin with.
        axis: Axis of the batch.
    """

    def __init__(self, state: State, *, axis: int = 0) -> None:
        self.state, self._axis = state, axis
        self._ended: list[State] = []

    def narrow(self, rows: int) -> State:
        """The state of the first `rows` sequences; that of all others stays as it is from now on.

        Args:
            rows: How many sequences go on.
        """
        over = self.state[0].shape[self._axis] - rows
        if over:
            parts = [part.split_with_sizes((rows, over), self._axis) for part in self.state]
            self.state, ended = zip(*parts, strict=True)
            self._ended.insert(0, ended)
        return self.state

    def last(self) -> State:
        """What each sequence ended in."""
        if not self._ended:
            return self.state
        states = zip(self.state, *self._ended, strict=True)
        return tuple(torch.cat(parts, self._axis) for parts in states)
