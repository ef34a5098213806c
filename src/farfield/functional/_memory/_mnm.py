"""The recurrence of metalearned neural memory with a learned local update."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear
from farfield.functional._memory._function_memory import MemoryLayer, memory_read, memory_write
from farfield.functional._recurrent._lstm import lstm_step


class MNMParameters(NamedTuple):
    """Weights of a controller with H hidden units, and a memory of keys and values of M numbers.

    Attributes:
        weight_ih: Controller, from an embedding of D numbers and the last read: (4H, D + M).
        weight_hh: Controller, from its own state: (4H, H).
        bias_ih: Controller: (4H).
        bias_hh: Controller: (4H).
        heads_weight: Tanh units: M for the rate, then key to write, value to write and key to
            read of every head: (M + 3M · heads, H).
        heads_bias: The same.
        rate_weight: From the M numbers for the rate: (1, M).
        rate_bias: The same: (1).
        target_weight: From a value to the targets of the three layers: (3M, M).
        target_bias: The same: (3M).
        memory: Weights of the three layers at the start of every sequence: (3, M, M).

    Reference:
        webb2021, appendix A.3.6.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor
    heads_weight: Tensor
    heads_bias: Tensor
    rate_weight: Tensor
    rate_bias: Tensor
    target_weight: Tensor
    target_bias: Tensor
    memory: Tensor


class MNMOutputs(NamedTuple):
    """Outputs of the recurrence after its last step.

    Attributes:
        state: Of the controller: (batch, H).
        read: Vector read last: (batch, M).
        error: Mean square between a value and the answer of the memory to its key right
            after, summed over all steps, and divided by the number of positions: (batch).

    Reference:
        webb2021, appendix A.3.6.
    """

    state: Tensor
    read: Tensor
    error: Tensor


def mnm(z: Float[Tensor, "batch time feature"], parameters: MNMParameters) -> MNMOutputs:
    r"""Write to and read from a network at every position, and once more after the last.

    The controller sees the embedding and the vector read at the position before. Its heads name a
    key and a value to write, at a rate $\beta$, and a key to read, which is answered by the network
    after writing. The step after the last position sees zeros in place of an embedding.

    Args:
        z: The embeddings.
        parameters: Weights of controller and heads, and the memory at the start.

    Raises:
        ValueError: If the sequence is empty or has another number of features than the
            controller was made for.

    Reference:
        Munkhdalai et al. 2019 (in webb2021, appendix A.3.6).
    """
    size = parameters.memory.shape[-1]
    num_features = parameters.weight_ih.shape[1] - size
    if z.shape[1] == 0 or z.shape[2] != num_features:
        raise ValueError(
            f"z must be (batch, time, {num_features}) with at least one position, "
            f"got shape {tuple(z.shape)}"
        )
    bias = parameters.bias_ih + parameters.bias_hh
    embedded = linear(z, parameters.weight_ih[:, :num_features]).unbind(1)
    read_weight = parameters.weight_ih[:, num_features:]
    # The state goes to the heads and to the next step: one product for both.
    state_weight = torch.cat((parameters.weight_hh, parameters.heads_weight))
    state_bias = torch.cat((bias, parameters.heads_bias))
    layers = tuple(MemoryLayer(weight) for weight in parameters.memory.unbind(0))
    gates, cell, errors = bias, z.new_zeros(()), []
    for inputs in (*embedded, None):
        state, cell = lstm_step(gates if inputs is None else gates + inputs, cell)
        gates, asked = torch.split_with_sizes(
            linear(state, state_weight, state_bias),
            (bias.shape[0], parameters.heads_bias.shape[0]),
            dim=-1,
        )
        layers, read, error = _step(torch.tanh(asked), parameters, layers)
        gates = gates + F.linear(read, read_weight)
        errors.append(error)
    return MNMOutputs(state, read, torch.stack(errors).sum(0) / len(embedded))


def _step(
    asked: Tensor, parameters: MNMParameters, layers: tuple[MemoryLayer, ...]
) -> tuple[tuple[MemoryLayer, ...], Tensor, Tensor]:
    """Write, read and return memory, value and reconstruction error."""
    size = parameters.memory.shape[-1]
    rate = torch.sigmoid(F.linear(asked[:, :size], parameters.rate_weight, parameters.rate_bias))
    heads = torch.unflatten(asked[:, size:], 1, (-1, 3, size))
    keys, values, questions = heads.unbind(2)
    targets = F.linear(values, parameters.target_weight, parameters.target_bias)
    layers = memory_write(keys, targets, rate, layers)
    answers = memory_read(torch.cat((keys, questions), dim=1), layers)[-1]
    given, read = answers.chunk(2, dim=1)
    return layers, read.mean(1), (given - values).square().flatten(1).mean(1)
