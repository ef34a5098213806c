"""Errors shared by all packages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final, final

from farfield._text import excerpt

NEAREST: Final = 3
"""Known names that an error about an unknown one repeats."""


_LONGEST: Final = 200
"""Number of characters of an unknown name that are compared with known names."""


class FarfieldError(RuntimeError):
    """A failure whose message says all; a traceback adds nothing for its reader."""


def lacks_memory(error: BaseException) -> bool:
    """Check whether an error reports too little memory; torch has no class for that.

    Args:
        error: The error.
    """
    is_torch = isinstance(error, RuntimeError) and "alloc" in str(error)
    return is_torch or isinstance(error, MemoryError)


@final
class UnknownNameError(ValueError):
    """An unknown name, with the names that it abbreviates (`--lr`) or three near it.

    Args:
        kind: Kind of the name, e.g. `"task"`.
        name: The name received.
        choices: The names that exist.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        given = name[:_LONGEST].lower()
        meant = [
            known
            for known in self.choices
            if _initials(known) == given.lstrip("-").rpartition(".")[2]
        ]
        near = meant[:NEAREST] or difflib.get_close_matches(
            given, self.choices, n=NEAREST, cutoff=0.4
        )
        if near:
            *most, last = map(repr, near)
            before = f"{', '.join(most)} or " if most else ""
            hint = f"; did you mean {before}{last}?"
        else:
            others = len(self.choices) - NEAREST
            shown = ", ".join(self.choices[:NEAREST])
            hint = f"; known: {shown}{f' and {others} more' if others > 0 else ''}"
        super().__init__(f"unknown {kind} {excerpt(repr(name))}{hint}")


def _initials(name: str) -> str:
    """Return the first letters of the words of a name, or of an option's field."""
    words = re.split("[-_]", name.rpartition(".")[2].lstrip("-"))
    return "".join(word[:1] for word in words)
