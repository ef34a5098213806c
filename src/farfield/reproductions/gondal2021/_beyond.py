"""Goals against gondal2021: as good everywhere, and better on new levels."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Table
from farfield.reproductions.gondal2021 import _fuzzy as fuzzy
from farfield.reproductions.gondal2021 import _matrices as matrices

BEYOND: Final = Table(
    key="gondal2021/beyond",
    title="Goals: every row of Table 1 within 0.005 of the paper, and matrices with new levels",
    tuned=f"{fuzzy.TUNED}; {matrices.TUNED}",
    claims=(
        *with_rows_by_hand(fuzzy.GOALS[:1]),
        *with_rows_by_hand(fuzzy.GOALS[1:], "By hand, adaptation"),
        *with_rows_by_hand(matrices.GOALS),
    ),
)
"""The goals. That Neural Interpreters adapt better than Transformers is judged with Figure 5a."""
