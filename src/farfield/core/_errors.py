"""Errors shared by all packages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import final


@final
class UnknownNameError(ValueError):
    """An unknown name, with the nearest known one.

    Args:
        kind: What was looked up, e.g. `"task"`.
        name: The name received.
        choices: The names that exist.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        near = difflib.get_close_matches(name.lower(), self.choices, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        super().__init__(f"unknown {kind} {name!r}{hint} Known: {', '.join(self.choices)}")
