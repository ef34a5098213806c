"""Slots that each follow one entity, known by a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._autograd._products import linear
from farfield.functional._autograd._unroll import Layer, Product, State, unroll

_EPS = 1e-8


class EntityNetworkParameters(NamedTuple):
    """Weights of a recurrent entity network: N slots of M numbers, for inputs of D.

    Attributes:
        encode_weight: Makes an input a vector like the slots: (M, D).
        encode_bias: (M).
        keys: The key of each slot: (N, M).
        slot_weight: Of the slot in its candidate: (M, M).
        key_weight: Of the key: (M, M).
        input_weight: Of the input: (M, M).
        slope: Of the candidate where it is negative: (M).

    Reference:
        henaff2017, section 2.2.
    """

    encode_weight: Tensor
    encode_bias: Tensor
    keys: Tensor
    slot_weight: Tensor
    key_weight: Tensor
    input_weight: Tensor
    slope: Tensor


def entity_network(
    x: Float[Tensor, "time batch feature"],
    slots: Float[Tensor, "batch slot _"],
    parameters: EntityNetworkParameters,
) -> tuple[Float[Tensor, "time batch _"], Float[Tensor, "batch slot _"]]:
    r"""Compute the slots after every step, side by side, and after the last.

    $$g_j = \sigma(s \cdot h_j + s \cdot w_j), \qquad
      \tilde h_j = \phi(U h_j + V w_j + W s), \qquad
      h_j \leftarrow \frac{h_j + g_j \tilde h_j}{\|h_j + g_j \tilde h_j\|}$$

    with $s$ the encoded input, $w_j$ the key of slot $h_j$, and $\phi$ a rectifier with a learned
    slope below zero. The length of a slot is fixed, so each addition makes it forget. A length
    below 1e-8 counts as that.

    Args:
        x: The inputs.
        slots: $h$ before the first step.
        parameters: The weights.

    Reference:
        henaff2017, equations 2 to 5.
    """
    given = parameters
    encoded = linear(x, given.encode_weight, given.encode_bias)
    # Products of the input for keys and candidates, in one.
    both = linear(encoded, torch.cat((given.keys, given.input_weight)))
    from_keys = linear(given.keys, given.key_weight)
    layers = (Layer(given.slot_weight),)
    shared = (from_keys, given.slope)
    outputs, (last,) = unroll(_step, layers, (encoded, both), (slots,), shared)
    return outputs, last


def _step(
    products: Sequence[Product],
    inputs: Sequence[Tensor],
    state: State,
    shared: Sequence[Tensor],
) -> tuple[Tensor, State]:
    (encoded, both), (slots,), (from_keys, slope) = inputs, state, shared
    match, from_input = torch.split_with_sizes(both, slots.shape[1:], dim=-1)
    gate = torch.sigmoid((slots @ encoded.unsqueeze(-1)).squeeze(-1) + match)
    candidate = products[0](slots) + from_keys + from_input.unsqueeze(1)
    bent = torch.relu(candidate) - slope * torch.relu(-candidate)
    slots = torch.addcmul(slots, gate.unsqueeze(-1), bent)
    slots = slots / torch.linalg.vector_norm(slots, dim=-1, keepdim=True).clamp_min(_EPS)
    return slots.flatten(1), (slots,)
