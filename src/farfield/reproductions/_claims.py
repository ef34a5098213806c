"""A claim: one published number beside the experiment that tests it."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import cached_property
from typing import final

from farfield.core import REFERENCES, UnknownNameError
from farfield.experiments import Experiment
from farfield.reproductions._published import Published
from farfield.reproductions._verdicts import VerdictRule


@final
@unique
class Budget(StrEnum):
    """How many of the paper's training steps are spent."""

    QUICK = "quick"
    PAPER = "paper"


@final
@dataclass(frozen=True, kw_only=True)
class Claim:
    """One cell of a published table, and how it is put to the test.

    Args:
        paper: Key of the paper, e.g. `"webb2021"`.
        table: Where it stands, e.g. `"table-11"`.
        row: Row as printed, e.g. `"ESBN + TCN"`.
        column: Column as printed, e.g. `"m = 95"`.
        published: The number, and what it means.
        experiment: What tests it, with the paper's own number of steps.
        rule: How the verdict is reached.
        metric: Name of the score compared, e.g. `"accuracy"`.
        regime: Name of the regime scored, e.g. `"withheld-95"`.
        quick: Share of the paper's steps in the quick budget, in (0, 1].
        data: Real data that the experiment needs and nobody can generate; `None` for none.

    Raises:
        ValueError: If the paper is unknown or the share lies outside (0, 1].
    """

    paper: str
    table: str
    row: str
    column: str
    published: Published
    experiment: Experiment
    rule: VerdictRule
    metric: str
    regime: str
    quick: float
    data: str | None = None

    def __post_init__(self) -> None:
        if self.paper not in REFERENCES:
            raise UnknownNameError("paper", self.paper, REFERENCES)
        if not 0 < self.quick <= 1:
            raise ValueError(f"quick must lie in (0, 1], got {self.quick}")

    @property
    def cell(self) -> str:
        """Name within its table, e.g. `"esbn+tcn/withheld-95"`."""
        return f"{self.row.lower().replace(' ', '')}/{self.regime}"

    @property
    def home(self) -> str:
        """Key of the table it stands in, e.g. `"webb2021/table-11"`."""
        return f"{self.paper}/{self.table}"

    @property
    def name(self) -> str:
        """Name of its own, e.g. `"webb2021/table-11/esbn+tcn/withheld-95"`."""
        return f"{self.home}/{self.cell}"

    @property
    def command(self) -> str:
        """What a reader types to put this claim to the test, at the paper's budget."""
        return f"farfield reproduce {self.home} --cell {self.cell} --budget {Budget.PAPER.value}"

    def at(self, budget: Budget) -> Experiment:
        """The experiment that `budget` pays for."""
        if budget is Budget.PAPER or self.quick == 1:
            return self.experiment
        return self.experiment.at_fraction(self.quick)


@final
@dataclass(frozen=True, kw_only=True)
class Table:
    """Claims that are read together: a published table, or a selection from several.

    Args:
        key: Name on the command line, e.g. `"webb2021/table-11"`.
        title: What it shows, in a line.
        claims: The cells, row by row.

    Raises:
        ValueError: If there is no claim, or two bear one name.
    """

    key: str
    title: str
    claims: tuple[Claim, ...]

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError(f"claims of {self.key} must not be empty")
        if len(self.cells) < len(self.claims):
            raise ValueError(f"claims of {self.key} must bear different names")

    @cached_property
    def cells(self) -> dict[str, Claim]:
        """The claims by name within this table.

        A selection from several tables puts the table's name before that of the cell, e.g.
        `"table-11/esbn+tcn/withheld-95"`.
        """
        several = len({claim.home for claim in self.claims}) > 1
        return {
            f"{claim.table}/{claim.cell}" if several else claim.cell: claim for claim in self.claims
        }

    def select(self, *patterns: str) -> Table:
        """The table with only the cells that match a pattern (`*` stands for anything).

        Args:
            patterns: Names of cells, e.g. `"esbn+tcn/*"`; none selects everything.

        Raises:
            UnknownNameError: If a pattern matches no cell.
        """
        for pattern in patterns:
            if not fnmatch.filter(self.cells, pattern):
                raise UnknownNameError("cell", pattern, self.cells)
        chosen = tuple(
            claim
            for name, claim in self.cells.items()
            if not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
        )
        return Table(key=self.key, title=self.title, claims=chosen)
