"""The recurrent entity network as a layer over vectors."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import (
    EntityNetworkParameters,
    entity_network,
    uninitialized,
    xavier_uniform_,
)
from farfield.nn._recurrent._sequence_layer import SequenceLayer, slot_size_of
from farfield.nn._recurrent._states import State


@final
class EntNet(SequenceLayer):
    r"""Let each slot take in what is near to it or to its key, and keep its length.

    $$g_j = \sigma(s \cdot h_j + s \cdot w_j), \qquad
      \tilde h_j = \phi(U h_j + V w_j + W s), \qquad
      h_j \leftarrow \frac{h_j + g_j \tilde h_j}{\|h_j + g_j \tilde h_j\|}$$

    The paper's inputs are sentences, encoded by a sum of weighted words; here they are vectors,
    and $s$ is a linear layer of them. The paper's answer is read with a question, by attention to
    the slots; a layer has no question, so its outputs are all slots side by side, from which what
    follows can read each. In a `RelationalMemoryCore` slots see each other; these do not.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of features of an output, the numbers of all slots.
        num_slots: Number of slots; must divide `hidden_size`.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        device: Where the weights are.
        dtype: Of the weights.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state `(1, batch, num_slots,
        hidden_size / num_slots)`, the slots. Out: `hidden_size` features, and the last state.

    Attributes:
        encode: The linear layer on the inputs.
        keys: The keys $w_j$, which are what the slots begin as too.
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

    @check_arguments
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_slots: Size = 4,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, batch_first=batch_first)
        size = slot_size_of(hidden_size, num_slots)
        self.encode = xavier_uniform_(uninitialized(nn.Linear, input_size, size), generator)
        self.keys = nn.Parameter(torch.empty(num_slots, size))
        nn.init.normal_(self.keys, std=0.1, generator=generator)
        self.slot, self.key, self.input = (
            uninitialized(nn.Linear, size, size, bias=False) for _ in range(3)
        )
        for layer in (self.slot, self.key, self.input):
            nn.init.normal_(layer.weight, std=0.1, generator=generator)
        self.slope = nn.Parameter(torch.ones(size))
        self.to(device=device, dtype=dtype)

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
