"""A set of images that is made up, so that tests need no data."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from farfield.tasks._images._image_task import IMAGE_FILES, ImageFiles

CLASSES = 3
COUNTS = (20, 31, 12)
"""Training images of each class."""
LABELS = np.random.default_rng(1).permutation(np.repeat(np.arange(CLASSES), COUNTS))


def read(is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of 3 × 2 × 2 that say their number and class in their first two values."""
    labels = np.arange(30) % CLASSES if is_test else LABELS
    images = np.random.default_rng(is_test).integers(0, 256, (len(labels), 3, 2, 2))
    images[:, 0, 0, 0], images[:, 0, 0, 1] = np.arange(len(labels)), labels
    return images.astype(np.uint8), labels


MADE_UP = ImageFiles(
    shape=(3, 2, 2),
    classes=CLASSES,
    training=len(LABELS),
    test=30,
    is_at_hand=lambda: True,
    read=read,
)


def add(monkeypatch: pytest.MonkeyPatch, name: str = "made-up", **changes: object) -> None:
    """Add the set to those known, under a name."""
    monkeypatch.setitem(IMAGE_FILES, name, dataclasses.replace(MADE_UP, **changes))
