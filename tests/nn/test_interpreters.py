"""Neural Interpreters: the equations by loops, what functions promise, changes after training."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from each import each
from farfield.functional._interpreter import _line_of_code
from farfield.functional.internal import (
    interpreter,
    line_of_code,
    modulated_attention,
    modulated_linear,
    script,
    truncated_kernel,
    type_matching,
)
from farfield.nn import (
    Functions,
    Instructions,
    NeuralInterpreter,
    PreNormTransformer,
    Syntax,
    TypeMatching,
)
from farfield.nn.internal import (
    LineOfCode,
    ModAttn,
    ModLin,
    ModMLP,
    RelativePosition,
    Script,
    TypeInference,
)
from made import drawn, generator, gradcheck, unsettled
from oracles import interpreters as oracle
from processes import run_forked

FEATURES, FUNCTIONS, ITERATIONS, BATCH, ITEMS = 6, 3, 2, 2, 5
TEXT = Syntax(
    functions=Functions(code_size=4),
    matching=TypeMatching(type_size=3, truncation=1.1, bandwidth=0.6),
    instructions=Instructions(num_heads=2),
    sums_changes=False,
)
LEARNED = replace(TEXT, functions=Functions(code_size=4, learned_signatures=True))
WIDE = Instructions(num_heads=3, key_size=5, hidden_size=7)
SYNTAXES = {
    "text": TEXT,
    "released": replace(TEXT, instructions=WIDE, outer_residual=False),
    "changes": replace(TEXT, sums_changes=None),
    "no residual inside": replace(TEXT, instructions=Instructions(num_heads=2, residual=False)),
}
syntaxes = pytest.mark.parametrize("syntax", SYNTAXES.values(), ids=SYNTAXES)


def built(syntax: Syntax = TEXT, **options: object) -> NeuralInterpreter:
    sizes = {"num_functions": FUNCTIONS, "num_iterations": ITERATIONS} | options
    core = NeuralInterpreter(FEATURES, **sizes, syntax=syntax, generator=generator())
    return unsettled(core).eval()


def assert_same(first: object, second: object, tolerance: float = 1e-11) -> None:
    torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance)


def closed(core: NeuralInterpreter) -> NeuralInterpreter:
    """No function lets anything in: all types are those that the signatures are farthest from."""
    for part in core.scripts:
        with torch.no_grad():
            part.signatures.copy_(torch.ones_like(part.signatures))
            part.typing.out.weight.zero_()
            part.typing.out.bias.fill_(-1.0)
    return core


# --- The equations -------------------------------------------------------------------------------


def expected_of(core: NeuralInterpreter, number: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs and compatibilities of every iteration of a script on one set, by the loops."""
    own = core.syntax
    options = oracle.Options(
        num_heads=own.instructions.num_heads,
        truncation=own.matching.truncation,
        num_lines=core.num_lines,
        grid=core.grid,
        residual=own.instructions.residual,
        outer_residual=own.outer_residual,
        sums_changes=own.changes_are_summed,
    )
    weights = {name: t.detach().numpy() for name, t in core.scripts[number].state_dict().items()}
    found = oracle.script(x.detach().numpy(), weights, core.num_iterations, options)
    return tuple(torch.tensor(np.array(part)) for part in found)


@pytest.mark.parametrize(
    "kind, lines, scripts, grid",
    [
        ("text", 1, 1, None),
        ("text", 2, 2, (1, 3)),
        ("released", 1, 1, (2, 2)),
        ("changes", 1, 2, None),
        ("no residual inside", 2, 1, (3, 1)),
    ],
)
def test_equations(kind: str, lines: int, scripts: int, grid: tuple[int, int] | None) -> None:
    core = built(SYNTAXES[kind], num_lines=lines, num_scripts=scripts, grid=grid)
    x = drawn(BATCH, ITEMS, FEATURES)
    traces, found = core.trace(x), core(x)
    assert any((trace.compatibility == 0).any() for trace in traces)
    for row in range(BATCH):
        given_now = x[row]
        for number, trace in enumerate(traces):
            outputs, shares = expected_of(core, number, given_now)
            assert_same(trace.outputs[:, row], outputs, 1e-9)
            assert_same(trace.compatibility[:, row], shares, 1e-9)
            given_now = outputs[-1]
        assert_same(found[row], given_now, 1e-9)


@pytest.mark.parametrize("kind", ["text", "released"])
def test_gradients(kind: str) -> None:
    functions, items, features = 2, 2, 4
    syntax = replace(
        SYNTAXES[kind],
        functions=Functions(code_size=3, learned_signatures=True),
        matching=TypeMatching(type_size=2),
        instructions=Instructions(num_heads=2, key_size=2 if kind == "released" else None),
    )
    grid = (1, items - 1) if kind == "released" else None
    core = NeuralInterpreter(features, functions, 2, syntax=syntax, grid=grid)
    core, names = unsettled(core), [name for name, _ in core.named_parameters()]

    def outputs(x: Tensor, *tensors: Tensor) -> Tensor:
        given_now = dict(zip(names, tensors, strict=True))
        return torch.func.functional_call(core, given_now, (x,))

    leaves = [drawn(1, items, features), *(p.detach().clone() for p in core.parameters())]
    wanted = [leaf.requires_grad_() for leaf in leaves]
    assert gradcheck(outputs, wanted)


def test_at_the_distance_of_opposite_directions_nothing_is_cut() -> None:
    distance = torch.tensor([0.0, 1.0, 2.0, 2.0000002], dtype=torch.float32)
    found = truncated_kernel(distance, torch.tensor(0.7))
    assert_same(found, (-distance / 0.7).exp())
    assert truncated_kernel(distance, torch.tensor(0.7), truncation=1.9)[2:].tolist() == [0, 0]


def test_straight_through_reaches_what_is_cut() -> None:
    for straight_through in (False, True):
        distance = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
        bandwidth = torch.tensor(0.7, dtype=torch.float64)
        kernel = truncated_kernel(
            distance, bandwidth, truncation=1.0, straight_through=straight_through
        )
        assert kernel[1] == 0
        (found,) = torch.autograd.grad(kernel.sum(), distance)
        slopes = -(-distance / 0.7).exp() / 0.7
        assert_same(found, slopes * torch.tensor([1.0, float(straight_through)]))


# --- Gradients by hand ---------------------------------------------------------------------------

HAND = replace(TEXT, instructions=Instructions(num_heads=2, key_size=30), outer_residual=False)


def by_hand(monkeypatch: pytest.MonkeyPatch, *, on: bool) -> None:
    """Whether what is small, too, is computed by hand; or nothing."""
    if on:
        monkeypatch.setattr(_line_of_code, "WORTHWHILE", 0)
    else:
        monkeypatch.setattr(_line_of_code, "_may_be_by_hand", lambda x: False)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("lines, grid", [(1, None), (1, (2, 2)), (2, (1, 3))])
def test_gradients_by_hand_are_those_of_autograd(monkeypatch, lines, grid, padded) -> None:
    core, x = built(HAND, num_lines=lines, grid=grid), drawn(BATCH, ITEMS, FEATURES)
    mask = torch.zeros(BATCH, ITEMS, dtype=torch.bool)
    mask[1, :1] = padded
    found = []
    for on in (True, False):
        with monkeypatch.context() as patched:
            by_hand(patched, on=on)
            leaves = [x.requires_grad_(), *core.parameters()]
            y = core(x, mask if padded else None)
            assert ("ByHand" in names_of_graph(y)) is on
            found.append((y, *torch.autograd.grad((y * drawn(*y.shape)).sum(), leaves)))
            with torch.no_grad():
                assert_same(core(x, mask if padded else None), y.detach())
    for mine, other in zip(*found, strict=True):
        assert_same(mine, other, 1e-10)


def names_of_graph(y: Tensor) -> str:
    names, nodes = set(), [y.grad_fn]
    while nodes:
        node = nodes.pop()
        if node is not None and node not in names:
            names.add(node)
            nodes.extend(parent for parent, _ in node.next_functions)
    return " ".join(node.name() for node in names)


def test_gradients_by_hand_from_other_strides(monkeypatch) -> None:
    line = LineOfCode(FEATURES, 4, instructions=HAND.instructions, generator=generator())
    line, codes = unsettled(line), drawn(FUNCTIONS, 4)
    by_hand(monkeypatch, on=True)
    for streams in (1, FUNCTIONS):
        x, shares = drawn(streams, BATCH, ITEMS, FEATURES), drawn(FUNCTIONS, BATCH, ITEMS).abs()
        found = []
        for order in ((0, 1, 2, 3), (2, 1, 0, 3), (3, 1, 2, 0)):
            back = torch.tensor(order).argsort().tolist()
            leaves = [
                x.permute(order).contiguous().permute(back).requires_grad_(),
                shares.permute(*order[:-1] if order[-1] == 3 else (1, 2, 0)).contiguous(),
            ]
            leaves[1] = leaves[1].permute(*back[:-1] if order[-1] == 3 else (2, 0, 1))
            y = line(leaves[0], leaves[1].requires_grad_(), codes)
            found.append(torch.autograd.grad((y * drawn(*y.shape)).sum(), leaves))
        assert_same(found[1], found[0])
        assert_same(found[2], found[0])


def test_gradients_of_gradients_by_hand(monkeypatch) -> None:
    core, x = built(HAND, num_iterations=1, grid=(1, 2)), drawn(1, 3, FEATURES).requires_grad_()
    found = []
    for on in (True, False):
        with monkeypatch.context() as patched:
            by_hand(patched, on=on)
            (first,) = torch.autograd.grad(core(x).square().sum(), x, create_graph=True)
            leaves = [x, *core.parameters()]
            second = torch.autograd.grad(first.square().sum(), leaves, allow_unused=True)
            found.append((first, *(tensor for tensor in second if tensor is not None)))
    assert len(found[0]) == len(found[1]) > 10
    for mine, other in zip(*found, strict=True):
        assert_same(mine, other, 1e-9)


def test_keys_are_folded_where_that_is_cheaper() -> None:
    line = NeuralInterpreter.released_digits().scripts[0].lines[0]
    assert line.functional(drawn(2, 192).float(), 67, shared=True)[0].key is None
    assert line.functional(drawn(2, 192).float(), 67)[0].key is not None
    narrow = NeuralInterpreter(192).scripts[0].lines[0]
    assert narrow.functional(drawn(2, 192).float(), 67, shared=True)[0].key is not None


def test_little_is_kept_for_the_gradient() -> None:
    """Per set and iteration: queries, values, attention, and three numbers of every stream."""
    core = NeuralInterpreter.released_digits(generator=generator())
    core.num_iterations = 1
    kept: dict[int, int] = {}

    def packed(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    sizes = []
    for batch in (1, 3):
        kept.clear()
        x = torch.randn(batch, 67, 192, generator=generator())
        with torch.autograd.graph.saved_tensors_hooks(packed, lambda tensor: tensor):
            y = core(x)
        sizes.append(sum(kept.values()))
        del y
    streams = 5 * 67 * (4 * 192 + 192 + 3 * 192 + 4 * 67)
    assert (sizes[1] - sizes[0]) / 2 / 4 < 1.2 * streams


# --- What functions promise ----------------------------------------------------------------------


@pytest.mark.parametrize("lines, scripts", [(1, 1), (2, 2)])
def test_without_a_function_an_element_stays_as_it_is(lines: int, scripts: int) -> None:
    core = closed(built(num_lines=lines, num_scripts=scripts))
    x = drawn(BATCH, ITEMS, FEATURES)
    assert (core.trace(x)[0].compatibility == 0).all()
    assert torch.equal(core(x), x)


def test_as_released_an_element_without_a_function_is_gone() -> None:
    core = closed(built(SYNTAXES["released"]))
    assert (core(drawn(BATCH, ITEMS, FEATURES)) == 0).all()


@syntaxes
def test_lines_leave_what_a_function_has_no_access_to(syntax: Syntax) -> None:
    line = LineOfCode(FEATURES, 4, instructions=syntax.instructions, generator=generator())
    line, x = unsettled(line), drawn(FUNCTIONS, BATCH, ITEMS, FEATURES)
    shares = drawn(FUNCTIONS, BATCH, ITEMS).abs()
    shares[1, :, 2:] = 0
    y = line(x, shares, drawn(FUNCTIONS, 4))
    kept = x[1, :, 2:] if syntax.instructions.residual else torch.zeros_like(x[1, :, 2:])
    assert torch.equal(y[1, :, 2:], kept)
    x[1, :, 2:] = drawn(BATCH, ITEMS - 2, FEATURES, seed=9)
    # As the softmax is over all, they still count beside ε.
    assert_same(line(x, shares, drawn(FUNCTIONS, 4))[1, :, :2], y[1, :, :2], 1e-4)


@syntaxes
def test_a_function_that_nothing_matches_changes_nothing(syntax: Syntax) -> None:
    """Its signature is opposite to all types, which a bias keeps together."""
    core, x = built(syntax), drawn(BATCH, ITEMS, FEATURES)
    for part in core.scripts:
        with torch.no_grad():
            part.typing.out.bias.add_(50.0)
    before = core(x)
    core.add_functions(1, generator=generator(3))
    with torch.no_grad():
        core.scripts[0].signatures[-1] = -1.0
        core.scripts[0].codes[-1] *= 10
    assert (core.trace(x)[0].compatibility[:, :, -1] == 0).all()
    assert_same(core(x), before)


@given(order=st.permutations(range(ITEMS)))
@settings(max_examples=5)
def test_the_order_of_a_set_does_not_matter(order: list[int]) -> None:
    core, x = built(num_lines=2), drawn(BATCH, ITEMS, FEATURES)
    assert_same(core(x[:, order]), core(x)[:, order])


@given(order=st.permutations(range(FUNCTIONS)))
@settings(max_examples=5)
def test_the_order_of_functions_does_not_matter(order: list[int]) -> None:
    core, other, x = built(), built(), drawn(BATCH, ITEMS, FEATURES)
    with torch.no_grad():
        for name in ("signatures", "codes"):
            own = getattr(other.scripts[0], name)
            own.copy_(own[list(order)])
    assert_same(core(x), other(x))


def test_positions_tell_places_apart_and_leading_elements_not() -> None:
    core, x = built(grid=(2, 2)), drawn(BATCH, 6, FEATURES)
    order = [1, 0, 2, 3, 4, 5]
    assert_same(core(x[:, order]), core(x)[:, order])
    order = [0, 1, 3, 2, 4, 5]
    assert not torch.allclose(core(x[:, order]), core(x)[:, order], atol=1e-3)


@pytest.mark.parametrize("grid", [None, (1, 3)])
@syntaxes
def test_padding_changes_nothing(syntax: Syntax, grid: tuple[int, int] | None) -> None:
    """Patches stand last: with a grid only what is before them can be missing."""
    core, x = built(syntax, num_lines=2, num_scripts=2, grid=grid), drawn(BATCH, ITEMS, FEATURES)
    mask = torch.zeros(BATCH, ITEMS, dtype=torch.bool)
    mask[0, :2] = True
    expected = core(x[:1, 2:])
    x[mask] = torch.nan
    found = core(x, mask)
    assert_same(found[:1, 2:], expected)
    assert_same(found[1:], core(x[1:]))
    assert (found[mask] == 0).all()
    traces = core.trace(x, mask)
    assert_same(traces[-1].outputs[-1][~mask], found[~mask])
    assert all((t.compatibility.transpose(2, 3)[:, mask] == 0).all() for t in traces)


def test_a_set_without_a_batch_is_traced_as_that_of_a_batch() -> None:
    core, x = built(num_lines=2, num_scripts=2), drawn(ITEMS, FEATURES)
    mask = torch.tensor([True, *[False] * (ITEMS - 1)])
    for padding in (None, mask):
        batch = None if padding is None else padding.unsqueeze(0)
        expected = core.trace(x.unsqueeze(0), batch, num_iterations=3)
        for one, whole in zip(core.trace(x, padding, num_iterations=3), expected, strict=True):
            assert_same(one, tuple(part[:, 0] for part in whole))


def test_a_set_of_padding_alone_gives_zeros_and_finite_gradients() -> None:
    core, x = built(), drawn(BATCH, ITEMS, FEATURES).requires_grad_()
    mask = torch.tensor([[True] * ITEMS, [False] * ITEMS])
    found = core(x, mask)
    assert (found[0] == 0).all()
    found.square().sum().backward()
    assert (x.grad[0] == 0).all()
    assert x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in core.parameters())


@pytest.mark.processor
@pytest.mark.parametrize(
    "dtype, straight_through", [(torch.float32, True), (torch.bfloat16, False)]
)
@each("bandwidth", [0.0, 1e-45, 1e-30, 1e-3, 1e38, -1e-30, -1e38])
def test_nothing_is_nan_at_any_temperature(bandwidth, straight_through, dtype) -> None:
    matching = replace(TEXT.matching, straight_through=straight_through)
    core = built(replace(LEARNED, matching=matching)).to(dtype)
    with torch.no_grad():
        core.scripts[0].bandwidth.fill_(bandwidth)
    x = drawn(BATCH, ITEMS, FEATURES).to(dtype).requires_grad_()
    found = core(x)
    found.float().square().mean().backward()
    assert found.isfinite().all()
    assert x.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in core.parameters())


def test_a_bandwidth_that_has_become_negative_comes_back() -> None:
    bandwidth = torch.tensor(-0.5, dtype=torch.float64, requires_grad=True)
    distance = torch.tensor([1e-3, 2e-3], dtype=torch.float64)
    kernel = truncated_kernel(distance, bandwidth)
    assert_same(kernel, (-distance / 1e-3).exp())
    kernel.sum().backward()
    assert bandwidth.grad > 0


@pytest.mark.processor
def test_types_that_are_zero_match_what_is_near_enough() -> None:
    shares = type_matching(torch.zeros(2, 3), drawn(4, 3).float(), torch.tensor(0.5))
    assert_same(shares, torch.full((4, 2), 0.25), 1e-5)


# --- Dropout of functions ------------------------------------------------------------------------


def test_a_function_that_is_dropped_is_a_function_removed() -> None:
    syntax = replace(TEXT, functions=replace(TEXT.functions, dropout=0.5))
    core, x = built(syntax, num_functions=4), drawn(60, ITEMS, FEATURES)
    part = core.scripts[0]
    assert_same(core(x), built(num_functions=4)(x))
    with torch.random.fork_rng():
        torch.manual_seed(1)
        dropped = core.train()(x)
        torch.manual_seed(1)
        keep = part._kept(x)
    assert set(keep.unique().tolist()) == {0.0, 1.0}
    assert 0.4 < keep.mean() < 0.6
    for row in range(20):
        gone = [int(function) for function in (keep[:, row] == 0).nonzero()]
        if len(gone) == 4:
            assert torch.equal(dropped[row], x[row])
            continue
        other = built(num_functions=4)
        other.remove_functions(gone)
        assert_same(dropped[row : row + 1], other(x[row : row + 1]))


def test_one_draw_holds_for_all_iterations() -> None:
    core = built().scripts[0]
    x, keep = drawn(BATCH, ITEMS, FEATURES), torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    parameters, rules = core.functional(ITEMS), core.rules
    twice = script(x, parameters, rules, 2, keep=keep.double())
    once = script(x, parameters, rules, 1, keep=keep.double())
    assert_same(twice, script(once, parameters, rules, 1, keep=keep.double()))


# --- After training ------------------------------------------------------------------------------


@pytest.mark.parametrize("syntax", [TEXT, LEARNED], ids=["frozen", "learned"])
def test_functions_added_and_removed_leave_all_as_it_was(syntax: Syntax) -> None:
    core, x = built(syntax, num_scripts=2), drawn(BATCH, ITEMS, FEATURES)
    before, state = core(x), {name: t.clone() for name, t in core.state_dict().items()}
    core.add_functions(2, generator=generator(5))
    assert core.num_functions == FUNCTIONS + 2
    assert not torch.allclose(core(x), before)
    for name, tensor in core.state_dict().items():
        own = tensor[:FUNCTIONS] if name.endswith(("signatures", "codes")) else tensor
        assert torch.equal(own, state[name])
    core.remove_functions([FUNCTIONS, FUNCTIONS + 1])
    assert torch.equal(core(x), before)
    learned = {name for name, _ in core.named_parameters()}
    assert "scripts.1.codes" in learned
    assert ("scripts.1.signatures" in learned) is syntax.functions.learned_signatures
    core.remove_functions([0])
    assert torch.equal(core.scripts[0].codes, state["scripts.0.codes"][1:])


@pytest.mark.parametrize("frozen", [False, True])
def test_functions_added_and_removed_are_as_frozen_as_those_before(frozen: bool) -> None:
    core = built(LEARNED, num_scripts=2)
    core.scripts[1].codes.requires_grad_(not frozen)
    core.scripts[0].requires_grad_(not frozen)
    flags = {name: own.requires_grad for name, own in core.named_parameters()}
    core.add_functions(2, generator=generator(5))
    assert {name: own.requires_grad for name, own in core.named_parameters()} == flags
    core.remove_functions([0])
    assert {name: own.requires_grad for name, own in core.named_parameters()} == flags


def test_added_functions_are_drawn_from_the_generator() -> None:
    first, second, other = built(), built(), built()
    for core, seed in ((first, 1), (second, 1), (other, 2)):
        core.add_functions(3, generator=generator(seed))
    assert torch.equal(first.scripts[0].codes, second.scripts[0].codes)
    assert not torch.equal(first.scripts[0].codes, other.scripts[0].codes)
    assert 0.5 < first.scripts[0].signatures[-3:].std() < 1.7


def test_the_number_of_iterations_can_change() -> None:
    core, x = built(num_scripts=2), drawn(BATCH, ITEMS, FEATURES)
    expected = core(x, num_iterations=3)
    assert not torch.allclose(core(x), expected)
    assert core.trace(x, num_iterations=3)[1].outputs.shape[0] == 3
    core.num_iterations = 3
    assert torch.equal(core(x), expected)
    longer = built(num_scripts=2, num_iterations=3)
    assert torch.equal(longer(x), expected)


def test_traces_are_what_runs() -> None:
    core, x = built(num_scripts=2), drawn(BATCH, ITEMS, FEATURES)
    traces = core.trace(x)
    assert [trace.outputs.shape for trace in traces] == [(ITERATIONS, BATCH, ITEMS, FEATURES)] * 2
    assert torch.equal(traces[1].outputs[-1], core(x))
    for trace in traces:
        assert trace.compatibility.shape == (ITERATIONS, BATCH, FUNCTIONS, ITEMS)
        assert_same(trace.types.norm(dim=-1), torch.ones(ITERATIONS, BATCH, ITEMS).double())
        whole = trace.compatibility.sum(2)
        assert ((whole == 0) | ((whole - 1).abs() < 1e-4)).all()


def test_in_place_of_a_transformer_encoder() -> None:
    x = drawn(BATCH, ITEMS, FEATURES)
    mask = torch.zeros(BATCH, ITEMS, dtype=torch.bool)
    mask[1, 3:] = True
    layer = nn.TransformerEncoderLayer(FEATURES, 2, batch_first=True, dtype=torch.float64)
    torch_core = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    core = built()
    assert core(x, mask).shape == torch_core(x, src_key_padding_mask=mask).shape
    assert torch.equal(core(x, src_key_padding_mask=mask), core(x, mask))
    with pytest.raises(ValueError, match="key_padding_mask and src_key_padding_mask are one"):
        core(x, mask, src_key_padding_mask=mask)


@syntaxes
@pytest.mark.parametrize("grid", [None, (1, ITEMS)])
def test_an_element_does_not_know_those_hidden_from_it(syntax: Syntax, grid: object) -> None:
    core, x = built(syntax, num_lines=2, num_scripts=2, grid=grid), drawn(BATCH, ITEMS, FEATURES)
    causal = torch.ones(ITEMS, ITEMS, dtype=torch.bool).triu(1)
    found = core(x, mask=causal)
    assert not torch.allclose(found, core(x))
    for number in range(1, ITEMS):
        later = x.clone()
        later[:, number:] = drawn(BATCH, ITEMS - number, FEATURES, seed=9)
        assert_same(core(later, mask=causal)[:, :number], found[:, :number])
        if grid is None:
            part = causal[:number, :number]
            assert_same(core(x[:, :number], mask=part), found[:, :number])
    added = torch.zeros(ITEMS, ITEMS).double().masked_fill(causal, -torch.inf)
    assert_same(core(x, mask=added), found)
    assert_same(core(x[0], mask=causal), found[0])
    assert_same(core.trace(x, mask=causal)[-1].outputs[-1], found)
    assert core(x, mask=torch.ones_like(causal)).isfinite().all()


def test_what_a_mask_adds_to_scores_is_not_scaled() -> None:
    """A key that is e times as likely is as good as two of it are, in the sum of the others."""
    attention = unsettled(ModAttn(FEATURES, 4, num_heads=2, key_size=5, generator=generator()))
    line = LineOfCode(FEATURES, 4, instructions=Instructions(num_heads=2, key_size=5))
    line.attention = attention
    line, x, codes = line.double(), drawn(1, BATCH, 3, FEATURES), drawn(FUNCTIONS, 4)
    shares = torch.ones(FUNCTIONS, BATCH, 4, dtype=torch.float64)
    mask = torch.zeros(3, 3, dtype=torch.float64)
    mask[:, 2] = math.log(2)
    once, rules = line.functional(codes, 3, mask=mask)
    twice, _ = line.functional(codes, 4)
    again = torch.cat((x, x[:, :, 2:]), dim=2)
    found = line_of_code(x, shares[..., :3], once, rules)
    assert_same(found, line_of_code(again, shares, twice, rules)[:, :, :3], 1e-5)


@pytest.mark.parametrize("grid", [None, (1, ITEMS)])
def test_masks_of_attention_with_gradients_by_hand(grid: object, monkeypatch) -> None:
    core = built(replace(TEXT, instructions=replace(WIDE, key_size=40)), grid=grid)
    x, causal = drawn(BATCH, ITEMS, FEATURES), torch.ones(ITEMS, ITEMS, dtype=torch.bool).triu(1)
    found = []
    for worthwhile in (0, math.inf):
        monkeypatch.setattr(_line_of_code, "WORTHWHILE", worthwhile)
        out = core(x, mask=causal)
        gradients = torch.autograd.grad(out.sin().sum(), [*core.parameters()])
        found.append((out, *gradients))
    assert_same(*found, 1e-9)


@pytest.mark.parametrize("core", [NeuralInterpreter, PreNormTransformer])
def test_masks_of_attention_of_another_kind_are_refused(core, unchecked) -> None:
    layer, x = core(8), torch.zeros(BATCH, ITEMS, 8)
    for mask in (torch.zeros(BATCH, ITEMS, dtype=torch.bool), torch.zeros(5, 5).long(), [True]):
        with pytest.raises(ValueError, match=r"mask must be bool, .* of shape \(5, 5\), .* got"):
            layer(x, mask=mask)


@pytest.mark.processor
def test_a_bare_interpreter_keeps_elements_as_large_as_they_are(unchecked) -> None:
    x = drawn(4, 20, 32).float()
    bare = NeuralInterpreter(32, generator=generator())
    printed = NeuralInterpreter(32, syntax=Syntax.printed(), generator=generator())
    assert bare(x).std() < 2 * x.std()
    assert printed(x).std() > 100 * x.std()
    bare(x).square().mean().backward()
    assert all(0 < p.grad.norm() < 100 for p in bare.parameters() if p.grad is not None)
    assert Syntax() == Syntax(sums_changes=None)
    assert Syntax().changes_are_summed
    assert not Syntax(outer_residual=False).changes_are_summed
    assert not Syntax.printed().changes_are_summed
    with pytest.raises(ValueError, match="sums_changes must be True or False or None"):
        Syntax(sums_changes="no")


@pytest.mark.parametrize("syntax", [TEXT, LEARNED])
def test_new_functions_learn_alone_where_the_others_are_frozen(syntax: Syntax) -> None:
    core, x = built(syntax, num_scripts=2), drawn(BATCH, ITEMS, FEATURES)
    core.add_functions(2, freeze=True, generator=generator(5))
    before = {name: tensor.clone() for name, tensor in core.state_dict().items()}
    free = copy.deepcopy(core)
    for part in free.scripts:
        part.num_fixed = 0
    assert_same(core(x), free(x))
    learned = {name for name, p in core.named_parameters() if p.requires_grad}
    rows = {"codes", "signatures"} if syntax is LEARNED else {"codes"}
    assert learned == {f"scripts.{n}.{row}" for n in range(2) for row in rows}
    optimizer = torch.optim.Adam([p for p in core.parameters() if p.requires_grad], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        core(x).square().sum().backward()
        optimizer.step()
    for name, tensor in core.state_dict().items():
        old, new = before[name], tensor
        if name in learned:
            assert not torch.equal(old[FUNCTIONS:], new[FUNCTIONS:])
            old, new = old[:FUNCTIONS], new[:FUNCTIONS]
        assert torch.equal(old, new)
    core.remove_functions([0, FUNCTIONS])
    assert [each.num_fixed for each in core.scripts] == [FUNCTIONS - 1] * 2
    core.add_functions(1)
    assert [each.num_fixed for each in core.scripts] == [FUNCTIONS - 1] * 2


def test_frozen_signatures_are_no_parameters() -> None:
    frozen, learned = built(), built(LEARNED)
    assert {name for name, _ in learned.named_parameters()} - {
        name for name, _ in frozen.named_parameters()
    } == {"scripts.0.signatures"}
    assert frozen.state_dict().keys() == learned.state_dict().keys()
    fixed = replace(TEXT, functions=Functions(code_size=4, learned_codes=False))
    fixed = replace(fixed, matching=replace(TEXT.matching, learned_bandwidth=False))
    assert not {name for name, _ in built(fixed).named_parameters()} & {
        *("scripts.0.signatures", "scripts.0.codes", "scripts.0.bandwidth")
    }


def test_first_weights() -> None:
    core = NeuralInterpreter(50, syntax=Syntax(instructions=Instructions(num_heads=5)), grid=(5, 5))
    own = dict(core.scripts[0].state_dict())
    for name, tensor in own.items():
        if name.endswith(("code_weight", "attention.query.weight", "typing.hidden.weight")):
            assert 0.9 < tensor.abs().max().item() * tensor.shape[-1] ** 0.5 <= 1, name
        if ".attention." in name and name.endswith("bias"):
            assert (tensor == 0).all(), name
    for name in ("signatures", "codes", "lines.0.position.row_embedding"):
        assert 0.7 < own[name].std() < 1.3
    assert own["bandwidth"] == 1
    assert own["lines.0.attention.query.weight"].shape == (50, 50)


# --- Parts by themselves -------------------------------------------------------------------------


def test_parts_are_what_a_line_is_made_of() -> None:
    line = LineOfCode(FEATURES, 4, instructions=TEXT.instructions, generator=generator())
    line, codes = unsettled(line), drawn(FUNCTIONS, 4)
    x, shares = drawn(FUNCTIONS, BATCH, ITEMS, FEATURES), drawn(FUNCTIONS, BATCH, ITEMS).abs()
    share = shares.unsqueeze(-1)
    a = x + share * line.attention(line.norm1(x), shares, codes)
    assert_same(line(x, shares, codes), a + share * line.mlp(line.norm2(a), codes))


def test_a_stream_for_all_is_a_stream_for_each() -> None:
    line = unsettled(LineOfCode(FEATURES, 4, instructions=WIDE, generator=generator()))
    x, shares = drawn(1, BATCH, ITEMS, FEATURES), drawn(FUNCTIONS, BATCH, ITEMS).abs()
    codes = drawn(FUNCTIONS, 4)
    assert_same(line(x, shares, codes), line(x.expand(FUNCTIONS, -1, -1, -1), shares, codes))


def test_a_modulated_layer_scales_its_inputs() -> None:
    layer, codes = unsettled(ModLin(5, 3, 4)), drawn(FUNCTIONS, 4)
    x = drawn(FUNCTIONS, 7, 5)
    scale = F.layer_norm(codes @ layer.code_weight.t(), (5,)).unsqueeze(1)
    assert_same(layer(x, codes), (x * scale) @ layer.weight.t() + layer.bias)


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_features": 0}, "num_features must be an int 1….*, got 0"),
        (
            {"num_features": 1, "syntax": Syntax(instructions=Instructions(num_heads=1))},
            "in_features must be at least 2, got 1",
        ),
        ({"num_functions": 0}, "num_functions must be an int 1….*, got 0"),
        ({"num_iterations": 0}, "num_iterations must be an int 1….*, got 0"),
        ({"num_lines": 0}, "num_lines must be an int 1….*, got 0"),
        ({"num_scripts": 0}, "num_scripts must be an int 1….*, got 0"),
        ({"num_features": 7}, "num_heads must divide the 7 features of an element, got num_head"),
        ({"num_features": 2, "syntax": Syntax()}, "num_heads must divide the 2 features"),
        ({"grid": (0, 2)}, "grid.0. must be an int 1….*, got 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NeuralInterpreter(**{"num_features": FEATURES, "syntax": TEXT} | options)


@pytest.mark.parametrize("truncation", [0.0, -1.0, 2.1, float("nan"), "1", None])
@pytest.mark.usefixtures("unchecked")
def test_a_truncation_that_is_no_distance_is_refused(truncation: float) -> None:
    message = "truncation must be a (distance|finite number) above 0 and (of )?at most 2, got"
    with pytest.raises(ValueError, match=message):
        TypeMatching(truncation=truncation)
    with pytest.raises(ValueError, match=message):
        truncated_kernel(torch.ones(2), torch.tensor(1.0), truncation=truncation)


@pytest.mark.parametrize(
    "part, options, message",
    [
        (TypeMatching, {"type_size": 0}, "type_size must be an int 1….*, got 0"),
        (TypeMatching, {"bandwidth": 0.0}, "bandwidth must be a finite number .*, got 0.0"),
        (TypeMatching, {"eps": -1.0}, "eps must be a finite number .*, got -1.0"),
        (TypeMatching, {"eps": math.inf}, "eps must be a finite number .*, got inf"),
        (TypeMatching, {"eps": 1e-39}, "eps must be a finite number of at least 1.2e-38"),
        (Instructions, {"eps": 1e-39}, "eps must be a finite number of at least 1.2e-38"),
        (Instructions, {"hidden_size": 1}, "hidden_size must be at least 2, got 1: layer"),
        (Instructions, {"num_heads": 0}, "num_heads must be an int 1….*, got 0"),
        (Instructions, {"key_size": 0}, "key_size must be an int 1….*, got 0"),
        (Functions, {"code_size": 0}, "code_size must be an int 1….*, got 0"),
        (
            Functions,
            {"dropout": 1.0},
            "dropout must be a finite number of at least 0 and below 1, got 1.0",
        ),
        (
            Functions,
            {"dropout": "a"},
            "dropout must be a finite number of at least 0 and below 1, got 'a'",
        ),
        (TypeMatching, {"bandwidth": None}, "bandwidth must be a finite number .*, got None"),
        (TypeMatching, {"type_size": None}, "type_size must be an int 1….*, got None"),
        (Instructions, {"num_heads": None}, "num_heads must be an int 1….*, got None"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_wrong_parts_are_refused(part: type, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        part(**options)


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda: ModLin(4, 0, 3), "out_features must be an int 1….*, got 0"),
        (lambda: ModLin(2.5, 2, 3), "in_features must be an int 1….*, got 2.5"),
        (lambda: RelativePosition(4, 1, 3, 3), "grid must be a tuple .*, got 4"),
        (lambda: RelativePosition((4,), 1, 3, 3), "grid must be a tuple .*, got"),
        (lambda: ModAttn(4, 3, key_size=0), "key_size must be an int 1….*, got 0"),
        (lambda: ModAttn(4, 3, num_heads=2.0), "num_heads must be an int 1….*, got 2.0"),
        (lambda: ModMLP((4,), 3), "sizes must name the features in and out at least"),
        (lambda: TypeInference(4, 0), "type_size must be an int 1….*, got 0"),
        (lambda: RelativePosition((2, 2), 0, 3, 3), "num_heads must be an int 1….*, got 0"),
        (lambda: ModAttn(4, 3, num_heads=5), "num_heads must divide the 4 features"),
        (lambda: NeuralInterpreter(16, None), "num_functions must be an int 1….*, got None"),
        (lambda: NeuralInterpreter(16, 3, None), "num_iterations must be an int 1….*, got None"),
        (lambda: Script(4, 0), "num_functions must be an int 1….*, got 0"),
        (
            lambda: NeuralInterpreter(16, syntax="released"),
            r"syntax must be a Syntax or None, got 'rel",
        ),
    ],
)
def test_wrong_layers_are_refused(build: object, message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.usefixtures("unchecked")
def test_wrong_sets_are_refused() -> None:
    core = built()
    for shape in ((BATCH, 0, FEATURES), (BATCH, ITEMS, FEATURES + 1), (FEATURES,)):
        with pytest.raises(ValueError, match=r"x must be \(batch, item, num_features=6\) with at"):
            core(torch.zeros(shape))
    x = torch.zeros(BATCH, ITEMS, FEATURES)
    for mask in (
        torch.zeros(BATCH, ITEMS + 1, dtype=torch.bool),
        torch.zeros(BATCH, dtype=torch.bool),
        torch.zeros(BATCH, ITEMS),
    ):
        with pytest.raises(ValueError, match="key_padding_mask must be bool of shape"):
            core(x, mask)
    with pytest.raises(ValueError, match=r"key_padding_mask must be bool of shape \(5,\), an el"):
        core(x[0], torch.zeros(1, ITEMS, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"key_padding_mask must be a tensor, got \[True\]"):
        core(x, [True])
    with pytest.raises(ValueError, match="x must have at least 6 elements, the patches of a grid"):
        built(grid=(2, 3))(x.double())
    with pytest.raises(ValueError, match=r"num_iterations must be an int 1….*, got 0"):
        core(x.double(), num_iterations=0)
    for number in (1.5, True, "2"):
        with pytest.raises(ValueError, match=r"num_iterations must be an int 1….*, got"):
            core(x.double(), num_iterations=number)
    with pytest.raises(ValueError, match=r"num_iterations must be an int 1….*, got 0"):
        core.num_iterations = 0
    wrong = drawn(FUNCTIONS + 1, BATCH, FEATURES)
    with pytest.raises(ValueError, match=r"x must be \(function, …, 6\) for 3 functions, or for 1"):
        modulated_linear(wrong, ModLin(FEATURES, 2, 4).double().layer(drawn(FUNCTIONS, 4)))
    q, v = drawn(2, 1, 3, 6), drawn(2, 1, 3, 4)
    with pytest.raises(ValueError, match="num_heads must divide the 4 features of value, got num_"):
        modulated_attention(q, q, v, drawn(2, 1, 3), num_heads=3)


def test_an_empty_batch_gives_an_empty_batch() -> None:
    assert built()(drawn(0, ITEMS, FEATURES)).shape == (0, ITEMS, FEATURES)
    digits = NeuralInterpreter.released_digits(generator=generator())
    x = torch.zeros(0, 64, 192, requires_grad=True)
    digits(x).sum().backward()
    assert x.grad.shape == (0, 64, 192)
    assert not any(parameter.grad.any() for parameter in digits.parameters())


@pytest.mark.parametrize("which", [[FUNCTIONS], [-1], [0, 0]])
def test_functions_that_are_not_there_cannot_be_removed(which: list[int]) -> None:
    with pytest.raises(ValueError, match="which must name functions once each, by numbers 0 to 2"):
        built().remove_functions(which)


@pytest.mark.parametrize(
    "which", [0, ["first"], [0.0], [True], torch.tensor([True]), np.array([True]), None]
)
def test_what_are_no_numbers_of_functions_is_refused(which: object, unchecked) -> None:
    with pytest.raises(ValueError, match="which must hold numbers of functions, got"):
        built().remove_functions(which)


def test_functions_to_remove_may_be_a_tensor_or_an_array(unchecked) -> None:
    for which in (torch.tensor([0, 2]), np.array([0, 2])):
        core = built()
        kept = core.scripts[0].codes[1].clone()
        core.remove_functions(which)
        assert torch.equal(core.scripts[0].codes, kept.unsqueeze(0))


@pytest.mark.parametrize("made", [NeuralInterpreter, PreNormTransformer])
def test_another_type_than_the_weights_is_refused(made: type, unchecked) -> None:
    layer = made(8)
    for x in (torch.zeros(2, 3, 8).double(), torch.zeros(2, 3, 8, dtype=torch.int64)):
        with pytest.raises(ValueError, match=r"x must be of torch\.float32, as the weights are"):
            layer(x)
        with pytest.raises(ValueError, match=r"x must be of torch\.float32, as the weights are"):
            layer(x[0])


def test_no_function_left_or_none_added_is_refused() -> None:
    core = built()
    with pytest.raises(ValueError, match="which must leave a function, got all of them"):
        core.remove_functions(range(FUNCTIONS))
    with pytest.raises(ValueError, match=r"number must be an int 1….*, got 0"):
        core.add_functions(0)


def test_interpreter_alone() -> None:
    """Without compatibility nothing is called, whatever the lines are."""
    core, x = built().scripts[0], drawn(BATCH, ITEMS, FEATURES)
    lines, none = core.functional(ITEMS).lines, torch.zeros(FUNCTIONS, BATCH, ITEMS).double()
    assert torch.equal(interpreter(x, none, lines, core.rules), x)


def test_print_tells_the_options() -> None:
    shown = repr(built(grid=(1, 2)))
    assert "6, num_functions=3, num_iterations=2, num_lines=1, grid=(1, 2), Syntax(" in shown


COMPILED = """
import torch
from farfield.nn import NeuralInterpreter

def graphs_of(num_iterations):
    torch.compiler.reset()
    layer, x, found = NeuralInterpreter(8, num_iterations=num_iterations), torch.randn(2, 5, 8), []
    def kept(graph, _):
        found.append(graph)
        return graph.forward
    compiled = torch.compile(layer, backend=kept, fullgraph=True)
    torch.testing.assert_close(compiled(x), layer(x), rtol=1e-4, atol=1e-5)
    (graph,) = found
    parts = [part for part in graph.modules() if isinstance(part, torch.fx.GraphModule)]
    return [len(part.graph.nodes) for part in parts]

few, many = graphs_of(4), graphs_of(8)
assert few[1:] == many[1:] and 0 < many[0] - few[0] <= 4 * 4, (few, many)
"""


@pytest.mark.slow
def test_a_compiled_program_contains_one_iteration() -> None:
    status, _, errors = run_forked(COMPILED)
    assert status == 0, errors
