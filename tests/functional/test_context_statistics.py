"""Statistics over a context: the equations, what comes later, large offsets, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.functional import context_norm, denormalize
from farfield.functional.internal import context_statistics, running_context_statistics
from made import gradcheck
from oracles import normalizers as oracle

BOTH = {
    context_statistics: oracle.context_statistics,
    running_context_statistics: oracle.running_context_statistics,
}
both = pytest.mark.parametrize("function", BOTH, ids=lambda function: function.__name__)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@both
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("shape", [(3, 5, 4), (2, 2, 7, 3)])
def test_equations(function, correction: int, shape: tuple[int, ...]) -> None:
    z = 3 * drawn(*shape) + 1
    z[0, ..., 0] = 2.0  # a feature without any variance
    mean, scale = function(z, correction=correction, eps=1e-3)
    for place in np.ndindex(shape[:-2]):
        expected = BOTH[function](z.numpy()[place], correction, 1e-3)
        np.testing.assert_allclose(mean[place], expected[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(scale[place], expected[1], rtol=1e-10)


@both
@pytest.mark.parametrize("shape", [(2, 4, 3), (6, 1)])
def test_gradient(function, shape: tuple[int, ...]) -> None:
    z = drawn(*shape).requires_grad_()
    assert gradcheck(lambda z: function(z, correction=1, eps=1e-2), z)


def test_one_place_has_no_variance_yet() -> None:
    z = drawn(3, 1, 2)
    for mean, scale in (
        context_statistics(z, eps=1e-2),
        running_context_statistics(z, correction=1, eps=1e-2),
    ):
        assert torch.equal(mean, z)
        torch.testing.assert_close(scale, torch.full_like(z, 0.1), rtol=1e-12, atol=0)


@given(seed=st.integers(0, 999), seen=st.integers(1, 6), correction=st.integers(0, 1))
def test_what_comes_later_changes_nothing(seed: int, seen: int, correction: int) -> None:
    z, other = drawn(6, 3, seed=seed), drawn(6, 3, seed=seed + 1)
    other[:seen] = z[:seen]
    first, second = (running_context_statistics(x, correction=correction) for x in (z, other))
    for mine, theirs in zip(first, second, strict=True):
        assert torch.equal(mine[:seen], theirs[:seen])
    if seen > correction:
        prefix = context_statistics(z[:seen], correction=correction)
        for mine, whole in zip(first, prefix, strict=True):
            torch.testing.assert_close(mine[seen - 1], whole[0], rtol=1e-10, atol=1e-12)


@both
def test_a_large_offset_leaves_the_scale_its_digits(function) -> None:
    z = drawn(20, 3).float()
    # Of these numbers the squares have no digit of the variance left in float32.
    moved = (z * 2**10).round() + 2.0**20
    _, scale = function(moved, eps=0.0)
    _, expected = function(moved.double(), eps=0.0)
    torch.testing.assert_close(scale.double(), expected, rtol=1e-4, atol=0)


@given(seed=st.integers(0, 999), correction=st.integers(0, 1), length=st.integers(2, 7))
def test_the_way_back(seed: int, correction: int, length: int) -> None:
    z = 5 * drawn(2, length, 3, seed=seed) - 4
    for function in BOTH:
        mean, scale = function(z, correction=correction)
        back = denormalize((z - mean) / scale, mean, scale)
        torch.testing.assert_close(back, z, rtol=1e-9, atol=1e-9)
    normalized = context_norm(z, correction=correction)
    back = denormalize(normalized, *context_statistics(z, correction=correction))
    torch.testing.assert_close(back, z, rtol=1e-9, atol=1e-9)


@both
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_floats_have_float32_statistics(function, dtype) -> None:
    z = (1000 + torch.arange(12.0).reshape(4, 3) * 8).to(dtype)
    statistics = function(z)
    assert {statistic.dtype for statistic in statistics} == {torch.float32}
    for mine, wide in zip(statistics, function(z.float()), strict=True):
        assert torch.equal(mine, wide)
    assert denormalize(z, *statistics).dtype == dtype


def test_refusals(unchecked) -> None:
    for function in BOTH:
        with pytest.raises(ValueError, match=r"got torch.float64 of shape \(3,\)"):
            function(drawn(3))
        with pytest.raises(ValueError, match="at least one position"):
            function(drawn(2, 0, 3))
        with pytest.raises(ValueError, match=r"got torch\.int64"):
            function(torch.ones(2, 3, dtype=torch.int64))
        with pytest.raises(ValueError, match=r"correction must be .* got -1"):
            function(drawn(2, 3), correction=-1)
    with pytest.raises(ValueError, match=r"less than the 1 position\(s\), got 1"):
        context_statistics(drawn(1, 3), correction=1)
    with pytest.raises(ValueError, match="correction must be 0 or 1, got 2"):
        running_context_statistics(drawn(4, 3), correction=2)
    with pytest.raises(ValueError, match=r"normalized must be a floating-point.*got torch\.int64"):
        denormalize(torch.ones(4, 3, dtype=torch.int64), drawn(1, 3), drawn(1, 3))
    with pytest.raises(ValueError, match=r"mean must hold a number per feature.*got shape \(3,\)"):
        denormalize(drawn(4, 3), drawn(3), drawn(1, 3))
    with pytest.raises(ValueError, match="scale must hold a number per feature"):
        denormalize(drawn(4, 3), drawn(1, 3), drawn(2, 3))
    with pytest.raises(ValueError, match="scale must hold a number per feature"):
        denormalize(drawn(4, 3), drawn(4, 3), drawn(4, 1))
