"""torch's LSTM and GRU as sequence layers, by its kernels where there is nothing faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield._machine import on_cpu
from farfield.core import Depth, Fraction, Size, check_arguments
from farfield.functional import Indexed, gated_recurrence, is_transformed
from farfield.nn._recurrent._gated_dynamics import GRUDynamics, LSTMDynamics
from farfield.nn._recurrent._recurrent_layers import RecurrentLayers
from farfield.nn._recurrent._states import State


class FusedLayers(RecurrentLayers):
    """Recurrent layers by torch's kernel, or step by step where that is not made for it.

    A subclass says how the kernel is called (`_run_kernel`).

    Attributes:
        torch_class: torch's module of the same weights.
        dynamics: A step.
        steps_on_cpu: Whether step by step takes less time than the kernel on a CPU.
    """

    torch_class: ClassVar[Callable[..., nn.RNNBase]]
    dynamics: ClassVar[type[LSTMDynamics | GRUDynamics]]
    steps_on_cpu: ClassVar[bool]

    def _finish(
        self, device: Device, dtype: torch.dtype | None, generator: torch.Generator | None
    ) -> None:
        self._draw(generator)
        # torch leaves this and `_apply` untyped.
        self.register_load_state_dict_pre_hook(_rename_weights)  # type: ignore[no-untyped-call]
        self.to(device=device, dtype=dtype)

    def flatten_parameters(self) -> None:
        """Lay the weights out as one piece of memory where they are for cuDNN, as torch does.

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
        """True if the kernel is slower, not made for this, or would ask for AVX-512."""
        items = x.items if isinstance(x, Indexed) else x
        by_steps = self.steps_on_cpu or items is not x or torch.is_autocast_enabled("cpu")
        return is_transformed() or (on_cpu(items) and by_steps)

    def _run_kernel(self, x: Tensor, state: State, *options: Any) -> tuple[Tensor, ...]:
        """Outputs and the parts of the last state, the options in torch's order."""
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
    r"""torch's LSTM, by its fused kernel where that is the faster one.

    $$i, f, g, o = W_x x_t + b_x + W_h h_{t-1} + b_h, \qquad
      c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh(g), \qquad
      h_t = \sigma(o) \tanh(c_t)$$

    It is called as `torch.nn.LSTM` is and has the same weights by the same names, so that those of
    one load into the other. Beside that it draws its first weights from a generator and says what
    is wrong with an input in words. There is no second direction.
    It goes step by step under the transformations of `torch.func`, for which torch's kernel is not
    made, and on a CPU over `Indexed` sequences and under `torch.autocast`. `NormalizedLSTM` takes
    normalizers, and is the slower one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        dropout: Probability that a hidden state between two layers is dropped in training; drawn
            from torch's global generator, as in torch.
        bidirectional: Refused unless False.
        proj_size: Refused unless 0.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

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
    steps_on_cpu = False

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
        super().__init__(
            input_size,
            hidden_size,
            num_gates=LSTMDynamics.num_gates,
            num_states=LSTMDynamics.num_states,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
            proj_size=proj_size,
        )
        self._finish(device, dtype, generator)

    def _run_kernel(self, x: Tensor, state: State, *options: Any) -> tuple[Tensor, ...]:
        return torch.lstm(x, state, *options)


@final
class GRULayer(FusedLayers):
    r"""torch's gated recurrent unit, by its fused kernel where that is the faster one.

    $$r, z = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h), \qquad
      n = \tanh(W_x' x_t + b_x' + r (W_h' h_{t-1} + b_h')), \qquad
      h_t = (1 - z) n + z h_{t-1}$$

    It is called as `torch.nn.GRU` is and has the same weights by the same names, so that those of
    one load into the other. Beside that it draws its first weights from a generator and says what
    is wrong with an input in words. There is no second direction.
    It goes step by step under the transformations of `torch.func`, for which torch's kernel is not
    made, and on a CPU, where that takes less time. `NormalizedGRU` takes normalizers, and is the
    slower one.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        dropout: Probability that a hidden state between two layers is dropped in training; drawn
            from torch's global generator, as in torch.
        bidirectional: Refused unless False.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

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
    steps_on_cpu = True  # torch's own does too, with gradients of the weights at each

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
        super().__init__(
            input_size,
            hidden_size,
            num_gates=GRUDynamics.num_gates,
            num_states=GRUDynamics.num_states,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
        )
        self._finish(device, dtype, generator)

    def _run_kernel(self, x: Tensor, state: State, *options: Any) -> tuple[Tensor, ...]:
        return torch.gru(x, state[0], *options)
