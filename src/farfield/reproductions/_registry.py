"""Every table of claims and every figure, by the name it has on the command line."""

from __future__ import annotations

from typing import Final

from farfield.reproductions import gondal2021, lamb2022, webb2020, webb2021
from farfield.reproductions._claims import Table
from farfield.reproductions._statements import Statement

TABLES: Final[dict[str, Table]] = {
    table.key: table
    for table in (
        gondal2021.TABLE_1,
        gondal2021.TABLE_2,
        gondal2021.TABLE_2_GENERATED,
        gondal2021.DIGITS,
        gondal2021.K_MNIST,
        gondal2021.BEYOND,
        webb2020.TABLE_1,
        webb2020.TABLE_2,
        webb2020.TABLE_3,
        webb2020.TABLE_3_GENERATED,
        webb2020.TABLE_4,
        webb2020.TABLE_S1,
        webb2020.TABLE_1_POOLED,
        webb2020.TABLE_2_POOLED,
        webb2020.TABLE_1_RELEASED,
        webb2020.TABLE_2_RELEASED,
        webb2020.TABLE_2_MULTIPLIED,
        webb2020.BEYOND,
        lamb2022.MIXUP_TABLE_1A,
        lamb2022.MIXUP_TABLE_1B,
        lamb2022.MIXUP_TABLE_2,
        lamb2022.MIXUP_TABLE_3,
        lamb2022.MIXUP_TABLE_4,
        lamb2022.MIXUP_TABLE_5,
        lamb2022.MIXUP_TABLE_6,
        lamb2022.MIXUP_TABLE_7,
        lamb2022.MIXUP_TEXT,
        lamb2022.SPIRALS,
        lamb2022.FLATTENING,
        lamb2022.MIXUP_NARROW,
        lamb2022.MIXUP_ELSEWHERE,
        lamb2022.ICT_TABLE_1,
        lamb2022.ICT_TABLE_2,
        lamb2022.ICT_TABLE_3,
        lamb2022.ICT_ABLATIONS,
        lamb2022.TWO_MOONS,
        lamb2022.ICT_NARROW,
        lamb2022.TABLE_1_COPYING,
        lamb2022.TABLE_1_DIGITS,
        lamb2022.COPYING,
        lamb2022.DISPUTE,
        lamb2022.ABLATIONS,
        lamb2022.ABLATIONS_DIGITS,
        lamb2022.ADDING,
        lamb2022.BALLS,
        lamb2022.FIGURE_4,
        lamb2022.PICKING,
        lamb2022.FIGURE_5,
        lamb2022.TABLE_3,
        lamb2022.BEYOND,
        webb2021.TABLE_9,
        webb2021.TABLE_10,
        webb2021.TABLE_11,
        webb2021.TABLE_12,
        webb2021.TABLE_13,
        webb2021.TABLE_14,
        webb2021.TABLE_15,
        webb2021.TABLE_16,
        webb2021.TABLE_17,
        webb2021.TABLE_18,
        webb2021.TABLE_19,
        webb2021.TABLE_20,
        webb2021.TABLE_9_RELEASED,
        webb2021.TABLE_10_RELEASED,
        webb2021.TABLE_11_RELEASED,
        webb2021.TABLE_12_RELEASED,
        webb2021.TABLE_14_RELEASED,
        webb2021.BEYOND,
        webb2021.VARIANTS,
        webb2021.HARDEST,
        webb2021.DEMO,
    )
}
"""Every table of claims, and selections from them, by name."""

STATEMENTS: Final[dict[str, Statement]] = {
    statement.key: statement
    for paper in (gondal2021, lamb2022, webb2020, webb2021)
    for statement in paper.STATEMENTS
}
"""Statements of the papers on several cells, and curves without a table, by name."""
