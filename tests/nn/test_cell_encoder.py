"""The encoder of the cells of a grid: its statistics, one pixel at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from farfield.nn import CellEncoder
from made import generator


def statistics(cell: np.ndarray) -> list[float]:
    """Area, darkness, the darkest, and how far what is drawn lies out, right and down."""
    side, found = len(cell), np.zeros(6)
    for row, column in itertools.product(range(side), repeat=2):
        ink = 1 - cell[row, column]
        x, y = ((2 * place + 1) / side - 1 for place in (column, row))
        found[:2] += (ink > 0.05, ink)
        found[2] = max(found[2], ink * side**2)
        found[3:] += (ink > 0.05) * np.array([x * x + y * y, x, y])
    return list(found / side**2)


def test_cells_are_described_in_reading_order_and_then_in_ascending_order() -> None:
    images = torch.rand(3, 14, 14, generator=generator()).double()
    images[images > 0.5] = 1
    found = CellEncoder((14, 14), cells=3, margin=1, dtype=torch.float64)(images)
    assert found.shape == (3, 108)
    for image, embedding in zip(images.numpy(), found.unflatten(1, (6, 18)).numpy(), strict=True):
        cells = [
            statistics(image[1 + 4 * row : 5 + 4 * row, 1 + 4 * column : 5 + 4 * column])
            for row, column in itertools.product(range(3), repeat=2)
        ]
        expected = np.concatenate([cells, np.sort(cells, axis=0)]).T
        np.testing.assert_allclose(embedding, expected, rtol=1e-9, atol=1e-12)


def test_a_grid_fits_its_picture() -> None:
    with pytest.raises(ValueError, match=r"without a margin of 3 .* cells=3, got \(40, 40\)"):
        CellEncoder((40, 40), margin=3)
