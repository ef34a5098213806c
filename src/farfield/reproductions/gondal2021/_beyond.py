"""What it takes to be as good as gondal2021 everywhere, and better where levels are new."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions.gondal2021 import _fuzzy as fuzzy
from farfield.reproductions.gondal2021 import _matrices as matrices

BEYOND: Final = Table(
    key="gondal2021/beyond",
    title="Goals: every row of Table 1 within 0.005 of print, and matrices with levels never seen",
    tuned=f"{fuzzy.TUNED}; {matrices.TUNED}",
    claims=fuzzy.GOALS + matrices.GOALS,
)
"""The goals. That Neural Interpreters adapt better than Transformers is judged with Figure 5a."""
