"""Emergent symbols through binding in external memory: its tables as claims, its figures."""

from farfield.reproductions.webb2021._beyond import BEYOND as BEYOND
from farfield.reproductions.webb2021._nine_tasks import NINE_TASKS as NINE_TASKS
from farfield.reproductions.webb2021._statements import STATEMENTS as STATEMENTS
from farfield.reproductions.webb2021._tables import DEMO as DEMO
from farfield.reproductions.webb2021._tables import HARDEST as HARDEST
from farfield.reproductions.webb2021._tables import TABLE_9 as TABLE_9
from farfield.reproductions.webb2021._tables import TABLE_9_RELEASED as TABLE_9_RELEASED
from farfield.reproductions.webb2021._tables import TABLE_10 as TABLE_10
from farfield.reproductions.webb2021._tables import TABLE_10_RELEASED as TABLE_10_RELEASED
from farfield.reproductions.webb2021._tables import TABLE_11 as TABLE_11
from farfield.reproductions.webb2021._tables import TABLE_11_RELEASED as TABLE_11_RELEASED
from farfield.reproductions.webb2021._tables import TABLE_12 as TABLE_12
from farfield.reproductions.webb2021._tables import TABLE_12_RELEASED as TABLE_12_RELEASED
from farfield.reproductions.webb2021._tables import TABLE_13 as TABLE_13
from farfield.reproductions.webb2021._tables import TABLE_14 as TABLE_14
from farfield.reproductions.webb2021._tables import TABLE_14_RELEASED as TABLE_14_RELEASED
from farfield.reproductions.webb2021._tables import TABLE_15 as TABLE_15
from farfield.reproductions.webb2021._tables import TABLE_16 as TABLE_16
from farfield.reproductions.webb2021._tables import TABLE_17 as TABLE_17
from farfield.reproductions.webb2021._tables import TABLE_18 as TABLE_18
from farfield.reproductions.webb2021._tables import TABLE_19 as TABLE_19
from farfield.reproductions.webb2021._tables import TABLE_20 as TABLE_20
from farfield.reproductions.webb2021._variants import VARIANTS as VARIANTS

__all__ = [
    "BEYOND",
    "DEMO",
    "HARDEST",
    "NINE_TASKS",
    "STATEMENTS",
    "TABLE_9",
    "TABLE_9_RELEASED",
    "TABLE_10",
    "TABLE_10_RELEASED",
    "TABLE_11",
    "TABLE_11_RELEASED",
    "TABLE_12",
    "TABLE_12_RELEASED",
    "TABLE_13",
    "TABLE_14",
    "TABLE_14_RELEASED",
    "TABLE_15",
    "TABLE_16",
    "TABLE_17",
    "TABLE_18",
    "TABLE_19",
    "TABLE_20",
    "VARIANTS",
]

TABLES = (
    TABLE_9,
    TABLE_10,
    TABLE_11,
    TABLE_12,
    TABLE_13,
    TABLE_14,
    TABLE_15,
    TABLE_16,
    TABLE_17,
    TABLE_18,
    TABLE_19,
    TABLE_20,
    TABLE_9_RELEASED,
    TABLE_10_RELEASED,
    TABLE_11_RELEASED,
    TABLE_12_RELEASED,
    TABLE_14_RELEASED,
    BEYOND,
    VARIANTS,
    NINE_TASKS,
    HARDEST,
    DEMO,
)
"""Every table of claims, and selections from them."""
