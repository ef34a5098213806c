"""Claims of webb2021, Emergent Symbols through Binding in External Memory."""

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._grid import Paper
from farfield.reproductions.webb2021 import _experiments

PAPER = Paper("webb2021", _experiments)
_HARDEST: Final = {"table-9": 98, "table-10": 95, "table-11": 95, "table-12": 95}
"""Withheld shapes in the hardest regime of each task."""


def _hardest(name: str, title: str, rows: str) -> Table:
    """Select rows in the hardest regime of each task."""
    full = Table(
        key=f"webb2021/{name}",
        title=f"The hardest regime of each task of Tables 9–12, {title}",
        claims=tuple(claim for table in _HARDEST for claim in PAPER.tables[table].claims),
    )
    return full.select(*(f"{table}/{rows}/withheld-{m}" for table, m in _HARDEST.items()))


TABLES = (
    *PAPER.tables.values(),
    _hardest("hardest", "all models", "*"),
    _hardest("demo", "three models with TCN", "*+tcn").select(
        *(f"*/{name}+tcn/*" for name in ("esbn", "transformer", "lstm"))
    ),
)
"""Tables of claims, all of them, and selections from them; the last is the table of `make demo`."""
STATEMENTS = PAPER.statements
