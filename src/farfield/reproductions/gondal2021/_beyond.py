"""What it takes to be as good as gondal2021 everywhere."""

from __future__ import annotations

from typing import Final

from farfield.reproductions._claims import Table
from farfield.reproductions.gondal2021._fuzzy import GOALS

BEYOND: Final = Table(
    key="gondal2021/beyond", title="Beyond the paper: every row of Table 1", claims=GOALS
)
"""The goals."""
