"""Moments of maps: loops over points, and what they hold under moves of the object."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.functional.internal import silhouette_moments, spatial_moments
from made import drawn, gradcheck
from oracles import webb2020 as oracle

ROWS, COLUMNS = [0.0, 0.5, 2.0, 2.5], [1.0, 1.5, 3.0]


def lines() -> tuple[Tensor, Tensor]:
    return torch.tensor(ROWS, dtype=torch.float64), torch.tensor(COLUMNS, dtype=torch.float64)


def test_loops_over_points() -> None:
    maps = drawn(2, 4, 3, 5)
    expected = [oracle.spatial_moments(each, ROWS, COLUMNS, 1e-3) for each in maps.numpy()]
    found = spatial_moments(maps, *lines(), eps=1e-3)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert gradcheck(lambda maps: spatial_moments(maps, *lines()), maps.requires_grad_())


def test_loops_over_lines() -> None:
    maps = drawn(2, 4, 3, 5).relu()
    found = silhouette_moments(maps.amax(1), maps.amax(2), *lines(), eps=1e-3)
    for number, each in enumerate(maps.numpy()):
        for feature in range(5):
            expected = oracle.silhouette_moments(each[..., feature], ROWS, COLUMNS, 1e-3)
            np.testing.assert_allclose(found[number, :, feature], expected, rtol=1e-8)


def square(x: int, y: int, width: int, level: float) -> Tensor:
    maps = torch.zeros(24, 24, 1, dtype=torch.float64)
    maps[y : y + width, x : x + width] = level
    return maps


@pytest.mark.parametrize("step", [(1, 0, 0, 0.0), (0, 1, 0, 0.0), (0, 0, 0, 0.1)])
def test_equal_steps_of_an_object_are_equal_steps_of_its_moments(step) -> None:
    place = torch.arange(24, dtype=torch.float64) / 24
    seen = torch.stack(
        [square(*(a + k * d for a, d in zip((3, 4, 5, 0.3), step, strict=True))) for k in range(9)]
    )
    found = silhouette_moments(seen.amax(1), seen.amax(2), place, place).flatten(1)
    for moments in (found, spatial_moments(seen, place, place).flatten(1)):
        change = moments.diff(dim=0)
        torch.testing.assert_close(change, change[:1].expand_as(change), rtol=1e-7, atol=1e-10)
        assert change.abs().max() > 0.01


def test_a_hidden_part_leaves_a_silhouette_as_it_is() -> None:
    place = torch.arange(24, dtype=torch.float64) / 24
    whole, seen = square(3, 4, 9, 0.3), square(3, 4, 9, 0.3)
    seen[4:8, 3:11] = 0.0
    assert torch.equal(
        *(silhouette_moments(m.amax(0), m.amax(1), place, place) for m in (whole, seen))
    )
    assert not torch.allclose(*(spatial_moments(m, place, place) for m in (whole, seen)))


def test_an_empty_map_has_moments_that_are_numbers() -> None:
    maps = torch.zeros(1, 4, 3, 2, dtype=torch.float64, requires_grad=True)
    found = spatial_moments(maps, *lines())
    found.sum().backward()
    assert found.isfinite().all()
    assert maps.grad.isfinite().all()


@pytest.mark.usefixtures("unchecked")
def test_coordinates_must_fit() -> None:
    rows, columns = lines()
    with pytest.raises(ValueError, match=r"rows and columns must have one coordinate .*\(4, 3\)"):
        spatial_moments(drawn(1, 4, 3, 2), columns, rows)
    with pytest.raises(ValueError, match=r"rows and columns must have .* 4 values down and 3 acr"):
        silhouette_moments(drawn(1, 3, 2), drawn(1, 4, 2), columns, rows)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_empty_maps_and_single_points_are_numbers_in_half_precision(dtype: torch.dtype) -> None:
    maps = torch.zeros(2, 4, 3, 1, dtype=dtype)
    maps[1, 2, 1] = 0.5
    maps.requires_grad_()
    at = [line.to(dtype) for line in lines()]
    for found in (spatial_moments(maps, *at), silhouette_moments(maps.amax(1), maps.amax(2), *at)):
        assert found.dtype == dtype
        (gradient,) = torch.autograd.grad(found.float().sum(), maps)
        assert found.isfinite().all()
        assert gradient[1].isfinite().all()
        torch.testing.assert_close(
            found[1, [0, 1, 4], 0], torch.tensor([1.5, 2.0, 0.5], dtype=dtype)
        )
