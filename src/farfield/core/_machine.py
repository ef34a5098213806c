"""Resources of the machine that this process may use."""

from __future__ import annotations

import os


def num_cores() -> int:
    """Cores that this process may use, or all of the machine where the system does not say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
