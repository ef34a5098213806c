"""Ablations of RIMs in section 8.4.4 of lamb2022, on the copying task and on digits.

The text says that sparse activation, input attention and communication are all needed, and gives
no numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from farfield.reproductions._claims import Claim, Table
from farfield.reproductions.lamb2022 import _digits as digits
from farfield.reproductions.lamb2022._copying import (
    MEASURED,
    NOT_TUNED,
    QUICK,
    RECALL_RULE,
    TASK,
    experiment,
)
from farfield.reproductions.lamb2022._cores import (
    PRINTED,
    RELEASED,
    SILENT,
    TAKEN_AWAY,
    WITHOUT_COMMUNICATION,
)

ROWS: Final = {
    "RIMs (6, 4)": PRINTED["RIMs (6, 4, 600)"],
    **{f"RIMs, {what}": core for what, core in TAKEN_AWAY.items()},
    "RIMs, as released": RELEASED,
}
"""RIMs, their ablations, and those of the released code."""

ABLATIONS: Final = Table(
    key="lamb2022/ablations",
    title="What RIMs are without one of their parts: symbols recalled",
    tuned=NOT_TUNED,
    claims=tuple(
        Claim(
            paper="lamb2022",
            table="ablations",
            row=row,
            column=regime.name,
            published=MEASURED,
            experiment=experiment(core),
            rule=RECALL_RULE,
            metric="accuracy",
            regime=regime.name,
            quick=QUICK,
            subject="Copying, symbols recalled",
        )
        for regime in TASK.regimes[1:]
        for row, core in ROWS.items()
    ),
)
"""Section 8.4.4."""

ABLATIONS_DIGITS: Final = Table(
    key="lamb2022/ablations-digits",
    title="Digits at other resolutions, read by RIMs without communication",
    tuned=NOT_TUNED,
    claims=tuple(
        replace(
            claim,
            table="ablations-digits",
            row=row,
            published=MEASURED,
            experiment=digits.experiment(core),
        )
        for row, core in WITHOUT_COMMUNICATION.items()
        for claim in digits.TABLE_1_DIGITS.claims
        if claim.row == row.removesuffix(SILENT)
    ),
)
"""The rows that section 8.4.4 compares with those of Table 1."""
