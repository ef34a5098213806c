"""PrediNet against loops, and what it is bound to hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.functional.internal import pair_attention
from farfield.models import PrediNet
from made import assert_spread, drawn, generator, gradcheck, state_of, unsettled
from oracles import webb2021_rivals as oracle

FEATURES, OUTPUTS = 6, 3


def small(length: int = 4) -> PrediNet:
    sizes = {"num_heads": 3, "key_size": 2, "num_relations": 4, "hidden_size": 5}
    return unsettled(PrediNet(FEATURES, OUTPUTS, length, **sizes, generator=generator()))


def attention_weights() -> list[torch.Tensor]:
    shapes = ((6, 12), (4, 12), (2, 4))
    return [drawn(*shape, seed=seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("length", [1, 2, 4])
def test_equations(length: int) -> None:
    model, z = small(length), drawn(3, length, FEATURES)
    expected = [oracle.predinet(row, state_of(model)) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


def test_attention() -> None:
    z, (first, _, key) = drawn(2, 3, 4), attention_weights()
    second = drawn(6, 12, seed=5)
    found = pair_attention(z, first, second, key)
    for row, problem in enumerate(z.numpy()):
        expected = oracle.pair_attention(problem, first.numpy(), second.numpy(), key.numpy())
        np.testing.assert_allclose(
            torch.stack([weights[row] for weights in found]), expected, rtol=1e-10, atol=1e-14
        )
    assert gradcheck(
        pair_attention, [tensor.requires_grad_() for tensor in (z, first, second, key)]
    )


@given(seed=st.integers(0, 999))
def test_heads_that_exchange_their_queries_compare_the_other_way_round(seed: int) -> None:
    model, z = small(), drawn(2, 4, FEATURES, seed=seed)
    answers = model(z)
    with torch.no_grad():
        model.query1.weight, model.query2.weight = model.query2.weight, model.query1.weight
        by_head = model.hidden.weight.view(5, 3, 6)
        by_head[..., :4] *= -1
        by_head[..., 4:] = by_head[..., [5, 4]]
    torch.testing.assert_close(model(z), answers, rtol=1e-9, atol=1e-10)


def test_equal_queries_compare_nothing_but_places() -> None:
    model = small()
    with torch.no_grad():
        model.query2.weight.copy_(model.query1.weight)
        expected = model(drawn(2, 4, FEATURES))
        model.shared_relation.weight.mul_(5)
        torch.testing.assert_close(model(drawn(2, 4, FEATURES)), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("shape", [(2, 3), (1, 4)])
def test_gradient_with_respect_to_embeddings(shape: tuple[int, int]) -> None:
    model = small(shape[1])
    assert gradcheck(model, drawn(*shape, FEATURES).requires_grad_())


def test_first_parameters() -> None:
    model = PrediNet(128, 4, 9, generator=generator())
    xavier = {
        "query1": (512, 1161),
        "query2": (512, 1161),
        "shared_key": (16, 129),
        "shared_relation": (16, 129),
    }
    for name, shape in xavier.items():
        layer = getattr(model, name)
        assert layer.weight.shape == shape
        assert layer.bias is None
        assert_spread(layer.weight, (2 / sum(shape)) ** 0.5)
    assert model.hidden.weight.shape == (8, 576)
    assert_spread(model.hidden.weight, (2 / 576) ** 0.5)
    assert_spread(model.output.weight, (2 / 12) ** 0.5)
    assert not model.hidden.bias.any()


def test_what_cannot_be_is_refused(unchecked) -> None:
    for name in ("num_heads", "key_size", "num_relations", "hidden_size"):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            PrediNet(8, 4, 3, **{name: 0})
    for length in (3, 5):
        with pytest.raises(ValueError, match=rf"length=4 steps .* made for, got {length}"):
            small()(drawn(2, length, FEATURES))
    with pytest.raises(ValueError, match="in_features=6 features, got 5"):
        small()(drawn(2, 4, 5))


def test_queries_that_do_not_fit_are_refused() -> None:
    first, second, key = attention_weights()
    with pytest.raises(ValueError, match=r"first_weight .* 15 columns, .* got shape \(6, 12\)"):
        pair_attention(drawn(2, 3, 5), first, second, drawn(2, 5))
    with pytest.raises(ValueError, match=r"second_weight .* multiples of 2, .* shape \(5, 12\)"):
        pair_attention(drawn(2, 3, 4), first, drawn(5, 12), key)
