"""Self-attention and the code of positions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.functional.internal import self_attention, sinusoidal_position
from made import gradcheck
from oracles import webb2021 as oracle


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("num_heads", [1, 2, 3, 6])
def test_equation(num_heads: int) -> None:
    z, weight, bias = drawn(2, 4, 6), drawn(18, 6, seed=1), drawn(18, seed=2)
    out = self_attention(z, weight, bias, num_heads=num_heads)
    expected = [
        oracle.attention(problem, weight.numpy(), bias.numpy(), num_heads) for problem in z.numpy()
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape, num_heads", [((2, 3, 4), 2), ((1, 1, 3), 1)])
def test_gradient(shape: tuple[int, int, int], num_heads: int) -> None:
    d = shape[-1]
    tensors = [drawn(*shape), drawn(3 * d, d, seed=1), drawn(3 * d, seed=2)]
    assert gradcheck(
        lambda z, weight, bias: self_attention(z, weight, bias, num_heads=num_heads),
        [tensor.requires_grad_() for tensor in tensors],
    )


def test_places_that_move_take_what_they_gather_along() -> None:
    z, weight, bias = drawn(3, 5, 4), drawn(12, 4, seed=1), drawn(12, seed=2)
    order = [3, 0, 4, 1, 2]
    moved = self_attention(z[:, order], weight, bias, num_heads=2)
    still = self_attention(z, weight, bias, num_heads=2)
    torch.testing.assert_close(moved, still[:, order], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("num_heads", [0, 3])
def test_heads_that_do_not_divide_are_refused(num_heads: int) -> None:
    with pytest.raises(ValueError, match=f"divide the 4 features, got num_heads={num_heads}"):
        self_attention(drawn(1, 2, 4), drawn(12, 4), drawn(12), num_heads=num_heads)


@pytest.mark.parametrize("length, num_features", [(9, 128), (3, 5), (1, 1)])
def test_positions(length: int, num_features: int) -> None:
    out = sinusoidal_position(length, num_features, dtype=torch.float64)
    expected = [
        [oracle.position(t, k, num_features) for k in range(num_features)] for t in range(length)
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-12)


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="got length=0 and num_features=4"):
        sinusoidal_position(0, 4)
    with pytest.raises(ValueError, match="got length=4 and num_features=0"):
        sinusoidal_position(4, 0)
