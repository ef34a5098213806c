"""Context whitening: the equation, what it says of equal and different items, its refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.functional import context_whiten
from farfield.nn import ContextWhitening, ConvEncoder
from farfield.tasks import GlyphSet
from made import gradcheck, gradgradcheck
from oracles import whitening as oracle


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def placed(items: torch.Tensor, places: list[int]) -> torch.Tensor:
    return items[torch.tensor(places)]


@pytest.mark.parametrize("shape", [(3, 4, 6), (2, 1, 3), (2, 5, 2)])
@pytest.mark.parametrize("eps", [1e-2, 1e-6])
def test_equation(shape: tuple[int, ...], eps: float) -> None:
    z = 3 * drawn(*shape) + 1
    expected = [oracle.context_whiten(problem, eps) for problem in z.numpy()]
    # The oracle's iterated root is as exact as its condition allows.
    np.testing.assert_allclose(context_whiten(z, eps=eps), expected, rtol=1e-8, atol=1e-9)


@given(
    places=st.lists(st.integers(0, 4), min_size=1, max_size=9),
    seed=st.integers(0, 10_000),
)
def test_inner_products_tell_which_places_are_equal_and_nothing_else(
    places: list[int], seed: int
) -> None:
    features = 16
    y = context_whiten(placed(drawn(5, features, seed=seed), places), eps=1e-12)
    for first, one in enumerate(places):
        for second, other in enumerate(places):
            expected = features / places.count(one) if one == other else 0.0
            assert float(y[first] @ y[second]) == pytest.approx(expected, abs=1e-4)


@given(seed=st.integers(0, 10_000))
def test_inner_products_survive_any_invertible_map(seed: int) -> None:
    z, linear = drawn(4, 6, seed=seed), drawn(6, 6, seed=seed + 1)
    linear += 3 * torch.eye(6, dtype=torch.float64)
    first, second = (context_whiten(x, eps=1e-12) for x in (z, z @ linear))
    torch.testing.assert_close(first @ first.mT, second @ second.mT, rtol=0, atol=1e-4)


def test_items_closer_than_eps_count_as_one() -> None:
    item, other = drawn(2, 12)
    near = item + 1e-5 * drawn(12, seed=5)
    y = context_whiten(torch.stack([item, near, other]), eps=1e-6)
    torch.testing.assert_close(y[0], y[1], rtol=0, atol=0.1)
    apart = context_whiten(torch.stack([item, near, other]), eps=1e-13)
    assert float(apart[0] @ apart[1]) == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
@torch.no_grad()
def test_showings_a_gray_level_apart_are_alike_by_default(seed: int) -> None:
    rows = [3 * seed, 3 * seed, 3 * seed + 1]
    images = torch.from_numpy(GlyphSet.glyphs().images[rows]).double()
    images[1] = (images[1] + drawn(*images.shape[1:], seed=seed)).round().clamp(0, 255)
    encoder = ConvEncoder((32, 32), generator=torch.Generator().manual_seed(seed)).double()
    z = context_whiten(encoder(images / 255))
    likeness = z[0] @ z.mT / z[0].square().sum()
    assert float(likeness[1]) > 0.9
    again, another = context_whiten(encoder(images[[0, 2]] / 255))
    assert abs(float(again @ another / again.square().sum())) < 0.2


def test_every_problem_stands_alone_whatever_the_leading_axes() -> None:
    z = drawn(2, 3, 5, 4)
    alone = torch.stack([context_whiten(problem) for problem in z.flatten(0, 1)])
    torch.testing.assert_close(context_whiten(z).flatten(0, 1), alone, rtol=1e-9, atol=1e-9)


def test_nothing_stays_nothing() -> None:
    assert torch.equal(context_whiten(torch.zeros(2, 3, 4)), torch.zeros(2, 3, 4))


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_what_is_not_finite_spoils_its_own_problem_alone(wrong: float) -> None:
    z = drawn(3, 4, 5)
    whole = context_whiten(z)
    z[1, 2, 3] = wrong
    found = context_whiten(z.requires_grad_())
    assert found[1].isnan().all()
    assert torch.equal(found[::2], whole[::2])
    (gradient,) = torch.autograd.grad(found[::2].square().sum(), z)
    assert gradient[::2].isfinite().all()


def test_the_smallest_eps_serves_where_all_places_are_equal() -> None:
    y = context_whiten(placed(drawn(1, 6), [0] * 43), eps=1e-13)
    torch.testing.assert_close(y @ y.mT, torch.full((43, 43), 6 / 43).double(), rtol=0, atol=1e-4)


@pytest.mark.parametrize("places", [[0, 1, 2], [0, 1, 0, 0, 2]])
def test_gradients_where_items_differ_and_where_they_repeat(places: list[int]) -> None:
    items = drawn(3, 4).requires_grad_()

    def function(items: torch.Tensor) -> torch.Tensor:
        return context_whiten(items[torch.tensor(places)], eps=1e-2)

    assert gradcheck(function, items)
    assert gradgradcheck(function, items)


def test_float32_is_kept_and_as_exact_as_it_can_be() -> None:
    z = drawn(4, 9, 32).float()
    y = context_whiten(z)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, context_whiten(z.double()).float(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(3,), (2, 0, 3), (2, 3, 0)])
def test_shapes_are_refused(unchecked, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="z must be a floating-point tensor"):
        context_whiten(torch.zeros(shape))


def test_refusals(unchecked) -> None:
    with pytest.raises(ValueError, match="z must be a floating-point tensor"):
        context_whiten(torch.zeros(2, 3, 4, dtype=torch.int64))
    for eps in (0, -1, 1e-14, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="eps must be"):
            context_whiten(drawn(2, 3), eps=eps)
        with pytest.raises(ValueError, match="eps must be"):
            ContextWhitening(3, eps=eps)
    with pytest.raises(ValueError, match="num_features must be"):
        ContextWhitening(0)
    with pytest.raises(ValueError, match="z must have num_features=3 features"):
        ContextWhitening(3)(torch.zeros(1, 2, 1))


def test_the_module_is_the_function() -> None:
    z = drawn(2, 4, 3)
    assert torch.equal(ContextWhitening(3, eps=1e-3)(z), context_whiten(z, eps=1e-3))
