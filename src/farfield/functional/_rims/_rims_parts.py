"""Parameters, rules and outputs of recurrent independent mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from torch import Tensor

from farfield.functional._recurrent._gated_dynamics import Dynamics, State, lstm_dynamics
from farfield.functional._rims._rims_communication import CommunicationParameters
from farfield.functional._rims._rims_reading import InputAttentionParameters


class RIMsParameters(NamedTuple):
    """Weights of M mechanisms of S units, with G gates each: 4S for an LSTM, 3S for a GRU.

    Attributes:
        weight_ih: From what a mechanism reads to its gates: (M, G, value · heads), or (M, G, D)
            without attention.
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
            mechanism, read mechanism); what the inactive would read, too. None without.

    Reference:
        lamb2022, section 8.2.
    """

    outputs: Tensor
    state: State
    active: Tensor
    input_attention: Tensor | None
    communication: Tensor | None
