"""The recurrence of the ESBN as autograd differentiates it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._lstm_step import lstm_step


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


def esbn_plain(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> Tensor:
    """What `farfield.functional.esbn` computes, step by step.

    Keeps nothing beyond the keys, so it is also what runs where no gradient is wanted.
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
        retrieved = weights[:, read, :1] * keys[0]
        for slot, key in enumerate(keys[1:], start=1):
            retrieved = torch.addcmul(retrieved, weights[:, read, slot, None], key)
        if confidence is not None:
            retrieved = torch.cat((retrieved, confidence[:, read, None]), dim=-1)
        inputs = F.linear(gate * retrieved, parameters.weight_ih) + bias
    state, _ = lstm_step(F.linear(state, parameters.weight_hh) + inputs, cell)
    return state.expand(weights.shape[0], -1)
