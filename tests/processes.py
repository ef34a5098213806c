"""Watching and killing real processes, for tests of what survives it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def wait_for(condition: Callable[[], bool], seconds: float = 100) -> None:
    """Look again and again until `condition` holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.02)


def workers(pid: int) -> list[int]:
    """Worker processes that the main thread of a process started and that still run."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split() if _is_worker(int(word))]


def _is_worker(pid: int) -> bool:
    """Whether a process is one of those, and not that which `multiprocessing` keeps beside them."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes() and not gone(pid)
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process is at its end."""
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
