"""Stacks of LSTMs and gated recurrent units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield._machine import on_cpu
from farfield.core.internal import Checked, Depth, Fraction, Size, check_arguments
from farfield.functional import Indexed
from farfield.functional.internal import (
    GatedParameters,
    gated_recurrence,
    gru_dynamics,
    is_transformed,
    lstm_dynamics,
)
from farfield.nn._recurrent._sequence_layer import SequenceLayer
from farfield.nn._recurrent._states import State


@dataclass(frozen=True, kw_only=True)
class _Dynamics(Checked):
    r"""Base of the steps of the mechanisms of `RIMs`.

    Args:
        init_over_all: Whether the first weights are drawn from $U(-1/\sqrt n, 1/\sqrt n)$ for the
            $n$ units of all mechanisms, as in the released code, or for those of one.
    """

    init_over_all: bool = False


@final
@dataclass(frozen=True, kw_only=True)
class LSTMDynamics(_Dynamics):
    """Each mechanism of `RIMs` is an LSTM.

    Reference:
        lamb2022, section 8.2.3.
    """

    num_gates: ClassVar[int] = 4
    num_states: ClassVar[int] = 2
    step: ClassVar = staticmethod(lstm_dynamics)


@final
@dataclass(frozen=True, kw_only=True)
class GRUDynamics(_Dynamics):
    """Each mechanism of `RIMs` is a gated recurrent unit.

    Reference:
        lamb2022, section 8.2.3.
    """

    num_gates: ClassVar[int] = 3
    num_states: ClassVar[int] = 1
    step: ClassVar = staticmethod(gru_dynamics)


RunLayer = Callable[[Tensor | Indexed, State], tuple[Any, ...]]
"""Function from inputs and a state to outputs, the last state, and further values."""


def run_layers(
    layers: Sequence[RunLayer], x: Tensor | Indexed, state: State, *, dropout: float
) -> tuple[Tensor, State]:
    """Run a stack of layers; return the outputs of the last layer and the last state of each.

    Args:
        layers: The layers.
        x: The inputs, `(time, batch, feature)`.
        state: Parts of the state, with the layers on the first axis.
        dropout: Probability that an output is dropped between two layers.
    """
    first, *others = zip(*(part.unbind(0) for part in state), strict=True)
    outputs, last, *_ = layers[0](x, first)
    states = [last]
    for layer, before in zip(layers[1:], others, strict=True):
        outputs, last, *_ = layer(F.dropout(outputs, dropout) if dropout else outputs, before)
        states.append(last)
    return outputs, tuple(torch.stack(parts) for parts in zip(*states, strict=True))


class RecurrentLayers(SequenceLayer):
    """Stack of layers with the parameters of torch's; each reads the hidden states below it.

    A subclass runs a layer over a sequence (`_run_layer`), and names the numbers of gates and of
    parts of a state.

    Args:
        num_layers: Number of layers; each reads the hidden states of the layer before.
        bias: True for the biases $b_x$ and $b_h$ of each layer.
        dropout: Probability that a hidden state between two layers is dropped in training, drawn
            from torch's global generator, as in torch.
        bidirectional: Refused unless False.

    Raises:
        ValueError: If a second direction is asked for.
    """

    _runs_indexed = True
    _num_gates: ClassVar[int]
    _num_states: ClassVar[int] = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        if bidirectional:
            raise ValueError(
                f"bidirectional must be False, got {bidirectional!r}; run a second module over "
                "input.flip(0) instead"
            )
        self.num_layers, self.bias, self.dropout = num_layers, bias, dropout
        for layer in range(num_layers):
            self._add_weights(layer, rows=self._num_gates * hidden_size)
        bound = 1 / math.sqrt(hidden_size)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def _add_weights(self, layer: int, *, rows: int) -> None:
        """Register the weights and biases of a layer, without values."""
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, self.hidden_size if layer else self.input_size),
            "weight_hh": (rows, self.hidden_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        for name, shape in shapes.items():
            self.register_parameter(f"{name}_l{layer}", nn.Parameter(torch.empty(shape)))

    def _weights(self, layer: int) -> GatedParameters:
        """Return the weights and biases of the two projections of a layer."""
        names = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if self.bias else ()))
        return GatedParameters(*(getattr(self, f"{name}_l{layer}") for name in names))

    def _first_state(self, x: Tensor) -> State:
        return (x.new_zeros(self.num_layers, x.shape[1], self.hidden_size),) * self._num_states

    def _run_layer(self, layer: int, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        """Run a layer: hidden states after every step, and the last state."""
        raise NotImplementedError

    def _run(self, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        layers = [partial(self._run_layer, number) for number in range(self.num_layers)]
        return run_layers(layers, x, state, dropout=self.dropout * self.training)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return (
            f"{self.input_size}, {self.hidden_size}, num_layers={self.num_layers}, "
            f"bias={self.bias}, batch_first={self.batch_first}, dropout={self.dropout}"
        )


def check_projection(proj_size: int) -> None:
    """Refuse a projection of hidden states, which torch's LSTM has.

    Raises:
        ValueError: If its size is not 0.
    """
    if proj_size:
        raise ValueError(
            f"proj_size must be 0, got {proj_size!r}; put an nn.Linear behind the layer instead"
        )


class FusedLayers(RecurrentLayers):
    """Recurrent layers by torch's kernel, or step by step where that is not made for it.

    A subclass says how the kernel is called (`_run_kernel`).

    Attributes:
        torch_class: torch's module of the same weights.
        dynamics: A step.
    """

    torch_class: ClassVar[Callable[..., nn.RNNBase]]
    dynamics: ClassVar[type[LSTMDynamics | GRUDynamics]]

    @check_arguments
    def __init__(  # noqa: PLR0913, PLR0917 — nine are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: Fraction = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        given = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*given, generator)
        # torch leaves this and `_apply` untyped.
        self.register_load_state_dict_pre_hook(_rename_weights)  # type: ignore[no-untyped-call]
        self.to(device=device, dtype=dtype)

    def flatten_parameters(self) -> None:
        """Lay the weights out in one block of memory for cuDNN, as torch does.

        Moving the layer to a GPU calls it.
        """
        weight = next(self.parameters(), None)
        if weight is None or not weight.is_cuda:  # a replica of nn.DataParallel has none
            return
        sizes = (self.input_size, self.hidden_size, self.num_layers, self.bias)
        kernel = self.torch_class(*sizes, device="meta")
        for name, parameter in self.named_parameters():
            setattr(kernel, name, parameter)
        kernel.flatten_parameters()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> FusedLayers:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.flatten_parameters()
        return self

    def _is_written_out(self, x: Tensor | Indexed) -> bool:
        """Tell whether the kernel is slower, lacks support, or would require AVX-512."""
        items = x.items if isinstance(x, Indexed) else x
        by_steps = items is not x or torch.is_autocast_enabled("cpu")
        return is_transformed() or (on_cpu(items) and by_steps)

    def _run_kernel(self, x: Tensor, state: State, *options: Any) -> tuple[Tensor, ...]:
        """Call the kernel with options in torch's order: outputs and parts of the last state."""
        raise NotImplementedError

    def _run(self, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        if self._is_written_out(x):
            return super()._run(x, state)
        rows = x.gathered() if isinstance(x, Indexed) else x
        # Of packed sequences the states are cut, and cuDNN takes only whole ones.
        whole = tuple(part.contiguous() for part in state)
        numbers = range(self.num_layers)
        weights = [part for n in numbers for part in self._weights(n) if part is not None]
        options = (self.bias, self.num_layers, self.dropout, self.training, False, False)
        outputs, *last = self._run_kernel(rows, whole, weights, *options)
        return outputs, tuple(last)

    def _run_layer(self, layer: int, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        return gated_recurrence(x, self._weights(layer), state, self.dynamics.step)


def _rename_weights(
    module: nn.Module, state: dict[str, Any], prefix: str, *_others: object
) -> None:
    """Take weights that were saved when the layer held torch's module as `recurrent`."""
    for name, _ in module.named_parameters():
        old = f"{prefix}recurrent.{name}"
        if old in state:
            state[prefix + name] = state.pop(old)


@final
class LSTMLayer(FusedLayers):
    r"""LSTM of torch, by its fused kernel where that is faster.

    $$i, f, g, o = W_x x_t + b_x + W_h h_{t-1} + b_h, \qquad
      c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh(g), \qquad
      h_t = \sigma(o) \tanh(c_t)$$

    It is called as `torch.nn.LSTM` is and has the same weights by the same names, so that those of
    one load into the other. In addition it draws its initial parameters from a generator and
    explains wrong inputs. There is no second direction. It runs step by step under the
    transformations of `torch.func`, which torch's kernel does not support, and on a CPU over
    `Indexed` sequences and under `torch.autocast`. `NormalizedLSTM` takes normalizers, and is
    slower.

    Args:
        proj_size: Refused unless 0.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of two times `(num_layers, batch,
        hidden_size)`, hidden states and cells. Out: the hidden states of the last layer,
        `hidden_size` features, and the last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer,
            rows in the order input, forget, candidate, output; `_l1` those of the second.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, a second direction or a
            projection asked for, or the input or the state of another shape.

    Reference:
        Hochreiter and Schmidhuber 1997; the rival of lamb2022, section 8.4.

    Example:
        >>> layer = LSTMLayer(16, 32, batch_first=True)
        >>> outputs, (h, c) = layer(torch.rand(2, 7, 16))
        >>> outputs.shape
        torch.Size([2, 7, 32])
        >>> layer.load_state_dict(torch.nn.LSTM(16, 32).state_dict())
        <All keys matched successfully>
    """

    torch_class = nn.LSTM
    dynamics = LSTMDynamics
    _num_gates, _num_states = LSTMDynamics.num_gates, LSTMDynamics.num_states

    @check_arguments
    def __init__(  # noqa: PLR0913, PLR0917 — ten are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: Fraction = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        check_projection(proj_size)
        given = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*given, device, dtype, generator=generator)

    def _run_kernel(self, x: Tensor, state: State, *options: Any) -> tuple[Tensor, ...]:
        return torch.lstm(x, state, *options)


@final
class GRULayer(FusedLayers):
    r"""Gated recurrent unit of torch, by its kernel.

    $$r, z = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h), \qquad
      n = \tanh(W_x' x_t + b_x' + r (W_h' h_{t-1} + b_h')), \qquad
      h_t = (1 - z) n + z h_{t-1}$$

    It is called as `torch.nn.GRU` is and has the same weights by the same names, so that those of
    one load into the other. In addition it draws its initial parameters from a generator and
    explains wrong inputs. There is no second direction. It runs step by step under the
    transformations of `torch.func`, which torch's kernel does not support, and on a CPU over
    `Indexed` sequences and under `torch.autocast`. `NormalizedGRU` takes normalizers, and is
    slower.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state `(num_layers, batch,
        hidden_size)`. Out: the hidden states of the last layer, `hidden_size` features, and the
        last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer,
            rows in the order reset, update, candidate; `_l1` those of the second.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, a second direction
             asked for, or the input or the state of another shape.

    Reference:
        Cho et al. 2014; a rival as in lamb2022, section 8.4.
    """

    torch_class = nn.GRU
    dynamics = GRUDynamics
    _num_gates = GRUDynamics.num_gates

    def _run_kernel(self, x: Tensor, state: State, *options: Any) -> tuple[Tensor, ...]:
        return torch.gru(x, state[0], *options)
