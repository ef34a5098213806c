"""The layer that holds: against loops, and for how long."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.functional.internal import holding_recurrence
from farfield.nn import HoldingRNN
from made import drawn, generator, gradcheck, gradgradcheck, state_of, unsettled
from oracles import sequence_layers as oracle

INPUTS, HIDDEN, GROUPS, BATCH, TIME = 3, 8, 4, 2, 6
MIN_UPDATES = (0.0, 0.3)


def given(time: int = TIME) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return (
        drawn(time, BATCH, HIDDEN),
        3 * drawn(time, BATCH, GROUPS, seed=1),
        drawn(HIDDEN + GROUPS, HIDDEN, seed=2),
        drawn(BATCH, HIDDEN, seed=3),
    )


@pytest.mark.parametrize("min_update", MIN_UPDATES)
def test_the_recurrence_is_that_of_loops(min_update: float) -> None:
    inputs, gates, weight, state = given()
    found = holding_recurrence(inputs, gates, weight, state, min_update=min_update)
    for row in range(BATCH):
        expected = oracle.holding_recurrence(
            *(tensor.numpy() for tensor in (inputs[:, row], gates[:, row], weight, state[row])),
            min_update,
        )
        np.testing.assert_allclose(found[:, row].numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("min_update", MIN_UPDATES)
@pytest.mark.parametrize("time", [1, 4])
def test_its_gradient(time: int, min_update: float) -> None:
    recurrence = functools.partial(holding_recurrence, min_update=min_update)
    wanted = [tensor.clone().requires_grad_() for tensor in given(time)]
    assert gradcheck(recurrence, wanted)
    assert gradgradcheck(recurrence, wanted)


@pytest.mark.parametrize("min_update", MIN_UPDATES)
def test_the_layer_is_the_recurrence_with_its_weights(min_update: float) -> None:
    options = {"num_groups": GROUPS, "min_update": min_update}
    layer = unsettled(HoldingRNN(INPUTS, HIDDEN, **options, generator=generator()))
    x = drawn(TIME, BATCH, INPUTS)
    weights = state_of(layer)
    found = layer(x)[0].detach().numpy()
    for row in range(BATCH):
        both = x[:, row].numpy() @ weights["weight_ih"].T
        expected = oracle.holding_recurrence(
            both[:, :HIDDEN],
            both[:, HIDDEN:] + weights["bias"],
            weights["weight_hh"],
            np.zeros(HIDDEN),
            min_update,
        )
        np.testing.assert_allclose(found[:, row], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.processor
def test_a_group_whose_gate_is_at_one_keeps_every_bit() -> None:
    """In float32, for a thousand steps, while the other groups move."""
    inputs, gates, weight, state = (tensor.float() for tensor in given(1_000))
    weight[HIDDEN + 1] = 0.0
    gates[..., 1] = 3.0  # where the gate reaches 1, and a sigmoid is at 0.95
    gates[..., 2] = -1_000.0
    states = holding_recurrence(inputs, gates, weight, state)
    size = HIDDEN // GROUPS
    assert torch.equal(
        states[..., size : 2 * size], state[:, size : 2 * size].expand(1_000, -1, -1)
    )
    assert (states[1:, :, 2 * size :] != states[:-1, :, 2 * size :]).any()
    assert states.abs().max() < HIDDEN


@pytest.mark.processor
def test_a_group_that_is_asked_to_move_by_too_little_keeps_every_bit() -> None:
    """In float32, for a thousand steps; asked for just enough, it moves."""
    inputs, gates, weight, state = (tensor.float() for tensor in given(1_000))
    weight[HIDDEN:] = 0.0
    gates[..., :2] = 3.0 - 6 * 0.099
    gates[..., 2:] = 3.0 - 6 * 0.101
    states = holding_recurrence(inputs, gates, weight, state, min_update=0.1)
    assert torch.equal(states[..., : HIDDEN // 2], state[:, : HIDDEN // 2].expand(1_000, -1, -1))
    assert (states[1:, :, HIDDEN // 2 :] != states[:-1, :, HIDDEN // 2 :]).any(0).all()


@pytest.mark.parametrize("min_added, least", [(None, 0.1), (0.4, 0.4)])
def test_units_add_what_their_gates_let_pass(min_added: float | None, least: float) -> None:
    """Beside the groups of a layer without them, by loops over steps."""
    sums, total = 3, HIDDEN + 3
    options = {"num_groups": GROUPS, "min_update": 0.1}
    layer = unsettled(HoldingRNN(INPUTS, total, num_sums=sums, min_added=min_added, **options))
    seen = []
    layer.added.register_forward_hook(lambda module, given, gates: seen.append(gates))
    x, first = drawn(TIME, BATCH, INPUTS), drawn(1, BATCH, total, seed=1)
    found, last = layer(x, first)
    assert torch.equal(last[0], found[-1])

    alone = HoldingRNN(INPUTS, HIDDEN, **options).double()
    rows = layer.weight_ih.detach().split_with_sizes((HIDDEN, sums, GROUPS, sums))
    alone.load_state_dict(
        {
            "weight_ih": torch.cat([rows[0], rows[2]]),
            "weight_hh": layer.weight_hh,
            "bias": layer.bias[:GROUPS],
        }
    )
    torch.testing.assert_close(found[..., :HIDDEN], alone(x, first[..., :HIDDEN])[0])

    total_so_far = first[0, :, HIDDEN:].numpy()
    low = layer.bias[GROUPS:].detach().numpy()
    for step, given in enumerate(x.numpy()):
        shares = np.clip(0.5 + (given @ rows[3].numpy().T + low) / 6, 0, 1)
        shares[shares < least] = 0
        total_so_far = total_so_far + shares * (given @ rows[1].numpy().T)
        np.testing.assert_allclose(found[step, :, HIDDEN:].detach().numpy(), total_so_far)
        np.testing.assert_allclose(seen[0][step].detach().numpy(), shares, atol=1e-15)


def test_what_is_held_is_dropped_from_outputs_in_training_and_sums_are_not() -> None:
    options = {"num_groups": GROUPS, "num_sums": 4, "generator": generator()}
    layer = HoldingRNN(INPUTS, HIDDEN + 4, dropout=0.4, **options)
    x = torch.randn(200, 5, INPUTS, generator=generator(1))
    outputs, state = layer(x)
    plain, last = layer.eval()(x)
    assert torch.equal(state, last)
    assert torch.equal(outputs[..., HIDDEN:], plain[..., HIDDEN:])
    held, whole = outputs[..., :HIDDEN], plain[..., :HIDDEN]
    kept = held != 0
    assert kept.float().mean().item() == pytest.approx(0.6, abs=0.03)
    torch.testing.assert_close(held[kept], whole[kept] / 0.6)


def test_an_input_of_zeros_first_changes_a_sixth_and_turns_what_it_changes() -> None:
    layer = HoldingRNN(INPUTS, HIDDEN, num_groups=GROUPS, generator=generator()).double()
    matrix = layer.weight_hh.detach()[:HIDDEN]
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(HIDDEN).double(), rtol=0, atol=1e-6)
    with torch.no_grad():
        layer.weight_hh[HIDDEN:] = 0
    state = drawn(1, 1, HIDDEN)
    candidate = torch.nn.functional.rms_norm(state @ matrix.T, (HIDDEN,), eps=1e-6)
    expected = (5 * state + candidate) / 6
    torch.testing.assert_close(layer(torch.zeros(1, 1, INPUTS).double(), state)[0], expected)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_groups": 3}, "hidden_size must be a multiple of num_groups=3, got 8"),
        ({"num_groups": 0}, "num_groups"),
        ({"num_groups": 4, "num_sums": 3}, "hidden_size without num_sums=3 must be a mul.*, got 8"),
        ({"num_groups": 4, "num_sums": 8}, "hidden_size without num_sums=8"),
        ({"num_groups": 4, "num_sums": -1}, "num_sums"),
        (
            {"num_groups": 4, "min_update": 1.0},
            "min_update must be a finite number of at least 0 and below 1",
        ),
        ({"num_groups": 4, "min_update": -0.1}, "min_update must be"),
        (
            {"num_groups": 4, "min_added": 1.0},
            "min_added must be a finite .* and below 1 or None, got 1",
        ),
        ({"num_groups": 4, "min_update": math.nan}, "min_update must be .* got nan"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HoldingRNN(INPUTS, HIDDEN, **options)


@pytest.mark.parametrize("units, sums, groups", [(64, 0, 32), (24, 0, 24), (50, 1, 7), (37, 0, 1)])
def test_default_groups_divide_the_units(units: int, sums: int, groups: int) -> None:
    assert HoldingRNN(INPUTS, units, num_sums=sums).num_groups == groups


def test_wrong_shapes_are_refused() -> None:
    inputs, gates, weight, state = given()
    with pytest.raises(ValueError, match="at least one step"):
        holding_recurrence(inputs[:0], gates[:0], weight, state)
    with pytest.raises(ValueError, match="3 groups"):
        holding_recurrence(inputs, gates[..., :3], weight, state)
    with pytest.raises(ValueError, match="min_update"):
        holding_recurrence(inputs, gates, weight, state, min_update=2.0)
    with pytest.raises(ValueError, match="12 rows"):
        holding_recurrence(inputs, gates, weight[:-1], state)
