"""Figures S1–S8 of webb2020: the claims behind each, and what the supplement says of it."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions._figures import Figure, Saying, TimeCourses
from farfield.reproductions.webb2020._tables import TABLE_1

LOSS: Final = 0.2
"""Where a network counts as converged: a tenth of the ln 7 that guessing costs. The supplement
shows curves and names no level."""

QUICK_NETWORKS: Final = 2


def _rows(key: str, title: str, regime: str, *rows: str) -> Table:
    """One cell of each of some rows of Table 1."""
    claims = [claim for claim in TABLE_1.claims if claim.regime == regime and claim.row in rows]
    return Table(key=f"webb2020/{key}", title=title, claims=tuple(claims))


FIGURE_S1: Final = Figure(
    table=_rows(
        "figure-s1",
        "Training loss of models with context or batch normalization",
        "training",
        "Context norm.",
        "Batch norm.",
    ),
    analyses=(TimeCourses(level=LOSS, metric="loss", falling=True),),
    says=(
        Saying(
            of="*",
            words="“considerably faster” than with layer or no normalization (supplement 3)",
        ),
    ),
    quick_networks=QUICK_NETWORKS,
)

FIGURE_S2: Final = Figure(
    table=_rows(
        "figure-s2",
        "Training loss of models with layer or no normalization",
        "training",
        "Layer norm.",
        "No norm.",
    ),
    analyses=(TimeCourses(level=LOSS, metric="loss", falling=True),),
    says=(
        Saying(of="*", words="slower: “note the difference in scale of the X axes” (supplement 3)"),
    ),
    quick_networks=QUICK_NETWORKS,
)
