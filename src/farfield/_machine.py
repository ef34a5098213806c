"""Branches that depend on the machine, with one switch that tests set to either side."""

from __future__ import annotations

from typing import Final, Literal

from torch import Tensor

Branch = Literal["onednn", "cpu", "graphs"]
"""`onednn`: products of float32 by oneDNN's operator. `cpu`: kernels for a CPU's caches and calls.
`graphs`: programs of a GPU, recorded once and replayed."""

FORCED: Final[dict[Branch, bool]] = {}
"""Side of each branch that is not the machine's own choice. Empty, except in tests."""


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
