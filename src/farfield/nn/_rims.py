"""Recurrent independent mechanisms as a layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from farfield.core import check_dropout, check_sizes
from farfield.functional import Indexed, RIMsParameters, RIMsRules, RIMsTrace, rims, rims_trace
from farfield.nn._input_checks import check_dtype, check_input_size
from farfield.nn._mechanisms import Mechanisms
from farfield.nn._rims_parts import Wiring
from farfield.nn._row_tables import Walk, pieces_of, run_table
from farfield.nn._states import State, first_state

Watch = Callable[[RIMsTrace], None]
"""Given the trace of a layer."""


@final
class RIMs(nn.Module):
    r"""Recurrent independent mechanisms, in place of `torch.nn.LSTM` or `torch.nn.GRU`.

    The units are divided among mechanisms with weights of their own. At every step those that
    attend least to a null element, which stands beside the input, are active:

    $$A_k = \mathrm{softmax}\left(\frac{h_k W^q_k (X W^e)^\top}{\sqrt d}\right) X W^v, \qquad
      \tilde h_k = D_k(h_k, A_k), \qquad
      h_k \leftarrow \tilde h_k + \mathrm{softmax}\left(
        \frac{\tilde h_k \tilde W^q_k \tilde K^\top}{\sqrt d}\right) \tilde V$$

    where $D_k$ is an LSTM or a GRU, and $\tilde K$ and $\tilde V$ are keys and values of all
    mechanisms, each from its own weights. The inactive keep their state, and gradients flow
    through. Of mechanisms that tie the first are active: at the first step, with a state of zeros,
    those are always the first ones. The cell of an LSTM takes no part in the communication.

    Beside an LSTM of as many units it has about a $K$-th of the recurrent weights. It can be mapped
    with `torch.func.vmap`, and where no gradient is wanted its memory beyond inputs and outputs
    does not grow with the length of a sequence. Other than torch's modules it takes its number of
    mechanisms third, the number of layers fifth or by name; it has no second direction, and goes
    to another device or type by `to`.

    Args:
        input_size: Number of features of an input, or of each of its elements.
        hidden_size: Number of units of all mechanisms together.
        num_mechanisms: Number of mechanisms, $K$.
        num_active: How many of them are active at a step; with `per_position`, at each position.
        num_layers: Number of layers, each reading the states of all mechanisms of the one before,
            as one element.
        wiring: What a step is made of; None is `Wiring()`, the text's. `Wiring.released()` is that
            of the released code.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        dropout: Probability that a number that one layer gives the next is dropped in training;
            drawn from torch's global generator. Without effect on one layer, as in torch.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        As in `torch.nn.LSTM`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, or a `PackedSequence`; also with an axis of elements
        before the last, between which the mechanisms choose (with `per_position` always). Where few
        inputs come again and again, `farfield.functional.Indexed(items, index)` in place of
        `items[index]` takes less time. The
        state is `(num_layers, batch, hidden_size)`, for an LSTM two times. Out: the states of all
        mechanisms of the last layer side by side, in the form of the input, and the last state.

    Attributes:
        layers: The weights of each layer, as in `farfield.functional.RIMsParameters`.

    Raises:
        ValueError: If sizes do not fit together, or an input or a state has another shape.

    Reference:
        lamb2022, section 8.2; goyal2021.
    """

    takes_indexed = True

    def __init__(  # noqa: PLR0913 — five are torch's
        self,
        input_size: int,
        hidden_size: int,
        num_mechanisms: int = 6,
        num_active: int = 4,
        num_layers: int = 1,
        *,
        wiring: Wiring | None = None,
        batch_first: bool = False,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "num_layers": num_layers}
        self.input_size, self.hidden_size, self.num_layers = sizes.values()
        self.num_mechanisms, self.num_active = num_mechanisms, num_active
        self.wiring, self.batch_first, self.dropout = wiring or Wiring(), batch_first, dropout
        self._check_options(sizes)
        inputs = [input_size, *[hidden_size] * (num_layers - 1)]
        size = hidden_size // num_mechanisms
        self.layers = nn.ModuleList(
            Mechanisms(features, num_mechanisms, size, num_active, wired, generator)
            for features, wired in zip(inputs, self._wirings(), strict=True)
        )

    def forward(
        self, x: Tensor | PackedSequence | Indexed, state: Tensor | State | None = None
    ) -> tuple[Tensor | PackedSequence, Tensor | State]:
        """States of the last layer after every step, and the last state of every layer."""
        outputs, last = self._read(x, state, None)
        return outputs, last if len(last) > 1 else last[0]

    def trace(
        self, x: Tensor | Indexed, state: Tensor | State | None = None
    ) -> tuple[RIMsTrace, ...]:
        """What happens in each layer, step by step: who is active, and who attends to what.

        Args:
            x: The inputs, not packed.
            state: The state to begin with; None is zeros.

        Returns:
            A trace for each layer. Time is the first axis and the batch the second, whatever
            `batch_first`.

        Raises:
            ValueError: If the inputs are packed.
        """
        if isinstance(x, PackedSequence):
            raise ValueError(
                "x must be a tensor or Indexed, got a PackedSequence: its sequences end at "
                "different steps, so trace them one by one"
            )
        found: list[RIMsTrace] = []
        self._read(x, state, found.append)
        return tuple(found)

    def _read(
        self,
        x: Tensor | PackedSequence | Indexed,
        state: Tensor | State | None,
        watch: Watch | None,
    ) -> tuple[Tensor | PackedSequence, State]:
        begun = (state,) if isinstance(state, Tensor) else state
        if isinstance(x, Indexed):  # The table of rows is that of the index.
            items, shape = x.items, tuple(x.index.shape)
            if len(shape) not in {1, 2} or 0 in shape:
                axes = "(batch, time)" if self.batch_first else "(time, batch)"
                raise ValueError(
                    f"x.index must be {axes} or (time), with at least one step and one sequence, "
                    f"got shape {shape}"
                )

            def begin(given: State | None, _index: Tensor, batch: int | None) -> State:
                return self._begin(given, items, batch)

            run = partial(self._run_rows, items=items, watch=watch)
            return run_table(
                run, begin, x.index, begun, batch_first=self.batch_first, feature_axes=0
            )
        return run_table(
            partial(self._run_rows, watch=watch),
            self._begin,
            x,
            begun,
            batch_first=self.batch_first,
            feature_axes=self._feature_axes(x),
        )

    def _run_rows(
        self,
        rows: Tensor,
        sizes: list[int],
        state: State,
        *,
        items: Tensor | None = None,
        watch: Watch | None,
    ) -> tuple[Tensor, State]:
        """All layers on the inputs of all steps in one table, `sizes` rows for each step.

        Where there are items, the rows are their numbers.
        """
        last: list[State] = []
        for number, layer in enumerate(self.layers):
            parameters, rules = layer.functional()  # type: ignore[operator]
            own = tuple(part[number] for part in state)
            shown = items if number == 0 else None
            if number and self.dropout:
                rows = F.dropout(rows, self.dropout, self.training)
            rows, after = _run_layer(parameters, rules, rows, sizes, own, watch, shown)
            last.append(after)
        return rows, tuple(torch.stack(parts) for parts in zip(*last, strict=True))

    def _wirings(self) -> list[Wiring]:
        """Of each layer: those above the first have one element to read, and no positions."""
        attention = self.wiring.input_attention
        above = None if attention is None else replace(attention, per_position=False)
        return [self.wiring, *[replace(self.wiring, input_attention=above)] * (self.num_layers - 1)]

    def _feature_axes(self, x: Tensor | PackedSequence) -> int:
        attention = self.wiring.input_attention
        if attention is None:
            return 1
        axes = x.data.ndim + 1 if isinstance(x, PackedSequence) else x.ndim
        return 2 if attention.per_position or axes == 4 else 1

    def _begin(self, state: State | None, rows: Tensor, batch: int | None) -> State:
        """The state to begin with, zeros where none is given, checked against the inputs."""
        check_input_size(rows.shape, self.input_size)
        check_dtype(rows, self)
        parts = self.wiring.dynamics.num_states
        layers, size = self.num_layers, self.hidden_size
        return first_state(state, rows, batch, parts=parts, layers=layers, size=size)

    def _check_options(self, sizes: dict[str, int]) -> None:
        mechanisms, active = self.num_mechanisms, self.num_active
        whole = {**sizes, "num_mechanisms": mechanisms, "num_active": active}
        check_sizes(**whole)
        check_dropout(self.dropout)
        if not isinstance(self.wiring, Wiring):
            raise ValueError(
                f"wiring must be a Wiring, such as Wiring.released(), got {self.wiring!r}"
            )
        if self.hidden_size % mechanisms:
            raise ValueError(
                f"hidden_size must be divisible by num_mechanisms, got {self.hidden_size} units "
                f"for {mechanisms} mechanisms"
            )
        if active > mechanisms:
            raise ValueError(f"num_active must be 1…num_mechanisms={mechanisms}, got {active}")
        if self.wiring.input_attention is None and active != mechanisms:
            raise ValueError(
                f"num_active must be num_mechanisms={mechanisms} without input attention, since "
                f"mechanisms do not compete then, got {active}"
            )

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.input_size}, {self.hidden_size}, num_mechanisms={self.num_mechanisms}, "
            f"num_active={self.num_active}, num_layers={self.num_layers}, "
            f"batch_first={self.batch_first}, dropout={self.dropout}, {self.wiring}"
        )


def _run_layer(
    parameters: RIMsParameters,
    rules: RIMsRules,
    rows: Tensor,
    sizes: list[int],
    state: State,
    watch: Watch | None,
    items: Tensor | None,
) -> tuple[Tensor, State]:
    """One layer on a table of rows, in pieces of steps that have as many rows."""
    outputs: list[Tensor] = []
    walk = Walk(state)
    for inputs in pieces_of(rows, sizes):
        x = inputs if items is None else Indexed(items, inputs)
        state = walk.narrow(inputs.shape[1])
        found = (rims if watch is None else rims_trace)(x, state, parameters, rules)
        walk.state = found.state
        outputs.append(found.outputs.flatten(0, 1))
        if watch is not None and isinstance(found, RIMsTrace):
            watch(found)
    return torch.cat(outputs) if len(outputs) > 1 else outputs[0], walk.last()
