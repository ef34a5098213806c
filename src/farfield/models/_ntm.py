"""The Neural Turing Machine."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core import Size, check_arguments
from farfield.functional import (
    NTMParameters,
    lstm_init_,
    ntm,
    ntm_head_sizes,
    ntm_heads_init_,
    uninitialized,
    xavier_normal_,
)
from farfield.models._checks import check_sequence


@final
class NTM(nn.Module):
    r"""Let an LSTM read and write a memory of slots, by content and by place, and answer.

    At each place one head reads a mixture of slots, $r = \sum_i w_i M_i$, which the controller
    sees beside the next embedding, and another then erases and adds, $M_i \leftarrow
    M_i (1 - w_i e) + w_i a$. Both find their slots by the cosine with a key, mixed with where they
    were before, turned by up to one slot, and sharpened. After the last place the controller makes
    one more step, and the answer is read from its state. `ESBN` stores every embedding untouched
    and computes with keys alone; here embeddings and memory mix in the controller.

    Args:
        in_features: Size of an embedding.
        num_outputs: Numbers in an answer.
        hidden_size: Hidden units of the controller.
        num_slots: Number of slots.
        slot_size: Numbers in a slot.
        first_read: Whether the memory is read at the first place already. The released code does
            so from the second on.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, time, in_features)` to `(batch, num_outputs)`, for any time of at least 1.

    Attributes:
        controller: Holds the weights of the LSTM.
        heads: All heads as one layer; `farfield.functional.NTMParameters` names its rows.
        memory: What the memory holds at the start of every sequence, learned.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1.

    Reference:
        Graves et al. 2014; webb2021, appendix A.3.5. The sharpening is not specified there and
        starts as the strength of the key does, the other softplus unit.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        num_slots: Size = 10,
        slot_size: Size = 256,
        first_read: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.first_read = first_read
        self.controller = lstm_init_(
            uninitialized(nn.LSTMCell, in_features + slot_size, hidden_size), generator
        )
        self.heads = ntm_heads_init_(
            uninitialized(nn.Linear, hidden_size, sum(ntm_head_sizes(slot_size))),
            slot_size,
            generator,
        )
        self.memory = nn.Parameter(torch.empty(num_slots, slot_size))
        nn.init.xavier_normal_(self.memory, generator=generator)
        self.output = xavier_normal_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)

    @classmethod
    def released(
        cls, in_features: int, num_outputs: int, *, generator: torch.Generator | None = None
    ) -> NTM:
        """As in webb2021's released code: nothing is read at the first place.

        Args:
            in_features: Size of an embedding.
            num_outputs: Numbers in an answer.
            generator: Where the first weights are drawn from; None is torch's global generator.
        """
        return cls(in_features, num_outputs, first_read=False, generator=generator)

    def forward(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch _"]:
        """Answer every problem of a batch."""
        check_sequence(z, self.in_features)
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
        return self.output(ntm(z, parameters, first_read=self.first_read))
