"""Divisive normalization: the equations, the original's arrays, its limits, its gradients."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from each import some
from farfield.functional import divisive_norm_1d, divisive_norm_2d
from farfield.functional._norm import _divisive_norm
from farfield.functional._norm._divisive_norm import (
    DivisiveNormByHand,
    Windows,
    box_product,
    box_sum,
    divisive_norm_plain,
)
from farfield.functional.internal import divisive_center_1d, divisive_center_2d
from golden import Golden, precisions
from made import gradcheck, gradgradcheck
from oracles import normalizers as oracle

SIDES = [(1, 1), (3, 3), (4, 2), (2, 5), (9, 12)]


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("released", [False, True])
def test_equation_on_images(sides: tuple[int, int], released: bool) -> None:
    z = 2 * drawn(2, 3, 5, 4) + 1
    summation, suppression = sides
    out = divisive_norm_2d(
        z, summation, suppression_window=suppression, sigma=0.5, released_suppression=released
    )
    for image, found, centered in zip(z, out, divisive_center_2d(z, summation), strict=True):
        size = summation**2 if released else suppression**2
        fields = ((summation, summation), (suppression, suppression))
        expected = oracle.divisive_norm(image.numpy(), *fields, 0.5, size)
        np.testing.assert_allclose(centered, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found, expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sides", SIDES)
def test_equation_on_vectors(sides: tuple[int, int]) -> None:
    z = 2 * drawn(2, 3, 7) + 1
    out = divisive_norm_1d(z, sides[0], suppression_window=sides[1], sigma=0.5)
    centered = divisive_center_1d(z, sides[0])
    for place in np.ndindex(2, 3):
        row = z[place].numpy()[None, None]
        expected = oracle.divisive_norm(row, (1, sides[0]), (1, sides[1]), 0.5)
        np.testing.assert_allclose(centered[place], expected[0][0, 0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(out[place], expected[1][0, 0], rtol=1e-9, atol=1e-12)


@precisions
def test_released_code_on_images(dtype: torch.dtype, golden) -> None:
    arrays = Golden("divnorm_2d", golden("divnorm_2d"), dtype)
    z = arrays.tensor("in.x").movedim(-1, 1)
    for summation, suppression, sigma, name in (
        (5, 5, 1.0, "eps1"),
        (5, 5, 0.5, "eps025"),
        (5, 7, 1.0, "eps1"),
        (5, 7, 0.5, "eps025"),
        (3, 3, 1.0, "eps1"),
        (3, 3, 0.5, "eps025"),
        (4, 4, 1.0, "eps1"),
        (4, 4, 0.5, "eps025"),
    ):
        out = divisive_norm_2d(
            z, summation, suppression_window=suppression, sigma=sigma, released_suppression=True
        )
        arrays.check(out.movedim(1, -1), f"y_sum{summation}_sup{suppression}_{name}")
        mean = (z - divisive_center_2d(z, summation)).movedim(1, -1)[..., :1]
        arrays.check(mean, f"mean_sum{summation}_sup{suppression}")
    price = 0.01 * divisive_center_2d(z, 5).abs().mean()
    arrays.check(price, "l1")


@precisions
def test_released_code_on_vectors(dtype: torch.dtype, golden) -> None:
    arrays = Golden("divnorm_1d", golden("divnorm_1d"), dtype)
    z = arrays.tensor("in.x")
    for summation, suppression in ((30, 30), (5, 5), (7, 11), (60, 60), (6, 9)):
        out = divisive_norm_1d(z, summation, suppression_window=suppression)
        arrays.check(out, f"y_sum{summation}_sup{suppression}")
    arrays.check(divisive_norm_1d(z, 5, sigma=0.1), "y_sum5_sup5_eps001")


@pytest.mark.parametrize("shape", some([(1, 2, 4, 3)], [(1, 2, 4, 3), (1, 1, 2, 5)]))
@pytest.mark.parametrize("sides", [(3, 3), (4, 2), (2, 5)])
def test_gradient_on_images(shape: tuple[int, ...], sides: tuple[int, int]) -> None:
    tensors = [drawn(*shape).requires_grad_(), torch.tensor(0.7).double().requires_grad_()]

    def function(z: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        return divisive_norm_2d(z, sides[0], suppression_window=sides[1], sigma=sigma)

    assert gradcheck(function, tensors)
    assert gradgradcheck(function, tensors)


@pytest.mark.parametrize("shape", [(2, 5), (6,)])
@pytest.mark.parametrize("sides", [(3, 3), (4, 2), (2, 9)])
def test_gradient_on_vectors(shape: tuple[int, ...], sides: tuple[int, int]) -> None:
    tensors = [drawn(*shape).requires_grad_(), torch.tensor(0.7).double().requires_grad_()]

    def function(z: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        return divisive_norm_1d(z, sides[0], suppression_window=sides[1], sigma=sigma)

    assert gradcheck(function, tensors)
    assert gradgradcheck(function, tensors)


def test_blocks_of_images_are_normalized_as_one(monkeypatch) -> None:
    z, gradient = drawn(7, 3, 4, 5).requires_grad_(), drawn(7, 3, 4, 5, seed=1)
    plain = divisive_norm_plain(z, torch.tensor(0.49).double(), Windows((3, 3), (5, 5), 25))
    (expected,) = torch.autograd.grad(plain, z, gradient)
    monkeypatch.setattr(_divisive_norm, "_BLOCK", 150)
    for precision in ("highest", "medium"):
        monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda told=precision: told)
        out = divisive_norm_2d(z, 3, suppression_window=5, sigma=0.7)
        torch.testing.assert_close(out, plain, rtol=1e-7, atol=1e-9)
        (found,) = torch.autograd.grad(out, z, gradient)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


def test_channels_may_lie_last(monkeypatch) -> None:
    first, gradient = drawn(7, 3, 4, 5), drawn(7, 3, 4, 5, seed=1)
    monkeypatch.setattr(_divisive_norm, "_BLOCK", 150)
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "highest")
    results = []
    for order in (torch.contiguous_format, torch.channels_last):
        z = first.contiguous(memory_format=order).requires_grad_()
        out = divisive_norm_2d(z, 3, suppression_window=5, sigma=0.7)
        (found,) = torch.autograd.grad(out, z, gradient.contiguous(memory_format=order))
        assert out.is_contiguous(memory_format=order)
        assert found.is_contiguous(memory_format=order)
        (mixed,) = torch.autograd.grad(divisive_norm_2d(z, 3), z, gradient)
        results.append((out, found, mixed))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_a_compiler_gets_the_formula(monkeypatch) -> None:
    for name in ("_box", "box_product", "divisive_norm_plain", "local_mean"):
        plain = inspect.unwrap(getattr(_divisive_norm, name))  # without checks of types
        monkeypatch.setattr(_divisive_norm, name, plain)
    z, gradient = drawn(2, 3, 4, 5).requires_grad_(), drawn(2, 3, 4, 5, seed=1)
    constant = torch.tensor(0.49).double().requires_grad_()
    windows = Windows((3, 3), (4, 4), 16)
    formula = _divisive_norm.divisive_norm_plain
    compiled = torch.compile(formula, backend="aot_eager", fullgraph=True)
    outs = [compiled(z, constant, windows), DivisiveNormByHand.apply(z, constant, windows)]
    torch.testing.assert_close(*outs, rtol=1e-9, atol=1e-9)
    gradients = [torch.autograd.grad(out, (z, constant), gradient) for out in outs]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-9)


@given(window=st.integers(1, 20), length=st.integers(1, 12), adjoint=st.booleans())
def test_box_sums_and_their_adjoint(window: int, length: int, adjoint: bool) -> None:
    first = window // 2 if adjoint else (window - 1) // 2
    band = torch.zeros(length, length, dtype=torch.float64)
    for row in range(length):
        band[row, max(0, row - first) : max(0, row - first + window)] = 1
    x = drawn(length, 3)
    found = box_sum(x, window, -2, first if adjoint else None)
    torch.testing.assert_close(found, band @ x, rtol=1e-12, atol=1e-12)
    for y, axis in ((x, -2), (x.mT, -1)):
        each = [sums(y, window, axis, first) for sums in (box_product, box_sum)]
        torch.testing.assert_close(*each, rtol=1e-12, atol=1e-12)


def test_a_window_over_everything_is_a_norm_that_torch_has() -> None:
    """With odd windows that reach beyond every border, scaled for the zeros they count."""
    z = drawn(2, 3, 4, 5)
    z = z - z.mean((1, 2, 3), keepdim=True)
    found = divisive_norm_1d(z.flatten(1), 2 * 60 - 1, sigma=0.3)
    expected = F.layer_norm(z.flatten(1), (60,), eps=0.09 * 119 / 60) * (119 / 60) ** 0.5
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 999), turn=st.integers(0, 4))
def test_far_from_the_border_images_may_be_moved(seed: int, turn: int) -> None:
    z = F.pad(drawn(1, 2, 3, 3, seed=seed), (6, 6, 6, 6))
    moved = z.roll((turn, -turn), (2, 3))
    outs = [divisive_norm_2d(x, 3, suppression_window=3) for x in (z, moved)]
    torch.testing.assert_close(outs[0].roll((turn, -turn), (2, 3)), outs[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_short_floats_keep_float32_statistics(dtype) -> None:
    z = (1000 + 8 * drawn(2, 3, 4, 4)).to(dtype)
    assert torch.equal(divisive_norm_2d(z, 3), divisive_norm_2d(z.float(), 3).to(dtype))
    assert torch.equal(divisive_norm_1d(z, 3), divisive_norm_1d(z.float(), 3).to(dtype))


def test_refusals(unchecked) -> None:
    with pytest.raises(ValueError, match=r"\(batch, channel, height, width\), got torch\.float64"):
        divisive_norm_2d(drawn(3, 4, 5), 3)
    with pytest.raises(ValueError, match=r"got torch\.int64"):
        divisive_norm_1d(torch.ones(3, 4, dtype=torch.int64), 3)
    with pytest.raises(ValueError, match="at least one feature"):
        divisive_center_1d(drawn(3, 0), 3)
    with pytest.raises(ValueError, match="must be integers of at least 1, got 0 and 0"):
        divisive_norm_2d(drawn(1, 2, 3, 3), 0)
    with pytest.raises(ValueError, match="must be integers of at least 1, got 3 and -1"):
        divisive_norm_1d(drawn(2, 3), 3, suppression_window=-1)
    for function in (divisive_norm_1d, divisive_center_1d, divisive_norm_2d, divisive_center_2d):
        with pytest.raises(ValueError, match=r"window and .* must be integers .*, got 2\.5 and"):
            function(drawn(1, 2, 3, 3), 2.5)
    with pytest.raises(ValueError, match=r"must be integers of at least 1, got 3 and 1\.0"):
        divisive_norm_2d(drawn(1, 2, 3, 3), 3, suppression_window=1.0)
    z = drawn(1, 2, 3, 3)
    assert torch.equal(divisive_norm_2d(z, np.int64(3)), divisive_norm_2d(z, 3))
