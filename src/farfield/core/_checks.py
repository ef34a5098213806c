"""Checks of constructor arguments, shared by all packages."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_flags(owner: DataclassInstance) -> None:
    """Raise `ValueError` unless every field declared as `bool` is True or False.

    Args:
        owner: A dataclass.

    Raises:
        ValueError: If such a field holds anything else.
    """
    for field in fields(owner):
        value = getattr(owner, field.name)
        if field.type in {"bool", bool} and not isinstance(value, bool):
            raise ValueError(f"{field.name} must be True or False, got {value!r}")
