"""Options of the steps of gated recurrences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from farfield.core import check_fields
from farfield.functional import gru_dynamics, lstm_dynamics


@final
@dataclass(frozen=True, kw_only=True)
class LSTMDynamics:
    r"""Each mechanism of `RIMs` is an LSTM.

    Args:
        init_over_all: Whether the first weights are drawn from $U(-1/\sqrt n, 1/\sqrt n)$ for the
            $n$ units of all mechanisms, as in the released code, or for those of one.

    Reference:
        lamb2022, section 8.2.3.
    """

    num_gates: ClassVar[int] = 4
    num_states: ClassVar[int] = 2
    step: ClassVar = staticmethod(lstm_dynamics)
    init_over_all: bool = False

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)


@final
@dataclass(frozen=True, kw_only=True)
class GRUDynamics:
    r"""Each mechanism of `RIMs` is a gated recurrent unit.

    Args:
        init_over_all: Whether the first weights are drawn from $U(-1/\sqrt n, 1/\sqrt n)$ for the
            $n$ units of all mechanisms, as in the released code, or for those of one.

    Reference:
        lamb2022, section 8.2.3.
    """

    num_gates: ClassVar[int] = 3
    num_states: ClassVar[int] = 1
    step: ClassVar = staticmethod(gru_dynamics)
    init_over_all: bool = False

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)
