"""What tests of tasks ask of drawn sets."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import torch

from farfield.core import Problems, stream
from farfield.tasks import GlyphSet, ProblemTask


@cache
def drawn(task: ProblemTask, seed: int = 0) -> dict[str, Problems]:
    """The sets of a run, drawn once for all tests."""
    return task.draw(stream(seed))


def own_shapes(count: int) -> GlyphSet:
    images = np.zeros((count, 2, 3), np.uint8)
    images[:, 0, 0] = np.arange(count)
    return GlyphSet(images)


def rows_of(columns: torch.Tensor) -> list[bytes]:
    """The rows of a table of numbers 0…255, quicker to compare than tuples."""
    return [row.tobytes() for row in columns.numpy().astype(np.uint8)]


def shown(problems: Problems) -> set[int]:
    return set(problems.index.unique().tolist())


def digest(sets: dict[str, Problems]) -> str:
    """SHA-256 (head) of everything drawn."""
    total = hashlib.sha256()
    for regime, problems in sets.items():
        columns = {"index": problems.index, "target": problems.target, **problems.latent}
        for name in sorted(columns):
            total.update(f"{regime}/{name}{tuple(columns[name].shape)}".encode())
            total.update(columns[name].numpy().astype("<i8").tobytes())
    return total.hexdigest()[:16]
