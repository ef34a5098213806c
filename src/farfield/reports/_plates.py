"""What a figure measures beyond the scores of its claims: a picture, and findings beside words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from matplotlib.figure import Figure as Picture

from farfield.reports._theme import Theme

FINDING_HEAD: Final = ("quantity", "the paper", "measured")
"""What stands over findings."""


@final
@dataclass(frozen=True, kw_only=True)
class Finding:
    """One quantity: what the paper says of it, and what was measured.

    Args:
        what: The quantity.
        paper: What the paper says, in its words or numbers; empty if nothing.
        ours: What was measured, with the number of networks behind it.
    """

    what: str
    paper: str
    ours: str

    @property
    def cells(self) -> tuple[str, str, str]:
        """The finding under `FINDING_HEAD`."""
        return (self.what, self.paper or "–", self.ours)


@final
@dataclass(frozen=True, kw_only=True)
class Plate:
    """A picture with what was found in it.

    Args:
        name: Name of its file, without suffix.
        title: What it shows.
        caption: How to read it, and how the quantities are defined.
        draw: Draws it for light or dark surroundings; `None` where words are enough.
        findings: The quantities.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[Theme], Picture] | None
    findings: tuple[Finding, ...]
