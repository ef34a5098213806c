"""Claims of webb2020, Learning Representations that Support Extrapolation."""

from farfield.reproductions.webb2020._beyond import BEYOND as BEYOND
from farfield.reproductions.webb2020._clutter import CLUTTER as CLUTTER
from farfield.reproductions.webb2020._objects import TABLE_4 as TABLE_4
from farfield.reproductions.webb2020._statements import STATEMENTS as STATEMENTS
from farfield.reproductions.webb2020._tables import TABLE_1 as TABLE_1
from farfield.reproductions.webb2020._tables import TABLE_1_POOLED as TABLE_1_POOLED
from farfield.reproductions.webb2020._tables import TABLE_1_RELEASED as TABLE_1_RELEASED
from farfield.reproductions.webb2020._tables import TABLE_2 as TABLE_2
from farfield.reproductions.webb2020._tables import TABLE_2_MULTIPLIED as TABLE_2_MULTIPLIED
from farfield.reproductions.webb2020._tables import TABLE_2_POOLED as TABLE_2_POOLED
from farfield.reproductions.webb2020._tables import TABLE_2_RELEASED as TABLE_2_RELEASED
from farfield.reproductions.webb2020._tables import TABLE_S1 as TABLE_S1
from farfield.reproductions.webb2020._visual_analogies import TABLE_3 as TABLE_3
from farfield.reproductions.webb2020._visual_analogies import TABLE_3_GENERATED as TABLE_3_GENERATED

TABLES = (
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_3_GENERATED,
    TABLE_4,
    TABLE_S1,
    TABLE_1_POOLED,
    TABLE_2_POOLED,
    TABLE_1_RELEASED,
    TABLE_2_RELEASED,
    TABLE_2_MULTIPLIED,
    BEYOND,
    CLUTTER,
)
"""Every table of claims, and selections from them."""
