"""Recurrent independent mechanisms as a layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Unpack, final

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from farfield.core.internal import Depth, Dropout, FactoryOptions, Size, take_factory_arguments
from farfield.functional import Indexed
from farfield.functional.internal import RIMsOutputs, RIMsTrace, rims, rims_trace
from farfield.nn._recurrent._fused_layers import run_layers
from farfield.nn._recurrent._sequence_layer import SequenceLayer
from farfield.nn._recurrent._states import State
from farfield.nn._rims._mechanisms import Mechanisms, Wiring


@final
class RIMs(SequenceLayer):
    r"""Recurrent independent mechanisms, in place of `torch.nn.LSTM` or `torch.nn.GRU`.

    The units are divided among mechanisms with separate weights. At every step the mechanisms that
    attend least to a null element, added to the input, are active:

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
    does not grow with the length of a sequence. There is no second direction.

    Args:
        input_size: Number of features of an input, or of each of its elements.
        hidden_size: Number of units of all mechanisms together.
        num_layers: Number of layers, each reading the states of all mechanisms of the one before,
            as one element.
        num_mechanisms: Number of mechanisms, $K$.
        num_active: How many of them are active at a step; with `per_position`, at each position.
        wiring: Stages of a step; None is `Wiring()`, as in the text, `Wiring.released()` as in the
            released code.
        dropout: Probability that a number that one layer gives the next is dropped in training;
            drawn from torch's global generator. Without effect on one layer, as in torch.

    Shape:
        As in `torch.nn.LSTM`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, or a `PackedSequence`; also with an axis of elements
        before the last, between which the mechanisms choose (with `per_position` always). Where few
        inputs come again and again, `farfield.functional.Indexed(items, index)` in place of
        `items[index]` takes less time. The
        state is `(num_layers, batch, hidden_size)`, for an LSTM two times. Out: the states of all
        mechanisms of the last layer side by side, in the form of the input, and the last state.

    Attributes:
        layers: The weights of each layer, as in `farfield.functional.internal.RIMsParameters`.

    Raises:
        ValueError: If sizes do not fit together, or an input or a state has another shape.

    Reference:
        lamb2022, section 8.2; goyal2021.

    Example:
        >>> layer = RIMs(16, 60, num_mechanisms=6, num_active=4, batch_first=True)
        >>> outputs, (h, c) = layer(torch.rand(2, 7, 16))
        >>> outputs.shape, h.shape
        (torch.Size([2, 7, 60]), torch.Size([1, 2, 60]))
    """

    _runs_indexed = True

    @take_factory_arguments()
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
        *,
        num_mechanisms: Size = 6,
        num_active: Size = 4,
        wiring: Wiring | None = None,
        batch_first: bool = False,
        dropout: Dropout = 0.0,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        self.num_layers, self.num_mechanisms, self.num_active = (
            num_layers,
            num_mechanisms,
            num_active,
        )
        self.wiring, self.dropout = wiring or Wiring(), dropout
        self._check_options()
        inputs = [input_size, *[hidden_size] * (num_layers - 1)]
        size = hidden_size // num_mechanisms
        self.layers = nn.ModuleList(
            Mechanisms(features, num_mechanisms, size, num_active, wired, options["generator"])
            for features, wired in zip(inputs, self._wirings(), strict=True)
        )

    @classmethod
    def released(
        cls,
        input_size: int,
        hidden_size: int = 600,
        num_layers: int = 1,
        *,
        num_mechanisms: int = 6,
        num_active: int = 4,
        gru: bool = False,
        generator: torch.Generator | None = None,
    ) -> RIMs:
        """Build the layer of lamb2022's released code: `Wiring.released()`.

        Args:
            hidden_size: Units of all mechanisms.
            num_layers: Number of layers.
            num_mechanisms: Number of mechanisms.
            num_active: How many of them are active.
            gru: Whether mechanisms are gated recurrent units, or LSTMs.
        """
        return cls(
            input_size,
            hidden_size,
            num_layers,
            num_mechanisms=num_mechanisms,
            num_active=num_active,
            wiring=Wiring.released(gru=gru),
            generator=generator,
        )

    def trace(
        self,
        input: Tensor | Indexed,  # noqa: A002 — torch's name
        hx: Tensor | State | None = None,
    ) -> tuple[RIMsTrace, ...]:
        """Record the internal values of each layer at every step: active mechanisms, attention.

        Args:
            input: The inputs, not packed.
            hx: The state to begin with; None is zeros.

        Returns:
            A trace for each layer. Time is the first axis and the batch the second, whatever
            `batch_first`.

        Raises:
            ValueError: If the inputs are packed.
        """
        if isinstance(input, PackedSequence):
            raise ValueError(
                "input must be a tensor or Indexed, got a PackedSequence: its sequences end at "
                "different steps, so trace them one by one"
            )
        found: list[RIMsTrace] = []

        def traced(*arguments: Any, **named: Any) -> RIMsTrace:
            found.append(rims_trace(*arguments, **named))
            return found[-1]

        self._read(input, hx, partial(self._run, function=traced))
        return tuple(found)

    def _first_state(self, x: Tensor) -> State:
        parts = self.wiring.dynamics.num_states
        return (x.new_zeros(self.num_layers, x.shape[1], self.hidden_size),) * parts

    def _run(
        self,
        x: Tensor | Indexed,
        state: State,
        function: Callable[..., RIMsOutputs | RIMsTrace] = rims,
    ) -> tuple[Tensor, State]:
        """Run all layers by `rims`, or by a function that gives more."""
        weights = [layer.functional() for layer in self.layers]  # type: ignore[operator]
        layers = [partial(function, parameters=own, rules=rules) for own, rules in weights]
        x = x if isinstance(x, Indexed) else x.contiguous()
        return run_layers(layers, x, state, dropout=self.dropout * self.training)

    def _wirings(self) -> list[Wiring]:
        """Return the wiring of each layer; above the first, layers read one element only."""
        attention = self.wiring.input_attention
        above = None if attention is None else replace(attention, per_position=False)
        return [self.wiring, *[replace(self.wiring, input_attention=above)] * (self.num_layers - 1)]

    def _feature_axes(self, num_axes: int) -> int:
        attention = self.wiring.input_attention
        if attention is None:
            return 1
        return 2 if attention.per_position or num_axes == 4 else 1

    def _check_options(self) -> None:
        mechanisms, active = self.num_mechanisms, self.num_active
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
        """Format the options for `print`."""
        return (
            f"{self.input_size}, {self.hidden_size}, num_mechanisms={self.num_mechanisms}, "
            f"num_active={self.num_active}, num_layers={self.num_layers}, "
            f"batch_first={self.batch_first}, dropout={self.dropout}, {self.wiring}"
        )
