"""Layers of a recurrent network with the weights of torch's, by the same names."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.functional import GatedParameters, Indexed
from farfield.nn._recurrent._sequence_layer import SequenceLayer
from farfield.nn._recurrent._states import State

RunLayer = Callable[[int, Tensor | Indexed, State], tuple[Tensor, State]]
"""From the number of a layer, its inputs and its state to outputs and its last state."""


def run_layers(
    run_layer: RunLayer, x: Tensor | Indexed, state: State, *, dropout: float
) -> tuple[Tensor, State]:
    """Layers that each read the outputs of the one before: the last outputs, and all last states.

    Args:
        run_layer: What a layer gives.
        x: The inputs, `(time, batch, feature)`.
        state: Each part with the layers on its first axis.
        dropout: Probability that a number that one layer gives the next is dropped.
    """
    own, *others = zip(*(part.unbind(0) for part in state), strict=True)
    outputs, after = run_layer(0, x, own)
    last = [after]
    for layer, before in enumerate(others, start=1):
        read = F.dropout(outputs, dropout) if dropout else outputs
        outputs, after = run_layer(layer, read, before)
        last.append(after)
    return outputs, tuple(torch.stack(parts) for parts in zip(*last, strict=True))


class RecurrentLayers(SequenceLayer):
    """Layers that each read the hidden states of the one before, with weights as torch's have.

    A subclass says what a layer gives for a sequence (`_run_layer`).

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_gates: Number of gates of a unit.
        num_states: How many tensors are a state: 2 where there is a cell.
        num_layers: Number of layers.
        bias: Whether the projections have biases, two to each layer as in torch.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        dropout: Probability that a hidden state between two layers is dropped in training.
        bidirectional: Refused unless False.
        proj_size: Refused unless 0.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, or what is refused is asked for.
    """

    def __init__(  # noqa: PLR0913 — eight are torch's
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_gates: int,
        num_states: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        proj_size: int = 0,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        _check_options(bidirectional, proj_size)
        self.num_layers, self.bias, self.dropout = num_layers, bias, dropout
        self._num_states = num_states
        for layer in range(num_layers):
            self._add_weights(layer, rows=num_gates * hidden_size)

    def _add_weights(self, layer: int, *, rows: int) -> None:
        """Weights and biases of a layer, without values."""
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, self.hidden_size if layer else self.input_size),
            "weight_hh": (rows, self.hidden_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        for name, shape in shapes.items():
            self.register_parameter(f"{name}_l{layer}", nn.Parameter(torch.empty(shape)))

    def _draw(self, generator: torch.Generator | None) -> None:
        """Draw all weights and biases as torch does."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def _weights(self, layer: int) -> GatedParameters:
        """Weights and biases of the two projections of a layer."""
        names = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if self.bias else ()))
        return GatedParameters(*(getattr(self, f"{name}_l{layer}") for name in names))

    def _first_state(self, x: Tensor) -> State:
        return (x.new_zeros(self.num_layers, x.shape[1], self.hidden_size),) * self._num_states

    def _run_layer(self, layer: int, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        """Hidden states of a layer after every step, and its last state."""
        raise NotImplementedError

    def _run(self, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        return run_layers(self._run_layer, x, state, dropout=self.dropout * self.training)

    def _run_indexed(self, x: Indexed, state: State) -> tuple[Tensor, State]:
        return self._run(x, state)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}, "
            f"bias={self.bias}, batch_first={self.batch_first}, dropout={self.dropout}"
        )


def _check_options(bidirectional: bool, proj_size: int) -> None:
    if bidirectional:
        raise ValueError(
            f"bidirectional must be False, got {bidirectional!r}; run a second module over "
            "input.flip(0) instead"
        )
    if proj_size:
        raise ValueError(
            f"proj_size must be 0, got {proj_size!r}; put an nn.Linear behind the layer instead"
        )
