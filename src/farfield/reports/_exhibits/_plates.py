"""Plates: pictures with findings beside the statements of a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

from matplotlib.figure import Figure as Picture

from farfield.reports._profile._theme import Theme

FINDING_HEAD: Final = ("quantity", "the paper", "measured")
"""Column heads of a table of findings."""


@final
@dataclass(frozen=True, kw_only=True)
class OneNetwork:
    """The network that a finding is of, where each has a finding of its own.

    Args:
        cell: Name of its cell within its table.
        seed: Number of its run.
        change: By how much the quantity changes: networks whose changes differ in sign disagree.
    """

    cell: str
    seed: int
    change: float


@final
@dataclass(frozen=True, kw_only=True)
class Finding:
    """One quantity: what the paper says of it, and what was measured.

    Args:
        what: The quantity.
        paper: What the paper says, in its words or numbers; empty if nothing.
        ours: What was measured, with the number of networks behind it.
        network: The network it is of; `None` where it is of all networks of its row.
    """

    what: str
    paper: str
    ours: str
    network: OneNetwork | None = None

    @property
    def cells(self) -> tuple[str, str, str]:
        """The finding under `FINDING_HEAD`."""
        return (self.what, self.paper or "–", self.ours)


def by_quantity(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings with those of single networks joined: each by its seed, and whether they disagree.

    Args:
        findings: In the order in which they are shown.
    """
    joined = [finding for finding in findings if finding.network is None]
    groups: dict[tuple[str, str], list[tuple[OneNetwork, str]]] = {}
    for one in findings:
        if one.network is not None:
            groups.setdefault((one.what, one.paper), []).append((one.network, one.ours))
    for (what, paper), found in groups.items():
        ordered = sorted(found, key=lambda one: one[0].seed)
        parts = [f"seed {network.seed}: {ours}" for network, ours in ordered]
        signs = {network.change > 0 for network, _ in ordered}
        parts += ["the networks disagree"] if len(signs) > 1 else []
        joined.append(Finding(what=what, paper=paper, ours="; ".join(parts)))
    return tuple(joined)


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
