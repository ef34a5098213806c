"""Features of the operating system that some systems lack, each looked up here alone."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
"""Where Linux describes itself and its processes."""

PATIENCE: Final = 1.0
"""Seconds in which a file is tried again that another process has open."""


def proc_lines(name: str) -> list[str]:
    """Lines of a file of `/proc`; none where the system has none.

    Args:
        name: Path of the file below `/proc`.
    """
    try:
        return (PROC / name).read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    except OSError:
        return []


def peak_memory() -> int | None:
    """Peak memory of this process in bytes; `None` where the system does not say."""
    try:
        import resource  # noqa: PLC0415 — Windows has none
    except ModuleNotFoundError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def replace_file(temporary: Path, path: Path) -> None:
    """Rename a file over another; where a reader has that one open, wait for the reader.

    Windows refuses to replace an open file, other systems do not.

    Args:
        temporary: The file.
        path: Its new path.

    Raises:
        OSError: If the file cannot be renamed.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            temporary.replace(path)
        except PermissionError:
            if path.is_dir() or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
