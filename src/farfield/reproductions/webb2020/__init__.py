"""Claims of webb2020, Learning Representations that Support Extrapolation."""

from farfield.reproductions._grid import Paper
from farfield.reproductions.webb2020 import _experiments

PAPER = Paper("webb2020", _experiments)
TABLES = tuple(PAPER.tables.values())
STATEMENTS = PAPER.statements
