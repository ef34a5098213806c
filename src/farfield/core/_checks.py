"""Checks of what layers, models and tasks of every floor are made with."""

from __future__ import annotations

import operator
from dataclasses import fields
from numbers import Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_sizes(**sizes: int) -> None:
    """Refuse what is no number of things: a size must be whole, and 1 at least.

    Args:
        sizes: By the arguments' names.

    Raises:
        ValueError: If one is not whole, or below 1.
    """
    for name, size in sizes.items():
        try:
            whole = operator.index(size)
        except TypeError:
            whole = None
        if whole is None or isinstance(size, bool):
            raise ValueError(f"{name} must be a whole number, got {size!r}")
        if whole < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_optional_sizes(**sizes: int | None) -> None:
    """Refuse what is no number of things, where one may be left open.

    Args:
        sizes: By the arguments' names; None stands for a size that is not given.

    Raises:
        ValueError: If one is given and not whole, or below 1.
    """
    check_sizes(**{name: size for name, size in sizes.items() if size is not None})


def check_dropout(dropout: float) -> None:
    """Refuse what is no probability to drop something, or drops everything.

    Args:
        dropout: The probability.

    Raises:
        ValueError: If it is below 0, or 1 and more.
    """
    if not isinstance(dropout, Real) or not 0 <= dropout < 1:
        raise ValueError(f"dropout must be a probability, 0 to 1 and not 1, got {dropout!r}")


def check_flags(owner: DataclassInstance) -> None:
    """Refuse what is neither True nor False in a field that is declared as `bool`.

    Args:
        owner: A dataclass.

    Raises:
        ValueError: If such a field holds anything else.
    """
    for field in fields(owner):
        value = getattr(owner, field.name)
        if field.type in {"bool", bool} and not isinstance(value, bool):
            raise ValueError(f"{field.name} must be True or False, got {value!r}")


def check_part(name: str, part: object, *kinds: type, optional: bool = False) -> None:
    """Refuse what is none of the things that a part may be made of.

    Args:
        name: Of the argument.
        part: What is given for it.
        kinds: The classes of which it may be.
        optional: Whether it may be None.

    Raises:
        ValueError: If it is of another class, or a class itself.
    """
    if isinstance(part, kinds) or (optional and part is None):
        return
    wanted = [f"{kind.__name__}(…)" for kind in kinds] + ["None"] * optional
    raise ValueError(f"{name} must be {' or '.join(wanted)}, got {part!r}")
