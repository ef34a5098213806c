"""Figure 2 of lamb2022: which mechanisms are active while nothing happens."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._figures import ActivationOverTime, Figure, Saying
from farfield.reproductions.lamb2022._copying import COPYING, TASK
from farfield.tasks import VALIDATION

SYMBOLS: Final = 10

FIGURE_2: Final = Figure(
    table=Table(
        key="lamb2022/figure-2",
        title="Which mechanisms are active in the copying task",
        claims=COPYING.select("rims-*/dormant-200").claims,
    ),
    analyses=(
        ActivationOverTime(
            regime=VALIDATION, reading=(0, SYMBOLS), dormant=(SYMBOLS, SYMBOLS + TASK.dormant - 1)
        ),
    ),
    says=(
        Saying(
            of="differing",
            words="“distinct during the dormant part of the sequence” (Figure 2)",
        ),
    ),
    quick_networks=2,
)
"""Drawn on sequences of the length of training, as in print."""
