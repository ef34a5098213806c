"""Sums over sets of places, and the places' tags."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.functional.internal import relation_sum, tag_positions
from made import drawn, gradcheck
from oracles import webb2021 as oracle

PAIRS = [(0, 1), (1, 1), (2, 0)]
TRIPLES = [(0, 1, 2), (2, 1, 2)]


def layers(size: int, num_features: int) -> list[torch.Tensor]:
    shapes = ((7, size * num_features), (7,), (5, 7), (5,))
    return [drawn(*shape, seed=seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("sets", [PAIRS, TRIPLES, [(1,)]], ids=["pairs", "triples", "one"])
def test_equation(sets: list[tuple[int, ...]]) -> None:
    z = drawn(2, 3, 4)
    first, first_bias, second, second_bias = parameters = layers(len(sets[0]), 4)
    expected = []
    for problem in z.numpy():
        total = np.zeros(5)
        for places in sets:
            joined = np.concatenate([problem[place] for place in places])
            hidden = oracle.relu(oracle.linear(joined, first.numpy(), first_bias.numpy()))
            total += oracle.relu(oracle.linear(hidden, second.numpy(), second_bias.numpy()))
        expected.append(total)
    np.testing.assert_allclose(relation_sum(z, sets, *parameters), expected, rtol=1e-10)


def test_no_sets_give_zeros_and_gradients_of_zero() -> None:
    z, parameters = drawn(2, 1, 4).requires_grad_(), layers(2, 4)
    out = relation_sum(z, [], *parameters)
    assert torch.equal(out, torch.zeros(2, 5, dtype=torch.float64))
    (gradient,) = torch.autograd.grad(out.sum(), z)
    assert not gradient.any()


@pytest.mark.parametrize("shape, sets", [((2, 3, 4), PAIRS), ((1, 3, 2), TRIPLES)])
def test_gradient(shape: tuple[int, int, int], sets: list[tuple[int, ...]]) -> None:
    tensors = [drawn(*shape, seed=11), *layers(len(sets[0]), shape[-1])]
    assert gradcheck(
        lambda z, *parameters: relation_sum(z, sets, *parameters),
        [tensor.requires_grad_() for tensor in tensors],
    )


def test_sets_that_do_not_fit_are_refused() -> None:
    z = drawn(2, 3, 4)
    with pytest.raises(ValueError, match=r"sets must name positions 0…2, got \[\(0, 3\)\]"):
        relation_sum(z, [(0, 3)], *layers(2, 4))
    with pytest.raises(ValueError, match=r"sets must name positions 0…2, got .*-1"):
        relation_sum(z, [(0, 1), (-1, 0)], *layers(2, 4))
    with pytest.raises(ValueError, match=r"\[12\] columns for sets of \[3\] positions .* got 8"):
        relation_sum(z, [(0, 1, 2)], *layers(2, 4))
    with pytest.raises(ValueError, match=r"\[4, 8\] columns for sets of \[1, 2\] positions"):
        relation_sum(z, [(0, 1), (1,)], *layers(2, 4))
    with pytest.raises(ValueError, match=r"\[0\] columns .* got 3"):
        relation_sum(z, [], *layers(1, 3))


def test_tags_are_integers_behind_each_embedding() -> None:
    z = drawn(2, 3, 4)
    out = tag_positions(z)
    assert torch.equal(out[..., :4], z)
    assert out[..., 4].tolist() == [[0.0, 1.0, 2.0]] * 2
