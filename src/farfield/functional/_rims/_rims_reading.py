"""Competition of the mechanisms of RIMs for the input, and its reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear, linear_by_group
from farfield.functional._autograd._unroll import Layer, Product


def stable_order(
    x: Float[Tensor, "*batch"], *, dim: int = -1, descending: bool = False
) -> Int[Tensor, "*batch"]:
    """Sort stably along an axis: return the indices, as `torch.sort(…, stable=True)` does.

    ONNX knows no sort that is stable: where a network is exported, each number is compared with
    all others.

    Args:
        x: The numbers.
        dim: The axis.
        descending: Whether the largest comes first.
    """
    if not torch.compiler.is_exporting():
        return torch.sort(x, dim=dim, descending=descending, stable=True).indices
    own = x.movedim(dim, -1) if descending else -x.movedim(dim, -1)
    position = torch.arange(own.shape[-1], device=x.device)
    this, other = own.unsqueeze(-1), own.unsqueeze(-2)
    earlier = position < position.unsqueeze(-1)
    rank = ((other > this) | ((other == this) & earlier)).sum(-1)
    return rank.argsort(-1).movedim(-1, dim)


def top_k_mask(scores: Float[Tensor, "*batch"], k: int, dim: int = -1) -> Bool[Tensor, "*batch"]:
    """Mask the k largest scores along an axis; of equal scores the first counts as larger.

    `torch.topk` says neither which of equal scores it takes nor that it takes the same ones next
    time. No gradient flows through the choice.

    Args:
        scores: Scores to compare.
        k: Number of chosen scores.
        dim: The axis along which they compete.

    Raises:
        ValueError: If `k` is not between 1 and the number of competitors.

    Reference:
        lamb2022, section 8.2.2.
    """
    if not 1 <= k <= scores.shape[dim]:
        raise ValueError(f"k must be 1…{scores.shape[dim]}, the number of competitors, got {k}")
    first = stable_order(scores.detach(), dim=dim, descending=True).narrow(dim, 0, k)
    chosen = torch.zeros_like(scores, dtype=torch.bool)
    return chosen.scatter(dim, first, torch.ones_like(first, dtype=torch.bool))


# Computations that no state enters are made for all steps at once, before the first; those of a
# step is a `Source`. Tensors of all steps are (time, batch, …), those of one step and of all
# mechanisms (mechanism, batch, …).
class InputAttentionParameters(NamedTuple):
    """Weights with which M mechanisms of S units attend to elements of D features.

    The null element has neither key nor value, whatever the biases: its score is 0 and it brings
    nothing.

    Attributes:
        query: Of each mechanism: (M, head, key, S).
        key: Of all elements: (head, key, D).
        value: Of all elements: (head, value, D).
        key_bias: (head, key), or None.
        value_bias: (head, value), or None.

    Reference:
        lamb2022, section 8.2.2.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    key_bias: Tensor | None = None
    value_bias: Tensor | None = None


class Reading(NamedTuple):
    """Readings of the mechanisms from the input at one step.

    Attributes:
        inputs: Contributions to the gates: (mechanism, batch, gate).
        active: Which are active: (mechanism, batch).
        attention: Gives (batch, head, mechanism, slot) for a trace; None without attention.
    """

    inputs: Float[Tensor, "mechanism batch gate"]
    active: Bool[Tensor, "mechanism batch"]
    attention: Callable[[], Tensor] | None


Read = Callable[[Sequence[Product], Tensor, Sequence[Tensor]], Reading]
"""Function from the layers' products, the hidden states and the inputs to a reading."""


Attend = Callable[..., tuple[Tensor, Tensor]]
"""Function from queries, keys and `num_active` to weights of elements and who is active."""


class Source(NamedTuple):
    """Inputs of the reading of a step.

    Attributes:
        read: Reads at one step.
        streams: Tensors known before the first step; the first axis is time.
        layers: Layers that every step applies.
    """

    read: Read
    streams: tuple[Tensor, ...]
    layers: tuple[Layer, ...]


def scaled(query: Float[Tensor, "mechanism head key unit"]) -> Tensor:
    r"""Divide the query weights by $\sqrt{d}$, so that scores need no division at every step.

    Args:
        query: As in the parameters.
    """
    return query / math.sqrt(query.shape[2])


def whole_input(
    x: Float[Tensor, "time batch feature"], weight: Float[Tensor, "mechanism gate feature"]
) -> Source:
    """Prepare reading of the whole input by all mechanisms.

    Args:
        x: The inputs.
        weight: From the input to the gates.
    """

    def read(_products: Sequence[Product], _hidden: Tensor, now: Sequence[Tensor]) -> Reading:
        inputs = now[0].transpose(0, 1)
        return Reading(inputs, torch.ones_like(inputs[..., 0], dtype=torch.bool), None)

    return Source(read, (_of_all(x, weight),), ())


def several_elements(
    x: Float[Tensor, "time batch *element feature"],
    weight: Float[Tensor, "mechanism gate value"],
    parameters: InputAttentionParameters,
    *,
    num_active: int,
    attend: Attend,
    dropout: float,
) -> Source:
    """Prepare competition for inputs of any number of elements, with any number of heads.

    Args:
        x: The inputs.
        weight: From the values read, concatenated over heads, to the gates.
        parameters: Of the attention.
        num_active: How many mechanisms win.
        attend: How they compete.
        dropout: Probability that a number that is read is dropped.
    """
    mechanisms, heads = parameters.query.shape[:2]
    x = x.unsqueeze(2) if x.ndim == 3 else x

    def read(products: Sequence[Product], hidden: Tensor, now: Sequence[Tensor]) -> Reading:
        keys, values, *dropped = now
        queries = torch.unflatten(products[0](hidden), -1, (heads, -1)).permute(1, 2, 0, 3)
        attention, active = attend(queries, keys, num_active=num_active)
        weights = attention[..., -keys.shape[-2] :]
        gathered = (weights @ values).permute(2, 0, 1, 3).flatten(2)
        for factors in dropped:
            gathered = gathered * factors
        return Reading(products[1](gathered), active.t(), lambda: attention)

    streams = tuple(
        torch.unflatten(each, -1, (heads, -1)).transpose(2, 3)
        for each in _keys_and_values(x, parameters)
    )
    if dropout:
        shape = (len(x), mechanisms, x.shape[1], weight.shape[-1])
        streams = (*streams, F.dropout(x.new_ones(shape), dropout))
    query = Layer(scaled(parameters.query).flatten(1, 2))
    return Source(read, streams, (query, Layer(weight)))


def attend_to_elements(
    queries: Float[Tensor, "batch head mechanism key"],
    keys: Float[Tensor, "batch head element key"],
    *,
    num_active: int,
) -> tuple[Tensor, Tensor]:
    """Attend to the null element and to all others; active are mechanisms with the least on null.

    Args:
        queries: Of the mechanisms, scaled.
        keys: Of the elements.
        num_active: How many mechanisms win.

    Returns:
        Weights (batch, head, mechanism, 1 + element), the null element first; and who is active,
        (batch, mechanism).
    """
    scores = queries @ keys.transpose(-1, -2)
    attention = F.pad(scores, (1, 0)).softmax(-1)
    return attention, top_k_mask(_odds_of_reading(scores), num_active)


def _odds_of_reading(scores: Float[Tensor, "batch head mechanism element"]) -> Tensor:
    """Compute log-odds of attention on elements other than null, averaged over heads.

    (batch, mechanism). In the order of that attention, which saturates where these do not.
    """
    odds = scores.logsumexp(-1)  # the score of the null element is 0
    if odds.shape[1] == 1:
        return odds.squeeze(1)
    return F.logsigmoid(odds).logsumexp(1) - F.logsigmoid(-odds).logsumexp(1)


def attend_to_positions(
    queries: Float[Tensor, "batch head mechanism key"],
    keys: Float[Tensor, "batch head element key"],
    *,
    num_active: int,
) -> tuple[Tensor, Tensor]:
    """Attend to the positions that a mechanism wins; active are mechanisms that win any.

    At every position those win that attend to it most, averaged over heads; of those whose
    attention has saturated, the first. The weights of the positions that a mechanism loses become
    0.

    Args:
        queries: Of the mechanisms, scaled.
        keys: Of the positions.
        num_active: How many mechanisms win a position.

    Returns:
        Weights (batch, head, mechanism, element); and who is active, (batch, mechanism).
    """
    attention = (queries @ keys.transpose(-1, -2)).softmax(-1)
    won = top_k_mask(attention.mean(1), num_active, dim=-2)
    return attention * won.unsqueeze(1), won.any(-1)


def attend_over_mechanisms(
    queries: Float[Tensor, "batch head mechanism key"],
    keys: Float[Tensor, "batch head element key"],
    *,
    num_active: int,
) -> tuple[Tensor, Tensor]:
    """Share attention among mechanisms; active are mechanisms with the largest part.

    The parts of an element add up to 1 over the mechanisms; those of all elements, averaged over
    heads, say who is active.

    Args:
        queries: Of the mechanisms, scaled.
        keys: Of the elements.
        num_active: How many mechanisms win.

    Returns:
        Weights (batch, head, mechanism, element); and who is active, (batch, mechanism).
    """
    attention = (queries @ keys.transpose(-1, -2)).softmax(-2)
    return attention, top_k_mask(attention.mean(1).sum(-1), num_active)


# 1.2 times as fast as `several_elements` for 70 steps of 64 sequences and 600 units.
def one_element(
    x: Float[Tensor, "time batch feature"],
    weight: Float[Tensor, "mechanism gate value"],
    parameters: InputAttentionParameters,
    *,
    num_active: int,
    dropout: float,
) -> Source:
    r"""Prepare competition for inputs of one element, with one head.

    A score is $h W^q (x W^e)^\top$; all but its first factor is known beforehand. The values read
    are $a \, x W^v$ with a number $a$, so gates get $a$ times their share of the whole value,
    which is known beforehand too.

    Args:
        x: The inputs.
        weight: From the values read to the gates.
        parameters: Of the attention.
        num_active: How many mechanisms win.
        dropout: Probability that a number that is read is dropped.
    """

    def read(_products: Sequence[Product], hidden: Tensor, now: Sequence[Tensor]) -> Reading:
        compared, offered = (each.transpose(0, 1) for each in now)
        scores = (hidden * compared).sum(-1)
        share = torch.sigmoid(scores)  # a softmax over this score and the 0 of the null element

        def attention() -> Tensor:
            return torch.stack((torch.sigmoid(-scores).t(), share.t()), dim=-1).unsqueeze(1)

        # The scores are in the order of the shares, and do not saturate.
        active = top_k_mask(scores, num_active, dim=0)
        return Reading(share.unsqueeze(-1) * offered, active, attention)

    keys, values = _keys_and_values(x, parameters)
    compared = _of_all(keys, scaled(parameters.query).squeeze(1).transpose(1, 2))
    offered = _of_all_dropping(values, weight, dropout) if dropout else _of_all(values, weight)
    return Source(read, (compared, offered), ())


def _keys_and_values(x: Tensor, parameters: InputAttentionParameters) -> tuple[Tensor, Tensor]:
    """Compute keys and values of all elements at all steps, heads concatenated."""
    _, key, value, key_bias, value_bias = parameters
    return (
        linear(x, key.flatten(0, 1), None if key_bias is None else key_bias.flatten()),
        linear(x, value.flatten(0, 1), None if value_bias is None else value_bias.flatten()),
    )


def _of_all(x: Tensor, weight: Tensor) -> Tensor:
    """Apply a layer per mechanism, (mechanism, out, in), to shared inputs: (…, mechanism, out)."""
    return torch.unflatten(linear(x, weight.flatten(0, 1)), -1, weight.shape[:2])


def _of_all_dropping(x: Tensor, weight: Tensor, dropout: float) -> Tensor:
    """Apply `_of_all` with a separate dropout mask for every mechanism."""
    time, batch, size = x.shape
    factors = F.dropout(x.new_ones(len(weight), time * batch, size), dropout)
    found = linear_by_group(x.flatten(0, 1) * factors, weight)
    return torch.unflatten(found, 1, (time, batch)).permute(1, 2, 0, 3)
