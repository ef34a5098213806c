"""The Neural Turing Machine as a layer over sequences."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import (
    NTMParameters,
    NTMState,
    lstm_init_,
    ntm_head_sizes,
    ntm_heads_init_,
    ntm_states,
    uninitialized,
)
from farfield.nn._recurrent._sequence_layer import SequenceLayer
from farfield.nn._recurrent._states import State


@final
class NTMLayer(SequenceLayer):
    r"""Let an LSTM read and write a memory of slots at every step, by content and by place.

    $$r = \sum_i w^r_i M_i, \qquad M_i \leftarrow M_i (1 - w^w_i e) + w^w_i a$$

    with the weights of a reading and of a writing head, found by the cosine with a key, mixed with
    where the head was before, turned by up to one slot, and sharpened. It has the steps of
    `farfield.models.NTM`, which answers once at the end; here every step has an output, the state
    of the controller and behind it what was read.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of features of an output: the controller has `hidden_size - slot_size`
            hidden units.
        num_slots: Number of slots.
        slot_size: Numbers in a slot.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of five parts, each with an axis
        of 1 before those that `farfield.functional.NTMState` names. Out: `hidden_size` features,
        and the last state.

    Attributes:
        controller: Holds the weights of the LSTM.
        heads: All heads as one layer; `farfield.functional.NTMParameters` names its rows.
        memory: What the memory holds at the start of every sequence, learned.

    Raises:
        ValueError: If a size is below 1, nothing of `hidden_size` is left for the controller, or
            the input or the state has another shape.

    Reference:
        graves2014; webb2021, appendix A.3.5; the rival of lamb2022, section 8.4.1.
    """

    @check_arguments
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 16,
        slot_size: Size = 32,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        units = controller_size(hidden_size, slot_size)
        self.controller = lstm_init_(
            uninitialized(nn.LSTMCell, input_size + slot_size, units), generator
        )
        heads = uninitialized(nn.Linear, units, sum(ntm_head_sizes(slot_size)))
        self.heads = ntm_heads_init_(heads, slot_size, generator)
        self.memory = nn.Parameter(torch.empty(num_slots, slot_size))
        nn.init.xavier_normal_(self.memory, generator=generator)
        self.to(device=device, dtype=dtype)

    def _first_state(self, x: Tensor) -> State:
        batch, (slots, size) = x.shape[1], self.memory.shape
        zeros = x.new_zeros(1, batch, self.controller.hidden_size)
        read, weights = x.new_zeros(1, batch, size), x.new_zeros(1, batch, 2, slots)
        return zeros, zeros, read, weights, self.memory.expand(1, batch, -1, -1)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        cell = self.controller
        parameters = NTMParameters(
            weight_ih=cell.weight_ih,
            weight_hh=cell.weight_hh,
            bias_ih=cell.bias_ih,
            bias_hh=cell.bias_hh,
            heads_weight=self.heads.weight,
            heads_bias=self.heads.bias,
            memory=self.memory,
        )
        begun = NTMState(*(part.squeeze(0) for part in state))
        outputs, last = ntm_states(x, parameters, begun)
        return outputs, tuple(part.unsqueeze(0) for part in last)


def controller_size(hidden_size: int, read_size: int) -> int:
    """Hidden units of a controller where outputs are its state and what was read.

    Raises:
        ValueError: If nothing is left for the controller.
    """
    if hidden_size <= read_size:
        raise ValueError(
            f"hidden_size must be more than the {read_size} numbers that are read, for the rest "
            f"is the controller, got {hidden_size}"
        )
    return hidden_size - read_size
