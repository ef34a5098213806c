"""Context normalization: the equation, the original's arrays, its invariance, its refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from farfield.functional import context_norm
from farfield.functional._norm import _context_norm
from farfield.functional._norm._context_norm import (
    context_norm_plain,
    context_norm_unrolled,
)
from farfield.functional.internal import check_segments
from farfield.nn import ContextNorm
from golden import Golden, precisions
from made import gradcheck, gradgradcheck
from oracles import webb2021 as oracle

PAIRS = [[0, 1], [2, 3], [4, 5]]
SEGMENTS = {
    "whole": [[0, 1, 2, 3, 4, 5]],
    "pairs": PAIRS,
    "unequal": [[0, 1, 2], [3, 4], [5]],
    "scattered": [[5, 0], [1, 4], [3, 2]],
    "unequal-scattered": [[4, 0, 2, 5], [3, 1]],
}


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize(
    "name, correction",
    [
        (name, correction)
        for name, segments in SEGMENTS.items()
        for correction in range(min(2, *map(len, segments)))
    ],
)
def test_equation(name: str, correction: int) -> None:
    segments = SEGMENTS[name]
    z, gain, shift = drawn(4, 6, 5) * 3 + 1, drawn(5, seed=1), drawn(5, seed=2)
    z[0, :, 0] = 2.0  # a unit without any variance
    out = context_norm(z, gain, shift, segments=segments, correction=correction, eps=1e-3)
    expected = [
        oracle.context_norm(problem, gain.numpy(), shift.numpy(), segments, correction, 1e-3)
        for problem in z.numpy()
    ]
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-10, atol=1e-12)


def test_no_segments_are_one_segment_of_all_places() -> None:
    z = drawn(2, 3, 6, 4)
    assert torch.equal(context_norm(z), context_norm(z, segments=SEGMENTS["whole"]))


def test_every_problem_stands_alone_whatever_the_leading_axes() -> None:
    z = drawn(2, 3, 6, 4)
    alone = torch.stack([context_norm(problem) for problem in z.flatten(0, 1)])
    torch.testing.assert_close(context_norm(z).flatten(0, 1), alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 4, 3), (1, 6, 2)])
@pytest.mark.parametrize("segments", [None, [[0, 1], [2, 3]], [[0, 2, 1], [3]]])
def test_gradient(shape: tuple[int, ...], segments: list[list[int]] | None) -> None:
    if segments is not None and shape[1] == 6:
        segments = [[place + 1 for place in segment] for segment in segments] + [[0, 5]]
    tensors = [drawn(*shape), drawn(shape[-1], seed=1), drawn(shape[-1], seed=2)]
    assert gradcheck(
        lambda z, gain, shift: context_norm(z, gain, shift, segments=segments, eps=1e-2),
        [tensor.requires_grad_() for tensor in tensors],
    )


@pytest.mark.parametrize("shape", [(3, 4, 3), (1, 2, 6)])
@pytest.mark.parametrize("affine", [True, False])
def test_second_gradient_and_that_of_eps(shape: tuple[int, ...], affine: bool) -> None:
    tensors = [drawn(*shape), torch.tensor(0.3, dtype=torch.float64)]
    if affine:
        tensors += [drawn(shape[-1], seed=1), drawn(shape[-1], seed=2)]
    tensors = [tensor.requires_grad_() for tensor in tensors]

    def function(z: torch.Tensor, eps: torch.Tensor, *affine: torch.Tensor) -> torch.Tensor:
        return context_norm(z, *affine, correction=1, eps=eps)

    assert gradcheck(function, tensors)
    assert gradgradcheck(function, tensors)


def test_blocks_of_problems_are_normalized_as_one(monkeypatch) -> None:
    """Also where the last one is smaller, and where products are not to be trusted."""
    tensors = [x.requires_grad_() for x in (drawn(7, 3, 4), drawn(4, seed=1), drawn(4, seed=2))]
    gradient = drawn(7, 3, 4, seed=3)
    eps = torch.tensor(1e-3, dtype=torch.float64)
    plain = context_norm_plain(*tensors, eps, 1)
    expected = torch.autograd.grad(plain, tensors, gradient)
    monkeypatch.setattr(_context_norm, "_BLOCK", 24)
    for precision in ("highest", "medium"):
        monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda told=precision: told)
        out = context_norm(*tensors, correction=1, eps=1e-3)
        torch.testing.assert_close(out, plain, rtol=1e-9, atol=1e-12)
        found = torch.autograd.grad(out, tensors, gradient)
        for mine, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("affine", [False, True])
def test_what_a_compiler_sees_is_the_same(affine: bool) -> None:
    z, eps = drawn(7, 3, 4).requires_grad_(), torch.tensor(0.1, dtype=torch.float64)
    given = (drawn(4, seed=1), drawn(4, seed=2)) if affine else (None, None)
    outs = [function(z, *given, eps, 1) for function in (context_norm_plain, context_norm_unrolled)]
    torch.testing.assert_close(*outs, rtol=1e-9, atol=1e-12)
    found = [torch.autograd.grad(out, z, drawn(7, 3, 4, seed=3))[0] for out in outs]
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


def test_without_variance_float32_gradients_stay_exact() -> None:
    """A unit that is the same everywhere gets nothing but its own centered gradient."""
    z = torch.full((2, 4, 3), 100.3).requires_grad_()
    gradient = drawn(2, 4, 3).float()
    (found,) = torch.autograd.grad(context_norm(z), z, gradient)
    centered = gradient - gradient.mean(1, keepdim=True)
    torch.testing.assert_close(found, centered * 1e4, rtol=1e-4, atol=1e-2)


@precisions
def test_released_code_on_random_vectors(dtype: torch.dtype, golden) -> None:
    arrays = Golden("esbn_tcn_random", golden("esbn_tcn_random"), dtype)
    z, gain, shift = (
        arrays.tensor(name, requires_grad=True) for name in ("in.z", "state.gamma", "state.beta")
    )
    whole = context_norm(z, gain, shift, correction=1)
    pairs = context_norm(z, gain, shift, correction=1, segments=PAIRS)
    for name, out in (("z_norm_whole", whole), ("z_norm_segments", pairs)):
        arrays.check(out, name)
    loss = (torch.arange(128, dtype=dtype) * whole).mean()
    arrays.check(loss, "loss")
    loss.backward()
    for tensor, name in ((z, "gradin.z"), (gain, "grad.gamma"), (shift, "grad.beta")):
        arrays.check_gradient(tensor.grad, name)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 999),
    name=st.sampled_from(sorted(SEGMENTS)),
    scale=st.floats(0.1, 10.0),
    offset=st.floats(-10.0, 10.0),
)
def test_location_and_scale_of_each_segment_are_forgotten(seed, name, scale, offset) -> None:
    z, moved = drawn(6, 3, seed=seed), drawn(6, 3, seed=seed)
    for number, segment in enumerate(SEGMENTS[name]):
        moved[segment] = moved[segment] * (scale + number) + (offset - number)
    outs = [context_norm(x, segments=SEGMENTS[name], eps=0.0) for x in (z, moved)]
    lone = [segment[0] for segment in SEGMENTS[name] if len(segment) == 1]
    kept = [place for place in range(6) if place not in lone]
    torch.testing.assert_close(outs[0][kept], outs[1][kept], rtol=1e-7, atol=1e-7)


def test_two_places_become_plus_and_minus_one() -> None:
    out = context_norm(torch.tensor([[3.0, 1.0], [5.0, 1.0]], dtype=torch.float64))
    torch.testing.assert_close(
        out, torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64), rtol=1e-7, atol=0
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("segments", [None, [[0, 2], [1, 3]]])
def test_short_floats_keep_float32_statistics(dtype, segments) -> None:
    z = (1000 + torch.arange(12.0).reshape(4, 3) * 8).to(dtype)
    out = context_norm(z, segments=segments)
    assert out.dtype == dtype
    assert torch.equal(out, context_norm(z.float(), segments=segments).to(dtype))


@pytest.mark.parametrize(
    "segments, message",
    [
        ([[0, 1], [2]], "each of the time steps 0…3 exactly once"),
        ([[0, 1], [1, 2, 3]], "exactly once"),
        ([[0, 1], [2, 3, 4]], "exactly once"),
        ([[0, 1, 2, 3], []], "each hold at least one time step"),
        ([], "exactly once"),
    ],
)
def test_segments_must_cover_every_place_once(segments, message) -> None:
    with pytest.raises(ValueError, match=message):
        context_norm(drawn(4, 3), segments=segments)


def test_no_segments_at_all_are_refused_by_the_module(unchecked) -> None:
    with pytest.raises(ValueError, match=r"each hold at least one time step, got \(\)"):
        ContextNorm(3, segments=[])


def test_one_place_has_no_unbiased_variance(unchecked) -> None:
    with pytest.raises(ValueError, match="divides by zero in a segment of 1 time step"):
        context_norm(drawn(1, 3), correction=1)
    with pytest.raises(ValueError, match="segment of 1 time step"):
        ContextNorm(3, segments=[[0, 1], [2]], correction=1)
    assert torch.equal(context_norm(drawn(1, 3)), torch.zeros(1, 3, dtype=torch.float64))


def test_what_gives_no_variance_is_refused(unchecked) -> None:
    for build in (partial(context_norm, drawn(4, 3)), partial(ContextNorm, 3)):
        for segments in (None, [[0, 1], [2, 3]]):
            with pytest.raises(ValueError, match="correction must be"):
                build(segments=segments, correction=-1)
        for eps in (-1.0, float("nan"), float("inf")):
            with pytest.raises(ValueError, match="eps must be"):
                build(eps=eps)


@pytest.mark.parametrize("segments", [(0, 1, 2), ((0, 1), 2), 3])
def test_segments_that_are_no_sequences_are_refused(segments, unchecked) -> None:
    for build in (partial(context_norm, drawn(3, 3)), partial(ContextNorm, 3)):
        with pytest.raises(ValueError, match="segments must be"):
            build(segments=segments)


def test_what_would_broadcast_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match=r"weight must have one number per feature \(3\)"):
        context_norm(drawn(4, 3), torch.ones(1, dtype=torch.float64))
    with pytest.raises(ValueError, match="bias must have one number per feature"):
        context_norm(drawn(4, 3), None, torch.ones(4, 3, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"got torch.float64 of shape \(3,\)"):
        context_norm(drawn(3))
    with pytest.raises(ValueError, match=r"got torch.int64 of shape \(4, 3\)"):
        context_norm(torch.ones(4, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="at least one position"):
        context_norm(drawn(2, 0, 3))


@pytest.mark.parametrize("shape", [(2, 4, 0), (0, 4, 3), (3, 0, 4, 2), (4, 0)])
@pytest.mark.parametrize("segments", [None, [[0, 1], [2, 3]], [[0, 2], [1, 3]]])
def test_of_nothing_nothing_is_normalized(shape, segments) -> None:
    z, gain = drawn(*shape).requires_grad_(), drawn(shape[-1]).requires_grad_()
    out = context_norm(z, gain, gain, segments=segments)
    assert out.shape == shape
    out.sum().backward()
    assert z.grad.shape == shape
    assert torch.equal(gain.grad, torch.zeros_like(gain))


def test_checked_segments_are_tuples() -> None:
    assert check_segments(3, None) == ((0, 1, 2),)
    assert check_segments(3, [[2], [0, 1]]) == ((2,), (0, 1))


def test_module_holds_gain_and_shift_for_all_segments() -> None:
    module = ContextNorm(3, segments=PAIRS, correction=1, eps=1e-2).double()
    with torch.no_grad():
        module.weight.copy_(drawn(3, seed=1))
        module.bias.copy_(drawn(3, seed=2))
    z = drawn(2, 6, 3)
    expected = context_norm(z, module.weight, module.bias, segments=PAIRS, correction=1, eps=1e-2)
    assert torch.equal(module(z), expected)
    assert "correction=1" in repr(module)


def test_module_without_affine_has_no_parameters(unchecked) -> None:
    module = ContextNorm(3, affine=False)
    assert list(module.parameters()) == []
    assert torch.equal(module(drawn(2, 4, 3)), context_norm(drawn(2, 4, 3)))
    with pytest.raises(ValueError, match="num_features=3"):
        module(drawn(4, 2))
    with pytest.raises(ValueError, match="num_features must be"):
        ContextNorm(0)
