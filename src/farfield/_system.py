"""Features of the operating system that some systems lack, each looked up here alone."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
"""Folder in which Linux describes itself and its processes."""

PATIENCE: Final = 1.0
"""Seconds in which a file is tried again that another process has open."""


def proc_lines(name: str) -> list[str]:
    """Read the lines of a file of `/proc`; none where the system has none.

    Args:
        name: Path of the file below `/proc`.
    """
    try:
        return (PROC / name).read_text(encoding="utf-8", errors="backslashreplace").splitlines()
    except OSError:
        return []


def peak_memory() -> int | None:
    """Read the peak memory of this process in bytes; `None` where it is unknown."""
    try:
        import resource  # noqa: PLC0415 — Windows has none
    except ModuleNotFoundError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def limit_memory(more: int) -> None:
    """Let this process take some more memory than it has now; Linux refuses more than that.

    Other systems limit nothing here.

    Args:
        more: Bytes.
    """
    held = [line.split()[1] for line in proc_lines("self/status") if line.startswith("VmData:")]
    if not held:
        return
    import resource  # noqa: PLC0415 — Windows has none

    most, hard = 1024 * int(held[0]) + more, resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


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
