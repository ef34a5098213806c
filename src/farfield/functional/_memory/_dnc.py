"""The recurrence of the differentiable neural computer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear
from farfield.functional._autograd._unroll import Layer, Product, State, unroll
from farfield.functional._memory._dnc_memory import slot_allocation, slot_links, slot_usage
from farfield.functional._recurrent._lstm import lstm_step

_EPS = 1e-6


class DNCParameters(NamedTuple):
    """Weights of a controller with H hidden units, for R reading heads and slots of M numbers.

    The interface is one layer with rows in this order (`dnc_interface_sizes`): keys of the reading
    heads (RM), key of the writing head (M), written vector (M), erased shares (M), gates (R to
    free read slots, one to allocate, one to write), strengths (R to read, one to write), modes
    of reading (3 for each head: backward, by content, forward).

    Attributes:
        weight_ih: Controller, from an input of D numbers and the last reads: (4H, D + RM).
        weight_hh: Controller, from its own state: (4H, H).
        bias_ih: Controller: (4H).
        bias_hh: Controller: (4H).
        interface_weight: (RM + 3M + 5R + 3, H).
        interface_bias: (RM + 3M + 5R + 3).

    Reference:
        graves2016, methods, "Interface parameters".
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor
    interface_weight: Tensor
    interface_bias: Tensor


class DNCState(NamedTuple):
    """State of a differentiable neural computer of N slots.

    Attributes:
        hidden: Of the controller: (batch, H).
        cell: Of the controller: (batch, H).
        read: Vectors read last: (batch, R, M).
        memory: (batch, N, M).
        usage: How much each slot is in use: (batch, N).
        precedence: How much each slot was the last one written: (batch, N).
        links: Which slot was written after which: (batch, N, N).
        write_weights: Of the last write: (batch, N).
        read_weights: Of the last reads: (batch, R, N).

    Reference:
        graves2016, methods.
    """

    hidden: Tensor
    cell: Tensor
    read: Tensor
    memory: Tensor
    usage: Tensor
    precedence: Tensor
    links: Tensor
    write_weights: Tensor
    read_weights: Tensor


class _Interface(NamedTuple):
    """Interface vector of the controller at one step, taken apart."""

    read_keys: Tensor
    write_key: Tensor
    add: Tensor
    erase: Tensor
    free: Tensor
    allocate: Tensor
    write: Tensor
    read_strength: Tensor
    write_strength: Tensor
    modes: Tensor


def dnc_interface_sizes(num_heads: int, slot_size: int) -> tuple[int, ...]:
    """Count rows of the interface: keys and the written vector, sigmoid, strengths, modes.

    Args:
        num_heads: Reading heads, R.
        slot_size: Numbers in a slot, M.

    Returns:
        Rows of keys and the written vector ((R + 2) M), of erased shares and gates (M + R + 2),
        of strengths (R + 1), of modes (3R).

    Reference:
        graves2016, methods, "Interface parameters".
    """
    sigmoid = slot_size + num_heads + 2
    return (num_heads + 2) * slot_size, sigmoid, num_heads + 1, 3 * num_heads


def dnc(
    x: Float[Tensor, "time batch feature"], parameters: DNCParameters, state: DNCState
) -> tuple[Float[Tensor, "time batch _"], DNCState]:
    r"""Compute outputs of controller and memory after every step, and the last state.

    At each step the controller, an LSTM, sees the input and the vectors read before. The writing
    head erases and adds, $M_i \leftarrow M_i (1 - w_i e) + w_i v$, where its weights mix slots
    like a key with slots that are free (`slot_allocation`),
    $w = g_w (g_a a + (1 - g_a) c)$. Each reading head then mixes slots like its
    key with slots written before or after those that it read last (`slot_links`).

    Args:
        x: The inputs.
        parameters: Weights of controller and interface.
        state: The state to begin with.

    Returns:
        The state of the controller and behind it the vector that each head has read, and the last
        state.

    Raises:
        ValueError: If the inputs have another number of features than the controller was made for.

    Reference:
        graves2016, methods. Lengths in the cosines are those of one number more, 0.001, so that
        empty slots have gradients; the same constant as in the released code.
    """
    width = parameters.weight_ih.shape[1] - state.read.flatten(1).shape[1]
    if x.shape[-1] != width:
        raise ValueError(f"x must have {width} features, got {x.shape[-1]}")
    from_read = parameters.weight_ih[:, width:].contiguous()
    bias = parameters.bias_ih + parameters.bias_hh
    # The state goes to the interface and to the next step: one product for both.
    layers = (
        Layer(
            torch.cat((parameters.weight_hh, parameters.interface_weight)),
            torch.cat((bias, parameters.interface_bias)),
        ),
        Layer(from_read),
    )
    gates = linear(state.hidden, parameters.weight_hh, bias)
    gates = gates + linear(state.read.flatten(1), from_read)
    embedded = linear(x, parameters.weight_ih[:, :width])
    step = partial(_step, num_heads=state.read.shape[1])
    outputs, last = unroll(step, layers, (embedded,), (gates, state.cell, *state[3:]))
    widths = (state.hidden.shape[1], from_read.shape[1])
    hidden, read = torch.split_with_sizes(outputs[-1].clone(), widths, dim=-1)
    return outputs, DNCState(hidden, last[1], read.reshape(state.read.shape), *last[2:])


def _step(
    products: Sequence[Product],
    inputs: Sequence[Tensor],
    state: State,
    _shared: Sequence[Tensor],
    *,
    num_heads: int,
) -> tuple[Tensor, State]:
    gates, cell, memory, usage, precedence, links, written, reading = state
    hidden, cell = lstm_step(gates + inputs[0], cell)
    both = products[0](hidden)
    widths = (gates.shape[-1], both.shape[-1] - gates.shape[-1])
    gates, rows = torch.split_with_sizes(both, widths, dim=-1)
    asked = _asked(rows, num_heads, memory.shape[-1])
    usage = slot_usage(usage, written, reading, asked.free)
    like = _content(asked.write_key.unsqueeze(1), memory, asked.write_strength).squeeze(1)
    free = slot_allocation(usage)
    written = asked.write * (like + asked.allocate * (free - like))
    change = asked.add.unsqueeze(1) - memory * asked.erase.unsqueeze(1)
    memory = torch.addcmul(memory, written.unsqueeze(-1), change)
    links, precedence = slot_links(links, precedence, written)
    like = _content(asked.read_keys, memory, asked.read_strength)
    ways = torch.stack((reading @ links, like, reading @ links.transpose(-1, -2)), dim=-2)
    reading = (asked.modes.unsqueeze(-2) @ ways).squeeze(-2)
    read = (reading @ memory).flatten(1)
    after = (gates + products[1](read), cell, memory, usage, precedence, links, written, reading)
    return torch.cat((hidden, read), dim=-1), after


def _content(keys: Tensor, memory: Tensor, strength: Tensor) -> Tensor:
    """Compute weights of the slots by their likeness to each key."""
    lengths = [(x.square().sum(-1) + _EPS).sqrt() for x in (keys, memory)]
    cosines = keys @ memory.transpose(-1, -2) / lengths[0].unsqueeze(-1) / lengths[1].unsqueeze(-2)
    return (strength.unsqueeze(-1) * cosines).softmax(-1)


def _asked(rows: Tensor, num_heads: int, slot_size: int) -> _Interface:
    sizes = dnc_interface_sizes(num_heads, slot_size)
    plain, sigmoid, strengths, modes = torch.split_with_sizes(rows, sizes, dim=-1)
    widths = (num_heads * slot_size, slot_size, slot_size)
    keys, write_key, add = torch.split_with_sizes(plain, widths, dim=-1)
    gates = torch.split_with_sizes(sigmoid.sigmoid(), (slot_size, num_heads, 1, 1), dim=-1)
    erase, free, allocate, write = gates
    strengths = 1 + F.softplus(strengths)
    return _Interface(
        read_keys=keys.reshape(-1, num_heads, slot_size),
        write_key=write_key,
        add=add,
        erase=erase,
        free=free,
        allocate=allocate,
        write=write,
        read_strength=strengths[:, :num_heads],
        write_strength=strengths[:, num_heads:],
        modes=modes.reshape(-1, num_heads, 3).softmax(-1),
    )
