"""Text for display: untrusted words made safe, and numbers rounded."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

_LONGEST: Final = 400
"""Characters of an excerpt."""
_KNOWN: Final = 12
"""Significant digits of a number before it is rounded: sums of binary numbers err beyond them."""
_LARGEST: Final = 1e12
"""Size from which a number has no known digits after the point."""


def printable(text: object) -> str:
    r"""Write a text in one line, without control characters or changes of reading order.

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
    """Join the words of a text in one line: white space becomes a blank, then as `printable`.

    Args:
        text: A name that people gave.
    """
    return printable(" ".join(str(text).split()))


def cell_words(text: object) -> str:
    """Escape a text as a cell of a Markdown table, without markup.

    Args:
        text: A name that people gave, or a number.
    """
    return "".join(f"\\{sign}" if sign in "\\`*|<$" else sign for sign in one_line(text))


def excerpt(text: object) -> str:
    """Cut the middle of a long text, in one line.

    Args:
        text: A text of any length.
    """
    found = str(text)
    if len(found) > _LONGEST:
        found = f"{found[: _LONGEST * 3 // 4]} … {found[-_LONGEST // 4 :]}"
    return printable(found)


def fixed(value: float, digits: int) -> str:
    """Format a number with some digits after the point; halves are rounded away from zero.

    It is the one rule for all means that are shown. A half is one of the decimal number, to 12
    significant digits: 20.35 is 20.4, also where a sum of binary numbers is 20.349999999999998.

    Args:
        value: The number.
        digits: Digits after the point.
    """
    if not abs(value) < _LARGEST:
        return f"{value:.{digits}f}"
    known = Decimal(f"{value:.{_KNOWN}g}")
    return f"{known.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"
