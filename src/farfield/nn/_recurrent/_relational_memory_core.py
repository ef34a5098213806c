"""The relational memory core."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import (
    RelationalMemoryParameters,
    relational_memory,
    uninitialized,
    xavier_uniform_,
)
from farfield.nn._recurrent._sequence_layer import SequenceLayer, slot_size_of
from farfield.nn._recurrent._states import State


@final
class RelationalMemoryCore(SequenceLayer):
    r"""Let the slots of a memory attend to each other and to the input, each gated as an LSTM is.

    $$\tilde M = \mathrm{softmax}\left(\frac{M W_q ([M; x] W_k)^\top}{\sqrt d}\right) [M; x] W_v,
      \qquad m_i \leftarrow \sigma(f_i) m_i + \sigma(e_i) \, g(\tilde m_i), \qquad
      h_i = \sigma(o_i) \tanh(m_i)$$

    in each head (`relational_memory`). The gates $f_i$, $e_i$ and $o_i$ come from the input and
    from $h_i$ before the step. An LSTM of the same width mixes all units by one large matrix; here
    the slots share their weights and mix by attention alone. They begin as the rows of an
    identity, since slots that begin alike would stay alike.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of features of an output, the hidden states of all slots.
        num_slots: Number of slots; must divide `hidden_size` into slots of at least as many
            numbers as there are slots.
        num_heads: Number of attention heads; must divide the size of a slot.
        unit_gates: Whether each number of a slot has gates of its own, or each slot.
        forget_bias: First bias of the forget gate.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of two times `(1, batch,
        num_slots, hidden_size / num_slots)`, memory and hidden states. Out: `hidden_size` features,
        and the last state.

    Attributes:
        encode: Makes an input a row like those of the memory.
        attention: Queries, keys and values of all heads.
        norm1, norm2: The layer normalizations behind attention and network.
        mlp1, mlp2: The network of each slot.
        gates_input, gates_hidden: The gates, in the order forget, input, output.

    Raises:
        ValueError: If a size is below 1, slots or heads do not divide, the slots are more than
            their numbers, or the input or the state has another shape.

    Reference:
        santoro2018, section 3, by its text. Its released code has no output gate, and normalizes
        queries, keys and values; the rival of lamb2022, section 8.4.1.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — five are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 4,
        num_heads: Size = 4,
        unit_gates: bool = True,
        forget_bias: float = 1.0,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        self.num_slots, self.num_heads = num_slots, num_heads
        self.slot_size = size = slot_size_of(hidden_size, num_slots)
        if size % num_heads:
            raise ValueError(f"num_heads must divide slots of {size} numbers, got {num_heads}")
        if size < num_slots:
            raise ValueError(
                f"num_slots must be at most the numbers of a slot, for all to begin differently; "
                f"hidden_size={hidden_size} in num_slots={num_slots} makes {size}"
            )

        def drawn(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
            return xavier_uniform_(uninitialized(nn.Linear, inputs, outputs, bias), generator)

        gates = 3 * (size if unit_gates else 1)
        self.encode = drawn(input_size, size)
        self.attention = drawn(size, 3 * size, bias=False)
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.mlp1, self.mlp2 = drawn(size, size), drawn(size, size)
        self.gates_input = drawn(input_size, gates)
        self.gates_hidden = drawn(size, gates, bias=False)
        nn.init.constant_(self.gates_input.bias[: gates // 3], forget_bias)
        self.to(device=device, dtype=dtype)

    def _first_state(self, x: Tensor) -> State:
        eye = torch.eye(self.num_slots, self.slot_size, dtype=x.dtype, device=x.device)
        memory = eye.expand(1, x.shape[1], -1, -1)
        return memory, torch.zeros_like(memory)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        parameters = RelationalMemoryParameters(
            encode_weight=self.encode.weight,
            encode_bias=self.encode.bias,
            attention_weight=self.attention.weight,
            norm1_weight=self.norm1.weight,
            norm1_bias=self.norm1.bias,
            mlp1_weight=self.mlp1.weight,
            mlp1_bias=self.mlp1.bias,
            mlp2_weight=self.mlp2.weight,
            mlp2_bias=self.mlp2.bias,
            norm2_weight=self.norm2.weight,
            norm2_bias=self.norm2.bias,
            gates_input_weight=self.gates_input.weight,
            gates_hidden_weight=self.gates_hidden.weight,
            gates_bias=self.gates_input.bias,
        )
        memory, hidden = (part.squeeze(0) for part in state)
        outputs, *last = relational_memory(x, memory, hidden, parameters, num_heads=self.num_heads)
        return outputs, tuple(part.unsqueeze(0) for part in last)
