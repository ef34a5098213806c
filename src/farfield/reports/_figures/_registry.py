"""Every figure, by name."""

from __future__ import annotations

from typing import Final

from farfield.reports._exhibits._exhibit import Figure
from farfield.reproductions.internal import ByPaper

FIGURES: Final = ByPaper[Figure]("farfield.reports._figures._{}", "FIGURES")
"""Every figure and the claims behind it, by name."""
