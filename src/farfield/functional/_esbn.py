"""The recurrence of the emergent symbol binding network."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._lstm import lstm_step


class ESBNParameters(NamedTuple):
    """Weights of the controller and of its two heads, for H hidden units and keys of K numbers.

    Attributes:
        weight_ih: Controller, from the retrieved key and its confidence, if any: (4H, K + 1).
        weight_hh: Controller, from its own state: (4H, H).
        bias_ih: Controller: (4H).
        bias_hh: Controller: (4H).
        key_weight: Head of the written key: (K, H).
        key_bias: Head of the written key: (K).
        gate_weight: Head of the gate on what is read: (1, H).
        gate_bias: Head of the gate on what is read: (1).
        default_key: Key that stands in the memory from the start: (K), or None.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor
    key_weight: Tensor
    key_bias: Tensor
    gate_weight: Tensor
    gate_bias: Tensor
    default_key: Tensor | None = None


def esbn(
    weights: Float[Tensor, "batch time slot"],
    confidence: Float[Tensor, "batch time"] | None,
    parameters: ESBNParameters,
) -> Float[Tensor, "batch _"]:
    r"""Last hidden state of an LSTM that sees a sequence only through keys it bound to it.

    $$h_t = \mathrm{LSTM}(h_{t-1}, k^r_{t-1}), \qquad
      k^w_t = \mathrm{ReLU}(W_k h_t + b_k), \qquad
      g_t = \sigma(w_g h_t + b_g), \qquad
      k^r_t = g_t \sum_{i<t} w_{ti} \, (k^w_i \parallel c_{ti})$$

    with nothing read at the first place and one more LSTM step after the last. The weights $w$
    and confidences $c$ come from the embeddings alone, so they are given for all places at once.

    Args:
        weights: $w$ from the second place on, zero for slots not yet written. With a default key
            its slot comes first.
        confidence: $\sum_i w_{ti} c_{ti}$, or None for a controller that is not told.
        parameters: Weights of the controller and its heads.

    Returns:
        The hidden state after the extra step, from which the answer is read.

    Reference:
        webb2021, algorithm 1 and appendix A.3.3.
    """
    bias = parameters.bias_ih + parameters.bias_hh
    # Zero input and zero state: until something is read, all problems share one row.
    state, cell = lstm_step(bias.unsqueeze(0), bias.new_zeros(()))
    keys = [] if parameters.default_key is None else [parameters.default_key.unsqueeze(0)]
    inputs = bias
    for read in range(weights.shape[1]):
        keys.append(torch.relu(F.linear(state, parameters.key_weight, parameters.key_bias)))
        state, cell = lstm_step(F.linear(state, parameters.weight_hh) + inputs, cell)
        gate = torch.sigmoid(F.linear(state, parameters.gate_weight, parameters.gate_bias))
        retrieved = sum(
            (weights[:, read, slot, None] * key for slot, key in enumerate(keys[1:], start=1)),
            start=weights[:, read, :1] * keys[0],
        )
        if confidence is not None:
            retrieved = torch.cat((retrieved, confidence[:, read, None]), dim=-1)
        inputs = F.linear(gate * retrieved, parameters.weight_ih) + bias
    state, _ = lstm_step(F.linear(state, parameters.weight_hh) + inputs, cell)
    return state.expand(weights.shape[0], -1)
