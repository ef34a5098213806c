"""Recurrent layers with an external memory."""

from __future__ import annotations

from typing import Unpack, final

import torch
from torch import Tensor, nn

from farfield.core.internal import Size, take_factory_arguments
from farfield.functional.internal import (
    DNCParameters,
    DNCState,
    EntityNetworkParameters,
    NTMParameters,
    NTMState,
    RelationalMemoryParameters,
    dnc,
    dnc_interface_sizes,
    entity_network,
    linear_layer,
    lstm_controller,
    lstm_weights,
    ntm_heads,
    ntm_states,
    relational_memory,
    uninitialized,
    xavier_layer,
)
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer, slot_size_of
from farfield.nn._recurrent._states import State


@final
class NTMLayer(SequenceLayer):
    r"""LSTM that reads and writes a memory of slots at every step, by content and by location.

    $$r = \sum_i w^r_i M_i, \qquad M_i \leftarrow M_i (1 - w^w_i e) + w^w_i a$$

    with the weights of a reading and of a writing head, found by the cosine with a key, mixed with
    where the head was before, turned by up to one slot, and sharpened. It has the steps of
    `farfield.models.NTM`, which answers once at the end; here every step has an output: the state
    of the controller, then the values read.

    Args:
        hidden_size: Number of features of an output: the controller has `hidden_size - slot_size`
            hidden units.
        num_slots: Number of slots.
        slot_size: Numbers in a slot.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of five parts, each with an axis
        of 1 before those that `NTMState` names. Out: `hidden_size` features,
        and the last state.

    Attributes:
        controller: Holds the weights of the LSTM.
        heads: All heads as one layer; `farfield.functional.internal.NTMParameters` names its rows.
        memory: Contents of the memory at the start of every sequence, learned.

    Raises:
        ValueError: If a size is below 1, nothing of `hidden_size` is left for the controller, or
            the input or the state has another shape.

    Reference:
        graves2014; webb2021, appendix A.3.5; the rival of lamb2022, section 8.4.1.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 16,
        slot_size: Size = 32,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
        generator = options["generator"]
        units = controller_size(hidden_size, slot_size)
        self.controller = lstm_controller(input_size + slot_size, units, generator)
        self.heads = ntm_heads(units, slot_size, generator)
        self.memory = nn.Parameter(torch.empty(num_slots, slot_size))
        nn.init.xavier_normal_(self.memory, generator=generator)

    def _first_state(self, x: Tensor) -> State:
        batch, (slots, size) = x.shape[1], self.memory.shape
        zeros = x.new_zeros(1, batch, self.controller.hidden_size)
        read, weights = x.new_zeros(1, batch, size), x.new_zeros(1, batch, 2, slots)
        return zeros, zeros, read, weights, self.memory.expand(1, batch, -1, -1)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        parameters = NTMParameters(
            **lstm_weights(self.controller),
            heads_weight=self.heads.weight,
            heads_bias=self.heads.bias,
            memory=self.memory,
        )
        begun = NTMState(*(part.squeeze(0) for part in state))
        outputs, last = ntm_states(x, parameters, begun)
        return outputs, tuple(part.unsqueeze(0) for part in last)


def controller_size(hidden_size: int, read_size: int) -> int:
    """Return the number of hidden units of a controller whose outputs include the values read.

    Raises:
        ValueError: If nothing is left for the controller.
    """
    if hidden_size <= read_size:
        raise ValueError(
            f"hidden_size must be more than the {read_size} numbers that are read, for the rest "
            f"is the controller, got {hidden_size}"
        )
    return hidden_size - read_size


@final
class DNC(SequenceLayer):
    r"""LSTM that writes to free slots, and reads slots by content or in order of writing.

    $$M_i \leftarrow M_i (1 - w_i e) + w_i v, \qquad w = g_w (g_a a + (1 - g_a) c), \qquad
      w^r = \pi_1 L^\top w^{r\prime} + \pi_2 c^r + \pi_3 L w^{r\prime}$$

    with $c$ and $c^r$ the similarity to a key, $a$ the allocation of free slots
    (`slot_allocation`), and $L$ the order of writing (`slot_links`). An `NTMLayer` turns from slot
    to slot instead, and cannot see which slots are in use.

    Args:
        hidden_size: Number of features of an output: the controller has `hidden_size - num_heads ×
            slot_size` hidden units.
        num_slots: Number of slots.
        slot_size: Numbers in a slot.
        num_heads: Number of reading heads.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of nine parts, each with an axis
        of 1 before those that `farfield.functional.internal.DNCState` names. Out: the state of the
        controller, then the values that each head has read, `hidden_size` features, and the last
        state.

    Attributes:
        controller: Holds the weights of the LSTM.
        interface: Requests of the controller to the memory as one layer;
            `farfield.functional.internal.DNCParameters` names its rows.

    Raises:
        ValueError: If a size is below 1, nothing of `hidden_size` is left for the controller, or
            the input or the state has another shape.

    Reference:
        graves2016, methods. Its outputs go through one more linear layer, which here is the
        network's; the rival of lamb2022, section 8.4.1.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 16,
        slot_size: Size = 16,
        num_heads: Size = 1,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
        generator = options["generator"]
        self.num_slots, self.slot_size, self.num_heads = num_slots, slot_size, num_heads
        units = controller_size(hidden_size, num_heads * slot_size)
        self.controller = lstm_controller(input_size + num_heads * slot_size, units, generator)
        rows = sum(dnc_interface_sizes(num_heads, slot_size))
        self.interface = linear_layer(units, rows, generator)

    def _first_state(self, x: Tensor) -> State:
        units, heads = self.controller.hidden_size, self.num_heads
        slots, size = self.num_slots, self.slot_size
        controller, read, memory = [(units,)] * 2, (heads, size), (slots, size)
        where = [(slots,), (slots,), (slots, slots), (slots,), (heads, slots)]
        shapes = (*controller, read, memory, *where)
        return tuple(x.new_zeros(1, x.shape[1], *shape) for shape in shapes)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        parameters = DNCParameters(
            **lstm_weights(self.controller),
            interface_weight=self.interface.weight,
            interface_bias=self.interface.bias,
        )
        outputs, last = dnc(x, parameters, DNCState(*(part.squeeze(0) for part in state)))
        return outputs, tuple(part.unsqueeze(0) for part in last)


@final
class EntNet(SequenceLayer):
    r"""Memory of slots, each of which reads inputs near to it or to its key, at constant length.

    $$g_j = \sigma(s \cdot h_j + s \cdot w_j), \qquad
      \tilde h_j = \phi(U h_j + V w_j + W s), \qquad
      h_j \leftarrow \frac{h_j + g_j \tilde h_j}{\|h_j + g_j \tilde h_j\|}$$

    The paper's inputs are sentences, encoded by a sum of weighted words; here they are vectors,
    and $s$ is a linear layer of them. The paper's answer is read with a question, by attention to
    the slots; a layer has no question, so its outputs are all slots, concatenated, from which the
    next layer can read each. In a `RelationalMemoryCore` slots see each other; these do not.

    Args:
        hidden_size: Number of features of an output, the numbers of all slots.
        num_slots: Number of slots; must divide `hidden_size`.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state `(1, batch, num_slots,
        hidden_size / num_slots)`, the slots. Out: `hidden_size` features, and the last state.

    Attributes:
        encode: The linear layer on the inputs.
        keys: The keys $w_j$, which are the initial slots too.
        slot, key, input: The matrices $U$, $V$ and $W$.
        slope: Of $\phi$ below zero, for each number of a slot; it begins as 1, so that $\phi$
            begins as the identity.

    Raises:
        ValueError: If a size is below 1, the slots do not divide `hidden_size`, or the input or
            the state has another shape.

    Reference:
        henaff2017, section 2; first weights from a normal of deviation 0.1, as in its section 4.1;
        the rival of lamb2022, section 8.4.1.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 4,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
        generator = options["generator"]
        size = slot_size_of(hidden_size, num_slots)
        self.encode = xavier_layer(input_size, size, generator)
        self.keys = nn.Parameter(torch.empty(num_slots, size))
        nn.init.normal_(self.keys, std=0.1, generator=generator)
        self.slot, self.key, self.input = (
            uninitialized(nn.Linear, size, size, bias=False) for _ in range(3)
        )
        for layer in (self.slot, self.key, self.input):
            nn.init.normal_(layer.weight, std=0.1, generator=generator)
        self.slope = nn.Parameter(torch.ones(size))

    def _first_state(self, x: Tensor) -> State:
        return (self.keys.expand(1, x.shape[1], -1, -1),)

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        parameters = EntityNetworkParameters(
            encode_weight=self.encode.weight,
            encode_bias=self.encode.bias,
            keys=self.keys,
            slot_weight=self.slot.weight,
            key_weight=self.key.weight,
            input_weight=self.input.weight,
            slope=self.slope,
        )
        outputs, last = entity_network(x, state[0].squeeze(0), parameters)
        return outputs, (last.unsqueeze(0),)


@final
class RelationalMemoryCore(SequenceLayer):
    r"""Memory of slots that attend to each other and to the input, each gated as in an LSTM.

    $$\tilde M = \mathrm{softmax}\left(\frac{M W_q ([M; x] W_k)^\top}{\sqrt d}\right) [M; x] W_v,
      \qquad m_i \leftarrow \sigma(f_i) m_i + \sigma(e_i) \, g(\tilde m_i), \qquad
      h_i = \sigma(o_i) \tanh(m_i)$$

    in each head (`relational_memory`). The gates $f_i$, $e_i$ and $o_i$ come from the input and
    from $h_i$ before the step. An LSTM of the same width mixes all units by one large matrix; here
    the slots share their weights and mix by attention alone. They begin as the rows of an
    identity, since slots that begin alike would stay alike.

    Args:
        hidden_size: Number of features of an output, the hidden states of all slots.
        num_slots: Number of slots; must divide `hidden_size` into slots of at least as many
            numbers as there are slots.
        num_heads: Number of attention heads; must divide the size of a slot.
        unit_gates: True for gates per element of a slot, False for gates per slot.
        forget_bias: First bias of the forget gate.

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

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 4,
        num_heads: Size = 4,
        unit_gates: bool = True,
        forget_bias: float = 1.0,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
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
            return xavier_layer(inputs, outputs, options["generator"], bias=bias)

        gates = 3 * (size if unit_gates else 1)
        self.encode = drawn(input_size, size)
        self.attention = drawn(size, 3 * size, bias=False)
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.mlp1, self.mlp2 = drawn(size, size), drawn(size, size)
        self.gates_input = drawn(input_size, gates)
        self.gates_hidden = drawn(size, gates, bias=False)
        nn.init.constant_(self.gates_input.bias[: gates // 3], forget_bias)

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
