"""What every sequence layer holds: called as torch's LSTM is, and exact in pieces."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from each import each, some
from farfield.functional import Indexed
from farfield.nn import (
    DNC,
    MLSTM,
    SEQUENCE_LAYERS,
    SLSTM,
    CausalTransformer,
    EntNet,
    GatedDeltaNet,
    GatedLinearAttention,
    GRULayer,
    HoldingRNN,
    LinearRecurrentUnit,
    LSTMLayer,
    Mamba,
    NormalizedGRU,
    NormalizedLSTM,
    NTMLayer,
    RegisterMachine,
    RelationalMemoryCore,
    RIMs,
)
from made import drawn, generator, gradcheck, state_of, unsettled
from oracles import recurrent_cells as cells
from processes import run_forked
from zoo import MACHINE

INPUTS, HIDDEN, BATCH, TIME = 3, 8, 4, 7
OPTIONS: dict[str, tuple[type[nn.Module], dict[str, object]]] = {
    "LSTMLayer": (LSTMLayer, {"num_layers": 2}),
    "LSTMLayer, no bias": (LSTMLayer, {"bias": False}),
    "GRULayer": (GRULayer, {"num_layers": 2}),
    "GRULayer, no bias": (GRULayer, {"bias": False}),
    "NTMLayer": (NTMLayer, {"num_slots": 3, "slot_size": 2}),
    "DNC": (DNC, {"num_slots": 4, "slot_size": 2, "num_heads": 1}),
    "DNC, two heads": (DNC, {"num_slots": 3, "slot_size": 1, "num_heads": 2}),
    "RelationalMemoryCore": (RelationalMemoryCore, {"num_slots": 2, "num_heads": 2}),
    "RelationalMemoryCore, gates of slots": (
        RelationalMemoryCore,
        {"num_slots": 2, "num_heads": 1, "unit_gates": False},
    ),
    "EntNet": (EntNet, {"num_slots": 2}),
    "CausalTransformer": (CausalTransformer, {"feedforward_size": 6}),
    "CausalTransformer, window": (CausalTransformer, {"num_heads": 2, "window": 3}),
    "CausalTransformer, own step alone": (CausalTransformer, {"num_heads": 2, "window": 1}),
    "CausalTransformer, layers": (CausalTransformer, {"num_heads": 2, "layer_heads": 2}),
    "HoldingRNN": (HoldingRNN, {"num_groups": 4}),
    "LinearRecurrentUnit": (LinearRecurrentUnit, {"state_size": 5}),
    "RegisterMachine": (RegisterMachine, MACHINE),
    "GatedLinearAttention": (
        GatedLinearAttention,
        {"num_layers": 1, "num_heads": 1, "gate_rank": 2, "feedforward_size": 3},
    ),
    "GatedDeltaNet": (
        GatedDeltaNet,
        {"num_layers": 1, "num_heads": 2, "key_size": 2, "feedforward_size": 3},
    ),
    "GatedDeltaNet, ungated": (
        GatedDeltaNet,
        {"num_layers": 1, "num_heads": 1, "key_size": 3, "gated": False, "feedforward_size": 0},
    ),
    "MLSTM": (MLSTM, {"num_heads": 4}),
    "MLSTM, released start": (MLSTM, {"num_heads": 1, "first_stabilizer": 0.0}),
    "SLSTM": (SLSTM, {"num_heads": 2, "feedforward_size": 3}),
    "SLSTM, exponential forget gate": (
        SLSTM,
        {"num_layers": 1, "num_heads": 2, "exponential_forget": True, "feedforward_size": 0},
    ),
    "Mamba": (Mamba, {"inner_size": 5, "state_size": 3}),
    "Mamba, negative eigenvalues": (
        Mamba,
        {"state_size": 2, "negative_eigenvalues": True, "euler": True, "kernel_size": 2},
    ),
}
layers = each("name", list(OPTIONS))
GROWING = [name for name in OPTIONS if name.startswith("CausalTransformer")]
"""Whose state is what they have read."""


def made(name: str, seed: int = 0, **more: object) -> nn.Module:
    cls, options = OPTIONS[name]
    return unsettled(cls(INPUTS, HIDDEN, generator=generator(seed), **options, **more))


def parts(state: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return state if isinstance(state, tuple) else (state,)


def like(state: Tensor | tuple[Tensor, ...], change: Callable[[Tensor], Tensor]) -> object:
    """The state with each part changed."""
    return tuple(map(change, state)) if isinstance(state, tuple) else change(state)


def some_items() -> Indexed:
    """A sequence of five items, each at several places."""
    index = torch.randint(5, (TIME, BATCH), generator=generator(2))
    return Indexed(drawn(5, INPUTS, seed=3), index)


def assert_same(first: object, second: object) -> None:
    torch.testing.assert_close(first, second, rtol=1e-9, atol=1e-11)


def test_the_table_holds_every_layer() -> None:
    elsewhere = {RIMs}  # refuse in words of their own, and have these tests in a file of theirs
    assert set(SEQUENCE_LAYERS.values()) == {cls for cls, _ in OPTIONS.values()} | elsewhere


@layers
def test_outputs_and_state_have_their_axes(name: str) -> None:
    module = made(name)
    assert (module.input_size, module.hidden_size) == (INPUTS, HIDDEN)
    outputs, state = module(drawn(TIME, BATCH, INPUTS))
    assert outputs.shape == (TIME, BATCH, HIDDEN)
    assert all(part.shape[1] == BATCH for part in parts(state))


@layers
@pytest.mark.parametrize("cut", some([3], [1, 3, 6]))
def test_a_sequence_in_pieces_is_the_sequence(name: str, cut: int) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    whole, last = module(x)
    first, state = module(x[:cut])
    second, ended = module(x[cut:], state)
    assert_same(torch.cat((first, second)), whole)
    assert_same(ended, last)


@layers
def test_a_state_is_no_part_of_the_outputs(name: str) -> None:
    with torch.no_grad():
        outputs, state = made(name)(drawn(TIME, BATCH, INPUTS))
    before = [part.clone() for part in parts(state)]
    outputs.zero_()
    assert_same(parts(state), tuple(before))


@layers
@pytest.mark.usefixtures("unchecked")
def test_a_state_may_be_a_list(name: str) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    _, state = module(x)
    assert_same(module(x, list(parts(state))), module(x, state))
    alone = [part[:, 0] for part in parts(state)]
    assert_same(module(x[:, 0], alone)[0], module(x, state)[0][:, 0])


@layers
def test_a_sequence_step_by_step_is_the_sequence(name: str) -> None:
    module, x, state, outputs = made(name), drawn(TIME, BATCH, INPUTS), None, []
    whole, last = module(x)
    for step in x.split(1):
        output, state = module(step, state)
        outputs.append(output)
    assert_same(torch.cat(outputs), whole)
    assert_same(state, last)


@layers
def test_gradients_cross_the_cut(name: str) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    wanted = list(module.parameters())
    whole = torch.autograd.grad(module(x)[0].square().sum(), wanted)
    first, state = module(x[:3])
    second, _ = module(x[3:], state)
    pieces = torch.autograd.grad(first.square().sum() + second.square().sum(), wanted)
    assert_same(pieces, whole)


@layers
def test_a_call_leaves_nothing_behind(name: str) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    before = module(x)
    module(10 * drawn(TIME, BATCH, INPUTS, seed=1))
    assert_same(module(x), before)


@layers
@pytest.mark.parametrize("batch_first", some([True], [False, True]))
def test_items_in_places_are_read_as_the_sequence_they_are(name: str, batch_first: bool) -> None:
    module, few = made(name, batch_first=batch_first), some_items()
    few = few.at(few.index.t()) if batch_first else few
    few.items.requires_grad_()
    _, begun = module(few)
    wanted = [few.items, *module.parameters()]
    ways = []
    for x in (few, few.gathered()):
        outputs, state = module(x, begun)
        gradients = torch.autograd.grad(outputs.square().sum(), wanted, retain_graph=True)
        ways.append((outputs, state, gradients))
    assert_same(*ways)
    alone = few.at(few.index.select(0 if batch_first else 1, 1))
    assert_same(module(alone), module(alone.gathered()))


@layers
def test_items_of_another_size_are_refused(name: str) -> None:
    few = some_items()
    with pytest.raises(ValueError, match=f"input_size={INPUTS} features, got {INPUTS - 1}"):
        made(name)(Indexed(few.items[:, 1:], few.index))
    with pytest.raises(ValueError, match=r"input must be \(time, batch, feature\) or"):
        made(name)(few.at(few.index.unsqueeze(0)))


@layers
def test_the_state_given_is_not_changed(name: str) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    _, state = module(x)
    kept = like(state, Tensor.clone)
    module(x, state)
    assert_same(state, kept)


@layers
def test_later_steps_change_no_earlier_output(name: str) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    other = torch.cat((x[:4], drawn(TIME - 4, BATCH, INPUTS, seed=1)))
    assert_same(module(other)[0][:4], module(x)[0][:4])
    assert not torch.allclose(module(other)[0][4:], module(x)[0][4:])


@layers
def test_sequences_stand_alone_in_any_order(name: str) -> None:
    module, x, order = made(name), drawn(TIME, BATCH, INPUTS), torch.tensor([2, 0, 3, 1])
    outputs, state = module(x)
    moved, moved_state = module(x[:, order])
    assert_same(moved, outputs[:, order])
    assert_same(moved_state, like(state, lambda part: part[:, order]))
    for row in (1, BATCH - 1):
        alone, alone_state = module(x[:, row : row + 1])
        assert_same(alone, outputs[:, row : row + 1])
        assert_same(alone_state, like(state, lambda part, row=row: part[:, row : row + 1]))


@layers
def test_the_batch_may_come_first(name: str) -> None:
    module, first, x = made(name), made(name, batch_first=True), drawn(TIME, BATCH, INPUTS)
    begun = module(drawn(2, BATCH, INPUTS, seed=1))[1]
    for state in (None, begun):
        outputs, last = module(x, state)
        swapped, swapped_last = first(x.transpose(0, 1), state)
        assert_same(swapped.transpose(0, 1), outputs)
        assert_same(swapped_last, last)


@layers
@pytest.mark.parametrize("batch_first", [False, True])
def test_a_sequence_may_stand_without_a_batch(name: str, batch_first: bool) -> None:
    module, x = made(name, batch_first=batch_first), drawn(TIME, INPUTS)
    axis = 0 if batch_first else 1
    outputs, state = module(x)
    expected, expected_state = module(x.unsqueeze(axis))
    assert_same(outputs, expected.squeeze(axis))
    assert_same(state, like(expected_state, lambda part: part.squeeze(1)))
    assert_same(module(x, state)[0], module(x.unsqueeze(axis), expected_state)[0].squeeze(axis))


@pytest.mark.parametrize("lengths", [[4, 4, 2, 1], [2, 4, 1, 4], [3]])
@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in GROWING])
def test_packed_sequences_are_sequences_alone(name: str, lengths: list[int]) -> None:
    module, x = made(name), drawn(max(lengths), len(lengths), INPUTS)
    _, state = module(drawn(2, len(lengths), INPUTS, seed=5))
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    outputs, last = module(packed, state)
    padded, _ = nn.utils.rnn.pad_packed_sequence(outputs)
    for row, length in enumerate(lengths):
        expected, end = module(x[:length, row], like(state, lambda part, row=row: part[:, row]))
        assert_same(padded[:length, row], expected)
        assert_same(like(last, lambda part, row=row: part[:, row]), end)


def test_states_of_packed_sequences_reach_the_kernel_whole(monkeypatch) -> None:
    """cuDNN takes no state that is cut from another; on a CPU nobody would notice."""
    module, kinds, kernel = made("LSTMLayer"), [], torch.lstm

    def watched(x: Tensor, state: tuple[Tensor, ...], *options: object) -> object:
        kinds.extend(part.is_contiguous() for part in state)
        return kernel(x, state, *options)

    monkeypatch.setattr(torch, "lstm", watched)
    packed = nn.utils.rnn.pack_padded_sequence(drawn(4, 3, INPUTS), [4, 2, 1])
    _, state = module(packed)
    assert len(kinds) == 3 * len(parts(state))
    assert all(kinds)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", some([name for name in OPTIONS if name not in GROWING[1:3]], OPTIONS)
)
@pytest.mark.parametrize("shape", some([(3, 2)], [(3, 2), (1, 1)]))
def test_gradient(name: str, shape: tuple[int, int]) -> None:
    cls, options = OPTIONS[name]
    module = unsettled(cls(2, 4, generator=generator(), **options | small(name)))
    names = [name for name, _ in module.named_parameters()]

    def called(x: Tensor, *given: Tensor) -> tuple[Tensor, ...]:
        own = dict(zip(names, given, strict=True))
        outputs, state = torch.func.functional_call(module, own, (x,))
        return outputs, *parts(state)

    x = drawn(*shape, 2).requires_grad_()
    given = [parameter.detach().clone().requires_grad_() for parameter in module.parameters()]
    assert gradcheck(called, (x, *given))


@layers
def test_many_gradients_at_once_are_those_one_by_one(name: str) -> None:
    module = made(name)
    x = drawn(TIME, BATCH, INPUTS).requires_grad_()
    outputs, _ = module(x)
    wanted = drawn(3, *outputs.shape)
    of = (x, *module.parameters())
    together = torch.autograd.grad(
        outputs, of, wanted, retain_graph=True, is_grads_batched=True, allow_unused=True
    )
    for number, own in enumerate(wanted):
        alone = torch.autograd.grad(outputs, of, own, retain_graph=True, allow_unused=True)
        for one, expected in zip(together, alone, strict=True):
            if expected is not None:
                torch.testing.assert_close(one[number], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.processor
def test_many_gradients_of_large_products_at_once() -> None:
    """In float32, where products of many rows have a kernel of their own."""
    module = GRULayer(16, 64, generator=generator())
    x = torch.randn(8, 96, 16, generator=generator(1)).requires_grad_()
    index = torch.arange(8 * 96).view(8, 96)
    outputs, _ = module(Indexed(x.flatten(0, 1), index))  # which torch's kernel does not take
    wanted = torch.randn(2, *outputs.shape, generator=generator(2))
    of = (x, *module.parameters())
    together = torch.autograd.grad(outputs, of, wanted, retain_graph=True, is_grads_batched=True)
    alone = [torch.autograd.grad(outputs, of, own, retain_graph=True) for own in wanted]
    for one, expected in zip(together, zip(*alone, strict=True), strict=True):
        torch.testing.assert_close(one, torch.stack(expected), rtol=1e-4, atol=1e-4)


def small(name: str) -> dict[str, object]:
    """Options that make a layer of width 4 small."""
    if name.startswith("CausalTransformer"):
        return {"feedforward_size": 3}
    return {"num_slots": 2, "slot_size": 1} if name.startswith(("NTM", "DNC")) else {}


@layers
def test_without_gradients_the_outputs_are_the_same(name: str) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    with torch.no_grad():
        unwatched = module(x)
    assert_same(unwatched, module(x))


LAYERS = """
from torch import nn
from farfield.nn import SEQUENCE_LAYERS, NormalizedGRU, NormalizedLSTM, NormalizedRNN

small = {"dnc": {"slot_size": 2}, "ntm": {"slot_size": 2}, "holding-rnn": {"num_groups": 4}}
one = {"num_automata": 1, "num_states": 2, "num_counters": 1, "num_registers": 1}
small["register-machine"] = one
small |= {"entnet": {"num_slots": 2}, "relational-memory-core": {"num_slots": 2, "num_heads": 2}}
small |= {"rims": {"num_mechanisms": 2, "num_active": 1, "num_layers": 2}}
layers = {name: cls(3, 8, **small.get(name, {})) for name, cls in SEQUENCE_LAYERS.items()}
layers |= {cls.__name__: cls(3, 8, 2) for cls in (NormalizedRNN, NormalizedGRU, NormalizedLSTM)}
"""

COMPILED = (
    LAYERS
    + """
import sys
import torch

def nodes_of(layer, sizes):
    torch.compiler.reset()
    graphs = []
    def count(graph, _):
        graphs.append(len(graph.graph.nodes))
        return graph.forward
    compiled = torch.compile(layer, backend=count, fullgraph=True)
    for size in sizes:
        x = torch.randn(*size, 3)
        torch.testing.assert_close(compiled(x)[0], layer(x)[0], rtol=1e-4, atol=1e-5)
    return graphs

for name, layer in layers.items():
    nodes, again = (nodes_of(layer, [(steps, 4)]) for steps in (20, 40))
    assert len(nodes) == 1 and nodes == again, (name, nodes, again)
    assert nodes[0] <= (150 if name == "causal-transformer" else 60), (name, nodes)
for name in sys.argv[1:] or layers:  # The second program is for any number of sequences.
    assert len(nodes_of(layers[name], [(2, batch) for batch in (4, 5, 6, 700)])) <= 2, name
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("names", some(["gru holding-rnn"], ["gru holding-rnn", ""]))
def test_layers_compile_as_one_graph_for_any_steps_and_batch(names: str) -> None:
    """By themselves: the shape hook of the tests wraps functions, and torch cannot look into it."""
    status, _, errors = run_forked(COMPILED, *names.split())
    assert status == 0, errors


TRAINED = (
    LAYERS
    + """
import sys
from copy import deepcopy
import torch

def gradients(call, layer, x):
    outputs, state = call(x)
    parts = state if isinstance(state, tuple) else (state,)
    loss = outputs.square().sum() + sum(part.sin().sum() for part in parts)
    of = [x, *layer.parameters()]
    first, second = (
        torch.autograd.grad(loss, of, retain_graph=True, allow_unused=True, materialize_grads=True)
        for _ in range(2)
    )
    assert all(map(torch.equal, first, second))
    return [outputs, *parts, *first]

backend, *names = sys.argv[1:]
layers["batch norm"] = NormalizedLSTM(3, 8, normalizer=nn.BatchNorm1d)
layers["dropout"] = NormalizedGRU(3, 8, 2, dropout=0.5)
for name in names:
    torch.compiler.reset()
    compiled, eager = layers[name], deepcopy(layers[name])
    call = torch.compile(compiled, backend=backend, fullgraph=True)
    x = torch.randn(5, 4, 3, requires_grad=True)
    for _ in range(2):
        found = []
        for run, layer in ((call, compiled), (eager, eager)):
            torch.manual_seed(0)
            found.append(gradients(run, layer, x))
        torch.testing.assert_close(*found, rtol=0, atol=0)
        for ours, theirs in zip(compiled.buffers(), eager.buffers(), strict=True):
            assert torch.equal(ours, theirs), name
    # Another layer with these sizes takes the same program, and its own options.
    eager.dropout = 0.0
    with torch.no_grad():
        again = torch.compile(eager, backend=backend, fullgraph=True)(x)
        torch.testing.assert_close(again, eager(x), rtol=0, atol=0)

call = torch.compile(layers["gru"], backend="eager", fullgraph=True)
(slope,) = torch.autograd.grad(call(x)[0].square().sum(), x, create_graph=True)
try:
    torch.autograd.grad(slope.sum(), x)
except RuntimeError as error:
    assert "call the layer without torch.compile" in str(error), error
else:
    raise AssertionError("a second derivative")
"""
)


@pytest.mark.slow
def test_compiled_layers_have_the_values_and_gradients_of_eager_mode() -> None:
    names = ["batch norm", "dropout", "rims"]
    status, _, errors = run_forked(TRAINED, "aot_eager", *names)
    assert status == 0, errors


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None, reason="inductor needs a C++ compiler"
)
def test_inductor_compiles_a_layer() -> None:
    status, _, errors = run_forked(TRAINED, "inductor", "holding-rnn")
    assert status == 0, errors


@layers
def test_a_generator_decides(name: str) -> None:
    first, again, other = (made(name, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)


@pytest.mark.processor
@layers
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_layers_train_where_torch_casts_on_any_processor(name: str, dtype: torch.dtype) -> None:
    module = made(name).float()
    x = drawn(TIME, BATCH, INPUTS).float()
    with torch.autocast("cpu", dtype):
        outputs, _ = module(x)
    torch.testing.assert_close(outputs.float(), module(x)[0], rtol=0.1, atol=0.1)
    outputs.float().square().sum().backward()
    assert all(p.grad.isfinite().all() for p in module.parameters() if p.grad is not None)


@pytest.mark.processor
def test_the_kernel_is_not_asked_for_under_autocast(monkeypatch) -> None:
    """It would ask for AVX-512, and answer on the processors that have it alone."""
    called = []
    monkeypatch.setattr(torch, "lstm", lambda *_: called.append(True))
    with torch.autocast("cpu", torch.bfloat16):
        made("LSTMLayer").float()(drawn(TIME, BATCH, INPUTS).float())
    assert not called


# --- Refusals ------------------------------------------------------------------------------------


@layers
def test_wrong_inputs_are_refused(name: str, unchecked) -> None:
    module = made(name)
    packed = nn.utils.rnn.pack_sequence([drawn(2, 5), drawn(1, 5)])
    with pytest.raises(ValueError, match=f"input must have input_size={INPUTS} features, got 5"):
        module(packed)
    with pytest.raises(ValueError, match=f"input must have input_size={INPUTS} features, got 5"):
        module(drawn(TIME, BATCH, 5))
    with pytest.raises(ValueError, match=r"at least one step, got shape \(0, 4, 3\)"):
        module(drawn(0, BATCH, INPUTS))
    with pytest.raises(ValueError, match=r"\(time, batch, feature\) or .*, got shape \(3,\)"):
        module(drawn(INPUTS))
    with pytest.raises(ValueError, match=r"input must be \(batch, time, feature\)"):
        made(name, batch_first=True)(drawn(1, TIME, BATCH, INPUTS))


@layers
def test_other_types_than_that_of_the_weights_are_refused(name: str, unchecked) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    items = Indexed(x.flatten(0, 1).float(), torch.arange(TIME * BATCH).view(TIME, BATCH))
    message = "input must be of torch.float64, as the weights are, got torch.float32"
    for wrong in (x.float(), x[:, 0].float(), items):
        with pytest.raises(ValueError, match=message):
            module(wrong)
    if name not in GROWING:
        with pytest.raises(ValueError, match=message):
            module(nn.utils.rnn.pack_sequence([x[:, 0].float()]))
    _, state = module(x)
    half = like(state, lambda part: part.to(torch.float16))
    with pytest.raises(ValueError, match=r"hx must be of torch\..*, got torch\.float16"):
        module(x, half)
    with torch.autocast("cpu", torch.bfloat16):
        _, state = module.float()(x.float())
        module(x.float(), state)
        module(x.bfloat16(), state)


@pytest.mark.parametrize("name", GROWING)
def test_packed_sequences_are_refused_where_the_state_grows(name: str) -> None:
    packed = nn.utils.rnn.pack_sequence([drawn(2, INPUTS), drawn(1, INPUTS)])
    with pytest.raises(ValueError, match="got a PackedSequence: the state of CausalTransformer"):
        made(name)(packed)


@layers
def test_wrong_states_are_refused(name: str, unchecked) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    _, state = module(x)
    wrong = [
        like(state, lambda part: part[:, 1:]),
        like(state, lambda part: part[..., :1]),
        like(state, lambda part: part[0]),
        (*parts(state), parts(state)[0]),
    ]
    for one in wrong:
        with pytest.raises(ValueError, match="hx must be the state of a call, of shape"):
            module(x, one)


@layers
def test_what_is_no_state_is_refused(name: str, unchecked) -> None:
    module, x = made(name), drawn(TIME, BATCH, INPUTS)
    for wrong in ("hidden", 0, [None] * len(parts(module(x)[1]))):
        with pytest.raises(ValueError, match=r"hx must be a t.* from a call, got"):
            module(x, wrong)
    with pytest.raises(ValueError, match="input must be a tensor, a PackedSequence or Indexed, go"):
        module(x.numpy())


@layers
def test_a_batch_may_be_empty(name: str, unchecked) -> None:
    module = made(name)
    for given in (None, module(drawn(2, 0, INPUTS))[1]):
        outputs, state = module(drawn(TIME, 0, INPUTS), given)
        assert outputs.shape == (TIME, 0, HIDDEN)
        assert all(part.shape[1] == 0 for part in parts(state))
    with pytest.raises(ValueError, match="hx must be the state of a call, of shape"):
        module(drawn(TIME, 0, INPUTS), module(drawn(TIME, BATCH, INPUTS))[1])
    nothing = Indexed(drawn(5, INPUTS), torch.zeros(TIME, 0, dtype=torch.int64))
    assert module(nothing)[0].shape == (TIME, 0, HIDDEN)


@layers
@pytest.mark.parametrize("size", ["input_size", "hidden_size"])
def test_wrong_sizes_are_refused(name: str, size: str) -> None:
    cls, options = OPTIONS[name]
    sizes = {"input_size": INPUTS, "hidden_size": HIDDEN, size: 0}
    with pytest.raises(ValueError, match=rf"{size} must be an int 1….*, got 0"):
        cls(**sizes, **options)


# --- torch's own ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "cls, theirs", [(LSTMLayer, nn.LSTM), (GRULayer, nn.GRU)], ids=["lstm", "gru"]
)
def test_torch_gives_the_same_from_the_same_first_weights(cls, theirs, bias: bool) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        mine = cls(INPUTS, HIDDEN, num_layers=2, bias=bias)
        torch.manual_seed(3)
        other = theirs(INPUTS, HIDDEN, 2, bias)
    mine, other, x = mine.double(), other.double(), drawn(TIME, BATCH, INPUTS)
    _, begun = other(drawn(2, BATCH, INPUTS, seed=1))
    for given in ((x,), (x, begun)):
        assert_same(mine(*given), other(*given))
        mapped = torch.func.vmap(lambda z, given=given: mine(z, *given[1:])[0])(x.unsqueeze(0))
        assert_same(mapped[0], other(*given)[0])


LIKE_TORCH = [
    (LSTMLayer, nn.LSTM),
    (GRULayer, nn.GRU),
    (NormalizedLSTM, nn.LSTM),
    (NormalizedGRU, nn.GRU),
]
like_torch = pytest.mark.parametrize(
    "cls, theirs", LIKE_TORCH, ids=[cls.__name__ for cls, _ in LIKE_TORCH]
)


@like_torch
@pytest.mark.parametrize("num_layers, bias, batch_first", [(1, True, True), (3, False, False)])
def test_the_arguments_and_weights_are_those_of_torch(
    cls, theirs, num_layers, bias, batch_first
) -> None:
    """All by position, the weights of one loaded into the other, in training with dropout."""
    dropout = 0.5 if num_layers > 1 else 0.0
    options = (INPUTS, HIDDEN, num_layers, bias, batch_first, dropout, False)
    mine, other = cls(*options, device="cpu", dtype=torch.float64), theirs(*options).double()
    mine.load_state_dict(other.state_dict())
    other.load_state_dict(mine.state_dict())
    x = drawn(TIME, TIME, INPUTS)
    _, begun = other(drawn(TIME, TIME, INPUTS, seed=1))
    answers = []
    with torch.random.fork_rng():
        for module in (mine, other):
            torch.manual_seed(0)
            answers.append(module(input=x, hx=begun))
    assert_same(*answers)
    assert mine(x, begun)[0].dtype == torch.float64


@like_torch
def test_what_torch_has_and_these_have_not_is_refused(cls, theirs, unchecked) -> None:
    with pytest.raises(ValueError, match="bidirectional must be False, got True; run a second"):
        cls(INPUTS, HIDDEN, bidirectional=True)
    for dropout in (-0.1, 1.5, "half", True):
        with pytest.raises(ValueError, match="dropout must be a finite number 0…1, got"):
            cls(INPUTS, HIDDEN, dropout=dropout)
    if theirs is nn.LSTM:
        with pytest.raises(ValueError, match=r"proj_size must be 0, got 2; put an nn.Linear"):
            cls(INPUTS, HIDDEN, proj_size=2)


@pytest.mark.parametrize("cls", [LSTMLayer, GRULayer])
def test_weights_saved_under_their_old_names_load(cls) -> None:
    saved, other = (nn.Sequential(cls(INPUTS, HIDDEN, 2, generator=generator(n))) for n in (0, 1))
    old = {name.replace("0.", "0.recurrent.", 1): w for name, w in saved.state_dict().items()}
    other.load_state_dict(old)
    for name, weight in saved.state_dict().items():
        assert torch.equal(other.state_dict()[name], weight)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("cls, loops", [(LSTMLayer, cells.lstm), (GRULayer, cells.gru)])
def test_equations_of_the_fused_layers(cls, loops, indexed: bool) -> None:
    module = unsettled(cls(INPUTS, HIDDEN, generator=generator()))
    few = some_items()
    x = few.gathered()
    weights = {name.removesuffix("_l0"): array for name, array in state_of(module).items()}
    outputs, state = module(few if indexed else x)
    for row in range(BATCH):
        begun = [np.zeros(HIDDEN) for _ in parts(state)]
        states = loops(x[:, row].numpy(), weights, {}, begun)
        expected = [step[0] for step in states]
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-10, atol=1e-12)
        for mine, theirs in zip(parts(state), states[-1], strict=True):
            np.testing.assert_allclose(mine[0, row].detach(), theirs, rtol=1e-10, atol=1e-12)
