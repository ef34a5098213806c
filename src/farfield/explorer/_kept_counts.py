"""Counts of verdicts, kept in the cache folder from one start of the explorer to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from farfield._kept import kept, stamps_digest

INPUTS: Final = ("*.jsonl", "*.toml", "records.sqlite", "records.sqlite-wal")
"""Files of a folder of records or exports on which verdicts depend, beside files of the paper."""


def kept_counts(
    paper: str, folders: Iterable[Path], count: Callable[[], dict[str, int]]
) -> dict[str, int]:
    """Read the counts of a paper from the cache folder; count, and keep them, after any change.

    Args:
        paper: Key of the paper.
        folders: Folders of records and exports.
        count: Function that counts the cells by verdict, which takes seconds.
    """
    inputs = stamps_digest(folders, (*INPUTS, f"{paper}/*.jsonl"))
    return kept(f"explorer/verdicts-{paper}.json", inputs, dict[str, int], count)
