"""Recurrent layers of slots against loops, and what holds of slots that share their weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from farfield.functional.internal import RelationalMemoryParameters, relational_memory
from farfield.nn import EntNet, RelationalMemoryCore
from made import drawn, generator, state_of, unsettled
from oracles import sequence_layers as oracle

INPUTS, HIDDEN, BATCH, TIME = 3, 12, 2, 5


def core(**options: object) -> RelationalMemoryCore:
    sizes = {"num_slots": 3, "num_heads": 2} | options
    return unsettled(RelationalMemoryCore(INPUTS, HIDDEN, generator=generator(), **sizes))


def entities(num_slots: int = 3) -> EntNet:
    return unsettled(EntNet(INPUTS, HIDDEN, num_slots=num_slots, generator=generator()))


# --- Relational memory ---------------------------------------------------------------------------


@pytest.mark.parametrize("unit_gates", [True, False])
@pytest.mark.parametrize("num_slots, num_heads", [(3, 2), (1, 3), (2, 1)])
def test_equations_of_the_relational_memory(
    num_slots: int, num_heads: int, unit_gates: bool
) -> None:
    module = core(num_slots=num_slots, num_heads=num_heads, unit_gates=unit_gates)
    x = drawn(TIME, BATCH, INPUTS)
    outputs, (memory, hidden) = module(x)
    assert memory.shape == hidden.shape == (1, BATCH, num_slots, HIDDEN // num_slots)
    for row in range(BATCH):
        expected = oracle.relational_memory(
            x[:, row].numpy(), state_of(module), num_slots, num_heads
        )
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(outputs[-1], hidden[0].flatten(1))


@settings(max_examples=15)
@given(seed=st.integers(0, 999), order=st.permutations(range(3)))
def test_slots_that_change_places_change_places_in_the_outputs(seed: int, order) -> None:
    module, x, wide = core(), drawn(TIME, BATCH, INPUTS, seed=seed), HIDDEN // 3
    state = (drawn(1, BATCH, 3, wide, seed=seed + 1), drawn(1, BATCH, 3, wide, seed=seed + 2))
    outputs, last = module(x, state)
    moved, moved_last = module(x, tuple(part[:, :, list(order)] for part in state))
    slots = outputs.unflatten(-1, (3, wide))
    torch.testing.assert_close(moved, slots[:, :, list(order)].flatten(2), rtol=1e-9, atol=1e-12)
    expected = tuple(part[:, :, list(order)] for part in last)
    torch.testing.assert_close(moved_last, expected, rtol=1e-9, atol=1e-12)


def test_slots_that_begin_alike_stay_alike_and_those_of_a_core_do_not() -> None:
    module, x = core(), drawn(TIME, BATCH, INPUTS)
    alike = torch.ones(1, BATCH, 3, HIDDEN // 3, dtype=torch.float64)
    _, (memory, _) = module(x, (alike, alike))
    torch.testing.assert_close(memory[:, :, 0], memory[:, :, 1])
    _, (memory, _) = module(x)
    assert (memory[:, :, 0] - memory[:, :, 1]).abs().max() > 1e-3


def test_open_forget_gates_and_closed_input_gates_keep_the_memory() -> None:
    module = core()
    size = module.slot_size
    with torch.no_grad():
        module.gates_input.bias[:size] = 60.0
        module.gates_input.bias[size : 2 * size] = -60.0
    _, (memory, _) = module(drawn(500, BATCH, INPUTS))
    torch.testing.assert_close(memory, module._first_state(drawn(1, BATCH, INPUTS))[0])


def test_first_gates_of_the_relational_memory() -> None:
    module = RelationalMemoryCore(INPUTS, HIDDEN, num_slots=3, forget_bias=2.0)
    forget, enter, leave = module.gates_input.bias.chunk(3)
    assert (forget == 2.0).all()
    assert not enter.any()
    assert not leave.any()


# --- Entity network ------------------------------------------------------------------------------


@pytest.mark.parametrize("num_slots", [1, 2, 3])
def test_equations_of_the_entity_network(num_slots: int) -> None:
    module, x = entities(num_slots), drawn(TIME, BATCH, INPUTS)
    outputs, state = module(x)
    assert state.shape == (1, BATCH, num_slots, HIDDEN // num_slots)
    for row in range(BATCH):
        expected = oracle.entity_network(x[:, row].numpy(), state_of(module))
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), scale=st.sampled_from([0.01, 1.0, 100.0]))
def test_slots_keep_their_length(seed: int, scale: float) -> None:
    outputs, _ = entities()(scale * drawn(TIME, BATCH, INPUTS, seed=seed))
    lengths = outputs.unflatten(-1, (3, -1)).norm(dim=-1)
    torch.testing.assert_close(lengths, torch.ones_like(lengths), rtol=1e-9, atol=0)


def test_a_slot_sees_no_other_slot() -> None:
    module, x = entities(), drawn(TIME, BATCH, INPUTS)
    state = drawn(1, BATCH, 3, HIDDEN // 3)
    other = state.clone()
    other[:, :, 2] = 9.0
    first, second = (module(x, given)[0].unflatten(-1, (3, -1)) for given in (state, other))
    torch.testing.assert_close(first[:, :, :2], second[:, :, :2], rtol=1e-12, atol=0)
    assert not torch.allclose(first[:, :, 2], second[:, :, 2])


def test_the_nonlinearity_starts_as_the_identity() -> None:
    assert (EntNet(INPUTS, HIDDEN).slope == 1).all()


# --- Refusals ------------------------------------------------------------------------------------


def test_what_cannot_be_is_refused(unchecked) -> None:
    for cls in (RelationalMemoryCore, EntNet):
        with pytest.raises(ValueError, match=r"num_slots must be an int 1….*, got 0"):
            cls(INPUTS, HIDDEN, num_slots=0)
        with pytest.raises(ValueError, match="num_slots must divide hidden_size=12, got 5"):
            cls(INPUTS, HIDDEN, num_slots=5)
    with pytest.raises(ValueError, match=r"num_heads must be an int 1….*, got 0"):
        core(num_heads=0)
    with pytest.raises(ValueError, match="num_heads must divide slots of 4 numbers, got 3"):
        core(num_heads=3)
    with pytest.raises(ValueError, match="hidden_size=12 in num_slots=6 makes 2"):
        core(num_slots=6)
    module, memory = core(), drawn(BATCH, 3, 4)
    given = {
        name: module.state_dict()[name.replace("_weight", ".weight").replace("_bias", ".bias")]
        for name in RelationalMemoryParameters._fields
        if not name.startswith("gates")
    }
    gates = (module.gates_input.weight, module.gates_hidden.weight, module.gates_input.bias)
    names = ("gates_input_weight", "gates_hidden_weight", "gates_bias")
    parameters = RelationalMemoryParameters(**given, **dict(zip(names, gates, strict=True)))
    with pytest.raises(ValueError, match="num_heads must divide the slots' 4 numbers, got 3"):
        relational_memory(drawn(TIME, BATCH, INPUTS), memory, memory, parameters, num_heads=3)
