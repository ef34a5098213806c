"""Exhibits, the figures that consist of them, and the plates that they give."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, final, runtime_checkable

from matplotlib.figure import Figure as Picture

from farfield.records import Store
from farfield.reports._profile._theme import Theme
from farfield.reports._report._report import Report
from farfield.reproductions import Table

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


@runtime_checkable
class Exhibit(Protocol):
    """Measurement on trained networks for a figure, with its drawing."""

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The picture with what was found; `None` where there is nothing to show.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie; `None` where there are records alone.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class Quote:
    """A paper's statement on a quantity, quoted or in numbers.

    Args:
        of: Names of the quantities; `*` stands for anything.
        words: What it says, and where.
    """

    of: str
    words: str


@final
@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure, or one of our own.

    Args:
        table: The claims behind it, under the figure's key and title.
        exhibits: What it shows beyond their scores.
        says: What the paper says of the quantities; the first that fits a name counts.
        quick_networks: Networks of each cell in the quick budget.

    Raises:
        ValueError: If the number of networks is below 1.
    """

    table: Table
    exhibits: tuple[Exhibit, ...]
    says: tuple[Quote, ...] = ()
    quick_networks: int = 10

    def __post_init__(self) -> None:
        if self.quick_networks < 1:
            raise ValueError(f"quick_networks must be at least 1, got {self.quick_networks}")

    @property
    def key(self) -> str:
        """Name on the command line, e.g. `"webb2021/figure-3"`."""
        return self.table.key

    def words(self, quantity: str) -> str:
        """The paper's statement on a quantity; empty if there is none.

        Args:
            quantity: Its name.
        """
        for saying in self.says:
            if fnmatch.fnmatchcase(quantity, saying.of):
                return saying.words
        return ""


def illustrate(figure: Figure, report: Report, store: Store | None) -> tuple[Plate, ...]:
    """Everything a figure shows beyond the scores of its claims; nothing is run.

    Args:
        figure: The figure.
        report: Its cells with what was found, from `tabulate`.
        store: Where the trained networks lie; `None` where there are records alone, for the
            exhibits that need no more.

    Returns:
        A plate for each exhibit that there is something to show of.

    Raises:
        StoreError: If a trained network is missing.
    """
    report = report.without_diverged()
    plates = (exhibit.plate(figure, report, store) for exhibit in figure.exhibits)
    return tuple(plate for plate in plates if plate is not None)
