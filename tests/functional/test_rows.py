"""The rows of sequences, beside loops and on pictures whose rows are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.functional.internal import find_rows, row_points, row_positions
from made import drawn, generator


def scores(x: np.ndarray) -> dict[int, float]:
    """Correlation and gap of every row length, by loops."""
    contrast = x - np.sort(x, axis=0)[(len(x) - 1) // 2]
    size = (contrast**2).sum(1)
    contrast[size <= 0.15**2 * size.max()] = 0
    found = {}
    for lag in range(4, len(x) // 4 + 1):
        shared = sum(float(contrast[t] @ contrast[t + lag]) for t in range(len(x) - lag))
        empty = [not contrast[column::lag].any() for column in range(lag)]
        runs = [
            next((n for n in range(lag) if not empty[(start + n) % lag]), lag)
            for start in range(lag)
        ]
        found[lag] = shared / float((contrast**2).sum()) + max(runs) / lag
    return found


@pytest.mark.parametrize("steps", [16, 50, 97])
def test_the_length_has_the_largest_correlation_and_gap(steps: int) -> None:
    x = drawn(6, steps, 2).double()
    x[3:] = x[3:].clamp(min=0.8)
    for one, length in zip(x, find_rows(x).length.tolist(), strict=True):
        by_loops = scores(one.numpy())
        assert by_loops[length] == pytest.approx(max(by_loops.values()), rel=1e-9)


def letter(height: int, width: int) -> Tensor:
    """An L in the middle of an empty picture."""
    picture = torch.zeros(height, width)
    picture[height // 4 : -height // 4, width // 3] = 1
    picture[-height // 4 - 2 : -height // 4, width // 3 : -width // 3] = 1
    return picture.flatten()


@pytest.mark.parametrize("height, width", [(14, 14), (24, 24), (24, 20), (15, 31)])
@pytest.mark.parametrize("before, after", [(0, 0), (1, 0), (0, 1), (11, 0), (0, 24), (-9, 3)])
def test_rows_are_found_whatever_is_before_and_after(
    height: int, width: int, before: int, after: int
) -> None:
    x = F.pad(letter(height, width), (before, after))[None, :, None]
    rows = find_rows(x)
    assert rows.length.tolist() == [width]
    # The center of mass is the same step, and the border is where the picture is empty.
    place = torch.nonzero(letter(height, width))[:, 0]
    column = (place % width).double().mean().item()
    found = (rows.first + rows.column - 0.5 - before).item() % width
    assert found == pytest.approx(column, abs=1e-4)
    profile = letter(height, width).view(height, width).sum(0)
    assert profile[(int(rows.first) - before) % width] == 0


def test_size_level_and_weak_noise_change_nothing() -> None:
    x = F.pad(letter(20, 17), (3, 0))[None, :, None]
    noise = 0.05 * torch.rand(x.shape, generator=generator())
    for other in (7 * x - 3, 0.5 - x, x + noise):
        for one, same in zip(find_rows(x)[:2], find_rows(other)[:2], strict=True):
            assert torch.equal(one, same)


def test_independent_steps_have_no_significant_rows() -> None:
    chance = torch.rand(1_000, 100, 2, generator=generator())
    assert find_rows(chance).significant.float().mean() < 0.01
    still = torch.tensor([0.1, 0.7, 123.456])[:, None, None].expand(3, 100, 3)
    assert not find_rows(still).significant.any()
    burst = torch.zeros(1, 1_000, 3)
    burst[0, :10, 0] = 1.0
    assert not find_rows(burst).significant.any()
    wave = drawn(1, 23, 2).repeat(1, 9, 1)[:, :200]
    rows = find_rows(wave + 0.3 * drawn(1, 200, 2, seed=1))
    assert rows.significant.all()
    assert rows.length.tolist() == [23]


def test_positions_are_the_nearest_steps() -> None:
    x = F.pad(letter(16, 16), (5, 2))[None, :, None]
    rows = find_rows(x)
    line = (torch.arange(9) + 0.5) / 9 - 0.5
    down, across = (part[None] for part in torch.meshgrid(line, line, indexing="ij"))
    found = row_positions(rows, down, across, 263)[0]
    first, row, column = int(rows.first), float(rows.row), float(rows.column)
    for r in range(9):
        for c in range(9):
            at = int(np.floor(row + float(line[r]) * 263 / 16))
            of = min(max(int(np.floor(column + float(line[c]) * 16)), 0), 15)
            step = (at - 1) * 16 + of + first
            while step < 0:
                step += 16
            while step >= 263:
                step -= 16
            assert int(found[r, c]) == step
    points = row_points(rows, 263, 9)[0]
    middle = found[2:7, 2:7].flatten()
    inner = torch.arange(81).view(9, 9)[2:7, 2:7].flatten()
    assert torch.equal(points[middle], inner)


def test_no_sequences_have_no_rows() -> None:
    assert all(len(part) == 0 for part in find_rows(torch.zeros(0, 40, 2)))


def test_short_sequences_are_refused() -> None:
    with pytest.raises(ValueError, match="x must have 16 steps or more, got 15"):
        find_rows(torch.zeros(1, 15, 1))
