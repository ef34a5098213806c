"""The recurrence of the ESBN forward, recorded for a gradient by hand.

What is the same for all problems is computed for one: the first two steps (zero input, zero state)
and every product of the third, whose input mixes keys that all problems share. Everything stands
feature by batch.

Places count from 0. Step t leaves the state h_t and, up to the last place but one, the key k_t.
The gate g_t scales what place t ≥ 1 reads, r_t, and step t + 1 receives x_{t+1} = g_t r_t. With T
places there are T + 1 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import add_product
from farfield.functional._esbn._esbn_plain import ESBNParameters
from farfield.functional._recurrent._lstm_step import StepByHand, step_by_hand


class Tape(NamedTuple):
    """Saved tensors of the forward pass, all `(feature, batch)` or `(feature, 1)`.

    Attributes:
        steps: Steps 0 to T.
        keys: k_0 to k_{T−2}.
        gates: g_1 to g_{T−1}.
        reads: r_2 to r_{T−1}, the confidence as last row, if any.
        projected: What the controller makes of each column of `shared_inputs`.
    """

    steps: Sequence[StepByHand]
    keys: Sequence[Tensor]
    gates: Sequence[Tensor]
    reads: Sequence[Tensor]
    projected: Tensor

    def flat(self) -> tuple[Tensor, ...]:
        """All tensors in a row, as an autograd function must return them."""
        return (*chain(*self.steps), *self.keys, *self.gates, *self.reads, self.projected)


def unflatten(flat: Sequence[Tensor], length: int) -> Tape:
    """The tape of a sequence of `length` places from what `Tape.flat` gave."""
    rest = iter(flat)
    steps = [StepByHand(*islice(rest, len(StepByHand._fields))) for _ in range(length + 1)]
    keys, gates = list(islice(rest, length - 1)), list(islice(rest, length - 1))
    return Tape(steps, keys, gates, list(islice(rest, length - 2)), next(rest))


def record(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> Tape:
    """All steps forward."""
    slots = weights.permute(1, 2, 0).contiguous()
    bias = (parameters.bias_ih + parameters.bias_hh).unsqueeze(1)
    steps = [step_by_hand(bias.clone(), None)]
    keys = [_written_key(steps[0].state, parameters)]
    steps.append(_step(bias, steps[0], parameters))
    gates = [_gate(steps[1].state, parameters)]
    projected = parameters.weight_ih @ shared_inputs(keys[0], confidence, parameters)
    received = gates[0] * first_mixture(weights, confidence, parameters)
    steps.append(_step(bias, steps[1], parameters, projected, received))
    reads: list[Tensor] = []
    for place in range(2, weights.shape[1] + 1):
        keys.append(_written_key(steps[place - 1].state, parameters))
        gates.append(_gate(steps[place].state, parameters))
        read = weighted_sum(memory(keys, parameters), slots[place - 1])
        if confidence is not None:
            read = torch.cat((read, confidence[:, place - 1].unsqueeze(0)))
        reads.append(read)
        steps.append(_step(bias, steps[place], parameters, parameters.weight_ih, gates[-1] * read))
    return Tape(steps, keys, gates, reads, projected)


def _step(
    bias: Tensor,
    before: StepByHand,
    parameters: ESBNParameters,
    weight: Tensor | None = None,
    received: Tensor | None = None,
) -> StepByHand:
    """The step after `before`, which receives `received` through `weight`, or nothing."""
    inputs = add_product(bias, parameters.weight_hh, before.state)
    if weight is not None and received is not None:
        inputs = add_product(inputs, weight, received)
    return step_by_hand(inputs, before.cell)


def _written_key(state: Tensor, parameters: ESBNParameters) -> Tensor:
    return add_product(parameters.key_bias.unsqueeze(1), parameters.key_weight, state).relu_()


def _gate(state: Tensor, parameters: ESBNParameters) -> Tensor:
    return torch.addmm(parameters.gate_bias.unsqueeze(1), parameters.gate_weight, state).sigmoid_()


def memory(keys: Sequence[Tensor], parameters: ESBNParameters) -> list[Tensor]:
    """Keys by slot: the default, if any, stands before those written."""
    default = parameters.default_key
    return [*keys] if default is None else [default.unsqueeze(1), *keys]


def weighted_sum(terms: Sequence[Tensor], weights: Tensor) -> Tensor:
    """Sum of `(feature, batch)` terms, each times its row of `(term, batch)` weights."""
    total = terms[0] * weights[0]
    for number, term in enumerate(terms[1:], start=1):
        total = torch.addcmul(total, term, weights[number])
    return total


def shared_inputs(
    first_key: Tensor, confidence: Tensor | None, parameters: ESBNParameters
) -> Tensor:
    """Columns that the first read mixes: its keys, and a unit vector for the confidence, if any."""
    columns = torch.cat(memory([first_key], parameters), dim=1)
    if confidence is None:
        return columns
    padded = F.pad(columns, (0, 1, 0, 1))
    padded[-1, -1] = 1.0
    return padded


def first_mixture(weights: Tensor, confidence: Tensor | None, parameters: ESBNParameters) -> Tensor:
    """Weights of the first read for the columns of `shared_inputs`, `(column, batch)`."""
    num_keys = 1 if parameters.default_key is None else 2
    mixture = weights[:, 0, :num_keys].t()
    return mixture if confidence is None else torch.cat((mixture, confidence[:, :1].t()))
