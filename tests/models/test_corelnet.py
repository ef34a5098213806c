"""CoRelNet against loops, and what it is bound to hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.functional.internal import relation_matrix
from farfield.models import CoRelNet
from made import assert_spread, drawn, generator, gradcheck, state_of, unsettled
from oracles import webb2021_rivals as oracle

FEATURES, OUTPUTS = 6, 3


def small(length: int = 4, **options: bool) -> CoRelNet:
    return unsettled(
        CoRelNet(FEATURES, OUTPUTS, length, hidden_size=7, generator=generator(), **options)
    )


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("causal", [True, False])
def test_equations(causal: bool, length: int) -> None:
    model, z = small(length, causal=causal), drawn(3, length, FEATURES)
    expected = [oracle.corelnet(row, state_of(model), causal) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("causal", [True, False])
def test_matrix(causal: bool) -> None:
    z = drawn(2, 3, 5)
    found = relation_matrix(z, causal=causal)
    for problem, weights in zip(z.numpy(), found, strict=True):
        for i, row in enumerate(oracle.relation_matrix(problem, causal)):
            np.testing.assert_allclose(weights[i, : len(row)], row, rtol=1e-10)
            assert not weights[i, len(row) :].any()
    assert gradcheck(lambda z: relation_matrix(z, causal=causal), z.requires_grad_())


@given(seed=st.integers(0, 999), causal=st.booleans())
def test_it_knows_embeddings_by_their_products_alone(seed: int, causal: bool) -> None:
    model, z = small(causal=causal), drawn(2, 4, FEATURES, seed=seed)
    rotation = torch.linalg.qr(drawn(FEATURES, FEATURES, seed=seed + 1)).Q
    torch.testing.assert_close(model(z @ rotation), model(z), rtol=1e-9, atol=1e-10)


def test_first_parameters() -> None:
    model = CoRelNet(128, 4, 9, generator=generator())
    assert model.hidden.weight.shape == (256, 81)
    assert_spread(model.hidden.weight, (2 / 81) ** 0.5)
    assert_spread(model.output.weight, (2 / 260) ** 0.5)
    assert not model.hidden.bias.any()
    assert CoRelNet(128, 4, 9, causal=True).hidden.weight.shape == (256, 45)


def test_what_cannot_be_is_refused(unchecked) -> None:
    for name, sizes in {"length": {}, "hidden_size": {"hidden_size": 0}}.items():
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            CoRelNet(8, 4, 0 if name == "length" else 3, **sizes)
    for length in (3, 5):
        with pytest.raises(ValueError, match=rf"length=4 steps .* made for, got {length}"):
            small()(drawn(2, length, FEATURES))
    with pytest.raises(ValueError, match="in_features=6 features, got 5"):
        small()(drawn(2, 4, 5))
