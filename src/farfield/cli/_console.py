"""Where commands write to."""

from __future__ import annotations

import os
import sys

from rich.console import Console

UNFOLDED = 10_000
"""Columns of a pipe or a file, where a line is a line however long it is."""


def make_console() -> Console:
    """Make a console as wide as the terminal or `COLUMNS`, unlimited in a pipe."""
    is_folded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if is_folded else UNFOLDED)


def say(console: Console, text: str) -> None:
    """Print a text unchanged, its long lines whole and without colors.

    Args:
        console: Where to.
        text: Any.
    """
    console.print(text, soft_wrap=True, markup=False, emoji=False, highlight=False)


def write(text: str) -> None:
    """Write a text unchanged, tabs and long lines included.

    Args:
        text: Of whole lines. A reader that is gone, as `head` soon is, is no error.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
