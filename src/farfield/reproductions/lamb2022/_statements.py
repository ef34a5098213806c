"""Statements of chapter 8 of lamb2022 on its tables, and its curves without a table."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._comparisons import Cells, Wins
from farfield.reproductions._statements import Statement
from farfield.reproductions.lamb2022._ablations import ABLATIONS, ABLATIONS_DIGITS
from farfield.reproductions.lamb2022._cores import SILENT, WITHOUT_COMMUNICATION
from farfield.reproductions.lamb2022._digits import TABLE_1_DIGITS

QUOTE: Final = "communication between RIMs is essential for good performance"


def _row(table: Table, row: str) -> Cells:
    """The mean of a row over all columns."""
    return Cells(claims=tuple(claim for claim in table.claims if claim.row == row))


def _essential(name: str, about: str, contests: tuple[tuple[Cells, Cells], ...]) -> Statement:
    return Statement(
        paper="lamb2022",
        name=f"communication-{name}",
        about=f"{about}: RIMs with communication above RIMs without, means over all columns",
        quote=QUOTE,
        where="section 8.4.4",
        comparison=Wins(contests=contests),
        low=len(contests),
        high=len(contests),
    )


STATEMENTS: Final = (
    _essential(
        "copying",
        "Copying",
        ((_row(ABLATIONS, "RIMs (6, 4)"), _row(ABLATIONS, "RIMs, no communication")),),
    ),
    _essential(
        "digits",
        "Digits at other resolutions",
        tuple(
            (_row(TABLE_1_DIGITS, row.removesuffix(SILENT)), _row(ABLATIONS_DIGITS, row))
            for row in WITHOUT_COMMUNICATION
        ),
    ),
    Statement(
        paper="lamb2022",
        name="f1-by-number-of-balls",
        about="F1 against the number of balls: RIMs, LSTM, RMC and TTO (Figure 3, right plot)",
        quote="generalization (F1 score) as compared to LSTM and RMC",
        where="Figure 3",
        missing="the task, another one of video prediction with partial observation, is not "
        "described, nor what F1 is of",
    ),
)
"""Orders of the text, and the plot of Figure 3 whose task is not in it."""
