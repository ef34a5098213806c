"""Recurrent independent mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._unroll import Layer, Product, products_of, recur_all
from farfield.functional._recurrent._gated_recurrence import Dynamics, Indexed, State, lstm_dynamics
from farfield.functional._rims._rims_reading import (
    InputAttentionParameters,
    Source,
    attend_over_mechanisms,
    attend_to_elements,
    attend_to_positions,
    one_element,
    scaled,
    several_elements,
    top_k_mask,
    whole_input,
)


class RIMsParameters(NamedTuple):
    """Weights of M mechanisms of S units, with G gates each: 4S for an LSTM, 3S for a GRU.

    Attributes:
        weight_ih: From the values read by a mechanism to its gates: (M, G, value · heads), or (M,
            G, D) without attention.
        weight_hh: From its own state: (M, G, S).
        bias_ih: (M, G).
        bias_hh: (M, G).
        input_attention: With which they compete for the input; None where all read all of it.
        communication: With which they read from one another; None where they do not.

    Reference:
        lamb2022, section 8.2.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor
    input_attention: InputAttentionParameters | None = None
    communication: CommunicationParameters | None = None


@final
@dataclass(frozen=True, kw_only=True)
class RIMsRules:
    """Rules of a step of RIMs: its options without weights.

    Args:
        num_active: How many mechanisms are active at a step; at a position, with `per_position`.
        dynamics: A step of a mechanism on its own.
        per_position: Whether mechanisms compete for every position of an input and there is no
            null element, or for the input as a whole.
        over_mechanisms: Whether attention is a softmax over the mechanisms, without a null element.
        top_k: How many mechanisms an active one reads from; None for all.
        hypothetical: Whether also inactive mechanisms show the state that they would have had if
            active, through which no gradient flows, or the one that they keep.
        input_dropout: Probability that a number read from the input is dropped.
        communication_dropout: Probability that a number read from the mechanisms is dropped.

    Reference:
        lamb2022, section 8.2.
    """

    num_active: int
    dynamics: Dynamics = lstm_dynamics
    per_position: bool = False
    over_mechanisms: bool = False
    top_k: int | None = None
    hypothetical: bool = False
    input_dropout: float = 0.0
    communication_dropout: float = 0.0


class RIMsOutputs(NamedTuple):
    """Outputs of RIMs.

    Attributes:
        outputs: States of all mechanisms side by side after every step: (time, batch, unit).
        state: The last of them, and the cell where there is one: (batch, unit) each.

    Reference:
        lamb2022, section 8.2.
    """

    outputs: Tensor
    state: State


class RIMsTrace(NamedTuple):
    """Internal values of RIMs, step by step.

    Attributes:
        outputs: As in `RIMsOutputs`.
        state: As in `RIMsOutputs`.
        active: Which mechanisms are active: (time, batch, mechanism).
        input_attention: Weight of the null element, first, and of all others:
            (time, batch, head, mechanism, slot); with competition for positions there is no null
            element, and positions that a mechanism loses have 0. None without attention.
        communication: Weight of each mechanism for each that reads: (time, batch, head, reading
            mechanism, read mechanism), also of inactive mechanisms. None without communication.

    Reference:
        lamb2022, section 8.2.
    """

    outputs: Tensor
    state: State
    active: Tensor
    input_attention: Tensor | None
    communication: Tensor | None


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
    """Build the layers of a step: queries, keys and values at once; gate and output, if any.

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
    """Return the number of heads, and the sizes of a key and of a value.

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
    """Read from all mechanisms, by each mechanism; return the attention weights too.

    Args:
        states: States that are read and compared.
        products: Of `communication_layers`.
        dropped: Factors of dropout on the values read or on the output layer's results, if any.
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


Sequenced = Float[Tensor, "time batch *element feature"] | Indexed
"""Inputs: a sequence, or its items and the item at each position."""


class _Step(NamedTuple):
    """Internal values of one step, as in `RIMsTrace`; attention is computed when it is called."""

    active: Tensor
    attention: Callable[[], Tensor] | None
    communication: Tensor | None


def _walk(
    source: Source,
    tell: Tell | None,
    rules: RIMsRules,
    parts: int,
    products: Sequence[Product],
    *tensors: Tensor,
    steps: list[_Step] | None = None,
) -> tuple[Tensor, ...]:
    """Run the steps from a state of so many parts; give the hidden states and the last state.

    (time, batch, mechanism, unit), and (mechanism, batch, unit) each. Internal values are appended
    to `steps`, if given.
    """
    bias, state, streams = tensors[0], tensors[1 : 1 + parts], tensors[1 + parts :]
    number, known = len(source.layers), len(source.streams)
    hidden: list[Tensor] = []
    for now in zip(*(stream.unbind(0) for stream in streams), strict=True):
        reading = source.read(products[:number], state[0], now[:known])
        moved = rules.dynamics(bias + reading.inputs, products[number](state[0]), state)
        on, weights = reading.active.unsqueeze(-1), None
        state = tuple(torch.where(on, *pair) for pair in zip(moved, state, strict=True))
        if tell is not None:
            shown = state[0]
            if rules.hypothetical:
                shown = torch.where(on, moved[0], moved[0].detach())
            told, weights = tell(shown, products[number + 1 :], now[known:])
            # To the inactive nothing is added.
            state = (torch.addcmul(state[0], told, on.to(told.dtype)), *state[1:])
        hidden.append(state[0].transpose(0, 1))
        if steps is not None:
            steps.append(_Step(reading.active, reading.attention, weights))
    return torch.stack(hidden), *state


def _side_by_side(part: Tensor) -> Tensor:
    """Concatenate mechanisms: (mechanism, batch, unit) to (batch, mechanism · unit)."""
    return part.transpose(0, 1).flatten(1)


def rims(
    x: Sequenced,
    state: State,
    parameters: RIMsParameters,
    rules: RIMsRules,
) -> RIMsOutputs:
    r"""Run recurrent independent mechanisms over a sequence.

    At every step each mechanism $k$ attends to the elements of the input and to a null element
    whose key and value are zero, and those with the least attention on the null are active:

    $$A_k = \mathrm{softmax}\left(\frac{h_k W^q_k (X W^e)^\top}{\sqrt d}\right) X W^v, \qquad
      \tilde h_k = D_k(h_k, A_k), \qquad
      h_k \leftarrow \tilde h_k + \mathrm{softmax}\left(
        \frac{\tilde h_k \tilde W^q_k \tilde K^\top}{\sqrt d}\right) \tilde V$$

    with keys $\tilde K$ and values $\tilde V$ of all mechanisms. The others keep $h_k$, as
    $\tilde h_k$ too; gradients flow through.

    Args:
        x: The inputs; of several elements, or positions, each with its features, or of one. Or
            `Indexed(items, index)` with an index of (time, batch): the contribution of each item to
            the gates is then computed once.
        state: Hidden states and, for an LSTM, cells to begin with, (batch, unit) each.
        parameters: The weights.
        rules: The rest.

    Raises:
        ValueError: If the sequence is empty, or a shape does not fit.

    Reference:
        lamb2022, section 8.2.
    """
    _check(x, state, parameters, rules)
    pieces = [x] if torch.is_grad_enabled() else _pieces(x)
    outputs: Tensor
    for number, piece in enumerate(pieces):
        hidden, *last = recur_all(*_prepare(piece, state, parameters, rules))
        found, state = hidden.flatten(2), tuple(_side_by_side(part) for part in last)
        if len(pieces) == 1:
            return RIMsOutputs(found, state)
        if number == 0:
            outputs = found.new_empty(x.shape[0], *found.shape[1:])
        outputs[number * _PIECE : (number + 1) * _PIECE] = found
    return RIMsOutputs(outputs, state)


def rims_trace(
    x: Sequenced,
    state: State,
    parameters: RIMsParameters,
    rules: RIMsRules,
) -> RIMsTrace:
    """Run `rims`, and return its internal values step by step.

    Args:
        x: As in `rims`.
        state: As in `rims`.
        parameters: As in `rims`.
        rules: As in `rims`.

    Raises:
        ValueError: As in `rims`.

    Reference:
        lamb2022, section 8.2, figure 2.
    """
    _check(x, state, parameters, rules)
    walk, layers, *tensors = _prepare(x, state, parameters, rules)
    steps: list[_Step] = []
    outputs, *last = walk(products_of(layers), *tensors, steps=steps)
    return RIMsTrace(
        outputs.flatten(2),
        tuple(_side_by_side(part) for part in last),
        torch.stack([step.active.t() for step in steps]),
        *(
            None if each[0] is None else torch.stack([part for part in each if part is not None])
            for each in (
                [step.attention and step.attention() for step in steps],
                [step.communication for step in steps],
            )
        ),
    )


_Walk = Callable[..., tuple[Tensor, ...]]


def _prepare(
    x: Sequenced, state: State, parameters: RIMsParameters, rules: RIMsRules
) -> tuple[_Walk, list[Layer], *tuple[Tensor, ...]]:
    """Prepare the run over a sequence: arguments of `recur_all`.

    The tensors are a bias, the state to begin with, and streams, whose first axis is time.
    """
    prepare = _source_of(len(x.shape), parameters, rules)
    # A piece of a long sequence may have fewer positions than there are items; and where inputs are
    # dropped, each position misses other elements.
    if isinstance(x, Indexed) and x.repeats and not rules.input_dropout:
        source = prepare(x.items.unsqueeze(0))
        streams = [Indexed(stream.squeeze(0), x.index).gathered() for stream in source.streams]
    else:
        source = prepare(x.gathered() if isinstance(x, Indexed) else x)
        streams = list(source.streams)
    layers = [*source.layers, Layer(parameters.weight_hh, parameters.bias_hh)]
    tell = None
    mechanisms, _, size = parameters.weight_hh.shape
    if parameters.communication is not None:
        layers += communication_layers(parameters.communication)
        tell = partial(communicate, sizes=sizes_of(parameters.communication), top_k=rules.top_k)
        if rules.communication_dropout:
            ones = state[0].new_ones(x.shape[0], mechanisms, x.shape[1], size)
            streams.append(F.dropout(ones, rules.communication_dropout))
    begun = [torch.unflatten(part, -1, (mechanisms, size)).transpose(0, 1) for part in state]
    walk = partial(_walk, source, tell, rules, len(begun))
    tensors: tuple[Tensor, ...] = (parameters.bias_ih.unsqueeze(1), *begun, *streams)
    return walk, layers, *tensors


def _source_of(axes: int, parameters: RIMsParameters, rules: RIMsRules) -> Callable[..., Source]:
    """Choose the function that prepares the reading of inputs with so many axes."""
    attention, weight = parameters.input_attention, parameters.weight_ih
    if attention is None:
        return partial(whole_input, weight=weight)
    chosen: Callable[..., Source] = partial(several_elements, attend=attend_to_elements)
    if rules.per_position:
        chosen = partial(several_elements, attend=attend_to_positions)
    elif rules.over_mechanisms:
        chosen = partial(several_elements, attend=attend_over_mechanisms)
    elif axes == 3 and len(attention.key) == 1:
        chosen = one_element
    return partial(
        chosen,
        weight=weight,
        parameters=attention,
        num_active=rules.num_active,
        dropout=rules.input_dropout,
    )


_PIECE = 64
"""Steps that are prepared at once where no gradient is wanted, so that memory does not grow."""


def _pieces(x: Sequenced) -> Sequence[Tensor | Indexed]:
    if isinstance(x, Indexed):
        return [x.at(index) for index in torch.split(x.index, _PIECE)]
    return torch.split(x, _PIECE)


def _check(x: Sequenced, state: State, parameters: RIMsParameters, rules: RIMsRules) -> None:
    attention = parameters.input_attention
    mechanisms, _, size = parameters.weight_hh.shape
    features = (parameters.weight_ih if attention is None else attention.key).shape[-1]
    if isinstance(x, Indexed) and x.index.ndim != 2:
        raise ValueError(f"x.index must be (time, batch), got shape {tuple(x.index.shape)}")
    axes = len(x.shape)
    if axes not in {3, 4} or x.shape[0] == 0 or x.shape[-1] != features:
        raise ValueError(
            f"x must be (time, batch, {features}), or (time, batch, element, {features}), with at "
            f"least one step, got shape {tuple(x.shape)}"
        )
    if axes == 4 and x.shape[2] == 0:
        raise ValueError(f"x must have at least one element, got shape {tuple(x.shape)}")
    if rules.per_position and axes == 3:
        raise ValueError(
            f"x must be (time, batch, position, {features}) with per_position, got shape "
            f"{tuple(x.shape)}"
        )
    if attention is None and axes == 4:
        raise ValueError("x must be (time, batch, feature) without input attention, got 4 axes")
    if not 1 <= rules.num_active <= mechanisms:
        raise ValueError(
            f"num_active must be 1…{mechanisms}, the number of mechanisms, got {rules.num_active}"
        )
    expected, got = (x.shape[1], mechanisms * size), [tuple(part.shape) for part in state]
    if not got or got != [expected] * len(got):
        raise ValueError(f"state must be of shape {expected}, (batch, unit), each, got {got}")
