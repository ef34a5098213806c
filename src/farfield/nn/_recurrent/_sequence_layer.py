"""Base of all layers over sequences: calls and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Unpack

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from farfield.core.internal import FactoryOptions, take_factory_arguments
from farfield.functional import Indexed
from farfield.nn._input_checks import check_dtype, check_input_size
from farfield.nn._operator import OneOperator
from farfield.nn._recurrent._packed import Walk, pieces_of, sizes_of
from farfield.nn._recurrent._states import State, checked_state

Run = Callable[[Any, State], tuple[Tensor, State]]
"""Function from inputs `(time, batch, feature)` and a state to outputs and the last state."""


class LayerOptions(FactoryOptions, total=False):
    """Options of every layer over sequences."""

    batch_first: bool


class SequenceLayer(OneOperator):
    """A layer over sequences, called as `torch.nn.LSTM` is: `outputs, state = layer(input, hx)`.

    A sequence in two pieces, the second begun with the last state of the first, has the outputs of
    the complete sequence. A subclass makes the first state (`_first_state`) and runs the steps
    (`_run`); a state of one part is a tensor, of several parts a tuple. Packed sequences are read
    in pieces in which no sequence ends, unless the state grows with a sequence.

    Args:
        hidden_size: Number of features of an output.

    Attributes:
        takes_indexed: True: an input may be `Indexed`.
        growing_axis: Axis along which a state grows with the sequence; None where it does not.
    """

    takes_indexed: ClassVar[bool] = True
    _runs_indexed: ClassVar[bool] = False  # else `_run` gets the sequence gathered
    growing_axis: ClassVar[int | None] = None

    @take_factory_arguments()
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        batch_first: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        del options
        super().__init__()
        self.input_size, self.hidden_size, self.batch_first = input_size, hidden_size, batch_first

    def _first_state(self, x: Tensor) -> State:
        """Make the first state for inputs `(time, batch, feature)`, the batch on axis 1."""
        raise NotImplementedError

    def first_state(self, batch: int) -> State:
        """Return the parts of the first state of sequences, the batch on axis 1 of each.

        Args:
            batch: Number of sequences.
        """
        like = next(self.parameters()).new_zeros(()).expand(1, batch, self.input_size)
        return self._first_state(like)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Run all steps: outputs for `(time, batch, feature)` and the last state."""
        raise NotImplementedError

    def _is_operator(self) -> bool:
        # The operator returns states of the size given.
        return self.growing_axis is None and super()._is_operator()

    def _run_operator(self, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        """Run all steps as one operator of a compiled program."""
        inputs = [x.items, x.index] if isinstance(x, Indexed) else [x]
        return self._operate(inputs, state, (*x.shape[:2], self.hidden_size))

    def _compute(self, inputs: Sequence[Tensor], state: State) -> tuple[Tensor, State]:
        run: Run = self._run
        return run(inputs[0] if len(inputs) == 1 else Indexed(*inputs), state)

    def _feature_axes(self, num_axes: int) -> int:
        """Return the number of axes of an input at one step of one sequence.

        Args:
            num_axes: Number of axes of a whole batch of sequences, or of one without a batch.
        """
        del num_axes
        return 1

    def forward(
        self,
        input: Tensor | PackedSequence | Indexed,  # noqa: A002 — torch's name
        hx: Tensor | State | None = None,
    ) -> tuple[Tensor | PackedSequence, Tensor | State]:
        """Return the outputs after every step, in the form of the input, and the last state."""
        run = self._run_operator if self._is_operator() else self._run
        outputs, last = self._read(input, hx, run)
        return outputs, last if len(last) > 1 else last[0]

    def _read(
        self, x: Tensor | PackedSequence | Indexed, hx: Tensor | State | None, run: Run
    ) -> tuple[Tensor | PackedSequence, State]:
        """Read an input by `run`, from a given state or the first one; outputs as the input."""
        given = (hx,) if isinstance(hx, Tensor) else hx
        if isinstance(x, PackedSequence):
            return self._read_packed(x, given)
        alone = self._stands_alone(x)
        swapped = self.batch_first and not alone
        check_dtype(x.items if isinstance(x, Indexed) else x, self, name="input")
        by_time = _change(x, "transpose", 0, 1) if swapped else x
        by_time = _change(by_time, "unsqueeze", 1) if alone else by_time
        state = self._begin(given, by_time, alone=alone)
        if isinstance(by_time, Indexed) and not self._runs_indexed:
            by_time = by_time.gathered()
        outputs, last = run(by_time, state)
        if alone:
            return outputs.squeeze(1), tuple(part.squeeze(1) for part in last)
        return (outputs.transpose(0, 1) if swapped else outputs), last

    def _begin(self, given: State | None, x: Tensor | Indexed, *, alone: bool) -> State:
        """Return the initial state: the given state, checked, or the first one."""
        like = x.items.new_zeros(()).expand(x.shape) if isinstance(x, Indexed) else x
        first = self._first_state(like)
        return checked_state(given, first, alone=alone, growing_axis=self.growing_axis)

    def _read_packed(self, x: PackedSequence, given: State | None) -> tuple[PackedSequence, State]:
        """Read packed sequences, longest first; return last states in the order before packing."""
        sizes = sizes_of(x, feature_axes=self._feature_axes(x.data.ndim + 1))
        state = self._begin_packed(given, x.data, sizes[0])
        if x.sorted_indices is not None:
            state = tuple(part.index_select(1, x.sorted_indices) for part in state)
        outputs: list[Tensor] = []
        walk = Walk(state)
        for rows in pieces_of(x.data, sizes):
            found, walk.state = self._run(rows, walk.narrow(rows.shape[1]))
            outputs.append(found.flatten(0, 1))
        last = walk.last()
        if x.unsorted_indices is not None:
            last = tuple(part.index_select(1, x.unsorted_indices) for part in last)
        return x._replace(data=torch.cat(outputs)), last

    def _begin_packed(self, given: State | None, rows: Tensor, batch: int) -> State:
        """Return the initial state of packed sequences, checked."""
        check_input_size(rows.shape, self.input_size)
        check_dtype(rows, self, name="input")
        if self.growing_axis is not None:
            raise ValueError(
                f"input must be a tensor, got a PackedSequence: the state of {type(self).__name__} "
                "grows with a sequence, so states of sequences of several lengths do not fit in "
                "one tensor; pad it (torch.nn.utils.rnn.pad_packed_sequence)"
            )
        like = rows.new_zeros(()).expand(1, batch, *rows.shape[1:])
        return self._begin(given, like, alone=False)

    def _stands_alone(self, x: Tensor | Indexed) -> bool:
        """Check an input; tell whether it is one sequence without an axis for the batch.

        A batch may be empty, a sequence not.
        """
        if not isinstance(x, Tensor | Indexed):
            raise ValueError(
                f"input must be a tensor, a PackedSequence or Indexed, got {type(x).__name__}"
            )
        features = len(x.items.shape) - 1 if isinstance(x, Indexed) else self._feature_axes(x.ndim)
        axes, wanted = len(x.shape) - features, self._feature_axes(2 + features)
        time = int(self.batch_first and axes == 2)
        if axes not in {1, 2} or features != wanted or x.shape[time] == 0:
            places = "batch, time" if self.batch_first else "time, batch"
            own = "feature" if wanted == 1 else "element, feature"
            raise ValueError(
                f"input must be ({places}, {own}) or (time, {own}), with at least one step, "
                f"got shape {tuple(x.shape)}"
            )
        check_input_size(x.shape, self.input_size)
        return axes == 1

    def extra_repr(self) -> str:
        """Format the sizes for `print`."""
        return f"{self.input_size}, {self.hidden_size}, batch_first={self.batch_first}"


def slot_size_of(hidden_size: int, num_slots: int) -> int:
    """Return the size of a slot where all slots together are the outputs.

    Raises:
        ValueError: If the slots do not divide `hidden_size`.
    """
    if hidden_size % num_slots:
        raise ValueError(f"num_slots must divide hidden_size={hidden_size}, got {num_slots}")
    return hidden_size // num_slots


def _change(x: Tensor | Indexed, change: str, *axes: int) -> Tensor | Indexed:
    """Change the axes of time and batch of a sequence."""
    if isinstance(x, Indexed):
        return x.at(getattr(x.index, change)(*axes))
    changed: Tensor = getattr(x, change)(*axes)
    return changed
