"""The recurrence of the ESBN as autograd differentiates it, and the keys that pass through it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._recurrent._lstm_step import lstm_step


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


class ESBNKeys(NamedTuple):
    """Keys that an ESBN writes and reads, position by position.

    Attributes:
        written: Key bound to the embedding of each place.
        read: Key that each place retrieves, the weighted sum of the keys of earlier places, before
            the gate and without the confidence; zero at the first place, which reads nothing.
    """

    written: Float[Tensor, "batch time key"]
    read: Float[Tensor, "batch time key"]


class _Passed(NamedTuple):
    """States and keys of the recurrence.

    Attributes:
        written: Keys of all places but the last, whose key nothing reads.
        read: Keys retrieved at all places but the first.
        before: Hidden state at the last place.
        after: Hidden state after the extra step.
    """

    written: list[Tensor]
    read: list[Tensor]
    before: Tensor
    after: Tensor


def _pass(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> _Passed:
    """The recurrence, step by step; until something is read, all problems share one row."""
    bias = parameters.bias_ih + parameters.bias_hh
    # Zero input and zero state.
    state, cell = lstm_step(bias.unsqueeze(0), bias.new_zeros(()))
    default = [] if parameters.default_key is None else [parameters.default_key.unsqueeze(0)]
    written: list[Tensor] = []
    reads: list[Tensor] = []
    inputs = bias
    for read in range(weights.shape[1]):
        written.append(_written_key(state, parameters))
        state, cell = lstm_step(F.linear(state, parameters.weight_hh) + inputs, cell)
        gate = torch.sigmoid(F.linear(state, parameters.gate_weight, parameters.gate_bias))
        first, *others = (*default, *written)
        retrieved = weights[:, read, :1] * first
        for slot, key in enumerate(others, start=1):
            retrieved = torch.addcmul(retrieved, weights[:, read, slot, None], key)
        reads.append(retrieved)
        if confidence is not None:
            retrieved = torch.cat((retrieved, confidence[:, read, None]), dim=-1)
        inputs = F.linear(gate * retrieved, parameters.weight_ih) + bias
    after, _ = lstm_step(F.linear(state, parameters.weight_hh) + inputs, cell)
    return _Passed(written, reads, before=state, after=after)


def _written_key(state: Tensor, parameters: ESBNParameters) -> Tensor:
    return torch.relu(F.linear(state, parameters.key_weight, parameters.key_bias))


def esbn_plain(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> Tensor:
    """`farfield.functional.esbn`, step by step.

    Keeps nothing beyond the keys, so it is also what runs where no gradient is wanted.
    """
    return _pass(weights, confidence, parameters).after.expand(weights.shape[0], -1)


def keys_plain(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> ESBNKeys:
    """`farfield.functional.esbn_keys`, step by step."""
    passed = _pass(weights, confidence, parameters)
    last = _written_key(passed.before, parameters)
    nothing = last.new_zeros(1, last.shape[-1])
    written, read = (
        torch.stack([key.expand(weights.shape[0], -1) for key in keys], dim=1)
        for keys in ([*passed.written, last], [nothing, *passed.read])
    )
    return ESBNKeys(written=written, read=read)
