"""The gradient of the ESBN's recurrence, written out, from the tape of the forward pass.

Autograd forms one product for the gradient of each weight matrix at every step; here the steps are
laid side by side and each matrix gets one product. Notation as in `_esbn_tape`; d of a quantity is
the gradient of the loss by it. Step t has the gate inputs a_t; g_t = σ(p_t), k_t = relu(u_t), and
w_ti is the weight of slot i at position t.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._gradient_of_gradient import Gradients
from farfield.functional._autograd._products import add_product, product
from farfield.functional._esbn._esbn_plain import ESBNParameters
from farfield.functional._esbn._esbn_tape import (
    Tape,
    first_mixture,
    memory,
    shared_inputs,
    weighted_sum,
)
from farfield.functional._recurrent._lstm_step import gradient_of_step


def rewind(
    state: Tensor,
    weights: Tensor,
    confidence: Tensor | None,
    parameters: ESBNParameters,
    tape: Tape,
) -> Gradients:
    """Gradients of weights, confidence and parameters, from that of the last hidden state."""
    slots = weights.permute(1, 2, 0).contiguous()
    mixture = first_mixture(weights, confidence, parameters)
    late = _rewind_late(state, slots, parameters, tape)
    early = _rewind_early(late, slots, mixture, parameters, tape)
    return (
        _gradient_of_weights(late, early, slots, parameters, tape),
        _gradient_of_confidence(late, early) if confidence is not None else None,
        *_gradients_of_parameters(late, early, confidence, parameters, tape),
    )


class _Late(NamedTuple):
    """Gradients of what happens at places 2 to T − 1, and of what stands before.

    Attributes:
        inputs: Of the gate inputs of steps 3 to T.
        reads: Of r_2 to r_{T−1}.
        gates: Of the inputs of g_2 to g_{T−1}.
        keys: Of the inputs of k_2 to k_{T−2}.
        state: Of h_2.
        cell: Of the cell of step 2, from later steps; None where there are none.
    """

    inputs: list[Tensor]
    reads: list[Tensor]
    gates: list[Tensor]
    keys: list[Tensor]
    state: Tensor
    cell: Tensor | None


def _rewind_late(state: Tensor, slots: Tensor, parameters: ESBNParameters, tape: Tape) -> _Late:
    """Back from the last step, whose state has the gradient `state`, to step 3."""
    shift = len(slots[0]) - len(slots)
    size = len(parameters.key_weight)
    # Transposed once, where products would each walk them crosswise.
    weight_ih, weight_hh, key_weight = (
        weight.t().contiguous()
        for weight in (parameters.weight_ih, parameters.weight_hh, parameters.key_weight)
    )
    inputs: list[Tensor] = []
    reads: list[Tensor] = []
    gates: list[Tensor] = []
    keys: list[Tensor] = []
    cell: Tensor | None = None
    for place in range(len(slots), 1, -1):
        after = tape.steps[place + 1]
        total, cell = gradient_of_step(after, tape.steps[place].cell, state, cell)
        # dx_{t+1} = W_ihᵀ da_{t+1}
        received = product(weight_ih, total)
        # dp_t = (dx_{t+1} · r_t) g_t (1 − g_t)
        gate = tape.gates[place - 1]
        opened = (received * tape.reads[place - 2]).sum(0, keepdim=True) * (gate - gate.square())
        # dh_t = W_hhᵀ da_{t+1} + W_gᵀ dp_t + W_kᵀ du_t
        state = product(weight_hh, total)
        state = torch.addmm(state, parameters.gate_weight.t(), opened)
        if reads:
            # du_t = [k_t > 0] Σ_{s>t} w_st dr_s
            written = weighted_sum(
                [read[:size] for read in reads], slots[place:, place + shift].flip(0)
            )
            keys.append(written * (tape.keys[place] > 0))
            state = add_product(state, key_weight, keys[-1])
        inputs.append(total)
        reads.append(gate * received)  # dr_t = g_t dx_{t+1}
        gates.append(opened)
    return _Late(inputs[::-1], reads[::-1], gates[::-1], keys[::-1], state, cell)


class _Early(NamedTuple):
    """Gradients of what happens at places 0 and 1, and at step 2.

    Attributes:
        inputs: Of the gate inputs of steps 0, 1 and 2, the last summed over the batch.
        projected: Of the shared inputs of step 2 as the controller sees them.
        mixture: Of their mixture.
        gate: Of the input of g_1.
        keys: Of the inputs of k_0 and, if anything reads it, k_1.
        default_key: Of the default key, or None.
    """

    inputs: tuple[Tensor, Tensor, Tensor]
    projected: Tensor
    mixture: Tensor
    gate: Tensor
    keys: list[Tensor]
    default_key: Tensor | None


def _rewind_early(
    late: _Late, slots: Tensor, mixture: Tensor, parameters: ESBNParameters, tape: Tape
) -> _Early:
    """Back from step 2 to step 0; all but the first lines are about one column for all problems."""
    gate = tape.gates[0]
    third, cell = gradient_of_step(tape.steps[2], tape.steps[1].cell, late.state, late.cell)
    # With a_2 = P g_1 m + …: dP = da_2 (g_1 m)ᵀ, d(g_1 m) = Pᵀ da_2
    projected = third @ (gate * mixture).t()
    received = tape.projected.t() @ third
    opened = (received * mixture).sum().reshape(1, 1) * (gate - gate.square())
    of_memory = _gradient_of_shared_keys(late, slots, projected, parameters)
    written = of_memory if parameters.default_key is None else of_memory[1:]
    keys = [column * (key > 0) for column, key in zip(written, tape.keys[:2], strict=True)]
    # dh_1 = W_hhᵀ da_2 + W_gᵀ dp_1 + W_kᵀ du_1, dh_0 = W_hhᵀ da_1 + W_kᵀ du_0
    third = third.sum(1, keepdim=True)
    state = parameters.weight_hh.t() @ third + parameters.gate_weight.t() * opened
    if len(keys) > 1:
        state = state + parameters.key_weight.t() @ keys[1]
    before = tape.steps[0].cell
    second, cell = gradient_of_step(tape.steps[1], before, state, cell.sum(1, keepdim=True))
    state = parameters.weight_hh.t() @ second + parameters.key_weight.t() @ keys[0]
    first, _ = gradient_of_step(tape.steps[0], None, state, cell)
    default = None if parameters.default_key is None else of_memory[0].squeeze(1)
    return _Early((first, second, third), projected, gate * received, opened, keys, default)


def _gradient_of_shared_keys(
    late: _Late, slots: Tensor, projected: Tensor, parameters: ESBNParameters
) -> list[Tensor]:
    """Gradients of the default key, if any, of k_0 and, if anything reads it, of k_1: columns."""
    size = len(parameters.key_weight)
    num_first = 1 if parameters.default_key is None else 2
    # dk_i = W_ihᵀ dP_i + Σ_{t≥2} w_ti dr_t
    from_first = (parameters.weight_ih.t() @ projected)[:size, :num_first]
    if not late.reads:
        return list(from_first.unsqueeze(1).unbind(2))
    reads = torch.cat(late.reads, dim=1)[:size]
    shares = slots[1:, : num_first + 1].transpose(1, 2).reshape(-1, num_first + 1)
    return list((reads @ shares + F.pad(from_first, (0, 1))).unsqueeze(1).unbind(2))


def _gradient_of_weights(
    late: _Late, early: _Early, slots: Tensor, parameters: ESBNParameters, tape: Tape
) -> Tensor:
    num_slots = slots.shape[1]
    num_first = 1 if parameters.default_key is None else 2
    first = F.pad(early.mixture[:num_first].t().unsqueeze(1), (0, num_slots - num_first))
    if not late.reads:
        return first
    size = len(parameters.key_weight)
    # dw_ti = dr_t · k_i
    reads = torch.stack(late.reads)[:, :size].permute(2, 0, 1)
    keys = torch.stack(
        [key.expand(-1, slots.shape[-1]) for key in memory(tape.keys, parameters)]
    ).permute(2, 1, 0)
    return torch.cat((first, (reads @ keys).tril(num_first)), dim=1)


def _gradient_of_confidence(late: _Late, early: _Early) -> Tensor:
    return torch.cat([early.mixture[-1:], *(read[-1:] for read in late.reads)]).t()


def _gradients_of_parameters(
    late: _Late,
    early: _Early,
    confidence: Tensor | None,
    parameters: ESBNParameters,
    tape: Tape,
) -> Gradients:
    """One product for each weight matrix, over all steps and problems."""
    first, second, third = early.inputs
    inputs = torch.cat([second, third, *late.inputs, early.projected], dim=1)
    num_steps = inputs.shape[1] - early.projected.shape[1]
    states = torch.cat([step.state for step in tape.steps[:-1]], dim=1)
    gates_and_reads = zip(tape.gates[1:], tape.reads, strict=True)
    received = torch.cat(
        [
            *(gate * read for gate, read in gates_and_reads),
            shared_inputs(tape.keys[0], confidence, parameters),
        ],
        dim=1,
    )
    bias = first.squeeze(1) + inputs[:, :num_steps].sum(1)
    keys = torch.cat([*early.keys, *late.keys], dim=1)
    gates = torch.cat([early.gate, *late.gates], dim=1)
    # dW_ih = Σ da_{t+1} x_{t+1}ᵀ, dW_hh = Σ da_{t+1} h_tᵀ, db = Σ da_t
    # dW_k = Σ du_t h_tᵀ, dW_g = Σ dp_t h_tᵀ
    return (
        product(inputs[:, 2:], received.t()),
        product(inputs[:, :num_steps], states.t()),
        bias,
        bias.clone(),
        product(keys, states[:, : keys.shape[1]].t()),
        keys.sum(1),
        gates @ states[:, 1:].t(),
        gates.sum(1),
        early.default_key,
    )
