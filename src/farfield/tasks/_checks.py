"""What the fields and regimes of a task may be."""

from __future__ import annotations

from collections.abc import Sequence

from farfield.core import UnknownNameError
from farfield.tasks._task import Regime


def check_number(name: str, value: int, fewest: int, most: int) -> None:
    """Raise `ValueError` if the field `name` is no integer `fewest` … `most`."""
    if not is_integer(value) or not fewest <= value <= most:
        raise ValueError(f"{name} must be an int {fewest}…{most}, got {value!r}")


def is_integer(value: object) -> bool:
    """Whether it is an integer, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def freeze(task: object, *names: str) -> None:
    """Make tuples of the fields `names`, lists in them too; `ValueError` if one is neither."""
    for name in names:
        value = getattr(task, name)
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} must be a tuple, got {value!r}")
        parts = (tuple(part) if isinstance(part, list) else part for part in value)
        object.__setattr__(task, name, tuple(parts))


def check_regime(regime: str, regimes: Sequence[Regime]) -> str:
    """`regime`, if it is one of `regimes`; `UnknownNameError` if not."""
    names = [known.name for known in regimes]
    if regime not in names:
        raise UnknownNameError("regime", regime, names)
    return regime
