"""Sanitizing of untrusted text for display."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 400
"""Characters of an excerpt."""


def printable(text: object) -> str:
    r"""The text in one line, without control characters or changes of reading order.

    Control characters, marks of direction, separators and bytes that are no text are written as
    escapes, e.g. `\x1b`.

    Args:
        text: A name, a path or a message from a file, the network or another program.
    """
    found = str(text)
    if found.isprintable():
        return found
    return "".join(sign if sign.isprintable() else _escape(sign) for sign in found)


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def one_line(text: object) -> str:
    """The text as words in one line: white space becomes a blank, the rest as `printable`.

    Args:
        text: A name that people gave.
    """
    return printable(" ".join(str(text).split()))


def cell_words(text: object) -> str:
    """The text as a cell of a Markdown table, in which nothing is markup.

    Args:
        text: A name that people gave, or a number.
    """
    return "".join(f"\\{sign}" if sign in "\\`*|<$" else sign for sign in one_line(text))


def excerpt(text: object) -> str:
    """The same, shortened in the middle where it is long.

    Args:
        text: What may be of any length.
    """
    found = str(text)
    if len(found) > _LONGEST:
        found = f"{found[: _LONGEST * 3 // 4]} … {found[-_LONGEST // 4 :]}"
    return printable(found)
