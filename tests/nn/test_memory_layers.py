"""Controllers with a memory against loops, and what holds of where they write and read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from farfield.functional.internal import (
    NTMParameters,
    dnc_interface_sizes,
    ntm,
    slot_allocation,
    slot_links,
    slot_usage,
)
from farfield.nn import DNC, NTMLayer
from made import assert_spread, drawn, generator, state_of, unsettled
from oracles import sequence_layers as oracle

INPUTS, HIDDEN, BATCH, TIME = 3, 9, 2, 5
seeds = st.integers(0, 9999)


def machine(num_slots: int = 4, slot_size: int = 3) -> NTMLayer:
    sizes = {"num_slots": num_slots, "slot_size": slot_size}
    return unsettled(NTMLayer(INPUTS, HIDDEN, generator=generator(), **sizes))


def computer(num_slots: int = 4, slot_size: int = 3, num_heads: int = 2) -> DNC:
    sizes = {"num_slots": num_slots, "slot_size": slot_size, "num_heads": num_heads}
    return unsettled(DNC(INPUTS, HIDDEN, generator=generator(), **sizes))


# --- Neural Turing Machine -----------------------------------------------------------------------


@pytest.mark.parametrize("num_slots, slot_size", [(4, 3), (1, 2), (2, 1)])
def test_equations_of_the_turing_machine(num_slots: int, slot_size: int) -> None:
    module, x = machine(num_slots, slot_size), drawn(TIME, BATCH, INPUTS)
    outputs, _ = module(x)
    for row in range(BATCH):
        expected = oracle.ntm(x[:, row].numpy(), state_of(module))
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-12)


def test_one_more_step_on_zeros_is_the_reasoner_of_webb2021() -> None:
    module, x = machine(), drawn(TIME, BATCH, INPUTS)
    state = module.state_dict()
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    parameters = NTMParameters(
        *(state[f"controller.{name}"] for name in names),
        state["heads.weight"],
        state["heads.bias"],
        state["memory"],
    )
    outputs, _ = module(torch.cat((x, torch.zeros(1, BATCH, INPUTS))))
    expected = ntm(x.transpose(0, 1), parameters)
    torch.testing.assert_close(outputs[-1, :, : HIDDEN - 3], expected, rtol=1e-9, atol=1e-12)


def test_the_state_of_the_turing_machine_holds_what_is_put_out() -> None:
    module = machine()
    outputs, (hidden, cell, read, weights, memory) = module(drawn(TIME, BATCH, INPUTS))
    torch.testing.assert_close(torch.cat((hidden[0], read[0]), -1), outputs[-1])
    assert (cell.shape, memory.shape) == (hidden.shape, (1, BATCH, 4, 3))
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, BATCH, 2).double())


# --- Differentiable neural computer --------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4, 3, 2), (1, 2, 1), (3, 1, 1), (5, 2, 3)])
def test_equations_of_the_neural_computer(sizes: tuple[int, int, int]) -> None:
    module, x = computer(*sizes), drawn(TIME, BATCH, INPUTS)
    outputs, _ = module(x)
    for row in range(BATCH):
        expected = oracle.dnc(x[:, row].numpy(), state_of(module), *sizes)
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-12)


def uses(seed: int, num_slots: int = 6) -> Tensor:
    """Usages of which some are nothing and some everything."""
    drawn_uses = drawn(BATCH, num_slots, seed=seed).mul(2).sigmoid()
    return drawn_uses.mul(1.4).sub(0.2).clamp(0, 1)


@settings(max_examples=50)
@given(seed=seeds, num_slots=st.integers(1, 9))
def test_allocation_gives_away_what_is_free(seed: int, num_slots: int) -> None:
    usage = uses(seed, num_slots)
    weights = slot_allocation(usage)
    for row in range(BATCH):
        expected = oracle.allocation(usage[row].numpy())
        np.testing.assert_allclose(weights[row], expected, rtol=1e-10, atol=1e-14)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), 1 - usage.prod(-1), rtol=1e-10, atol=1e-12)


def test_a_slot_that_is_free_is_given_away_whole_and_the_first_of_equals() -> None:
    usage = torch.tensor([[0.3, 0.0, 0.9, 0.0], [1.0, 1.0, 1.0, 1.0]])
    assert slot_allocation(usage).tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]


@settings(max_examples=50)
@given(seed=seeds)
def test_usage_stays_between_nothing_and_everything(seed: int) -> None:
    before, written = uses(seed), 0.9 * drawn(BATCH, 6, seed=seed + 1).softmax(-1)
    reads, free = drawn(BATCH, 2, 6, seed=seed + 2).softmax(-1), uses(seed + 3, 2)
    usage = slot_usage(before, written, reads, free)
    assert ((usage >= 0) & (usage <= 1)).all()
    for row in range(BATCH):
        given = (part[row].numpy() for part in (before, written, reads, free))
        np.testing.assert_allclose(usage[row], oracle.usage(*given), rtol=1e-10, atol=1e-14)
    kept = slot_usage(before, written, reads, torch.zeros(BATCH, 2).double())
    assert (kept >= before - 1e-12).all()


@settings(max_examples=20)
@given(seed=seeds)
def test_links_lead_to_at_most_one_slot(seed: int) -> None:
    links, last = torch.zeros(BATCH, 5, 5).double(), torch.zeros(BATCH, 5).double()
    for step in range(6):
        written = drawn(BATCH, seed=seed + step).sigmoid().unsqueeze(-1) * (
            3 * drawn(BATCH, 5, seed=seed + 50 + step)
        ).softmax(-1)
        given = [part[0].numpy() for part in (links, last, written)]
        links, last = slot_links(links, last, written)
        for found, expected in zip((links[0], last[0]), oracle.links(*given), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)
        assert (links >= 0).all()
        assert not links.diagonal(dim1=-2, dim2=-1).any()
        for sums in (links.sum(-1), links.sum(-2), last.sum(-1)):
            assert (sums <= 1 + 1e-12).all()


def test_links_lead_through_what_was_written_in_order() -> None:
    links, last = torch.zeros(4, 4), torch.zeros(4)
    order = [2, 0, 3, 1]
    for slot in order:
        links, last = slot_links(links, last, torch.eye(4)[slot])
    for earlier, later in pairwise(order):
        assert torch.equal(links @ torch.eye(4)[earlier], torch.eye(4)[later])
        assert torch.equal(links.T @ torch.eye(4)[later], torch.eye(4)[earlier])


def test_the_weights_of_a_computer_sum_to_at_most_one() -> None:
    _, state = computer()(10 * drawn(30, BATCH, INPUTS))
    usage, precedence, links, written, reading = state[4:]
    assert ((usage >= 0) & (usage <= 1)).all()
    for weights in (precedence, links, links.transpose(-1, -2), written, reading):
        assert (weights >= 0).all()
        assert (weights.sum(-1) <= 1 + 1e-12).all()


@pytest.mark.processor
def test_an_empty_memory_has_gradients_of_moderate_size() -> None:
    module = DNC(INPUTS, HIDDEN, num_slots=4, slot_size=3, generator=generator())
    module(drawn(20, BATCH, INPUTS).float())[0].square().sum().backward()
    for parameter in module.parameters():
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().max() < 100


def test_first_parameters() -> None:
    module = DNC(5, 300, num_slots=8, slot_size=20, num_heads=2, generator=generator())
    assert module.controller.weight_ih.shape == (4 * 260, 5 + 40)
    rows = sum(dnc_interface_sizes(2, 20))
    assert rows == 20 * 2 + 3 * 20 + 5 * 2 + 3
    assert module.interface.weight.shape == (rows, 260)
    assert_spread(module.interface.weight, (2 / (rows + 260)) ** 0.5)
    machine = NTMLayer(5, 300, num_slots=8, slot_size=20, generator=generator())
    assert machine.controller.weight_hh.shape == (4 * 280, 280)
    assert_spread(machine.memory, (2 / 28) ** 0.5)


def test_what_cannot_be_is_refused(unchecked) -> None:
    for cls, names in ((NTMLayer, ()), (DNC, ("num_heads",))):
        for name in ("num_slots", "slot_size", *names):
            with pytest.raises(ValueError, match=rf"{name} must be an int 1….*, got 0"):
                cls(INPUTS, HIDDEN, **{name: 0})
    with pytest.raises(ValueError, match=r"more than the 9 numbers that are read, .* got 9"):
        NTMLayer(INPUTS, HIDDEN, slot_size=9)
    with pytest.raises(ValueError, match=r"more than the 10 numbers that are read, .* got 9"):
        DNC(INPUTS, HIDDEN, slot_size=5, num_heads=2)
