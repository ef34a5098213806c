"""Communication between the mechanisms of RIMs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._weight_gradients import Layer, Product
from farfield.functional._rims._rims_reading import scaled
from farfield.functional._rims._top_k_mask import top_k_mask


class CommunicationParameters(NamedTuple):
    """Weights with which M mechanisms of S units read from one another.

    Attributes:
        query: Of each mechanism: (M, head, key, S).
        key: Of each mechanism: (M, head, key, S).
        value: Of each mechanism: (M, head, value, S). Without an output layer, the values of all
            heads together are as wide as a mechanism.
        gate_weight: Shared by all: (S, head · value), or None for no output layer.
        gate_bias: (S).
        out_weight: (S, head · value).
        out_bias: (S).

    Reference:
        lamb2022, section 8.2.4.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    gate_weight: Tensor | None = None
    gate_bias: Tensor | None = None
    out_weight: Tensor | None = None
    out_bias: Tensor | None = None


def communication_layers(parameters: CommunicationParameters) -> list[Layer]:
    """The products of a step: queries, keys and values at once; gate and output, if any.

    Args:
        parameters: Of the communication.
    """
    query, key, value, *output = parameters
    rows = torch.cat((scaled(query), key, value), dim=2)
    layers = [Layer(rows.flatten(1, 2))]
    given = [tensor for tensor in output if tensor is not None]
    if given:
        gate_weight, gate_bias, out_weight, out_bias = given
        both = torch.cat((gate_weight, out_weight)), torch.cat((gate_bias, out_bias))
        layers.append(Layer(*both))
    return layers


Tell = Callable[[Tensor, Sequence[Product], Sequence[Tensor]], tuple[Tensor, Tensor]]
"""`communicate` with its options bound."""


def sizes_of(parameters: CommunicationParameters) -> tuple[int, int, int]:
    """Number of heads, of numbers in a key, and in a value.

    Args:
        parameters: Of the communication.
    """
    return (*parameters.key.shape[1:3], parameters.value.shape[2])


def communicate(
    states: Float[Tensor, "mechanism batch unit"],
    products: Sequence[Product],
    dropped: Sequence[Tensor],
    *,
    sizes: tuple[int, int, int],
    top_k: int | None,
) -> tuple[Tensor, Tensor]:
    """Readings of every mechanism from all, and the attention weights.

    Args:
        states: What is read and compared.
        products: Of `communication_layers`.
        dropped: Factors of dropout on what is read, or what the output layer makes of it, if any.
        sizes: As `sizes_of` gives them.
        top_k: How many mechanisms one reads from; None for all.

    Returns:
        (mechanism, batch, unit); and weights (batch, head, reading mechanism, read mechanism).
    """
    heads, key_size, value_size = sizes
    mechanisms, batch = states.shape[:2]
    # Batch and head are one axis, without a copy: a head's query, key and value stand together.
    numbers = 2 * key_size + value_size
    rows = products[0](states).reshape(mechanisms, batch * heads, numbers).transpose(0, 1)
    queries, keys, values = torch.split_with_sizes(rows, (key_size, key_size, value_size), dim=-1)
    scores = queries @ keys.transpose(1, 2)
    if top_k is not None:
        scores = scores.masked_fill(~top_k_mask(scores, top_k), -torch.inf)
    attention = scores.softmax(-1)
    read = torch.unflatten(attention @ values, 0, (batch, heads)).permute(2, 0, 1, 3).flatten(2)
    gates, told = [], read
    if len(products) > 1:
        gate, told = products[1](read).chunk(2, dim=-1)
        gates = [gate]
    for factors in dropped:
        told = told * factors
    for gate in gates:
        told = gate.sigmoid() * told.tanh()
    return told, torch.unflatten(attention, 0, (batch, heads))
