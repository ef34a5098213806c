"""What this process may use of the machine."""

from __future__ import annotations

import os


def num_cores() -> int:
    """Cores that this process may run on, where the system tells; else those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
