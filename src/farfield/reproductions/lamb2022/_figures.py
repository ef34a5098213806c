"""Figures 2 and 3 of lamb2022: which mechanisms are active, and balls that are rolled out."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._figures import ActivationOverTime, Figure, RollOuts, Saying
from farfield.reproductions.lamb2022._balls import BALLS
from farfield.reproductions.lamb2022._copying import COPYING, TASK
from farfield.tasks import VALIDATION

RECALLED: Final = (TASK.length - TASK.dormant) // 2
"""Symbols read before the dormant phase, and recalled after it."""

FIGURE_2: Final = Figure(
    table=Table(
        key="lamb2022/figure-2",
        title="Which mechanisms are active in the copying task",
        claims=COPYING.select("rims-*/dormant-200").claims,
    ),
    analyses=(
        ActivationOverTime(
            regime=VALIDATION,
            reading=(0, RECALLED),
            dormant=(RECALLED, RECALLED + TASK.dormant - 1),
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

FIGURE_3: Final = Figure(
    table=Table(
        key="lamb2022/figure-3",
        title="Bouncing balls rolled out from 15 frames",
        claims=BALLS.claims,
    ),
    analyses=(RollOuts(shown=(15, 16, 18, 21, 27, 36, 51)),),
    says=(
        Saying(
            of="4-balls/balls-4/cross-entropy",
            words="“RIMs perform better than the LSTMs” (Figure 3)",
        ),
        Saying(
            of="*/cross-entropy",
            words="“substantially better out-of-distribution generalization of RIMs” (Figure 3)",
        ),
    ),
    quick_networks=1,
)
"""The four plots of bouncing balls, with both LSTMs of the text; the fifth is of another task."""
