"""Counts of verdicts, kept in the cache folder from one start of the explorer to the next."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from farfield.core.internal import cache_folder, read_regular
from farfield.records import StoreError
from farfield.records.internal import write_whole

PACKAGE: Final = Path(__file__).resolve().parents[1]

LARGEST_FILE: Final = 1 << 16
"""Largest size of a file of counts in bytes."""

INPUTS: Final = ("*.jsonl", "*.toml", "records.sqlite", "records.sqlite-wal")
"""Files of a folder of records or exports on which verdicts depend, beside files of the paper."""


class _Counts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Number of cells by verdict.

    Args:
        inputs: Digest of all that the verdicts depend on.
        counts: Number of cells by name of the verdict.
    """

    inputs: str
    counts: dict[str, int]


def kept_counts(
    paper: str, folders: Iterable[Path], count: Callable[[], dict[str, int]]
) -> dict[str, int]:
    """Read the counts of a paper from the cache folder; count, and keep them, after any change.

    Args:
        paper: Key of the paper.
        folders: Folders of records and exports.
        count: Function that counts the cells by verdict, which takes seconds.
    """
    inputs = _digest(paper, folders)
    try:
        path = cache_folder() / "explorer" / f"verdicts-{paper}.json"
    except OSError:
        return count()
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        kept = msgspec.json.decode(read_regular(path, LARGEST_FILE), type=_Counts)
        if kept.inputs == inputs:
            return kept.counts
    found = count()
    with contextlib.suppress(OSError, StoreError):
        write_whole(path, msgspec.json.encode(_Counts(inputs=inputs, counts=found)))
    return found


def _digest(paper: str, folders: Iterable[Path]) -> str:
    """Compute a digest of time and size of all files that the verdicts of a paper depend on."""
    patterns = (*INPUTS, f"{paper}/*.jsonl")
    paths = [path for folder in folders for one in patterns for path in folder.glob(one)]
    paths += [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".toml", ".tsv")]
    states = [(os.fspath(path), path.stat()) for path in sorted(paths)]
    stamps = [(name, state.st_mtime_ns, state.st_size) for name, state in states]
    data = os.environ.get("FARFIELD_DATA", "")
    files = sorted(path.name for path in Path(data).glob("*")) if data else []
    return hashlib.sha256(repr((stamps, files)).encode()).hexdigest()
