"""What sequence layers share: how they are called, and what is checked of what they are given."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from farfield.functional import Indexed

State = tuple[Tensor, ...]
"""Parts of a state, the batch on axis 1 of each."""


class SequenceLayer(nn.Module):
    """A layer over sequences, called as `torch.nn.LSTM` is: `outputs, state = layer(x, state)`.

    A sequence in two pieces, the second begun with the state that the first ended in, gives what
    the whole gives. A subclass says what a state begins as (`_first_state`) and what becomes of
    it (`_run`); a state of one part goes in and out as a tensor, of several as a tuple.

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
        for name, size in {"input_size": input_size, "hidden_size": hidden_size, **more}.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
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
        self, x: Tensor | Indexed, state: Tensor | State | None = None
    ) -> tuple[Tensor, Tensor | State]:
        """Outputs after every step, in the form of the input, and the last state."""
        if isinstance(x, PackedSequence):
            raise ValueError(
                "x must be a tensor, got a PackedSequence, which RIMs and the normalized recurrent "
                "layers take: pad it (torch.nn.utils.rnn.pad_packed_sequence)"
            )
        if len(x.shape) == 2:  # one sequence without an axis for the batch, as torch takes it
            axis = 0 if self.batch_first else 1
            begun = None if state is None else _each(state, "unsqueeze")
            outputs, last = self.forward(_turned(x, "unsqueeze", axis), begun)
            return outputs.squeeze(axis), _each(last, "squeeze")
        self._check(x.shape)
        by_time = _turned(x, "transpose", 0, 1) if self.batch_first else x
        if isinstance(by_time, Indexed):
            alike = by_time.items.new_zeros(()).expand(by_time.shape)
            outputs, parts = self._run_indexed(by_time, _begun(state, self._first_state(alike)))
        else:
            outputs, parts = self._run(by_time, _begun(state, self._first_state(by_time)))
        last = parts if len(parts) > 1 else parts[0]
        return (outputs.transpose(0, 1) if self.batch_first else outputs), last

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 3 or 0 in shape[:2]:
            axes = "(batch, time, feature)" if self.batch_first else "(time, batch, feature)"
            raise ValueError(
                f"x must be {axes} or (time, feature), with at least one step and one sequence, "
                f"got shape {tuple(shape)}"
            )
        if shape[-1] != self.input_size:
            raise ValueError(f"x must have input_size={self.input_size} features, got {shape[-1]}")

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


def _each(state: Tensor | State, change: str) -> Tensor | State:
    """The state with an axis for the batch more, or less."""
    if isinstance(state, Tensor):
        changed: Tensor = getattr(state, change)(1)
        return changed
    return tuple(getattr(part, change)(1) for part in state)


def _begun(state: Tensor | State | None, first: State) -> State:
    """The state to begin with: the first one where none is given, else what is given, checked."""
    if state is None:
        return first
    given = (state,) if isinstance(state, Tensor) else tuple(state)
    if len(given) != len(first) or not all(map(_fits, given, first)):
        expected = " and ".join(
            "(" + ", ".join(str(size or "any") for size in part.shape) + ")" for part in first
        )
        got = " and ".join(str(tuple(part.shape)) for part in given)
        raise ValueError(f"state must be what a call returned, of shape {expected}, got {got}")
    return given


def _fits(given: Tensor, first: Tensor) -> bool:
    if given.ndim != first.ndim:
        return False
    return all(want in (0, have) for have, want in zip(given.shape, first.shape, strict=True))
