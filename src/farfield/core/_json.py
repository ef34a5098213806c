"""JSON lines that keep numbers that are not finite."""

from __future__ import annotations

import json
from typing import TypeVar

import msgspec

T = TypeVar("T")


def to_line(value: object) -> str:
    """Write a value as JSON in one line; nan and infinities as Python writes them.

    Args:
        value: Structs, mappings, sequences, text and numbers.
    """
    return json.dumps(msgspec.to_builtins(value))


def from_line(line: str | bytes, kind: type[T]) -> T:
    """Read the value that `to_line` wrote.

    Args:
        line: The JSON.
        kind: Its type.

    Raises:
        ValueError: If the line is not JSON, or not a value of this type.
    """
    try:
        return msgspec.convert(json.loads(line), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(f"no {kind.__name__}: {error}") from error
