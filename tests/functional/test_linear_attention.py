"""Recurrences of the sequence layers since 2023 against loops, and arrays of the originals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._linear_attention import _gated_delta_rule as delta
from farfield.functional._linear_attention import _gated_linear_attention as attention
from farfield.functional._linear_attention import _mlstm as matrix
from farfield.functional._recurrent import _selective_scan as scan
from farfield.functional._recurrent import _slstm as scalar
from farfield.functional.internal import (
    MLSTMState,
    SLSTMState,
    block_linear,
    causal_convolution,
    gated_delta_rule,
    gated_linear_attention,
    mlstm,
    selective_scan,
    slstm,
)
from golden import Golden, precisions
from made import drawn, gradcheck
from oracles import sequence_rivals as oracle

BATCH, HEADS, KEY, VALUE = 2, 2, 3, 4
TIMES = (1, 4, 7, 13)


def read(time: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys of length 1 and values."""
    query, key = (drawn(time, BATCH, HEADS, KEY, seed=seed) for seed in (0, 1))
    return query, F.normalize(key, dim=-1), drawn(time, BATCH, HEADS, VALUE, seed=2)


def gates(time: int, *more: int, seed: int = 3) -> Tensor:
    """Some near 0, some near 1."""
    return 6 * drawn(time, BATCH, HEADS, *more, seed=seed)


MEMORY = drawn(BATCH, HEADS, KEY, VALUE, seed=5)


@pytest.fixture(params=[3, 100], ids=["chunks", "one chunk"])
def chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (attention, delta, matrix):
        monkeypatch.setattr(module, "_CHUNK", request.param)


def compare(found: object, expected: object) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("time", TIMES)
def test_gated_linear_attention(time: int) -> None:
    q, k, v = read(time)
    decay = F.logsigmoid(gates(time, KEY))
    outputs, last = gated_linear_attention(q, k, v, decay, MEMORY)
    for row, head in np.ndindex(BATCH, HEADS):
        own = (part[:, row, head].numpy() for part in (q, k, v, decay))
        expected = oracle.gated_linear_attention(*own, MEMORY[row, head].numpy())
        compare(outputs[:, row, head], expected[0])
        compare(last[row, head], expected[1])


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("time", TIMES)
def test_gated_delta_rule(time: int, gated: bool) -> None:
    q, k, v = read(time)
    rate, decay = 2 * gates(time).sigmoid(), F.logsigmoid(gates(time, seed=4))
    outputs, last = gated_delta_rule(q, k, v, rate, decay if gated else None, MEMORY)
    for row, head in np.ndindex(BATCH, HEADS):
        own = [part[:, row, head].numpy() for part in (q, k, v, rate, decay)]
        own[4] = own[4] if gated else None
        expected = oracle.gated_delta_rule(*own, MEMORY[row, head].numpy())
        compare(outputs[:, row, head], expected[0])
        compare(last[row, head], expected[1])


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("first", [-math.inf, 0.0, 2.0])
@pytest.mark.parametrize("time", TIMES)
def test_mlstm(time: int, first: float, exponential: bool) -> None:
    (q, k, v), enter, forget = read(time), gates(time), gates(time, seed=4)
    begun = MLSTMState(MEMORY, MEMORY[..., 0], MEMORY.new_full((BATCH, HEADS), first))
    if first == -math.inf:
        begun = MLSTMState(0 * MEMORY, 0 * MEMORY[..., 0], begun.stabilizer)
    outputs, last = mlstm(q, k, v, enter, forget, begun, exponential_forget=exponential)
    for row, head in np.ndindex(BATCH, HEADS):
        own = (part[:, row, head].numpy() for part in (q, k, v))
        pair = tuple(part[:, row, head].numpy() for part in (enter, forget))
        state = [part[row, head].numpy() for part in begun]
        expected = oracle.mlstm(
            *own, pair, (state[0], state[1], float(state[2])), exponential=exponential
        )
        compare(outputs[:, row, head], expected[0])
        for mine, theirs in zip(last, expected[1:], strict=True):
            compare(mine[row, head], theirs)


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("first", [True, False])
def test_slstm(first: bool, exponential: bool) -> None:
    inputs, weight = gates(6, 4 * KEY), drawn(HEADS, 4 * KEY, KEY, seed=1)
    parts = [drawn(BATCH, HEADS, KEY, seed=seed) for seed in range(4)]
    if first:
        parts = [0 * part for part in parts[:3]] + [torch.full_like(parts[0], -math.inf)]
    begun = SLSTMState(parts[0], parts[1], parts[2].abs(), parts[3])
    outputs, last = slstm(inputs, weight, begun, exponential_forget=exponential)
    for row, head in np.ndindex(BATCH, HEADS):
        expected = oracle.slstm(
            inputs[:, row, head].numpy(),
            weight[head].numpy(),
            tuple(part[row, head].numpy() for part in begun),
            exponential=exponential,
        )
        compare(outputs[:, row, head], expected[0])
        for mine, theirs in zip(last, expected[1:], strict=True):
            compare(mine[row, head], theirs)


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("parts", [1, 5], ids=["outputs", "last state"])
def test_gradients_of_an_slstm(parts: int, first: bool, exponential: bool) -> None:
    """Those by hand are those of autograd."""
    state = [drawn(HEADS, BATCH, KEY, seed=seed) for seed in range(4)]
    state[2] = state[2].exp()
    if first:
        state = [0 * part for part in state[:3]] + [torch.full_like(state[0], -math.inf)]
    inputs, weight = gates(6, 4 * KEY).transpose(1, 2), drawn(HEADS, 4 * KEY, KEY, seed=1)
    given = [part.clone().requires_grad_() for part in (inputs, weight, *state)]
    ways = []
    for run in (scalar._plain, scalar._SLSTM.apply):
        found = run(exponential, *given)[:parts]
        loss = sum((part * part.detach().cos()).sum() for part in found)
        ways.append(torch.autograd.grad(loss, given))
    torch.testing.assert_close(*ways, rtol=1e-9, atol=1e-11)


def scanned(time: int) -> tuple[Tensor, ...]:
    """Arguments of a scan over five features with three numbers of state."""
    features, numbers = 5, 3
    return (
        drawn(time, BATCH, features),
        (3 * drawn(time, BATCH, features, seed=1)).exp(),
        -drawn(features, numbers, seed=2).exp(),
        drawn(time, BATCH, numbers, seed=3),
        drawn(time, BATCH, numbers, seed=4),
        drawn(BATCH, features, numbers, seed=5),
    )


RULES = [(negative, euler) for negative in (False, True) for euler in (False, True)]


@pytest.mark.parametrize("negative, euler", RULES)
@pytest.mark.parametrize("time", TIMES)
def test_selective_scan(time: int, negative: bool, euler: bool, monkeypatch) -> None:
    monkeypatch.setattr(scan, "_SEGMENT", 4)
    x, steps, rate, enter, leave, state = scanned(time)
    outputs, last = selective_scan(
        x, steps, rate, enter, leave, state, negative_eigenvalues=negative, euler=euler
    )
    for row in range(BATCH):
        expected = oracle.selective_scan(
            x[:, row].numpy(),
            steps[:, row].numpy(),
            rate.numpy(),
            enter[:, row].numpy(),
            leave[:, row].numpy(),
            state[row].numpy(),
            negative=negative,
            euler=euler,
        )
        compare(outputs[:, row], expected[0])
        compare(last[row], expected[1])


@pytest.mark.parametrize("negative, euler", RULES)
@pytest.mark.parametrize("time", TIMES)
def test_gradients_of_the_scan(time: int, negative: bool, euler: bool, monkeypatch) -> None:
    """Those in buffers are those of autograd."""
    monkeypatch.setattr(scan, "_SEGMENT", 4)
    given = [part.requires_grad_() for part in scanned(time)]
    rules = scan._Rules(negative, euler)
    ways = []
    for run in (scan._plain, scan._Scan.apply):
        found = run(rules, *given)
        loss = sum((part * part.detach().cos()).sum() for part in found)
        ways.append(torch.autograd.grad(loss, given))
    torch.testing.assert_close(*ways, rtol=1e-9, atol=1e-11)
    assert gradcheck(lambda *parts: scan._Scan.apply(rules, *parts), given)


def test_a_scan_without_steps_holds_its_state() -> None:
    x, _, rate, enter, leave, state = scanned(5)
    for euler in (False, True):
        _, last = selective_scan(x, 0 * x, rate, enter, leave, state, euler=euler)
        assert torch.equal(last, state)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_convolution(size: int) -> None:
    x, weight, bias = drawn(6, BATCH, 3), drawn(3, size, seed=1), drawn(3, seed=2)
    before = drawn(BATCH, size - 1, 3, seed=3)
    outputs, last = causal_convolution(x, weight, bias, before)
    for row in range(BATCH):
        whole = np.concatenate([before[row].numpy(), x[:, row].numpy()])
        expected = oracle.convolution(whole, weight.numpy(), bias.numpy())
        compare(outputs[:, row], expected[size - 1 :])
        compare(last[row], whole[len(whole) - size + 1 :])
    with pytest.raises(ValueError, match=f"state must have {size - 1} steps, one less than weight"):
        causal_convolution(x, weight, bias, drawn(BATCH, size, 3))


def test_blocks() -> None:
    x, weight = drawn(BATCH, 6), drawn(2, 4, 3, seed=1)
    expected = [oracle.block_linear(row.numpy(), weight.numpy()) for row in x]
    compare(block_linear(x, weight), expected)
    with pytest.raises(ValueError, match="x must have 6 features, got 5"):
        block_linear(x[:, :5], weight)


# --- Float32 over 512 steps ----------------------------------------------------------------------

LONG = 512


def long(scale: float, shift: float) -> dict[str, tuple[Callable[..., object], list[Tensor]]]:
    """Each recurrence with gates at a logit, and its arguments."""
    q, k, v = read(LONG)
    one, other = (shift + scale * drawn(LONG, BATCH, HEADS, seed=seed) for seed in (3, 4))
    by_key = shift + scale * drawn(LONG, BATCH, HEADS, KEY, seed=6)
    units = shift + scale * drawn(LONG, BATCH, HEADS, 4 * KEY, seed=7)
    weight, zeros = 0.3 * drawn(HEADS, 4 * KEY, KEY), torch.zeros_like(MEMORY)
    wide = zeros[..., 0]

    def memory(*given: Tensor) -> object:
        query, key, *rest, state = given
        # Positive, so that no divisor of an output is a difference near 0.
        rest = [query.abs(), key.abs(), *rest]
        begun = MLSTMState(state, state[..., 0], state[..., 0, 0] - math.inf)
        return mlstm(*rest, begun)[0]

    def hidden(inputs: Tensor, own: Tensor, state: Tensor) -> object:
        return slstm(inputs, own, SLSTMState(state, state, state, state - math.inf))[0]

    return {
        "gated linear attention": (
            lambda *given: gated_linear_attention(*given)[0],
            [q, k, v, F.logsigmoid(by_key), zeros],
        ),
        "gated delta rule": (
            lambda *given: gated_delta_rule(*given)[0],
            [q, k, v, 2 * other.sigmoid(), F.logsigmoid(one), zeros],
        ),
        "mlstm": (memory, [q, k, v, other, one, zeros]),
        "slstm": (hidden, [units, weight, wide]),
    }


@pytest.mark.parametrize("scale, shift", [(1.0, 0.0), (1.0, -30.0), (1.0, 12.0), (30.0, 0.0)])
def test_float32_is_float64_over_many_steps(scale: float, shift: float) -> None:
    """At gates near one half, near 0, near 1, and anywhere."""
    for name, (function, given) in long(scale, shift).items():
        expected = function(*given)
        rounded = [part.float() for part in given]
        near = function(*(part.double() for part in rounded))
        found = function(*rounded)
        assert torch.isfinite(found).all(), name
        size = near.abs().max().item()
        assert (found - near).abs().max() < 2e-4 * size, name
        assert (near - expected).abs().max() < 0.1 * size, name


@pytest.mark.parametrize("shift", [-30.0, 0.0, 12.0])
def test_gradients_of_float32_are_finite_over_many_steps(shift: float) -> None:
    for function, given in long(1.0, shift).values():
        leaves = [part.float().requires_grad_() for part in given]
        for gradient in torch.autograd.grad(function(*leaves).square().sum(), leaves):
            assert torch.isfinite(gradient).all()


# --- Arrays of the originals ---------------------------------------------------------------------


def by_time(x: Tensor) -> Tensor:
    return x.transpose(0, 1)


def loss_of(*parts: Tensor) -> Tensor:
    return sum(part.square().sum() for part in parts)


@precisions
def test_released_gated_linear_attention(dtype: torch.dtype, golden) -> None:
    arrays = Golden("rivals_gla", golden("rivals_gla"), dtype)
    normalizer = arrays.meta["hyper_parameters"]["gate_logit_normalizer"]
    given = {
        name: arrays.tensor(f"in.{name}", requires_grad=True)
        for name in ("q", "k", "v", "gate_logit", "state0")
    }
    q, k, v, logit = (by_time(given[name]) for name in ("q", "k", "v", "gate_logit"))
    outputs, last = gated_linear_attention(
        q, k, v, F.logsigmoid(logit) / normalizer, given["state0"]
    )
    arrays.check(by_time(outputs), "out")
    arrays.check(last, "state")
    gradients = torch.autograd.grad(loss_of(outputs, last), given.values())
    for name, gradient in zip(given, gradients, strict=True):
        arrays.check_gradient(gradient, f"gradin.{name}")


@precisions
def test_released_gated_delta_rule(dtype: torch.dtype, golden) -> None:
    arrays = Golden("rivals_gated_delta_rule", golden("rivals_gated_delta_rule"), dtype)
    names = ("q", "k", "v", "beta_logit", "g", "state0")
    given = {name: arrays.tensor(f"in.{name}", requires_grad=True) for name in names}
    q, k = (by_time(F.normalize(given[name], dim=-1)) for name in ("q", "k"))
    rate = by_time(2 * given["beta_logit"].sigmoid())
    parts = (q, k, by_time(given["v"]), rate)
    gated, last = gated_delta_rule(*parts, by_time(given["g"]), given["state0"])
    plain, ended = gated_delta_rule(*parts, None, torch.zeros_like(given["state0"]))
    for found, name in ((gated, "gated"), (gated, "gated_chunk"), (plain, "delta")):
        arrays.check(by_time(found), name)
    for found, name in ((last, "gated_state"), (last, "gated_chunk_state"), (ended, "delta_state")):
        arrays.check(found, name)
    gradients = torch.autograd.grad(loss_of(gated, last, plain), given.values())
    for name, gradient in zip(given, gradients, strict=True):
        arrays.check_gradient(gradient, f"gradin.{name}")


@precisions
@pytest.mark.parametrize("first, kind", [(-math.inf, "parallel"), (0.0, "recurrent")])
def test_released_mlstm_cell(first: float, kind: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden("rivals_mlstm", golden("rivals_mlstm"), dtype)
    names = ("q", "k", "v", "i", "f")
    given = {name: arrays.tensor(f"in.cell_{name}", requires_grad=True) for name in names}
    q, k, v, i, f = (part.permute(2, 0, 1, 3) for part in given.values())
    zeros = q.new_zeros(*q.shape[1:], v.shape[-1])
    begun = MLSTMState(zeros, zeros[..., 0], zeros[..., 0, 0] + first)
    outputs, last = mlstm(q, k, v, i[..., 0], f[..., 0], begun)
    arrays.check(outputs.permute(1, 2, 0, 3), f"cell_{kind}")
    if kind == "recurrent":
        for part, name in zip(last, ("C", "n", "m"), strict=True):
            arrays.check(part, f"cell_{name}")
        arrays.check(outputs.permute(1, 2, 0, 3), "cell_chunkwise")
        return
    gradients = torch.autograd.grad(loss_of(outputs), given.values())
    for name, gradient in zip(given, gradients, strict=True):
        arrays.check_gradient(gradient, f"gradin.cell_{name}")
