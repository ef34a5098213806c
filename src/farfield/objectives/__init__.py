"""Learning rules as pure losses."""

from farfield.objectives._objective import Objective as Objective
from farfield.objectives._reconstructing import Reconstructing as Reconstructing
from farfield.objectives._supervised import Supervised as Supervised

OBJECTIVES: dict[str, type] = {
    "reconstructing": Reconstructing,
    "supervised": Supervised,
}
"""Every objective, by its name on the command line."""

__all__ = ["OBJECTIVES", "Objective", "Reconstructing", "Supervised"]
