"""Every table of claims and every statement, by the name it has on the command line."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._by_paper import ByPaper
from farfield.reproductions._claims import Table
from farfield.reproductions._statements import Statement

TABLES: Final = ByPaper[Table]("farfield.reproductions.{}", "TABLES")
"""Tables of claims, all of them, and selections from them, by name."""

STATEMENTS: Final = ByPaper[Statement]("farfield.reproductions.{}", "STATEMENTS")
"""Statements of the papers on several cells, and curves without a table, by name."""
