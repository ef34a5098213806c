"""One layer of recurrent independent mechanisms: its weights."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from farfield.functional import (
    CommunicationParameters,
    InputAttentionParameters,
    RIMsParameters,
    RIMsRules,
)
from farfield.nn._rims._rims_parts import Communication, InputAttention, Wiring

MOST_HEADS = 4
"""Heads of the communication where none are named."""


@final
class Mechanisms(nn.Module):
    """The weights of one layer of `RIMs`, laid out as `farfield.functional.rims` takes them.

    Args:
        input_size: Number of features of an element of the input.
        num_mechanisms: Number of mechanisms.
        size: Units of a mechanism.
        num_active: How many are active.
        wiring: The stages.
        generator: Where the first weights are drawn from.
    """

    def __init__(
        self,
        input_size: int,
        num_mechanisms: int,
        size: int,
        num_active: int,
        wiring: Wiring,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        attention, communication = wiring.input_attention, wiring.communication
        read, self.input_attention, self.communication = input_size, None, None
        if attention is not None:
            shapes = _attention_shapes(attention, input_size, num_mechanisms, size)
            read = math.prod(shapes["value"][:2])
            self.input_attention = _weights(shapes, attention.init_std, generator)
        dynamics, gates = wiring.dynamics, wiring.dynamics.num_gates * size
        bound = (size * num_mechanisms if dynamics.init_over_all else size) ** -0.5
        self.weight_ih = nn.Parameter(torch.empty(num_mechanisms, gates, read))
        self.weight_hh = nn.Parameter(torch.empty(num_mechanisms, gates, size))
        self.bias_ih = nn.Parameter(torch.empty(num_mechanisms, gates))
        self.bias_hh = nn.Parameter(torch.empty(num_mechanisms, gates))
        for own in (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh):
            nn.init.uniform_(own, -bound, bound, generator=generator)
        if communication is not None:
            shapes = _communication_shapes(communication, num_mechanisms, size)
            self.communication = _weights(shapes, communication.init_std, generator)
        self._num_active, self._wiring = num_active, wiring

    def functional(self) -> tuple[RIMsParameters, RIMsRules]:
        """Weights and rules, for `farfield.functional.rims`."""
        attention, communication = self.input_attention, self.communication
        parameters = RIMsParameters(
            self.weight_ih,
            self.weight_hh,
            self.bias_ih,
            self.bias_hh,
            None if attention is None else InputAttentionParameters(**_named(attention)),
            None if communication is None else CommunicationParameters(**_named(communication)),
        )
        return parameters, self._rules()

    def _rules(self) -> RIMsRules:
        reading, telling = self._wiring.input_attention, self._wiring.communication
        return RIMsRules(
            num_active=self._num_active,
            dynamics=self._wiring.dynamics.step,
            per_position=reading is not None and reading.per_position,
            over_mechanisms=reading is not None and reading.over_mechanisms,
            top_k=None if telling is None else telling.top_k,
            hypothetical=telling is not None and telling.hypothetical,
            input_dropout=reading.dropout if reading is not None and self.training else 0.0,
            communication_dropout=telling.dropout if telling is not None and self.training else 0.0,
        )


GlyphSet = dict[str, tuple[int, ...]]


def _attention_shapes(
    attention: InputAttention, input_size: int, num_mechanisms: int, size: int
) -> GlyphSet:
    heads, key = attention.num_heads, attention.key_size
    value = 4 * size if attention.value_size is None else attention.value_size
    shapes: GlyphSet = {
        "query": (num_mechanisms, heads, key, size),
        "key": (heads, key, input_size),
        "value": (heads, value, input_size),
    }
    if attention.bias:
        shapes |= {"key_bias": (heads, key), "value_bias": (heads, value)}
    return shapes


def _communication_shapes(communication: Communication, num_mechanisms: int, size: int) -> GlyphSet:
    heads, key, value = communication.num_heads, communication.key_size, communication.value_size
    if heads is None:
        fitting = [n for n in range(1, MOST_HEADS + 1) if value is not None or size % n == 0]
        heads = fitting[-1]
    if value is None:
        value, rest = divmod(size, heads)
        if rest:
            fitting = [n for n in range(1, size + 1) if size % n == 0]
            raise ValueError(
                f"num_heads of the communication must divide the {size} units of a mechanism, so "
                f"be one of {', '.join(map(str, fitting))}, or value_size be given with "
                f"gated=True, got num_heads={heads}"
            )
    if not communication.gated and heads * value != size:
        raise ValueError(
            f"num_heads · value_size of the communication must be the {size} units of a mechanism, "
            f"to which what is read is added, got {heads} · {value}; or set gated=True"
        )
    if communication.top_k is not None and communication.top_k > num_mechanisms:
        raise ValueError(
            f"top_k of the communication must be at most num_mechanisms={num_mechanisms}, got "
            f"{communication.top_k}"
        )
    shapes: GlyphSet = {
        "query": (num_mechanisms, heads, key, size),
        "key": (num_mechanisms, heads, key, size),
        "value": (num_mechanisms, heads, value, size),
    }
    if communication.gated:
        out = {"weight": (size, heads * value), "bias": (size,)}
        shapes |= {f"{name}_{kind}": out[kind] for name in ("gate", "out") for kind in out}
    return shapes


_FAN_IN = {"key_bias": "key", "value_bias": "value", "gate_bias": "gate_weight"}


def _weights(
    shapes: GlyphSet, std: float | None, generator: torch.Generator | None
) -> nn.ParameterDict:
    """Parameters of these shapes, drawn as torch's linear layers are or with a given deviation."""
    made = nn.ParameterDict({name: nn.Parameter(torch.empty(s)) for name, s in shapes.items()})
    for name, parameter in made.items():
        if std is not None and name in {"query", "key", "value"}:
            nn.init.normal_(parameter, std=std, generator=generator)
            continue
        weight = name.removesuffix("_bias") if name.endswith("_bias") else name
        bound = shapes.get(weight, shapes.get(f"{weight}_weight", (1,)))[-1] ** -0.5
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return made


def _named(parameters: nn.ParameterDict) -> dict[str, Tensor]:
    return dict(parameters.items())
