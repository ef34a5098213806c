"""Mechanisms of RIMs and the options of their parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Tensor, nn

from farfield.core.internal import Checked, Dropout, NonNegativeFloat, Size, check_fields
from farfield.functional.internal import (
    CommunicationParameters,
    InputAttentionParameters,
    RIMsParameters,
    RIMsRules,
)
from farfield.nn._recurrent._fused_layers import GRUDynamics, LSTMDynamics


@final
@dataclass(frozen=True, kw_only=True)
class InputAttention:
    r"""Options of the competition of the mechanisms of `RIMs` for the input.

    The null element has key and value zero, as in the text. There the keys and values of the input
    are $X W$ without a bias, so that an input of zeros is the null element itself: all mechanisms
    tie and read nothing. With `bias` the input's keys and values have one and the null's have none:
    an input of zeros differs from no input.

    Args:
        num_heads: Number of heads; activation goes by the average of their attention.
        key_size: Numbers in a key.
        value_size: Numbers in a value of one head; None is four times the units of a mechanism, as
            in the released code.
        bias: Whether keys and values of the input have a bias.
        per_position: Whether mechanisms compete for every position of an input
            `(…, position, feature)`: at each those are active that attend to it most, each reads
            the positions that it wins, and one that wins none is inactive. There is no null
            element.
        over_mechanisms: Whether attention is a softmax over the mechanisms, which so share an
            input, and those with the largest parts are active, as in the released code for Atari.
            There is no null element.
        dropout: Probability that a number read is dropped in training; drawn from torch's global
            generator. 0.1 in the released code.
        init_std: Standard deviation of the first weights; None draws them, and biases, as torch's
            linear layers do. 0.01 in the released code.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, `init_std` negative or not
            finite, or both `per_position` and `over_mechanisms` are asked for.

    Reference:
        lamb2022, section 8.2.2.
    """

    num_heads: Size = 1
    key_size: Size = 64
    value_size: Size | None = None
    bias: bool = True
    per_position: bool = False
    over_mechanisms: bool = False
    dropout: Dropout = 0.0
    init_std: NonNegativeFloat | None = None

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)
        if self.per_position and self.over_mechanisms:
            raise ValueError(
                "per_position must be False with over_mechanisms, which compete for an input as a "
                "whole, got True"
            )


@final
@dataclass(frozen=True, kw_only=True)
class Communication(Checked):
    r"""Options of the communication of the mechanisms of `RIMs`.

    Args:
        num_heads: Number of heads; None for four, or where they share the units of a mechanism for
            the largest number up to four that divides them.
        key_size: Numbers in a key of one head; 16 in the released code.
        value_size: Numbers in a value of one head; 16 in the released code. None shares the units
            of a mechanism among the heads, which a plain residual takes.
        top_k: How many mechanisms one reads from, by the attention of each head; None for all.
        hypothetical: Whether inactive mechanisms show the state that they would have had if active,
            without gradients, as in the released code, or the one that they keep.
        gated: Whether the values read go through $\sigma(W_g a + b_g) \tanh(W_o a + b_o)$, shared
            by all mechanisms, as in the released code, or are added unchanged.
        dropout: Probability that a number read is dropped in training, with `gated` one of
            $W_o a + b_o$; drawn from torch's global generator. 0.1 in the released code.
        init_std: Standard deviation of the first weights of queries, keys and values; None draws
            them as torch's linear layers do. 0.01 in the released code.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, or `init_std` negative or not
            finite.

    Reference:
        lamb2022, section 8.2.4.
    """

    num_heads: Size | None = None
    key_size: Size = 32
    value_size: Size | None = None
    top_k: Size | None = None
    hypothetical: bool = False
    gated: bool = False
    dropout: Dropout = 0.0
    init_std: NonNegativeFloat | None = None


_RELEASED_ATTENTION = InputAttention(bias=False, dropout=0.1, init_std=0.01)
_RELEASED_COMMUNICATION = Communication(
    key_size=16, value_size=16, hypothetical=True, gated=True, dropout=0.1, init_std=0.01
)


@final
@dataclass(frozen=True, kw_only=True)
class Wiring(Checked):
    """The three stages of a step of `RIMs`; the text's by default.

    Args:
        input_attention: How mechanisms compete for the input; None gives all of it to all of them,
            which are then all active.
        dynamics: Recurrence of a mechanism.
        communication: How they read from one another; None where they do not.

    Raises:
        ValueError: If a part is something else.

    Reference:
        lamb2022, sections 8.2.2 to 8.2.4; 8.4.4 for those left out.
    """

    input_attention: InputAttention | None = InputAttention()
    dynamics: LSTMDynamics | GRUDynamics = LSTMDynamics()
    communication: Communication | None = Communication()

    @classmethod
    def released(cls, *, gru: bool = False) -> Wiring:
        """Make the wiring of the authors' released code, where it differs from the text.

        Keys and values of the input without bias; small first weights; communication between the
        states that all mechanisms would have had if active, without gradients through the inactive,
        with keys and values of 16 numbers, and through a gate and a tanh; dropout in both.

        Args:
            gru: Whether mechanisms are gated recurrent units, or LSTMs.
        """
        kind = GRUDynamics if gru else LSTMDynamics
        return cls(
            input_attention=_RELEASED_ATTENTION,
            dynamics=kind(init_over_all=True),
            communication=_RELEASED_COMMUNICATION,
        )

    @classmethod
    def released_for_agents(cls) -> Wiring:
        """Make the wiring of the released code for Atari, where it differs from `released`.

        Attention to the input is a softmax over the mechanisms, without a null element; keys of the
        communication have 32 numbers.
        """
        return cls(
            input_attention=replace(_RELEASED_ATTENTION, over_mechanisms=True),
            dynamics=LSTMDynamics(init_over_all=True),
            communication=replace(_RELEASED_COMMUNICATION, key_size=32),
        )


MOST_HEADS = 4
"""Heads of the communication where none are named."""


@final
class Mechanisms(nn.Module):
    """The weights of one layer of `RIMs`, in the layout of `farfield.functional.internal.rims`.

    Args:
        input_size: Number of features of an element of the input.
        num_mechanisms: Number of mechanisms.
        size: Units of a mechanism.
        num_active: How many are active.
        wiring: The stages.
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
        """Return weights and rules for `farfield.functional.internal.rims`."""
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
            f"to which the values read are added, got {heads} · {value}; or set gated=True"
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
    """Draw parameters as torch's linear layers do, or with a given standard deviation."""
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
