"""Checks of the fields and regimes of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from farfield.core import Limits, UnknownNameError
from farfield.tasks._protocol._task import Regime

Count = Annotated[int, Limits(at_least=1, at_most=10_000_000)]
"""A number of problems, or of positions of one."""


def check_number(name: str, value: int, fewest: int, most: int) -> None:
    """Raise `ValueError` unless the field `name` is an integer of `fewest` … `most`."""
    if not is_integer(value) or not fewest <= value <= most:
        raise ValueError(f"{name} must be an int {fewest}…{most}, got {value!r}")


def is_integer(value: object) -> bool:
    """True for an integer that is not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_regime(regime: str, regimes: Sequence[Regime]) -> str:
    """Raise `UnknownNameError` unless `regime` is one of `regimes`; else return it."""
    names = [known.name for known in regimes]
    if regime not in names:
        raise UnknownNameError("regime", regime, names)
    return regime
