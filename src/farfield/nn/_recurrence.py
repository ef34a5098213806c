"""Layers of a recurrent cell over sequences: what the normalized RNN, LSTM and GRU share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from farfield.core import check_sizes
from farfield.functional import Indexed, linear
from farfield.nn._batch_context_norm import BatchContextNorm
from farfield.nn._context_norm import ContextNorm
from farfield.nn._context_whitening import ContextWhitening
from farfield.nn._input_checks import check_dtype, check_input_size
from farfield.nn._misaligned_context_norm import MisalignedContextNorm
from farfield.nn._placements import Placement
from farfield.nn._row_tables import Walk, run_table
from farfield.nn._sliding_context_norm import SlidingContextNorm
from farfield.nn._states import State, first_state

_OVER_TIME = (
    BatchContextNorm,
    ContextNorm,
    ContextWhitening,
    MisalignedContextNorm,
    SlidingContextNorm,
)
"""Which take `(batch, feature)` for the places of one problem, if they take it at all."""

Normalized = Callable[[str, Tensor], Tensor]
"""What stands at a place, normalized where a normalizer stands there, else as it is."""


@runtime_checkable
class Cell(Protocol):
    """One step of a recurrent network.

    Attributes:
        gates: Names of the non-linearities that the projections feed, in the order of the rows
            of the weights.
        carried: Names of the non-linearities that the carried state feeds; there are as many
            states besides the hidden one.
    """

    @property
    def gates(self) -> tuple[str, ...]: ...
    @property
    def carried(self) -> tuple[str, ...]: ...

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """The state after a step, the hidden one first.

        Args:
            inputs: Projection of the input, all gates side by side.
            hidden: Projection of the hidden state before, all gates side by side.
            state: The state before.
            normalized: What normalizes, by place.
        """
        ...


class Recurrence(nn.Module):
    """Layers of a cell with the parameters of torch's recurrent modules, by the same names.

    Args:
        cell: One step.
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether the projections have biases, two to each layer as in torch.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        dropout: Probability that a hidden state between two layers is dropped in training.
        bidirectional: Refused.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, or a second direction asked for.
    """

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
    ) -> None:
        super().__init__()
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "num_layers": num_layers}
        _check_options(sizes, dropout, bidirectional)
        self.input_size, self.hidden_size, self.num_layers = sizes.values()
        self.bias, self.batch_first, self.dropout = bias, batch_first, dropout
        self._cell = cell
        self.normalizers = nn.ModuleList(nn.ModuleDict() for _ in range(num_layers))
        for layer in range(num_layers):
            self._add_weights(layer, rows=len(cell.gates) * hidden_size)

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

    def _place(self, normalizer: Callable[[int], nn.Module] | None, placement: Placement) -> None:
        """Make a normalizer for each place of each layer."""
        if normalizer is None:
            return
        gates, carried = self._cell.gates, self._cell.carried
        widths = placement.widths(gates, carried, self.hidden_size)
        places = {"input", "hidden", *gates, *carried}
        if not widths.keys() <= places:
            raise ValueError(f"placement must name some of {sorted(places)}, got {sorted(widths)}")
        for made in self.normalizers:
            for place, width in widths.items():
                made[place] = _checked(normalizer(width))  # type: ignore[operator]

    def _run(
        self, x: Tensor | PackedSequence | Indexed, state: State | None
    ) -> tuple[Tensor | PackedSequence, State]:
        """Outputs of the last layer and the last state of every layer."""
        if isinstance(x, Indexed):
            x = x.gathered()
        return run_table(self._run_rows, self._begin, x, state, batch_first=self.batch_first)

    def _run_rows(self, rows: Tensor, sizes: Sequence[int], state: State) -> tuple[Tensor, State]:
        """All layers on the inputs of all steps in one table, `sizes` rows for each step."""
        last: list[State] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                rows = F.dropout(rows, self.dropout, self.training)
            rows, after = self._run_layer(layer, rows, sizes, tuple(part[layer] for part in state))
            last.append(after)
        return rows, tuple(torch.stack(parts) for parts in zip(*last, strict=True))

    def _run_layer(
        self, layer: int, rows: Tensor, sizes: Sequence[int], state: State
    ) -> tuple[Tensor, State]:
        """One layer: what the inputs bring is one product over all steps."""
        weight_ih, weight_hh, bias_ih, bias_hh = self._weights(layer)
        normalized = _normalized(self.normalizers[layer])
        outputs: list[Tensor] = []
        walk = Walk(state)
        for inputs in torch.split(linear(rows, weight_ih, bias_ih), list(sizes)):
            state = walk.narrow(len(inputs))
            hidden = linear(state[0], weight_hh, bias_hh)
            walk.state = self._cell.step(inputs, hidden, state, normalized)
            outputs.append(walk.state[0])
        return torch.cat(outputs), walk.last()

    def _weights(self, layer: int) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """Weights and biases of the two projections of a layer."""
        weight_ih: Tensor = getattr(self, f"weight_ih_l{layer}")
        weight_hh: Tensor = getattr(self, f"weight_hh_l{layer}")
        if not self.bias:
            return weight_ih, weight_hh, None, None
        return weight_ih, weight_hh, *(getattr(self, f"bias_{p}h_l{layer}") for p in "ih")

    def _begin(self, state: State | None, rows: Tensor, batch: int | None) -> State:
        """The state to begin with, zeros where none is given, checked against the inputs."""
        check_input_size(rows.shape, self.input_size)
        check_dtype(rows, self)
        parts = 1 + len(self._cell.carried)
        layers, size = self.num_layers, self.hidden_size
        return first_state(state, rows, batch, parts=parts, layers=layers, size=size)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return (
            f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}, "
            f"bias={self.bias}, batch_first={self.batch_first}, dropout={self.dropout}, "
            f"{self._cell}"
        )


def _normalized(normalizers: nn.Module) -> Normalized:
    named = dict(normalizers.named_children())

    def normalized(place: str, z: Tensor) -> Tensor:
        return named[place](z) if place in named else z

    return normalized


def _checked(normalizer: nn.Module) -> nn.Module:
    """A normalizer of one step, if it does not take the sequences of a batch for a problem."""
    if isinstance(normalizer, _OVER_TIME):
        raise ValueError(
            "normalizer must make one for the (batch, feature) of a step, got "
            f"{type(normalizer).__name__}, which normalizes over places in time and would mix the "
            "sequences of a batch; use nn.LayerNorm or another over features, or one over the batch"
        )
    return normalizer


def _check_options(sizes: dict[str, int], dropout: float, bidirectional: bool) -> None:
    check_sizes(**sizes)
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be a probability, 0 to 1, got {dropout}")
    if bidirectional:
        raise ValueError(
            "bidirectional must be False, got True; run a second module over x.flip(0) instead"
        )
