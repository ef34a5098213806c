"""The recorded results that come with Farfield."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from farfield.reports._report._levels import FILE as LEVELS_FILE

PACKAGE: Final = Path(__file__).resolve().parents[2]
"""Folder of the package."""


def recorded_results() -> Path:
    """Find the folder of the recorded results that come with Farfield, for `exported_at`.

    An installed package has the records of `results/` without training curves, as `setup.py` writes
    them; in a checkout the folder is `results/` itself.

    Raises:
        ValueError: If the installation lacks them.
    """
    summary = PACKAGE / "recorded"
    for folder in (summary, PACKAGE.parents[1] / "results"):
        if (folder / LEVELS_FILE).is_file():
            return folder
    raise ValueError(
        f"recorded results must come with Farfield, got none in {summary}: install it again, or "
        "name a folder that `farfield report --export` wrote"
    )
