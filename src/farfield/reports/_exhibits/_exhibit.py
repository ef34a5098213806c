"""Exhibits, and the figures that consist of them."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

from farfield.records import Store
from farfield.reports._exhibits._plates import Plate
from farfield.reports._report._report import Report
from farfield.reproductions import Table


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
