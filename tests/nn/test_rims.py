"""RIMs: the equations by loops, what is promised of active and inactive, streaming, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from benchmarks._held import most_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from each import some
from farfield.functional import Indexed
from farfield.functional._rims import _rims
from farfield.functional.internal import lstm_dynamics, rims
from farfield.nn import (
    Communication,
    GRUDynamics,
    InputAttention,
    LSTMLayer,
    NormalizedGRU,
    NormalizedLSTM,
    RIMs,
    Wiring,
)
from made import drawn, generator, gradcheck, unsettled
from oracles import rims as oracle

FEATURES, MECHANISMS, SIZE, BATCH, TIME, ELEMENTS = 3, 4, 6, 3, 4, 5
UNITS = MECHANISMS * SIZE
SPARSE = Communication(num_heads=3, key_size=2, top_k=2)
SHOWN = Communication(num_heads=2, key_size=5, value_size=4, hypothetical=True, gated=True)
WIRINGS = {
    "text": Wiring(),
    "gru": Wiring(dynamics=GRUDynamics()),
    "no communication": Wiring(communication=None),
    "heads, sparse communication": Wiring(
        input_attention=InputAttention(num_heads=2, key_size=4, value_size=5),
        communication=SPARSE,
    ),
    "hypothetical states, gate": Wiring(
        input_attention=InputAttention(bias=False), communication=SHOWN
    ),
    "gru, hypothetical states, gate": Wiring(dynamics=GRUDynamics(), communication=SHOWN),
    "released": Wiring.released(),
    "over mechanisms": Wiring(
        input_attention=InputAttention(num_heads=2, key_size=4, value_size=5, over_mechanisms=True)
    ),
    "positions": Wiring(
        input_attention=InputAttention(num_heads=2, key_size=4, value_size=5, per_position=True)
    ),
}
for NAME in ("text", "gru", "heads, sparse communication", "over mechanisms", "positions"):
    WIRINGS[NAME] = replace(
        WIRINGS[NAME],
        communication=replace(WIRINGS[NAME].communication, num_heads=3, key_size=2),
    )
ABLATED = Wiring(input_attention=None, communication=SPARSE)
wirings = pytest.mark.parametrize("wiring", WIRINGS.values(), ids=WIRINGS)


def built(wiring: Wiring | None = None, active: int = 2, **options: object) -> RIMs:
    wiring = wiring or WIRINGS["text"]
    sizes = {"num_mechanisms": MECHANISMS, "num_active": active}
    layer = RIMs(FEATURES, UNITS, wiring=wiring, generator=generator(), **sizes, **options)
    return unsettled(layer).eval()


def inputs(layer: RIMs, *axes: int) -> Tensor:
    """Inputs with these leading axes."""
    attention = layer.wiring.input_attention
    positions = (ELEMENTS,) if attention is not None and attention.per_position else ()
    return drawn(*axes, *positions, FEATURES)


def begun(layer: RIMs, batch: int = BATCH) -> tuple[Tensor, ...]:
    shape, parts = (layer.num_layers, batch, UNITS), layer.wiring.dynamics.num_states
    return tuple(drawn(*shape, seed=20 + part) for part in range(parts))


def passed(state: tuple[Tensor, ...]) -> Tensor | tuple[Tensor, ...]:
    return state if len(state) > 1 else state[0]


def parts(state: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return state if isinstance(state, tuple) else (state,)


def assert_same(first: object, second: object, tolerance: float = 1e-11) -> None:
    torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance)


# --- The equations -------------------------------------------------------------------------------


def arrays_of(layer: RIMs, number: int) -> dict[str, np.ndarray]:
    found = {}
    for name, parameter in layer.layers[number].named_parameters():
        owner, _, own = name.rpartition(".")
        told = owner == "communication" and own in {"query", "key", "value"}
        found[f"told_{own}" if told else own] = parameter.detach().numpy()
    return found


def expected_of(layer: RIMs, number: int, xs: Tensor, state: list[Tensor]) -> list[oracle.Step]:
    """One layer on one sequence (time, element, feature), by the loops."""
    telling, reading = layer.wiring.communication, layer.wiring.input_attention
    hidden, *cell = (list(part.detach().numpy().reshape(MECHANISMS, SIZE)) for part in state)
    return oracle.rims(
        xs.detach().numpy(),
        hidden,
        cell[0] if cell else hidden,
        arrays_of(layer, number),
        num_active=layer.num_active,
        dynamics=oracle.gru if isinstance(layer.wiring.dynamics, GRUDynamics) else oracle.lstm,
        per_position=bool(reading and reading.per_position and number == 0),
        over_mechanisms=bool(reading and reading.over_mechanisms),
        top_k=telling.top_k if telling else None,
        hypothetical=bool(telling and telling.hypothetical),
    )


@pytest.mark.parametrize("elements", [0, ELEMENTS])
@wirings
def test_equations(wiring: Wiring, elements: int) -> None:
    layer = built(wiring)
    x = drawn(TIME, BATCH, ELEMENTS, FEATURES) if elements else inputs(layer, TIME, BATCH)
    state = begun(layer)
    outputs, last = layer(x, passed(state))
    (trace,) = layer.trace(x, passed(state))
    rows = x if x.ndim == 4 else x.unsqueeze(2)
    for row in range(BATCH):
        steps = expected_of(layer, 0, rows[:, row], [part[0, row] for part in state])
        near = {"rtol": 1e-9, "atol": 1e-10}
        hidden = np.array([np.concatenate(step.hidden) for step in steps])
        np.testing.assert_allclose(outputs[:, row].detach(), hidden, **near)
        ends = [np.concatenate(steps[-1].hidden), np.concatenate(steps[-1].cell)]
        for part, end in zip(parts(last), ends, strict=False):
            np.testing.assert_allclose(part[0, row].detach(), end, **near)
        assert (trace.active[:, row].numpy() == [step.active for step in steps]).all()
        attention = np.array([step.attention for step in steps])
        np.testing.assert_allclose(trace.input_attention[:, row].detach(), attention, **near)
        if wiring.communication is not None:
            told = np.array([step.told for step in steps])
            np.testing.assert_allclose(trace.communication[:, row].detach(), told, **near)


def test_equations_without_input_attention() -> None:
    layer = built(ABLATED, MECHANISMS)
    x, state = drawn(TIME, BATCH, FEATURES), begun(layer)
    outputs, _ = layer(x, state)
    (trace,) = layer.trace(x, state)
    assert trace.input_attention is None
    assert trace.active.all()
    for row in range(BATCH):
        own = [part[0, row] for part in state]
        steps = expected_of(layer, 0, x[:, row].unsqueeze(1), own)
        hidden = [np.concatenate(step.hidden) for step in steps]
        np.testing.assert_allclose(outputs[:, row].detach(), hidden, rtol=1e-9, atol=1e-11)


@pytest.mark.usefixtures("unchecked")
def test_packed_sequences_are_not_traced() -> None:
    layer = RIMs(FEATURES, 12, num_mechanisms=3, num_active=2)
    packed = torch.nn.utils.rnn.pack_sequence([torch.zeros(3, FEATURES), torch.zeros(2, FEATURES)])
    with pytest.raises(ValueError, match="input must be a tensor or Indexed, got a PackedSequence"):
        layer.trace(packed)


@pytest.mark.parametrize("kind", ["text", "positions"])
def test_layers_read_the_one_before_as_one_element(kind: str) -> None:
    layer = built(WIRINGS[kind], num_layers=2)
    x, state = inputs(layer, TIME, BATCH), begun(layer)
    outputs, (last, _) = layer(x, state)
    traces = layer.trace(x, state)
    assert_same(traces[1].outputs, outputs)
    for row in range(BATCH):
        below = x[:, row] if x.ndim == 4 else x[:, row].unsqueeze(1)
        for number in range(2):
            own = [part[number, row] for part in state]
            steps = expected_of(layer, number, below, own)
            below = torch.tensor(np.array([np.concatenate(s.hidden) for s in steps])).unsqueeze(1)
            assert_same(last[number, row], below[-1, 0], 1e-9)
        assert_same(outputs[:, row], below[:, 0], 1e-9)


@wirings
def test_gradients(wiring: Wiring) -> None:
    layer = built(wiring)
    x, state = inputs(layer, 2, 2), begun(layer, 2)
    names = [name for name, _ in layer.named_parameters()]

    def outputs(x: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        own, given = tensors[: len(state)], dict(zip(names, tensors[len(state) :], strict=True))
        found, last = torch.func.functional_call(layer, given, (x, passed(own)))
        return found, *parts(last)

    leaves = [t.detach().clone().requires_grad_() for t in (x, *state, *layer.parameters())]
    if wiring.communication is not None and wiring.communication.hypothetical:
        # No gradient flows where the states of the inactive are shown, so that differences of
        # outputs are no measure; the released code's own gradients are.
        through = torch.autograd.grad(outputs(*leaves)[0].sum(), leaves)
        plain = torch.func.grad(lambda *own: outputs(*own)[0].sum(), tuple(range(len(leaves))))
        for mine, other in zip(through, plain(*leaves), strict=True):
            assert_same(mine, other)
        return
    assert gradcheck(outputs, leaves)


@pytest.mark.thorough
@pytest.mark.parametrize("wiring", [WIRINGS["text"], WIRINGS["gru"]], ids=["lstm", "gru"])
@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 1, 3, 2)])
def test_full_gradients(wiring: Wiring, shape: tuple[int, ...]) -> None:
    time, batch, mechanisms, size = shape
    small = replace(
        wiring,
        input_attention=InputAttention(key_size=2, value_size=3),
        communication=Communication(num_heads=2, key_size=2),
    )
    layer = RIMs(
        2,
        mechanisms * size,
        num_mechanisms=mechanisms,
        num_active=2,
        wiring=small,
        generator=generator(),
    )
    layer = unsettled(layer)
    names = [name for name, _ in layer.named_parameters()]

    def outputs(x: Tensor, *tensors: Tensor) -> Tensor:
        given = dict(zip(names, tensors, strict=True))
        return torch.func.functional_call(layer, given, (x,))[0]

    leaves = [drawn(time, batch, 2), *(p.detach().clone() for p in layer.parameters())]
    assert gradcheck(outputs, [leaf.requires_grad_() for leaf in leaves])


# --- Who is active -------------------------------------------------------------------------------


@wirings
def test_the_inactive_keep_their_state(wiring: Wiring) -> None:
    layer = built(wiring)
    x, state = inputs(layer, TIME, BATCH), begun(layer)
    (trace,) = layer.trace(x, passed(state))
    before = torch.cat((state[0], trace.outputs[:-1])).unflatten(-1, (MECHANISMS, SIZE))
    after = trace.outputs.unflatten(-1, (MECHANISMS, SIZE))
    assert torch.equal((before == after).all(-1), ~trace.active)
    if not (wiring.input_attention and wiring.input_attention.per_position):
        assert (trace.active.sum(-1) == layer.num_active).all()


def test_gradients_flow_through_the_inactive() -> None:
    layer = built(Wiring(communication=None))
    x, (hidden, cell) = drawn(1, 1, FEATURES), begun(layer, 1)
    (trace,) = layer.trace(x, (hidden, cell))
    units = trace.active[0, 0].repeat_interleave(SIZE)
    _, (last, _) = layer(x, (hidden.requires_grad_(), cell))
    (found,) = torch.autograd.grad(last[..., ~units].sum(), hidden)
    assert torch.equal(found[0, 0], (~units).double())


@pytest.mark.parametrize("active", [1, MECHANISMS])
def test_any_number_is_active(active: int) -> None:
    (trace,) = built(active=active).trace(drawn(TIME, BATCH, FEATURES))
    assert (trace.active.sum(-1) == active).all()


def test_of_those_that_tie_the_first_are_active() -> None:
    (trace,) = built().trace(drawn(1, BATCH, FEATURES))  # all scores are 0 in a state of zeros
    assert (trace.active[0] == torch.tensor([True, True, False, False])).all()


def test_a_zero_input_is_not_the_null_input() -> None:
    """With a bias; without, as the text has it, all mechanisms tie and read nothing."""
    zeros = torch.zeros(1, BATCH, FEATURES, dtype=torch.float64)
    for bias in (True, False):
        attention = InputAttention(key_size=4, bias=bias)
        layer = built(Wiring(input_attention=attention, communication=None))
        state = begun(layer)
        (trace,) = layer.trace(zeros, state)
        halves = (trace.input_attention - 0.5).abs()
        assert (halves.min() > 0) if bias else (halves.max() == 0)
        before = [layer(zeros, state)[0]]
        with torch.no_grad():
            layer.layers[0].weight_ih.mul_(2)  # matters only where something is read
        assert torch.equal(before[0], layer(zeros, state)[0]) is not bias


def test_activation_goes_by_the_average_over_heads() -> None:
    layer = built(Wiring(input_attention=InputAttention(num_heads=3), communication=None))
    (trace,) = layer.trace(drawn(TIME, BATCH, FEATURES), begun(layer))
    null = trace.input_attention[..., 0].mean(2)
    least = null.topk(2, largest=False).indices
    assert torch.equal(trace.active, torch.zeros_like(trace.active).scatter(-1, least, True))


@pytest.mark.processor
@pytest.mark.parametrize("heads", [1, 2])
def test_who_is_active_is_told_apart_where_attention_saturates(heads: int) -> None:
    attention = InputAttention(num_heads=heads)
    layer = built(Wiring(input_attention=attention, communication=None), active=1)
    x, state = 100 * drawn(1, 500, 1, FEATURES), begun(layer, 500)
    (exact,) = layer.trace(x, state)
    null = exact.input_attention[..., 0].mean(2)
    assert (null > 0).all()  # in double precision; in single most of it is 0 or 1
    (single,) = layer.float().trace(x.float(), tuple(part.float() for part in state))
    assert (single.input_attention[..., 0] == 0).float().mean() > 0.03
    assert (single.active == exact.active).float().mean() > 0.99


@pytest.mark.processor
def test_an_input_and_its_one_element_activate_the_same() -> None:
    layer = built(active=1).float()
    x, state = 300 * drawn(1, 500, FEATURES).float(), tuple(p.float() for p in begun(layer, 500))
    (one,), (several,) = layer.trace(x, state), layer.trace(x.unsqueeze(2), state)
    assert (one.active == several.active).float().mean() > 0.995
    kept = one.input_attention[..., 0]  # what is left for the null, to its last digits
    torch.testing.assert_close(kept, several.input_attention[..., 0], rtol=1e-3, atol=1e-37)


def test_every_position_has_its_winners() -> None:
    layer = built(WIRINGS["positions"], active=1)
    (trace,) = layer.trace(inputs(layer, TIME, BATCH), begun(layer))
    won = (trace.input_attention > 0).any(2)
    assert (won.sum(-2) == 1).all()
    assert torch.equal(won.any(-1), trace.active)


def test_sparse_communication_reads_from_as_many_as_named() -> None:
    layer = built(WIRINGS["heads, sparse communication"])
    (trace,) = layer.trace(drawn(TIME, BATCH, FEATURES), begun(layer))
    assert ((trace.communication > 0).sum(-1) == 2).all()


@wirings
@given(order=st.permutations(range(MECHANISMS)))
@settings(max_examples=3)
def test_mechanisms_in_another_order_give_the_same_in_that_order(wiring, order) -> None:
    layer, other = built(wiring), built(wiring)
    shared = {"key", "value", "key_bias", "value_bias"}
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            owner, _, own = name.rpartition(".")
            common = own in shared and owner.endswith("input_attention")
            if not common and not own.startswith(("gate_", "out_")):
                parameter.copy_(parameter[list(order)])
    x, state = inputs(layer, TIME, BATCH), begun(layer)

    def permuted(units: Tensor) -> Tensor:
        return units.unflatten(-1, (MECHANISMS, SIZE))[..., list(order), :].flatten(-2)

    outputs, last = layer(x, passed(state))
    found, found_last = other(x, passed(tuple(permuted(part) for part in state)))
    assert_same(found, permuted(outputs))
    for mine, theirs in zip(parts(found_last), parts(last), strict=True):
        assert_same(mine, permuted(theirs))


# --- In place of an LSTM -------------------------------------------------------------------------


@pytest.mark.parametrize("layers", some([2], [1, 2]))
@wirings
def test_a_sequence_in_pieces(wiring: Wiring, layers: int) -> None:
    layer = built(wiring, num_layers=layers)
    x, state = inputs(layer, TIME, BATCH), passed(begun(layer))
    outputs, last = layer(x, state)
    first, middle = layer(x[:1], state)
    second, end = layer(x[1:], middle)
    assert_same(torch.cat((first, second)), outputs)
    assert_same(parts(end), parts(last))


@wirings
def test_without_gradients(wiring: Wiring, monkeypatch) -> None:
    """Longer than what is prepared at once."""
    monkeypatch.setattr(_rims, "_PIECE", 5)
    layer = built(wiring)
    x = inputs(layer, 12, 1)
    outputs, last = layer(x)
    with torch.no_grad():
        found, end = layer(x)
    assert_same((found, *parts(end)), (outputs.detach(), *(p.detach() for p in parts(last))))


def test_memory_does_not_grow_but_for_inputs_and_outputs(monkeypatch) -> None:
    monkeypatch.setattr(_rims, "_PIECE", 16)
    layer, held = built(), {}
    for time in (32, 96):
        x = drawn(time, BATCH, FEATURES)
        with torch.no_grad():
            held[time] = most_bytes(partial(layer, x))
    # A view of the inputs holds them.
    assert held[96] - held[32] == (96 - 32) * BATCH * (FEATURES + UNITS) * 8


@pytest.mark.parametrize("batch_first, alone", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("kind", some(["text", "gru", "positions"], WIRINGS))
def test_forms_of_inputs(kind: str, batch_first: bool, alone: bool) -> None:
    wiring = WIRINGS[kind]
    by_time = built(wiring, num_layers=2)
    layer = built(wiring, num_layers=2, batch_first=batch_first)
    x, state = inputs(layer, TIME, BATCH), begun(layer)
    outputs, last = by_time(x, passed(state))
    if alone:
        own = passed(tuple(part[:, 1] for part in state))
        found, end = layer(x[:, 1], own)
        assert_same(found, outputs[:, 1])
        assert_same(parts(end), tuple(part[:, 1] for part in parts(last)))
        return
    found, end = layer(x.transpose(0, 1) if batch_first else x, passed(state))
    assert_same(found.transpose(0, 1) if batch_first else found, outputs)
    assert_same(parts(end), parts(last))


def some_items(layer: RIMs) -> Indexed:
    """A sequence of five items, each at several places."""
    index = torch.randint(5, (TIME, BATCH), generator=generator(2))
    return Indexed(inputs(layer, 5).requires_grad_(), index)


@pytest.mark.parametrize("batch_first", some([True], [False, True]))
@wirings
def test_items_in_places_are_read_as_the_sequence_they_are(
    wiring: Wiring, batch_first: bool
) -> None:
    layer = built(wiring, num_layers=2, batch_first=batch_first)
    few, state = some_items(layer), passed(begun(layer))
    few = few.at(few.index.t()) if batch_first else few
    wanted = [few.items, *layer.parameters()]
    ways = []
    for x in (few, few.gathered()):
        outputs, last = layer(x, state)
        gradients = torch.autograd.grad(outputs.square().sum(), wanted, allow_unused=True)
        ways.append((outputs, parts(last), gradients))
    assert_same(*ways)
    alone = few.at(few.index.select(0 if batch_first else 1, 1))
    assert_same(layer(alone), layer(alone.gathered()))


def test_items_in_places_are_traced_and_read_in_pieces() -> None:
    layer = built()
    few = some_items(layer)
    traces = [layer.trace(x)[0] for x in (few, few.gathered())]
    assert_same(tuple(traces[0].active), tuple(traces[1].active))
    assert_same(traces[0].outputs, traces[1].outputs)
    long = few.at(torch.randint(5, (130, 1), generator=generator(3)))
    with torch.no_grad():
        assert_same(layer(long), layer(long.gathered()))


@pytest.mark.parametrize("part", ["input_attention", "communication"])
def test_every_place_of_an_item_misses_numbers_of_its_own(part: str) -> None:
    plain = WIRINGS["text"]
    dropping = replace(plain, **{part: replace(getattr(plain, part), dropout=0.5)})
    layer = built(dropping).train()
    few = some_items(layer)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        outputs = layer(few)[0]
        torch.manual_seed(0)
        assert_same(layer(few.gathered())[0], outputs)


def test_state_is_that_of_torch() -> None:
    x = drawn(TIME, BATCH, FEATURES)
    outputs, (hidden, cell) = built(num_layers=2)(x)
    assert (outputs.shape, hidden.shape) == ((TIME, BATCH, UNITS), (2, BATCH, UNITS))
    assert cell.shape == hidden.shape
    assert torch.equal(outputs[-1], hidden[-1])
    outputs, hidden = built(WIRINGS["gru"], num_layers=2)(x)
    assert hidden.shape == (2, BATCH, UNITS)


@pytest.mark.parametrize("kind", ["text", "gru", "positions"])
@pytest.mark.parametrize("lengths", [[4, 4, 2, 1], [2, 4, 1, 4], [3]])
def test_packed_sequences_are_sequences_alone(kind: str, lengths: list[int]) -> None:
    layer = built(WIRINGS[kind], num_layers=2)
    x, state = inputs(layer, max(lengths), len(lengths)), begun(layer, len(lengths))
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
    outputs, last = layer(packed, passed(state))
    assert isinstance(outputs, PackedSequence)
    padded, _ = pad_packed_sequence(outputs)
    for row, length in enumerate(lengths):
        own = passed(tuple(part[:, row] for part in state))
        expected, end = layer(x[:length, row], own)
        assert_same(padded[:length, row], expected)
        assert_same(tuple(part[:, row] for part in parts(last)), parts(end))


def test_packed_sequences_of_several_elements() -> None:
    layer, lengths = built(), [4, 1, 2]
    x = drawn(max(lengths), len(lengths), ELEMENTS, FEATURES)
    padded, _ = pad_packed_sequence(
        layer(pack_padded_sequence(x, lengths, enforce_sorted=False))[0]
    )
    for row, length in enumerate(lengths):
        expected, _ = layer(x[:length, row : row + 1])
        assert_same(padded[:length, row], expected[:, 0])


def test_dropout_stands_between_layers_in_training_alone() -> None:
    x, state = drawn(TIME, BATCH, FEATURES), begun(built(num_layers=2))
    one, two = built(dropout=0.5), built(num_layers=2, dropout=0.5)
    assert_same(one.train()(x), one.eval()(x))
    assert_same(two.eval()(x, state), built(num_layers=2)(x, state))
    lower = built(num_layers=2)
    shown, _ = lower.trace(x, state)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        outputs, _ = two.train()(x, state)
        torch.manual_seed(0)
        dropped = F.dropout(shown.outputs.flatten(0, 1), 0.5).unflatten(0, (TIME, BATCH))
    parameters, rules = lower.layers[1].functional()
    assert_same(outputs, rims(dropped, tuple(part[1] for part in state), parameters, rules).outputs)


def test_heads_of_the_communication_are_those_that_divide_a_mechanism() -> None:
    for size, heads in ((8, 4), (6, 3), (10, 2), (7, 1)):
        layer = RIMs(FEATURES, MECHANISMS * size, num_mechanisms=MECHANISMS, num_active=2)
        assert layer.layers[0].communication["key"].shape[1] == heads
    gated = Wiring(communication=Communication(value_size=5, gated=True))
    layer = RIMs(FEATURES, MECHANISMS * 6, num_mechanisms=MECHANISMS, num_active=2, wiring=gated)
    assert layer.layers[0].communication["key"].shape[1] == 4


def test_traces_are_what_runs() -> None:
    layer = built(num_layers=2, batch_first=True)
    x, state = drawn(BATCH, TIME, FEATURES), begun(layer)
    outputs, (hidden, cell) = layer(x, state)
    traces = layer.trace(x, state)
    assert_same(traces[-1].outputs.transpose(0, 1), outputs)
    for number, trace in enumerate(traces):
        assert_same(trace.state, (hidden[number], cell[number]))
        assert trace.active.shape == (TIME, BATCH, MECHANISMS)
        assert_same(trace.input_attention.sum(-1), torch.ones(()).double().expand(4, 3, 1, 4))
        assert trace.communication.shape == (TIME, BATCH, 3, MECHANISMS, MECHANISMS)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("part", ["input_attention", "communication"])
def test_dropout_in_training_alone(part: str, heads: int) -> None:
    plain = replace(WIRINGS["text"], input_attention=InputAttention(num_heads=heads))
    dropping = replace(plain, **{part: replace(getattr(plain, part), dropout=0.5)})
    layer, other = built(dropping), built(plain)
    x, state = drawn(TIME, BATCH, FEATURES), begun(layer)
    assert_same(layer(x, state), other(x, state))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        outputs = layer.train()(x, state)[0]
        torch.manual_seed(0)
        assert torch.equal(layer(x, state)[0], outputs)
    assert not torch.allclose(outputs, other(x, state)[0])


@pytest.mark.parametrize("heads", [1, 2])
def test_dropout_keeps_the_mean_of_what_is_read(heads: int) -> None:
    """Gates are linear in it: seen here before any non-linearity, in many copies of one input."""
    attention = InputAttention(num_heads=heads, value_size=5, dropout=0.4)
    layer = built(Wiring(input_attention=attention, communication=None)).train()
    x, copies = drawn(1, 1, FEATURES), 4000
    parameters, rules = layer.layers[0].functional()
    found = {}
    for dropout in (0.0, 0.4):
        seen: list[Tensor] = []

        def watched(inputs: Tensor, hidden: Tensor, state: tuple[Tensor, ...], seen=seen):
            seen.append(inputs)
            return lstm_dynamics(inputs, hidden, state)

        own = replace(rules, dynamics=watched, input_dropout=dropout)
        state = tuple(part[0].expand(copies, -1) for part in begun(layer, 1))
        with torch.random.fork_rng():
            torch.manual_seed(0)
            rims(x.expand(1, copies, -1), state, parameters, own)
        found[dropout] = seen[0].detach()
    spread = found[0.4].std(1)
    assert (spread > 0).all()
    off = (found[0.4].mean(1) - found[0.0].mean(1)).abs() / (spread / copies**0.5)
    assert off.max() < 5


def test_first_weights() -> None:
    """Bounds of torch's own layers; with the released code's, of all units, and a deviation."""
    layer = RIMs(50, 120, wiring=Wiring(communication=Communication(gated=True)))
    own = dict(layer.layers[0].named_parameters())
    bounds = {
        "weight_ih": 20,
        "weight_hh": 20,
        "bias_ih": 20,
        "bias_hh": 20,
        "input_attention.query": 20,
        "input_attention.key": 50,
        "input_attention.value": 50,
        "input_attention.key_bias": 50,
        "input_attention.value_bias": 50,
        "communication.query": 20,
        "communication.key": 20,
        "communication.value": 20,
        "communication.gate_weight": 20,
        "communication.gate_bias": 20,
        "communication.out_weight": 20,
        "communication.out_bias": 20,
    }
    assert own.keys() == bounds.keys()
    for name, inputs_of_a_unit in bounds.items():
        most = own[name].abs().max().item() * inputs_of_a_unit**0.5
        assert 0.8 < most <= 1, name
    layer = RIMs(50, 120, wiring=Wiring.released())
    own = dict(layer.layers[0].named_parameters())
    assert 0.99 < own["weight_hh"].abs().max().item() * 120**0.5 <= 1
    for part in ("input_attention", "communication"):
        for name in ("query", "key", "value"):
            assert 0.009 < own[f"{part}.{name}"].std().item() < 0.011
    assert own["input_attention.value"].shape == (1, 4 * 20, 50)


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"input_size": 0}, "input_size must be an int 1….*, got 0"),
        ({"num_layers": 0}, "num_layers must be an int 1….*, got 0"),
        ({"num_mechanisms": 0}, "num_mechanisms must be an int 1….*, got 0"),
        ({"hidden_size": 24.0}, "hidden_size must be an int 1….*, got 24.0"),
        ({"num_layers": torch.tensor(1.0)}, "num_layers must be an int 1….*, got tensor"),
        ({"num_active": True}, "num_active must be an int 1….*, got True"),
        ({"dropout": 1.0}, "dropout must be a finite number of at least 0 and below 1, got 1.0"),
        ({"dropout": -0.5}, "dropout must be a finite number of at least 0 and below 1, got -0.5"),
        (
            {"hidden_size": 26},
            "hidden_size must be divisible by num_mechanisms, got 26 units for 4",
        ),
        ({"num_active": 5}, "num_active must be 1…num_mechanisms=4, got 5"),
        ({"num_active": 0}, "num_active must be an int 1….*, got 0"),
        ({"wiring": Wiring.released}, r"wiring must be a Wiring or None, got <bound"),
        ({"wiring": ABLATED}, "num_active must be num_mechanisms=4 without input attention"),
        (
            {"wiring": Wiring(communication=Communication(num_heads=4))},
            "must divide the 6 units of a mechanism, so be one of 1, 2, 3, 6, or .* num_heads=4",
        ),
        (
            {"wiring": Wiring(communication=Communication(num_heads=2, value_size=4))},
            "num_heads · value_size of the communication must be the 6 units .* got 2 · 4",
        ),
        (
            {"wiring": Wiring(communication=Communication(num_heads=2, top_k=5))},
            "top_k of the communication must be at most num_mechanisms=4, got 5",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str, unchecked) -> None:
    fitting = {"input_size": 3, "hidden_size": 24, "num_mechanisms": 4, "num_active": 2}
    with pytest.raises(ValueError, match=message):
        RIMs(**fitting | {"wiring": WIRINGS["text"]} | options)


@pytest.mark.parametrize("part", [InputAttention, Communication])
def test_wrong_parts_are_refused(part: type) -> None:
    with pytest.raises(ValueError, match=r"num_heads must be an int 1….*, got 0"):
        part(num_heads=0)
    with pytest.raises(
        ValueError, match=r"dropout must be a finite number of at least 0 and below 1, got 1\.0"
    ):
        part(dropout=1.0)
    for std in (-0.1, math.inf, math.nan):
        with pytest.raises(
            ValueError, match="init_std must be a finite number of at least 0 or None, got"
        ):
            part(init_std=std)


def test_wrong_inputs_are_refused() -> None:
    layer, gru = built(), built(WIRINGS["gru"])
    for shape in ((0, BATCH, FEATURES), (FEATURES,), (1,) * 5):
        with pytest.raises(
            ValueError, match=r"input must be \(time, batch, feature\) or \(time, fea"
        ):
            layer(torch.zeros(shape))
    with pytest.raises(ValueError, match="input must have input_size=3 features, got 4"):
        layer(torch.zeros(TIME, BATCH, 4))
    with pytest.raises(ValueError, match=r"input must be \(time, batch, element, feature\) or"):
        built(WIRINGS["positions"])(torch.zeros(TIME, FEATURES))
    with pytest.raises(ValueError, match="as the weights are, got torch"):
        layer(torch.zeros(TIME, BATCH, FEATURES))
    x = torch.zeros(TIME, 2, FEATURES, dtype=torch.float64)
    message = r"hx must be the state of a call, of shape \(1, 2, 24\).*, got"
    for module, state in ((layer, begun(layer, 3)), (layer, begun(gru, 2)), (gru, begun(layer, 2))):
        with pytest.raises(ValueError, match=message):
            module(x, passed(state))
    with pytest.raises(ValueError, match=r"input must be \(time, batch, feature\) or"):
        built(ABLATED, MECHANISMS)(torch.zeros(TIME, BATCH, ELEMENTS, FEATURES))
    few = some_items(layer)
    for index in (few.index[:0], few.index[None]):
        with pytest.raises(
            ValueError, match=r"input must be \(time, batch, feature\) or \(time, f"
        ):
            layer(few.at(index))
    with pytest.raises(ValueError, match="input must have input_size=3 features, got 2"):
        layer(Indexed(few.items[:, 1:], few.index))
    with pytest.raises(ValueError, match=r"x.index must be \(time, batch\), got shape \(4,\)"):
        rims(few.at(few.index[:, 0]), begun(layer), *layer.layers[0].functional())


PACKED = [
    ([2, 2, 0], 4, r"down to 1 or more, got batch_sizes \[2, 2, 0\]"),
    ([2, 3], 5, r"down to 1 or more, got batch_sizes \[2, 3\]"),
    ([], 0, r"down to 1 or more, got batch_sizes \[\]"),
    ([2, 1], 4, r"as many rows as batch_sizes add up to, 3, got shape \(4, 3\)"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("sizes, rows, message", PACKED)
def test_what_is_packed_must_fit_together(sizes: list[int], rows: int, message: str) -> None:
    sequences = PackedSequence(torch.zeros(rows, FEATURES), torch.tensor(sizes, dtype=torch.int64))
    for layer in (built(), LSTMLayer(FEATURES, UNITS), NormalizedGRU(FEATURES, UNITS)):
        with pytest.raises(ValueError, match=message):
            layer(sequences)


@pytest.mark.parametrize("layer", [built, LSTMLayer, NormalizedLSTM])
def test_a_state_without_a_batch_is_that_of_a_sequence_without_one(layer) -> None:
    made = built() if layer is built else layer(FEATURES, UNITS).double()
    x, state = drawn(TIME, FEATURES), (torch.zeros(1, 1, UNITS, dtype=torch.float64),) * 2
    with pytest.raises(ValueError, match=r"\(1, 24\).*, got .*\(1, 1, 24\)"):
        made(x, state)
    assert made(x, tuple(part[0] for part in state))[1][0].shape == (1, UNITS)


def test_positions_are_an_axis_of_their_own() -> None:
    layer = built(WIRINGS["positions"])
    packed = pack_padded_sequence(drawn(TIME, 2, FEATURES), [4, 2])
    for x in (packed, Indexed(drawn(5, FEATURES), torch.zeros(TIME, 2, dtype=torch.int64))):
        with pytest.raises(ValueError, match=r"element, feature\)"):
            layer(x)
    for wiring in (WIRINGS["positions"], WIRINGS["text"]):
        with pytest.raises(ValueError, match=r"x must have at least one element, got shape"):
            built(wiring)(drawn(TIME, BATCH, 0, FEATURES))


def test_a_batch_may_be_empty() -> None:
    for wiring in WIRINGS.values():
        layer = built(wiring, num_layers=2)
        outputs, state = layer(inputs(layer, TIME, 0))
        assert outputs.shape == (TIME, 0, UNITS)
        assert layer(inputs(layer, TIME, 0), state)[0].shape == (TIME, 0, UNITS)
    few = Indexed(drawn(5, FEATURES), torch.zeros(TIME, 0, dtype=torch.int64))
    assert built()(few)[0].shape == (TIME, 0, UNITS)


def test_the_number_of_layers_stands_third_as_in_torch() -> None:
    assert RIMs(3, 12, 2, num_mechanisms=3, num_active=2).num_layers == 2
    with pytest.raises(TypeError, match="positional arguments"):
        RIMs(3, 12, 3, 2)


def test_print_tells_the_options() -> None:
    shown = repr(built())
    assert "3, 24, num_mechanisms=4, num_active=2, num_layers=1, batch_first=False" in shown
    assert "LSTMDynamics(init_over_all=False)" in shown
