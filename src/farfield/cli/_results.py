"""Folders of recorded results: the user's own, or what comes with Farfield."""

from __future__ import annotations

from pathlib import Path

from farfield.cli._arguments import RESULTS
from farfield.reports import recorded_results
from farfield.reproductions import TABLES


def results_folder(folder: Path) -> Path:
    """The folder of exports that a name stands for.

    Args:
        folder: As typed; `results` stands for what comes with Farfield, unless there is a folder of
            this name that holds records of a table.

    Raises:
        ValueError: If that is meant, and the installation lacks it.
    """
    if folder != RESULTS or any((folder / f"{name}.jsonl").is_file() for name in TABLES):
        return folder
    return recorded_results()
