"""The differentiable neural computer."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import (
    DNCParameters,
    DNCState,
    dnc,
    dnc_interface_sizes,
    lstm_init_,
    uninitialized,
    xavier_normal_,
)
from farfield.nn._recurrent._ntm_layer import controller_size
from farfield.nn._recurrent._sequence_layer import SequenceLayer
from farfield.nn._recurrent._states import State


@final
class DNC(SequenceLayer):
    r"""Let an LSTM write to slots that are free, and read them by content or in order of writing.

    $$M_i \leftarrow M_i (1 - w_i e) + w_i v, \qquad w = g_w (g_a a + (1 - g_a) c), \qquad
      w^r = \pi_1 L^\top w^{r\prime} + \pi_2 c^r + \pi_3 L w^{r\prime}$$

    with $c$ and $c^r$ the likeness to a key, $a$ what is free (`slot_allocation`), and $L$ which
    slot was written after which (`slot_links`). An `NTMLayer` turns from slot to slot instead, and
    overwrites what it cannot tell to be in use.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of features of an output: the controller has `hidden_size - num_heads ×
            slot_size` hidden units.
        num_slots: Number of slots.
        slot_size: Numbers in a slot.
        num_heads: Number of reading heads.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of nine parts, each with an axis
        of 1 before those that `farfield.functional.DNCState` names. Out: the state of the
        controller and behind it what each head has read, `hidden_size` features, and the last
        state.

    Attributes:
        controller: Holds the weights of the LSTM.
        interface: What the controller asks of the memory as one layer;
            `farfield.functional.DNCParameters` names its rows.

    Raises:
        ValueError: If a size is below 1, nothing of `hidden_size` is left for the controller, or
            the input or the state has another shape.

    Reference:
        graves2016, methods. Its outputs go through one more linear layer, which here is the
        network's; the rival of lamb2022, section 8.4.1.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — five are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 16,
        slot_size: Size = 16,
        num_heads: Size = 1,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        self.num_slots, self.slot_size, self.num_heads = num_slots, slot_size, num_heads
        units = controller_size(hidden_size, num_heads * slot_size)
        self.controller = lstm_init_(
            uninitialized(nn.LSTMCell, input_size + num_heads * slot_size, units), generator
        )
        rows = sum(dnc_interface_sizes(num_heads, slot_size))
        self.interface = xavier_normal_(uninitialized(nn.Linear, units, rows), generator)
        self.to(device=device, dtype=dtype)

    def _first_state(self, x: Tensor) -> State:
        units, heads = self.controller.hidden_size, self.num_heads
        slots, size = self.num_slots, self.slot_size
        controller, read, memory = [(units,)] * 2, (heads, size), (slots, size)
        where = [(slots,), (slots,), (slots, slots), (slots,), (heads, slots)]
        shapes = (*controller, read, memory, *where)
        return tuple(x.new_zeros(1, x.shape[1], *shape) for shape in shapes)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        cell = self.controller
        parameters = DNCParameters(
            weight_ih=cell.weight_ih,
            weight_hh=cell.weight_hh,
            bias_ih=cell.bias_ih,
            bias_hh=cell.bias_hh,
            interface_weight=self.interface.weight,
            interface_bias=self.interface.bias,
        )
        outputs, last = dnc(x, parameters, DNCState(*(part.squeeze(0) for part in state)))
        return outputs, tuple(part.unsqueeze(0) for part in last)
