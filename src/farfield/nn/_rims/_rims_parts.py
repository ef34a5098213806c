"""Options of the parts of recurrent independent mechanisms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from farfield.core import (
    Dropout,
    NonNegativeFloat,
    Size,
    check_fields,
)
from farfield.nn._recurrent._gated_dynamics import GRUDynamics, LSTMDynamics


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
class Communication:
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
        gated: Whether what is read goes through $\sigma(W_g a + b_g) \tanh(W_o a + b_o)$, shared by
            all mechanisms, as in the released code, or is added as it is.
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

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)


_RELEASED_ATTENTION = InputAttention(bias=False, dropout=0.1, init_std=0.01)
_RELEASED_COMMUNICATION = Communication(
    key_size=16, value_size=16, hypothetical=True, gated=True, dropout=0.1, init_std=0.01
)


@final
@dataclass(frozen=True, kw_only=True)
class Wiring:
    """The three stages of a step of `RIMs`; the text's by default.

    Args:
        input_attention: How mechanisms compete for the input; None gives all of it to all of them,
            which are then all active.
        dynamics: What a mechanism does on its own.
        communication: How they read from one another; None where they do not.

    Raises:
        ValueError: If a part is something else.

    Reference:
        lamb2022, sections 8.2.2 to 8.2.4; 8.4.4 for those left out.
    """

    input_attention: InputAttention | None = InputAttention()
    dynamics: LSTMDynamics | GRUDynamics = LSTMDynamics()
    communication: Communication | None = Communication()

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)

    @classmethod
    def released(cls, *, gru: bool = False) -> Wiring:
        """As in the authors' released code, where it differs from the text.

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
        """As in the authors' released code for Atari, where it differs from `released`.

        Attention to the input is a softmax over the mechanisms, without a null element; keys of the
        communication have 32 numbers.
        """
        return cls(
            input_attention=replace(_RELEASED_ATTENTION, over_mechanisms=True),
            dynamics=LSTMDynamics(init_over_all=True),
            communication=replace(_RELEASED_COMMUNICATION, key_size=32),
        )
