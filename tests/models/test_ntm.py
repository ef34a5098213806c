"""The Neural Turing Machine against loops, and what its parts are bound to hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from each import some
from farfield.functional.internal import cosine_similarity, ntm_head_sizes, slot_address
from farfield.models import NTM
from made import assert_spread, drawn, generator, gradcheck, state_of, unsettled
from oracles import webb2021_rivals as oracle

FEATURES, OUTPUTS = 6, 3


def small(num_slots: int = 4, **options: bool) -> NTM:
    sizes = {"hidden_size": 5, "num_slots": num_slots, "slot_size": 3}
    return unsettled(NTM(FEATURES, OUTPUTS, **sizes, generator=generator(), **options))


def numbers_of(seed: int, *batch: int) -> dict[str, torch.Tensor]:
    return {
        "strength": drawn(*batch, seed=seed).exp(),
        "gate": drawn(*batch, seed=seed + 1).sigmoid(),
        "shift": drawn(*batch, 3, seed=seed + 2).softmax(-1),
        "sharpening": 1 + drawn(*batch, seed=seed + 3).exp(),
    }


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("first_read", [True, False])
@pytest.mark.parametrize("num_slots", [1, 4])
def test_equations(num_slots: int, first_read: bool, length: int) -> None:
    model, z = small(num_slots, first_read=first_read), drawn(3, length, FEATURES)
    expected = [oracle.ntm(row, state_of(model), first_read) for row in z.numpy()]
    np.testing.assert_allclose(model(z).detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("num_slots", [1, 2, 5])
def test_address(num_slots: int) -> None:
    similarity, numbers = drawn(3, num_slots), numbers_of(20, 3)
    previous = drawn(3, num_slots, seed=9).softmax(-1)
    found = slot_address(similarity, previous, **numbers)
    for row in range(3):
        own = {name: tensor[row].numpy() for name, tensor in numbers.items()}
        expected = oracle.slot_address(similarity[row].numpy(), previous[row].numpy(), **own)
        np.testing.assert_allclose(found[row], expected, rtol=1e-10)


@given(seed=st.integers(0, 999))
def test_no_weights_before_are_weights_of_zero(seed: int) -> None:
    similarity, numbers = drawn(2, 5, seed=seed), numbers_of(seed, 2)
    zeros = slot_address(similarity, torch.zeros_like(similarity), **numbers)
    none = slot_address(similarity, None, **numbers)
    torch.testing.assert_close(none, zeros, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(none.sum(-1), torch.ones(2).double(), rtol=1e-12, atol=0)


@given(seed=st.integers(0, 999), turn=st.integers(-4, 4))
def test_slots_that_turn_take_their_weights_along(seed: int, turn: int) -> None:
    similarity, numbers = drawn(2, 5, seed=seed), numbers_of(seed, 2)
    previous = drawn(2, 5, seed=seed + 9).softmax(-1)
    turned = slot_address(similarity.roll(turn, -1), previous.roll(turn, -1), **numbers)
    still = slot_address(similarity, previous, **numbers)
    torch.testing.assert_close(turned, still.roll(turn, -1), rtol=1e-10, atol=1e-14)


def test_a_great_exponent_leaves_one_slot_and_no_nan() -> None:
    similarity = torch.tensor([[0.1, 0.3, 0.2]], requires_grad=True)
    numbers = {name: part.float() for name, part in numbers_of(3, 1).items()}
    numbers["shift"] = torch.tensor([[0.0, 1.0, 0.0]])
    numbers["strength"] = numbers["sharpening"] = torch.tensor([5000.0])
    weights = slot_address(similarity, None, **numbers)
    torch.testing.assert_close(weights, torch.tensor([[0.0, 1.0, 0.0]]))
    (gradient,) = torch.autograd.grad(weights[0, 1], similarity)
    assert gradient.isfinite().all()


def test_cosines() -> None:
    keys, slots = drawn(2, 3, 4), drawn(2, 5, 4, seed=8)
    expected = torch.nn.functional.cosine_similarity(keys[:, :, None], slots[:, None], dim=-1)
    torch.testing.assert_close(cosine_similarity(keys, slots), expected, rtol=1e-10, atol=1e-14)
    shared = cosine_similarity(keys, slots[:1])
    torch.testing.assert_close(shared[1], cosine_similarity(keys[1], slots[0]))
    nothing = cosine_similarity(torch.zeros(1, 1, 4, requires_grad=True), torch.zeros(1, 2, 4))
    assert not nothing.any()
    assert gradcheck(cosine_similarity, [keys.requires_grad_(), slots.requires_grad_()])


@pytest.mark.parametrize("first_read", [True, False])
@pytest.mark.parametrize("shape", some([(2, 3)], [(2, 3), (1, 4)]))
def test_gradient_with_respect_to_embeddings(shape: tuple[int, int], first_read: bool) -> None:
    model = small(first_read=first_read)
    assert gradcheck(model, drawn(*shape, FEATURES).requires_grad_())


def test_first_parameters() -> None:
    model = NTM(128, 4, generator=generator())
    assert model.controller.weight_ih.shape == (2048, 384)
    assert model.memory.shape == (10, 256)
    assert_spread(model.memory, (2 / 266) ** 0.5)
    assert model.heads.weight.shape == (1036, 512)
    tanh, erase, gates, softplus, turns = model.heads.weight.split(ntm_head_sizes(256))
    for rows in tanh.chunk(3):
        assert_spread(rows, 5 / 3 * (2 / (512 + 256)) ** 0.5)
    assert_spread(erase, (2 / (512 + 256)) ** 0.5)
    assert_spread(gates, (2 / 513) ** 0.5)
    assert_spread(softplus, (2 / 512) ** 0.5)
    assert_spread(turns, (2 / 515) ** 0.5)
    assert not model.heads.bias.any()


def test_what_cannot_be_is_refused(unchecked) -> None:
    for name in ("hidden_size", "num_slots", "slot_size"):
        with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
            NTM(8, 4, **{name: 0})
    with pytest.raises(ValueError, match="in_features=6 features, got 5"):
        small()(drawn(2, 4, 5))
    with pytest.raises(ValueError, match=r"at least one step, got shape \(2, 0, 6\)"):
        small()(drawn(2, 0, FEATURES))
    numbers = numbers_of(0, 2) | {"shift": drawn(2, 5)}
    with pytest.raises(ValueError, match=r"3 weights, of turns by \(-1, 0, 1\), got 5"):
        slot_address(drawn(2, 4), None, **numbers)
