"""Claims of gondal2021, Neural Interpreters."""

from farfield.reproductions._grid import Paper
from farfield.reproductions.gondal2021 import _experiments
from farfield.reproductions.gondal2021._experiments import DATA_SETS as DATA_SETS
from farfield.reproductions.gondal2021._experiments import FUNCTIONS as FUNCTIONS
from farfield.reproductions.gondal2021._experiments import SMALL_ITERATIONS as SMALL_ITERATIONS

PAPER = Paper("gondal2021", _experiments)
TABLES = tuple(PAPER.tables.values())
STATEMENTS = PAPER.statements
