"""What tests of tasks ask of drawn sets."""

from __future__ import annotations

import hashlib

import numpy as np

from farfield.core import Problems
from farfield.tasks import GlyphSet


def own_shapes(count: int) -> GlyphSet:
    images = np.zeros((count, 2, 3), np.uint8)
    images[:, 0, 0] = np.arange(count)
    return GlyphSet(images)


def shown(problems: Problems) -> set[int]:
    return set(problems.index.flatten().tolist())


def digest(sets: dict[str, Problems]) -> str:
    """SHA-256 (head) of everything drawn."""
    total = hashlib.sha256()
    for regime, problems in sets.items():
        columns = {"index": problems.index, "target": problems.target, **problems.latent}
        for name in sorted(columns):
            total.update(f"{regime}/{name}{tuple(columns[name].shape)}".encode())
            total.update(columns[name].numpy().astype("<i8").tobytes())
    return total.hexdigest()[:16]
