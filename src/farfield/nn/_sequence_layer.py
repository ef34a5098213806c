"""What sequence layers share: how they are called, and what is checked of what they are given."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from farfield.core import check_sizes
from farfield.functional import Indexed
from farfield.nn._input_checks import check_dtype, check_input_size
from farfield.nn._row_tables import Walk, pieces_of, run_packed
from farfield.nn._states import State, check_state_dtype


class SequenceLayer(nn.Module):
    """A layer over sequences, called as `torch.nn.LSTM` is: `outputs, state = layer(x, state)`.

    A sequence in two pieces, the second begun with the state that the first ended in, gives what
    the whole gives. A subclass says what a state begins as (`_first_state`) and what becomes of
    it (`_run`); a state of one part goes in and out as a tensor, of several as a tuple. Packed
    sequences are read in pieces in which none ends, unless the state grows with a sequence.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of features of an output.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        more: Other sizes that must be at least 1, by name.

    Raises:
        ValueError: If a size is below 1.
    """

    takes_indexed = True

    def __init__(
        self, input_size: int, hidden_size: int, *, batch_first: bool, **more: int
    ) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size, **more)
        self.input_size, self.hidden_size, self.batch_first = input_size, hidden_size, batch_first

    def _first_state(self, x: Tensor) -> State:
        """What the state of `(time, batch, feature)` begins as; an axis of 0 may have any size."""
        raise NotImplementedError

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Outputs for `(time, batch, feature)`, of these axes too, and the last state."""
        raise NotImplementedError

    def _run_indexed(self, x: Indexed, state: State) -> tuple[Tensor, State]:
        """What `_run` gives for the sequence `x.gathered()`."""
        return self._run(x.gathered(), state)

    def forward(
        self, x: Tensor | PackedSequence | Indexed, state: Tensor | State | None = None
    ) -> tuple[Tensor | PackedSequence, Tensor | State]:
        """Outputs after every step, in the form of the input, and the last state."""
        given = (state,) if isinstance(state, Tensor) else state
        if isinstance(x, PackedSequence):
            packed, parts = run_packed(self._run_rows, self._begin_packed, x, given)
            return packed, parts if len(parts) > 1 else parts[0]
        alone = len(x.shape) == 2  # one sequence without an axis for the batch, as torch takes it
        self._check(x.shape, alone=alone)
        if alone:
            outputs, parts = self._run_from(_turned(x, "unsqueeze", 1), given, alone=True)
            outputs, parts = outputs.squeeze(1), tuple(part.squeeze(1) for part in parts)
        elif self.batch_first:
            outputs, parts = self._run_from(_turned(x, "transpose", 0, 1), given, alone=False)
            outputs = outputs.transpose(0, 1)
        else:
            outputs, parts = self._run_from(x, given, alone=False)
        return outputs, parts if len(parts) > 1 else parts[0]

    def _run_from(
        self, x: Tensor | Indexed, given: State | None, *, alone: bool
    ) -> tuple[Tensor, State]:
        """What `_run` gives, begun with the state that is given, if one is."""
        check_dtype(x.items if isinstance(x, Indexed) else x, self)
        if isinstance(x, Indexed):
            alike = x.items.new_zeros(()).expand(x.shape)
            return self._run_indexed(x, _begun(given, self._first_state(alike), alone=alone))
        return self._run(x, _begun(given, self._first_state(x), alone=alone))

    def _begin_packed(self, given: State | None, rows: Tensor, batch: int | None) -> State:
        """The state that packed sequences begin with, checked."""
        check_input_size(rows.shape, self.input_size)
        check_dtype(rows, self)
        first = self._first_state(rows.new_zeros(()).expand(1, batch or 1, rows.shape[-1]))
        if any(0 in part.shape for part in first):
            raise ValueError(
                f"x must be a tensor, got a PackedSequence: the state of {type(self).__name__} "
                "grows with a sequence, so those of sequences of several lengths do not stand side "
                "by side; pad it (torch.nn.utils.rnn.pad_packed_sequence)"
            )
        return _begun(given, first, alone=False)

    def _run_rows(self, rows: Tensor, sizes: list[int], state: State) -> tuple[Tensor, State]:
        """`_run` over a table with `sizes` rows for each step, as far as it stays as wide."""
        outputs: list[Tensor] = []
        walk = Walk(state, axis=1)
        for x in pieces_of(rows, sizes):
            found, walk.state = self._run(x, walk.narrow(x.shape[1]))
            outputs.append(found.flatten(0, 1))
        return torch.cat(outputs), walk.last()

    def _check(self, shape: tuple[int, ...], *, alone: bool) -> None:
        if len(shape) != 3 - alone or 0 in shape[:-1]:
            axes = "(batch, time, feature)" if self.batch_first else "(time, batch, feature)"
            raise ValueError(
                f"x must be {axes} or (time, feature), with at least one step and one sequence, "
                f"got shape {tuple(shape)}"
            )
        check_input_size(shape, self.input_size)

    def extra_repr(self) -> str:
        """The sizes, for `print`."""
        return f"{self.input_size}, {self.hidden_size}, batch_first={self.batch_first}"


def slot_size_of(hidden_size: int, num_slots: int) -> int:
    """Numbers of a slot where all slots together are the outputs.

    Raises:
        ValueError: If the slots do not divide `hidden_size`.
    """
    if hidden_size % num_slots:
        raise ValueError(f"num_slots must divide hidden_size={hidden_size}, got {num_slots}")
    return hidden_size // num_slots


def _turned(x: Tensor | Indexed, change: str, *axes: int) -> Tensor | Indexed:
    """The sequence with its axes of places changed."""
    if isinstance(x, Indexed):
        return x.at(getattr(x.index, change)(*axes))
    turned: Tensor = getattr(x, change)(*axes)
    return turned


def _begun(given: State | None, first: State, *, alone: bool) -> State:
    """The state to begin with: the first one where none is given, else what is given, checked.

    Without an axis for the batch, `alone`, what is given has none either.
    """
    if given is None:
        return first
    wanted = [part.shape[:1] + part.shape[2:] if alone else part.shape for part in first]
    if len(given) != len(first) or not all(map(_fits, given, wanted)):
        expected = " and ".join(
            "(" + ", ".join(str(size or "any") for size in shape) + ")" for shape in wanted
        )
        got = " and ".join(str(tuple(part.shape)) for part in given)
        raise ValueError(f"state must be what a call returned, of shape {expected}, got {got}")
    check_state_dtype(given, first)
    return tuple(part.unsqueeze(1) for part in given) if alone else tuple(given)


def _fits(given: Tensor, wanted: tuple[int, ...]) -> bool:
    """Whether a part has the shape that it must have; an axis of 0 may have any size."""
    if given.ndim != len(wanted):
        return False
    return all(want in (0, have) for have, want in zip(given.shape, wanted, strict=True))
