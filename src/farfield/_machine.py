"""Branches that depend on the machine, with one switch that tests set to either side."""

from __future__ import annotations

import os
from typing import Final, Literal

from torch import Tensor

Branch = Literal["onednn", "cpu", "graphs"]
"""Choice by machine:

- `onednn`: oneDNN's operator multiplies matrices of float32, not torch's own product.
- `cpu`: kernels for the caches and calls of a CPU run, not those for a GPU.
- `graphs`: a GPU records a step once and replays it.
"""

FORCED: Final[dict[Branch, bool]] = {}
"""Sides that replace the machine's own choice. Empty, except in tests."""


def takes(branch: Branch, own: bool) -> bool:
    """Tell whether to take a branch.

    Args:
        branch: Name of the branch.
        own: Choice of this machine, which `FORCED` overrides.
    """
    return FORCED.get(branch, own)


def on_cpu(x: Tensor) -> bool:
    """Tell whether to take the kernels for a CPU."""
    return takes("cpu", x.is_cpu)


def num_cores() -> int:
    """Count the cores that this process may use, or all cores where the system has no limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
