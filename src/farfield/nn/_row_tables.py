"""Sequences in every form that torch's recurrent layers take, as one table of rows.

The rows of a step stand together, and those of a later step follow. Of packed sequences some end
before others, so a later step has fewer rows, and never more.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

State = tuple[Tensor, ...]
"""The hidden state, and the cell where there is one; the batch is axis 1 of each."""

Run = Callable[[Tensor, list[int], State], tuple[Tensor, State]]
"""From a table, its number of rows at each step and a state, to outputs and the last state."""

Begin = Callable[[State | None, Tensor, int], State]
"""From the state that is given, if one is, the rows and the batch to the state to begin with."""


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
        ValueError: If the inputs have another number of axes, or are empty.
    """
    if isinstance(x, PackedSequence):
        return _run_packed(run, begin, x, state)
    if x.ndim == 1 + feature_axes:  # one sequence without an axis for the batch, as torch takes it
        axis = 0 if batch_first else 1
        alone = None if state is None else tuple(part.unsqueeze(1) for part in state)
        outputs, last = _run_batch(run, begin, x.unsqueeze(axis), alone, batch_first, feature_axes)
        return outputs.squeeze(axis), tuple(part.squeeze(1) for part in last)
    return _run_batch(run, begin, x, state, batch_first, feature_axes)


def _run_batch(
    run: Run, begin: Begin, x: Tensor, state: State | None, batch_first: bool, feature_axes: int
) -> tuple[Tensor, State]:
    if x.ndim != 2 + feature_axes or 0 in x.shape[:2]:
        axes = "batch, time" if batch_first else "time, batch"
        features = "feature" if feature_axes == 1 else "element, feature"
        raise ValueError(
            f"x must be ({axes}, {features}) or (time, {features}), with at least one step and one "
            f"sequence, got shape {tuple(x.shape)}"
        )
    by_time = x.transpose(0, 1) if batch_first else x
    time, batch = by_time.shape[:2]
    rows = by_time.flatten(0, 1)
    rows, last = run(rows, [batch] * time, begin(state, rows, batch))
    outputs = torch.unflatten(rows, 0, (time, batch))
    return (outputs.transpose(0, 1) if batch_first else outputs), last


def _run_packed(
    run: Run, begin: Begin, x: PackedSequence, state: State | None
) -> tuple[PackedSequence, State]:
    """The sequences stand longest first; the states in the order of before they were sorted."""
    sizes = x.batch_sizes.tolist()
    state = begin(state, x.data, sizes[0])
    if x.sorted_indices is not None:
        state = tuple(part.index_select(1, x.sorted_indices) for part in state)
    rows, last = run(x.data, sizes, state)
    if x.unsorted_indices is not None:
        last = tuple(part.index_select(1, x.unsorted_indices) for part in last)
    return PackedSequence(rows, x.batch_sizes, x.sorted_indices, x.unsorted_indices), last
