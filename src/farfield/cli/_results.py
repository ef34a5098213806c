"""Folders of recorded results: of the user, or of the package."""

from __future__ import annotations

from pathlib import Path

from farfield.cli._arguments import RESULTS
from farfield.reports import recorded_results
from farfield.reproductions import TABLES


def results_folder(folder: Path) -> Path:
    """Find the folder of exports that a path means.

    Args:
        folder: Path as typed; `results` means the recorded results that come with Farfield, unless
            there is a folder of this name that holds records of a table.

    Raises:
        ValueError: If the recorded results are meant, and the installation lacks them.
    """
    if folder != RESULTS or any((folder / f"{name}.jsonl").is_file() for name in TABLES):
        return folder
    return recorded_results()
