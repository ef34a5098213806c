"""Checks of numbers that layers and models of every floor are made with."""

from __future__ import annotations

import operator


def check_sizes(**sizes: int | None) -> None:
    """Refuse what is no number of things: a size must be whole, and 1 at least.

    Args:
        sizes: By the arguments' names; None stands for a size that is not given.

    Raises:
        ValueError: If one is not whole, or below 1.
    """
    for name, size in sizes.items():
        if size is None:
            continue
        try:
            whole = operator.index(size)
        except TypeError:
            whole = None
        if whole is None or isinstance(size, bool):
            raise ValueError(f"{name} must be a whole number, got {size!r}")
        if whole < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def check_dropout(dropout: float) -> None:
    """Refuse what is no probability to drop something, or drops everything.

    Args:
        dropout: The probability.

    Raises:
        ValueError: If it is below 0, or 1 and more.
    """
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must be a probability, 0 to 1 and not 1, got {dropout}")
