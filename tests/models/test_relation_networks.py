"""Networks of pairs and triples against loops, and what each is bound to hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.models import RN, TRN
from made import assert_spread, drawn, generator, gradcheck, state_of, unsettled
from oracles import webb2021_rivals as oracle

FEATURES, OUTPUTS = 6, 3
SIZES = {"hidden_size": 7, "relation_size": 5}


def small_trn(**options: bool) -> TRN:
    return unsettled(TRN(FEATURES, OUTPUTS, **SIZES, generator=generator(), **options))


def small_rn(**options: bool) -> RN:
    return unsettled(RN(FEATURES, OUTPUTS, **SIZES, generator=generator(), **options))


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("position_tags", [True, False])
def test_rn_is_that_of_the_equations(position_tags: bool, length: int) -> None:
    model, z = small_rn(position_tags=position_tags), drawn(3, length, FEATURES)
    expected = [oracle.relation_net(row, state_of(model), position_tags) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("position_tags", [True, False])
@pytest.mark.parametrize("order_layers", [True, False])
def test_trn_is_that_of_the_equations(order_layers: bool, position_tags: bool, length: int) -> None:
    model = small_trn(order_layers=order_layers, position_tags=position_tags)
    z = drawn(3, length, FEATURES)
    state = state_of(model)
    expected = [oracle.temporal_relation_net(row, state, position_tags) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 999), order=st.permutations(range(4)))
def test_rn_knows_order_by_its_tags_alone(seed: int, order: list[int]) -> None:
    z = drawn(2, 4, FEATURES, seed=seed)
    model = small_rn(position_tags=False)
    torch.testing.assert_close(model(z[:, order]), model(z), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("position_tags", [True, False])
def test_order_is_seen(position_tags: bool) -> None:
    z = drawn(2, 4, FEATURES)
    for model in (small_rn(), small_trn(position_tags=position_tags)):
        assert not torch.isclose(model(z.flip(1)), model(z)).any()


def test_trn_of_equal_embeddings_counts_pairs() -> None:
    z = drawn(2, 1, FEATURES).expand(-1, 4, -1)
    model = small_trn(order_layers=False, position_tags=False)
    with torch.no_grad():
        model.triple2.weight.zero_()
        model.triple2.bias.zero_()
        one_pair = model(z[:, :2])
        model.hidden.weight /= 6  # pairs of four places
        torch.testing.assert_close(model(z), one_pair, rtol=1e-9, atol=1e-10)


def test_first_parameters_of_rn() -> None:
    model = RN(128, 4, generator=generator())
    shapes = {"pair1": (512, 258), "pair2": (256, 512), "hidden": (256, 256), "output": (4, 256)}
    for name, shape in shapes.items():
        layer = getattr(model, name)
        assert layer.weight.shape == shape
        inputs = shape[1] if name != "output" else sum(shape)
        assert_spread(layer.weight, (2 / inputs) ** 0.5)
        assert (layer.bias == 0).all()
    assert RN(128, 4, position_tags=False).pair1.weight.shape == (512, 256)


def test_first_parameters_of_trn() -> None:
    model = TRN(128, 4, generator=generator())
    shapes = {
        "pair1": (512, 258),
        "pair2": (256, 512),
        "pair3": (256, 256),
        "triple1": (512, 387),
        "triple2": (256, 512),
        "triple3": (256, 256),
        "hidden": (256, 256),
    }
    for name, shape in shapes.items():
        layer = getattr(model, name)
        assert layer.weight.shape == shape
        assert_spread(layer.weight, (2 / shape[1]) ** 0.5)
        assert (layer.bias == 0).all()
    assert_spread(model.output.weight, (2 / 260) ** 0.5)
    bare = TRN(128, 4, order_layers=False)
    assert bare.pair3 is None
    assert bare.triple3 is None


@pytest.mark.parametrize("build", [small_rn, small_trn])
@pytest.mark.parametrize("shape", [(2, 3), (1, 4)])
def test_gradient_with_respect_to_embeddings(build, shape: tuple[int, int]) -> None:
    assert gradcheck(build(), drawn(*shape, FEATURES).requires_grad_())


@pytest.mark.parametrize("build", [small_rn, small_trn])
def test_what_is_no_sequence_of_embeddings_is_refused(build, unchecked) -> None:
    model = build()
    with pytest.raises(ValueError, match=r"at least one step, got shape \(2, 0, 6\)"):
        model(drawn(2, 0, FEATURES))
    with pytest.raises(ValueError, match="in_features=6 features, got 5"):
        model(drawn(2, 3, 5))


@pytest.mark.parametrize("cls", [RN, TRN])
def test_sizes_that_cannot_be_are_refused(cls) -> None:
    for name in ("hidden_size", "relation_size"):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            cls(8, 4, **{name: 0})
