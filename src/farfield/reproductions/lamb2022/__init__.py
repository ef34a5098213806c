"""Claims of lamb2022: mixup, interpolation consistency, recurrent mechanisms, NFM."""

from farfield.reproductions._grid import Paper
from farfield.reproductions.lamb2022 import (
    _agents,
    _domains,
    _gan,
    _learning_rules,
    _mixup,
    _modules,
    _recurrent,
    _state,
)

PAPER = Paper(
    "lamb2022", _mixup, _learning_rules, _recurrent, _state, _domains, _agents, _modules, _gan
)
TABLES = tuple(PAPER.tables.values())
STATEMENTS = PAPER.statements
