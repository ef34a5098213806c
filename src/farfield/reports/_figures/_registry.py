"""Registry of the figures."""

from __future__ import annotations

from typing import Final

from farfield.reports._exhibits._exhibit import Figure
from farfield.reproductions.internal import ByPaper

FIGURES: Final = ByPaper[Figure]("farfield.reports._figures._{}", "FIGURES")
"""Figures with their claims, by name."""
