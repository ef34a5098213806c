"""Every table of claims, by the name it has on the command line."""

from __future__ import annotations

from typing import Final

from farfield.reproductions import webb2021
from farfield.reproductions._claims import Table

TABLES: Final[dict[str, Table]] = {
    "webb2021/table-9": webb2021.TABLE_9,
    "webb2021/table-10": webb2021.TABLE_10,
    "webb2021/table-11": webb2021.TABLE_11,
    "webb2021/table-12": webb2021.TABLE_12,
    "webb2021/table-9-released": webb2021.TABLE_9_RELEASED,
    "webb2021/table-10-released": webb2021.TABLE_10_RELEASED,
    "webb2021/table-11-released": webb2021.TABLE_11_RELEASED,
    "webb2021/table-12-released": webb2021.TABLE_12_RELEASED,
    "webb2021/demo": webb2021.DEMO,
}
"""Every table of claims, and selections from them, by name."""
