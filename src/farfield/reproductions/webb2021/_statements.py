"""Statements of webb2021 on its tables, with the cells that they are about."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._comparisons import Cells, Wins
from farfield.reproductions._statements import Statement
from farfield.reproductions.webb2021 import _print as printed
from farfield.reproductions.webb2021 import _tables as tables

FULL: Final = (tables.TABLE_9, tables.TABLE_10, tables.TABLE_11, tables.TABLE_12)
PAIRWISE: Final = ("withheld-0", "withheld-50", "withheld-85")
"""Columns that Tables 13 and 14 have in common with Tables 11 and 12."""
EXCEPTION: Final = ("webb2021/table-9", "predinet")
"""Row and task where, by the text, normalization does not help."""


def _row(table: Table, row: str) -> Cells:
    """The mean of a row over all of a task's columns."""
    return Cells(claims=table.select(f"{row}/*").claims)


def _helped(table: Table, row: str) -> tuple[Cells, Cells]:
    """The row with and without normalization, the one first that is said to be above."""
    pair = _row(table, f"{row}+tcn"), _row(table, row)
    return pair[::-1] if (table.key, row) == EXCEPTION else pair


def _ternary(row: str, table: Table, group: str = "*") -> Cells:
    patterns = [f"{group}{row}/{regime}" for regime in PAIRWISE]
    return Cells(claims=table.select(*patterns).claims)


def _rivals(table: Table, group: str) -> list[tuple[Cells, Cells]]:
    """The RN on more problems above the TRN, and the TRN above the RN on as many as itself."""
    more = _ternary("rn+tcn", tables.TABLE_13, f"{group}/")
    triples = _ternary("trn+tcn", tables.TABLE_14, f"{group}/")
    return [(more, triples), (triples, _ternary("rn+tcn", table, ""))]


MODELS: Final = tuple(
    dict.fromkeys(row.partition(" + ")[0].lower() for row in printed.SAME_DIFFERENT.cells)
)
HELPED: Final = tuple(_helped(table, row) for table in FULL for row in MODELS)
TERNARY: Final = (
    *_rivals(tables.TABLE_11, printed.DISTRIBUTION_OF_THREE.task.name),
    *_rivals(tables.TABLE_12, printed.IDENTITY_RULES.task.name),
)

STATEMENTS: Final = (
    Statement(
        paper="webb2021",
        name="normalization-helps",
        about="Models and tasks of Tables 9 to 12 that are better with TCN, and PrediNet on "
        "same/different, which is better without",
        quote="With the exception of the PrediNet on the same/different task, every model "
        "benefited on every task from the incorporation of TCN",
        where="appendix A.5.1",
        comparison=Wins(contests=HELPED),
        low=len(HELPED),
        high=len(HELPED),
        note="means over the numbers of withheld shapes: in single columns it does not hold",
    ),
    Statement(
        paper="webb2021",
        name="relation-networks",
        about="On ternary relations: RN trained on 100,000 problems above TRN, TRN above RN",
        quote="This yielded a slight improvement over the RN (when trained on 10^4 training "
        "examples), though not as much of an improvement as resulted from training the RN with a "
        "larger training set",
        where="appendix A.5.2",
        comparison=Wins(contests=TERNARY),
        low=len(TERNARY),
        high=len(TERNARY),
        note="means over m = 0, 50 and 85 of each task: in single columns it does not hold",
    ),
    *(
        Statement(
            paper="webb2021",
            name=f"transformer-{layers}-layers",
            about=f"The Transformer of one layer above that of {layers}, in all tasks",
            quote="2- and 3-layer Transformers but these did not generalize as well as the 1-layer "
            "Transformer",
            where="appendix A.3.9",
            missing=f"a Transformer of {layers} layers is not built here",
        )
        for layers in (2, 3)
    ),
)
"""Orders of the text."""
