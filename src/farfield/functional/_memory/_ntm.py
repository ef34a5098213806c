"""The neural Turing machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.functional._autograd._products import linear
from farfield.functional._autograd._unroll import Layer, Product, State, recur, unroll
from farfield.functional._init._initialization import uninitialized
from farfield.functional._memory._slot_address import SHIFTS, cosine_similarity, slot_address
from farfield.functional._recurrent._lstm import lstm_step


class NTMParameters(NamedTuple):
    """Weights of a controller with H hidden units, and a memory of N slots of M numbers.

    The heads are one layer with rows in this order, those that share a nonlinearity together:
    read key, write key and written vector (M each); erased shares (M); gates, strengths and
    sharpenings, of the reading and of the writing head (2 each); turns of the reading head and
    of the writing head (3 each).

    Attributes:
        weight_ih: Controller, from an embedding of D numbers and the last read: (4H, D + M).
        weight_hh: Controller, from its own state: (4H, H).
        bias_ih: Controller: (4H).
        bias_hh: Controller: (4H).
        heads_weight: All heads: (4M + 12, H).
        heads_bias: All heads: (4M + 12).
        memory: The memory that every sequence starts with: (N, M).

    Reference:
        webb2021, appendix A.3.5.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor
    heads_weight: Tensor
    heads_bias: Tensor
    memory: Tensor


class _Heads(NamedTuple):
    """Parameters of the heads at one step; reading first, writing second, where there are two.

    Attributes:
        keys: Keys to look for: (batch, 2, M).
        add: Vector to add: (batch, M).
        erase: How much of each number to erase first, 0…1: (batch, M).
        gate: How much content counts beside the step before, 0…1: (batch, 2).
        strength: Sharpness of the match, positive: (batch, 2).
        sharpening: Exponent, at least 1: (batch, 2).
        shift: Weights of the turns: (batch, 2, 3).
    """

    keys: Tensor
    add: Tensor
    erase: Tensor
    gate: Tensor
    strength: Tensor
    sharpening: Tensor
    shift: Tensor


def ntm(
    z: Float[Tensor, "batch time feature"],
    parameters: NTMParameters,
    *,
    first_read: bool = True,
) -> Float[Tensor, "batch _"]:
    r"""Compute the state of the controller one step after the last embedding.

    At each position the controller sees the embedding and the vector read at the position before.
    The reading head then reads, $r = \sum_i w_i M_i$, and after it the writing head writes,
    $M_i \leftarrow M_i (1 - w_i e) + w_i a$. One more step, on zeros in place of an embedding,
    takes in the vector read last.

    Args:
        z: The embeddings.
        parameters: Weights of controller and heads, and the memory at the start.
        first_read: Whether something is read at the first position already.

    Raises:
        ValueError: If the sequence is empty or has another number of features than the
            controller was made for.

    Reference:
        Graves et al. 2014, equations 2 to 9; webb2021, appendix A.3.5.
    """
    num_features = parameters.weight_ih.shape[1] - parameters.memory.shape[1]
    if z.shape[1] == 0 or z.shape[2] != num_features:
        raise ValueError(
            f"z must be (batch, time, {num_features}) with at least one position, "
            f"got shape {tuple(z.shape)}"
        )
    bias, layers = _layers(parameters, num_features)
    embedded = linear(z, parameters.weight_ih[:, :num_features])
    steps = partial(_steps, first_read=first_read)
    return recur(steps, layers, embedded, bias, parameters.memory)


def _steps(
    products: Sequence[Product],
    embedded: Tensor,
    gates: Tensor,
    memory: Tensor,
    *,
    first_read: bool,
) -> Tensor:
    """Run the steps from the embeddings' share in the gates, the biases and the first memory."""
    from_state, from_read = products
    num_gates, num_places = gates.shape[0], embedded.shape[1]
    memory, cell, weights = memory.unsqueeze(0), embedded.new_zeros(()), None
    for position, inputs in enumerate(embedded.unbind(1)):
        state, cell = lstm_step(gates + inputs, cell)
        gates, heads = _asked(from_state(state), num_gates, memory.shape[-1])
        weights = _addressed(heads, memory, weights)
        if position > 0 or first_read:
            gates = gates + from_read(_read(weights, memory))
        else:
            weights = torch.stack((torch.zeros_like(weights[:, 0]), weights[:, 1]), dim=1)
        if position + 1 < num_places:  # The write of the last position is never read.
            memory = _written(weights, memory, heads)
    return lstm_step(gates, cell)[0]


class NTMState(NamedTuple):
    """State of a Neural Turing Machine of N slots.

    Attributes:
        hidden: Of the controller: (batch, H).
        cell: Of the controller: (batch, H).
        read: Vector read last: (batch, M).
        weights: Of the slots, where the reading head and the writing head were: (batch, 2, N).
        memory: (batch, N, M).

    Reference:
        graves2014, section 3; webb2021, appendix A.3.5.
    """

    hidden: Tensor
    cell: Tensor
    read: Tensor
    weights: Tensor
    memory: Tensor


def ntm_states(
    x: Float[Tensor, "time batch feature"], parameters: NTMParameters, state: NTMState
) -> tuple[Float[Tensor, "time batch _"], NTMState]:
    """Compute outputs of controller and memory after every step, and the last state.

    The steps are those of `ntm`, which has one more at the end and gives the controller's state
    after it.

    Args:
        x: The inputs.
        parameters: Weights of controller and heads; their `memory` is not read.
        state: The state to begin with.

    Returns:
        The state of the controller and behind it the vector read, and the last state.

    Raises:
        ValueError: If the inputs have another number of features than the controller was made for.

    Reference:
        graves2014, equations 2 to 9; webb2021, appendix A.3.5.
    """
    num_features = parameters.weight_ih.shape[1] - state.memory.shape[2]
    if x.shape[-1] != num_features:
        raise ValueError(f"x must have {num_features} features, got {x.shape[-1]}")
    bias, layers = _layers(parameters, num_features)
    gates = linear(state.hidden, parameters.weight_hh, bias)
    gates = gates + linear(state.read, layers[1].weight)
    embedded = linear(x, parameters.weight_ih[:, :num_features])
    begun = (gates, state.cell, state.weights, state.memory)
    outputs, (_, *last) = unroll(_step, layers, (embedded,), begun)
    hidden, read = torch.split_with_sizes(
        outputs[-1].clone(), (state.hidden.shape[1], state.read.shape[1]), dim=-1
    )
    return outputs, NTMState(hidden, last[0], read, *last[1:])


def _step(
    products: Sequence[Product], inputs: Sequence[Tensor], state: State, _shared: Sequence[Tensor]
) -> tuple[Tensor, State]:
    gates, cell, weights, memory = state
    hidden, cell = lstm_step(gates + inputs[0], cell)
    gates, heads = _asked(products[0](hidden), gates.shape[-1], memory.shape[-1])
    weights = _addressed(heads, memory, weights)
    read = _read(weights, memory)
    after = (gates + products[1](read), cell, weights, _written(weights, memory, heads))
    return torch.cat((hidden, read), dim=-1), after


def _layers(parameters: NTMParameters, num_features: int) -> tuple[Tensor, tuple[Layer, Layer]]:
    """Split biases of the gates and the layers on the state and on the vector read.

    The state goes to the heads and to the next step: one product for both.
    """
    bias = parameters.bias_ih + parameters.bias_hh
    on_state = Layer(
        torch.cat((parameters.weight_hh, parameters.heads_weight)),
        torch.cat((bias, parameters.heads_bias)),
    )
    return bias, (on_state, Layer(parameters.weight_ih[:, num_features:].contiguous()))


def _asked(both: Tensor, num_gates: int, slot_size: int) -> tuple[Tensor, _Heads]:
    """Compute gates of the next step, and parameters of the heads."""
    sizes = (num_gates, sum(ntm_head_sizes(slot_size)))
    gates, asked = torch.split_with_sizes(both, sizes, dim=-1)
    return gates, _heads(asked, slot_size)


def _addressed(heads: _Heads, memory: Tensor, before: Tensor | None) -> Tensor:
    """Compute weights of the slots for both heads."""
    return slot_address(
        cosine_similarity(heads.keys, memory),
        before,
        strength=heads.strength,
        gate=heads.gate,
        shift=heads.shift,
        sharpening=heads.sharpening,
    )


def _read(weights: Tensor, memory: Tensor) -> Tensor:
    return (weights[:, :1] @ memory).squeeze(1)


def _written(weights: Tensor, memory: Tensor, heads: _Heads) -> Tensor:
    change = heads.add.unsqueeze(1) - memory * heads.erase.unsqueeze(1)
    return torch.addcmul(memory, weights[:, 1].unsqueeze(-1), change)


def ntm_head_sizes(slot_size: int) -> tuple[int, ...]:
    """Count rows of the heads of an NTM: tanh, sigmoid, softplus and softmax units.

    Args:
        slot_size: Numbers in a slot, M.

    Returns:
        Rows of two keys and the written vector (3M), of erased shares (M), of gates (2), of
        strengths and sharpenings (4), of turns (6).

    Reference:
        webb2021, appendix A.3.5.
    """
    return (3 * slot_size, slot_size, 2, 4, 2 * len(SHIFTS))


def _heads(asked: Tensor, slot_size: int) -> _Heads:
    tanh, erase, gate, softplus, shift = torch.split_with_sizes(
        asked, ntm_head_sizes(slot_size), dim=-1
    )
    keys, add = torch.split_with_sizes(torch.tanh(tanh), (2 * slot_size, slot_size), dim=-1)
    strength, sharpening = F.softplus(softplus).chunk(2, dim=-1)
    return _Heads(
        keys=keys.reshape(-1, 2, slot_size),
        add=add,
        erase=torch.sigmoid(erase),
        gate=torch.sigmoid(gate),
        strength=strength,
        sharpening=sharpening + 1,
        shift=shift.reshape(-1, 2, len(SHIFTS)).softmax(-1),
    )


@torch.no_grad()
def ntm_heads(hidden_size: int, slot_size: int, generator: torch.Generator | None) -> nn.Linear:
    """Build all heads of a Neural Turing Machine, each with weights as a layer by itself; biases 0.

    Fans, and so spreads, are those of a head's own rows: Xavier normal with gain 5/3 for tanh
    units, Kaiming normal for softplus units, Xavier normal for the others.

    Args:
        hidden_size: Hidden units of the controller.
        slot_size: Numbers in a slot.

    Returns:
        One layer; `NTMParameters` names its rows.

    Reference:
        webb2021, appendix A.3.5. The sharpening is not specified there and starts as the strength
        of the key does, the other softplus unit.
    """
    heads = uninitialized(nn.Linear, hidden_size, sum(ntm_head_sizes(slot_size)))
    gain = nn.init.calculate_gain("tanh")
    tanh, erase, gates, softplus, turns = torch.split_with_sizes(
        heads.weight, ntm_head_sizes(slot_size)
    )
    for rows in tanh.chunk(3):
        nn.init.xavier_normal_(rows, gain=gain, generator=generator)
    for rows in (erase, *gates.chunk(2), *turns.chunk(2)):
        nn.init.xavier_normal_(rows, generator=generator)
    nn.init.kaiming_normal_(softplus, nonlinearity="relu", generator=generator)
    nn.init.zeros_(heads.bias)
    return heads
