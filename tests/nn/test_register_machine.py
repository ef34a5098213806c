"""Automata, registers and counters: against loops, and exact for any number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from farfield.functional import Indexed
from farfield.nn import RegisterMachine
from made import drawn, generator, gradcheck, state_of, unsettled
from oracles import sequence_layers as oracle

INPUTS, HIDDEN, BATCH, TIME = 3, 2 * 3 + 2 + 3 * 2, 2, 9
SIZES = {"num_automata": 2, "num_states": 3, "num_counters": 2, "num_registers": 3}


def made(**options: Any) -> RegisterMachine:
    return unsettled(RegisterMachine(INPUTS, HIDDEN, generator=generator(), **SIZES, **options))


@pytest.mark.parametrize("rounded", [False, True])
def test_outputs_are_those_of_loops(rounded: bool) -> None:
    layer, x = made(rounded=rounded), drawn(TIME, BATCH, INPUTS)
    found, last = layer(x)
    for row in range(BATCH):
        expected = oracle.register_machine(
            x[:, row].numpy(), state_of(layer), (*SIZES.values(),), rounded=rounded
        )
        np.testing.assert_allclose(found[:, row].detach(), expected, rtol=1e-9, atol=1e-12)
    shown = last[0, :, -2:]
    torch.testing.assert_close(shown / (1 + shown.abs()), found[-1, :, -2:])
    assert torch.equal(last[0, :, :-2], found[-1, :, :-2])
    if rounded:
        assert len(found[..., :6].unique()) == 2
        assert (shown == shown.round()).all()
        assert (shown != 0).any()


def test_evaluation_is_rounded() -> None:
    layer, x = made(), drawn(TIME, BATCH, INPUTS)
    soft = layer(x)[0]
    assert torch.equal(layer.eval()(x)[0], made(rounded=True)(x)[0])
    assert not torch.allclose(layer(x)[0], soft)


def test_recurring_items_are_read_as_the_sequence() -> None:
    index = torch.randint(4, (TIME, BATCH), generator=generator(2))
    x = Indexed(drawn(4, INPUTS, seed=3), index)
    for layer in (made(), made(rounded=True)):
        torch.testing.assert_close(layer(x), layer(x.gathered()))


def test_its_gradient() -> None:
    layer = made()
    x, first = drawn(4, BATCH, INPUTS).requires_grad_(), drawn(1, BATCH, HIDDEN, seed=1).sigmoid()
    assert gradcheck(lambda *inputs: layer(*inputs)[0], (x, first.requires_grad_()))


def test_rounded_decisions_have_the_gradient_of_soft_ones() -> None:
    """At the first step, where the outputs are linear in all decisions but counts."""
    found = []
    for rounded in (False, True):
        layer = made(rounded=rounded)
        outputs = layer(drawn(1, BATCH, INPUTS))[0][..., :12]
        (outputs * drawn(12, seed=5)).sum().backward()
        assert layer.weight_ih.grad is not None
        assert layer.weight_hh.grad is not None
        found.append((layer.weight_ih.grad[: 2 * 3 * 3 + 3], layer.weight_hh.grad[:3]))
    torch.testing.assert_close(*found)
    assert all((grad != 0).any() for grad in found[1])
    layer = made(rounded=True)
    layer(drawn(TIME, BATCH, INPUTS))[0].square().sum().backward()
    for parameter in layer.parameters():
        assert parameter.grad is not None
        assert (parameter.grad != 0).any(-1).float().mean() > 0.5


@pytest.mark.processor
def test_a_count_and_a_parity_stay_exact_in_float32() -> None:
    """One automaton flips at a one, a counter goes up or down: a hundred thousand steps."""
    layer = RegisterMachine(2, 4, num_automata=1, num_states=2, num_counters=1, num_registers=1)
    with torch.no_grad():
        layer.weight_ih.zero_()
        layer.bias.zero_()
        layer.weight_hh.zero_()
        layer.weight_ih[:4] = torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0]])  # stay, flip
        layer.weight_ih[5] = torch.tensor([-1.0, 1.0])
    bits = torch.randint(2, (100_000,), generator=generator(4))
    outputs, last = layer.eval()(Indexed(torch.eye(2), bits[:, None]))
    assert torch.equal(outputs[:, 0, 1].long(), bits.cumsum(0) % 2)
    assert last[0, 0, -1] == (2 * bits - 1).sum()
    assert outputs.abs().max() <= 1


@pytest.mark.parametrize("hidden, message", [(13, "num_registers=3, got 13"), (8, "got 8")])
def test_sizes_that_do_not_fit_are_refused(hidden: int, message: str) -> None:
    with pytest.raises(
        ValueError, match=f"less the 6 states of automata and num_counters=2 .*{message}"
    ):
        RegisterMachine(INPUTS, hidden, **SIZES)
