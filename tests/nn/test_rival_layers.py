"""Sequence layers since 2023: equations by loops, arrays of the originals, first weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.functional.internal import gated_delta_rule, selective_scan
from farfield.nn import MLSTM, SLSTM, GatedDeltaNet, GatedLinearAttention, Mamba
from golden import Golden, precisions
from made import assert_spread, drawn, generator, state_of, unsettled
from oracles import sequence_rivals as oracle

INPUTS, HIDDEN, BATCH, TIME = 3, 8, 2, 6
CASES: dict[str, tuple[Callable[..., nn.Module], dict[str, object], Callable[..., np.ndarray]]] = {
    "gated linear attention": (
        GatedLinearAttention,
        {"num_heads": 2, "gate_rank": 3},
        partial(oracle.gla_mixer, num_heads=2, normalizer=16.0),
    ),
    "gated linear attention, sizes": (
        GatedLinearAttention,
        {"num_layers": 1, "num_heads": 1, "key_size": 3, "value_size": 5, "gate_normalizer": 1.0}
        | {"feedforward_size": 0},
        partial(oracle.gla_mixer, num_heads=1, normalizer=1.0),
    ),
    "gated delta net": (
        GatedDeltaNet,
        {"num_heads": 2},
        partial(oracle.delta_mixer, num_heads=2, gated=True, negative=True),
    ),
    "delta net": (
        GatedDeltaNet,
        {"num_layers": 1, "num_heads": 1, "key_size": 4, "value_size": 3, "gated": False}
        | {"negative_eigenvalues": False, "kernel_size": 3, "feedforward_size": 5},
        partial(oracle.delta_mixer, num_heads=1, gated=False, negative=False),
    ),
    "mlstm": (MLSTM, {"num_heads": 2}, partial(oracle.mlstm_mixer, num_heads=2)),
    "mlstm, sizes": (
        MLSTM,
        {"num_layers": 1, "num_heads": 3, "inner_size": 12, "projection_size": 2}
        | {"kernel_size": 2, "first_stabilizer": 0.0},
        partial(oracle.mlstm_mixer, num_heads=3, first=0.0),
    ),
    "slstm": (SLSTM, {}, partial(oracle.slstm_mixer, num_heads=4)),
    "slstm, sizes": (
        SLSTM,
        {"num_layers": 3, "num_heads": 1, "kernel_size": 1, "exponential_forget": True}
        | {"feedforward_size": 0},
        partial(oracle.slstm_mixer, num_heads=1, exponential=True),
    ),
    "mamba": (Mamba, {"state_size": 3}, partial(oracle.mamba_mixer, numbers=3)),
    "mamba, sizes": (
        Mamba,
        {"num_layers": 1, "inner_size": 5, "state_size": 2, "rank": 2, "kernel_size": 2}
        | {"negative_eigenvalues": True, "euler": True},
        partial(oracle.mamba_mixer, numbers=2, negative=True, euler=True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_equations(name: str) -> None:
    cls, options, mixer = CASES[name]
    module = unsettled(cls(INPUTS, HIDDEN, generator=generator(), **options))
    x = drawn(TIME, BATCH, INPUTS)
    outputs, _ = module(x)
    for row in range(BATCH):
        expected = oracle.layer(
            x[:, row].numpy(),
            state_of(module),
            options.get("num_layers", 2),
            mixer,
            centers="lstm" in name,
            gelus="slstm" in name,
        )
        np.testing.assert_allclose(outputs[:, row].detach(), expected, rtol=1e-9, atol=1e-11)


# --- What they are for ---------------------------------------------------------------------------


def test_a_rate_of_two_turns_a_sign_for_ever() -> None:
    """Parity of any length in a memory of one number, which eigenvalues in [0, 1] cannot hold."""
    bits = torch.randint(2, (2000, 1, 1), generator=generator()).double()
    ones = torch.ones(2000, 1, 1, 1, dtype=torch.float64)
    start = torch.ones(1, 1, 1, 1, dtype=torch.float64)
    outputs, _ = gated_delta_rule(ones, ones, 0 * ones, 2 * bits, None, start)
    expected = 1 - 2 * (bits.cumsum(0) % 2)
    torch.testing.assert_close(outputs[..., 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("negative", [False, True])
def test_factors_of_a_scan_are_in_the_range_asked_for(negative: bool) -> None:
    step = torch.linspace(1e-3, 30, 50, dtype=torch.float64).view(1, 50, 1)
    zeros, state = torch.zeros(1, 50, 2, dtype=torch.float64), torch.ones(50, 1, 2)
    rate = -torch.ones(1, 2, dtype=torch.float64)
    _, factors = selective_scan(
        0 * step, step, rate, zeros, zeros, state.double(), negative_eigenvalues=negative
    )
    assert 0.99 < factors.max() < 1
    low = -1 if negative else 0
    assert low <= factors.min() < low + 1e-6


# --- First weights -------------------------------------------------------------------------------


def test_first_forget_biases_of_an_slstm_go_from_5_to_minus_7() -> None:
    module = SLSTM(INPUTS, 24, num_heads=4, generator=generator())
    for number, block in enumerate(module.blocks):
        along = [j / 5 for j in range(6)]
        expected = [5 - 12 * u ** (0.3 + 1.3 * number) for u in along]
        bias = block.mixer.bias.view(4, 4, 6)
        torch.testing.assert_close(bias[:, 1], torch.tensor([expected] * 4))
        assert not bias[:, [0, 2, 3]].any()
        assert not block.mixer.recurrent.any()


def test_first_weights_of_an_mlstm() -> None:
    mixer = MLSTM(INPUTS, 64, num_layers=3, generator=generator()).blocks[0].mixer
    assert mixer.forget_bias.tolist() == [3, 4, 5, 6]
    assert not mixer.input_weight.any()
    assert not mixer.forget_weight.any()
    assert_spread(mixer.up.weight, math.sqrt(2 / (5 * 64)))
    assert_spread(mixer.down.weight, 2 / (3 * math.sqrt(64)))


def test_first_steps_of_mamba_and_rates() -> None:
    mixer = Mamba(INPUTS, 100, generator=generator()).blocks[0].mixer
    steps = torch.nn.functional.softplus(mixer.step.bias)
    assert 9e-4 < steps.min() < 1.5e-3
    assert 0.08 < steps.max() < 0.101
    torch.testing.assert_close(mixer.log_rate.exp(), torch.arange(1.0, 17).expand(200, 16))
    assert mixer.step.in_features == 7


def test_first_decays_of_a_gated_delta_net() -> None:
    mixer = GatedDeltaNet(INPUTS, 256, num_heads=64, generator=generator()).blocks[0].mixer
    rates = mixer.log_rate.exp()
    assert 0 < rates.min() < 1.5
    assert 14.5 < rates.max() <= 16
    steps = torch.nn.functional.softplus(mixer.step_bias)
    assert 1e-3 <= steps.min() < steps.max() <= 0.101


def test_what_cannot_be_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match="num_heads must leave a feature per head of 4, got 5"):
        GatedLinearAttention(INPUTS, HIDDEN, num_heads=5)
    with pytest.raises(ValueError, match="num_heads must leave a feature per head of 6, got 7"):
        GatedDeltaNet(INPUTS, HIDDEN, num_heads=7)
    for number in (3, 8):
        message = f"num_heads must divide hidden_size=8 into 2 features or more, got {number}"
        with pytest.raises(ValueError, match=message):
            SLSTM(INPUTS, HIDDEN, num_heads=number)
    with pytest.raises(
        ValueError, match="num_heads must divide inner_size=16 into 2 features or more"
    ):
        MLSTM(INPUTS, HIDDEN, num_heads=5)
    with pytest.raises(ValueError, match="projection_size must divide inner_size=6, got 4"):
        MLSTM(INPUTS, HIDDEN, num_heads=2, inner_size=6)


# --- Arrays of the originals ---------------------------------------------------------------------


def loaded(mixer: nn.Module, arrays: Golden, names: dict[str, str], **own: Tensor) -> nn.Module:
    """The mixer with the weights of the original.

    Args:
        names: Our names, by the original's; a convolution of one channel has an axis more.
        own: Further weights by our names.
    """
    mixer.to(arrays.dtype)
    shapes = {name: weight.shape for name, weight in mixer.state_dict().items()}
    for theirs, mine in names.items():
        own[mine] = arrays.tensor(f"state.{theirs}").reshape(shapes[mine])
        own[mine] = own[mine] + float(mine == "norm.weight")  # which the original stores less 1
    mixer.load_state_dict(own)
    return mixer


def run(mixer: nn.Module, x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Outputs with the batch first, at once."""
    outputs, state = mixer(x.transpose(0, 1), mixer.first_state(x.transpose(0, 1)))
    return outputs.transpose(0, 1), state


def stepped(mixer: nn.Module, x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Outputs with the batch first, step by step."""
    state, outputs = mixer.first_state(x.transpose(0, 1)), []
    for step in x.transpose(0, 1).split(1):
        output, state = mixer(step, state)
        outputs.append(output)
    return torch.cat(outputs).transpose(0, 1), state


def check_gradients(mixer: nn.Module, arrays: Golden, names: dict[str, str], loss: Tensor, x):
    own = dict(mixer.named_parameters())
    wanted = [own[mine] for mine in names.values()]
    *found, of_x = torch.autograd.grad(loss, [*wanted, x])
    arrays.check_gradient(of_x, "gradin.x")
    for theirs, gradient in zip(names, found, strict=True):
        arrays.check_gradient(gradient, f"grad.{theirs}")


def by_head(x: Tensor, heads: int) -> Tensor:
    """(gate · head · feature) as (head, gate · feature)."""
    return x.view(4, heads, -1).transpose(0, 1).flatten(1)


SLSTM_NAMES = {
    "conv1d.conv.weight": "convolution.weight",
    "conv1d.conv.bias": "convolution.bias",
    "fgate.weight": "input",  # so in the original: their names are exchanged
    "igate.weight": "forget",
    "zgate.weight": "cell",
    "ogate.weight": "output",
    "slstm_cell._recurrent_kernel_": "recurrent",
    "group_norm.weight": "norm.weight",
}


@precisions
def test_released_slstm(dtype: torch.dtype, golden) -> None:
    arrays = Golden("rivals_slstm", golden("rivals_slstm"), dtype)
    settings = arrays.meta["hyper_parameters"]
    width, heads = settings["embedding_dim"], settings["num_heads"]
    module = SLSTM(width, width, num_layers=1, num_heads=heads)
    mixer = module.blocks[0].mixer
    initial = torch.tensor(arrays["out.initial_bias"])
    torch.testing.assert_close(mixer.bias, by_head(initial, heads), rtol=1e-6, atol=1e-6)
    bias = by_head(arrays.tensor("state.slstm_cell._bias_"), heads)
    loaded(mixer, arrays, SLSTM_NAMES, bias=bias)
    x = arrays.tensor("in.x", requires_grad=True)
    outputs, state = run(mixer, x)
    arrays.check(outputs, "layer")
    parts = torch.stack([part.flatten(1) for part in state[1:]])
    arrays.check(parts, "state")
    arrays.check(stepped(mixer, x)[0], "layer")
    loss = outputs.square().sum() + parts.square().sum()
    (of_bias,) = torch.autograd.grad(loss, mixer.bias, retain_graph=True)
    own = of_bias.view(heads, 4, -1).transpose(0, 1).flatten()
    arrays.check_gradient(own, "grad.slstm_cell._bias_")
    check_gradients(mixer, arrays, SLSTM_NAMES, loss, x)


MLSTM_NAMES = {
    "learnable_skip": "skip",
    "proj_up.weight": "up.weight",
    "q_proj.weight": "query",
    "k_proj.weight": "key",
    "v_proj.weight": "value",
    "conv1d.conv.weight": "convolution.weight",
    "conv1d.conv.bias": "convolution.bias",
    "mlstm_cell.igate.weight": "input_weight",
    "mlstm_cell.igate.bias": "input_bias",
    "mlstm_cell.fgate.weight": "forget_weight",
    "mlstm_cell.fgate.bias": "forget_bias",
    "mlstm_cell.outnorm.weight": "norm.weight",
    "proj_down.weight": "down.weight",
}


@precisions
@pytest.mark.parametrize("released", [False, True])
def test_released_mlstm(released: bool, dtype: torch.dtype, golden) -> None:
    arrays = Golden("rivals_mlstm", golden("rivals_mlstm"), dtype)
    settings = arrays.meta["hyper_parameters"]
    module = MLSTM(
        settings["embedding_dim"],
        settings["embedding_dim"],
        num_layers=1,
        num_heads=settings["num_heads"],
        inner_size=settings["inner"],
        first_stabilizer=0.0 if released else None,
    )
    mixer = loaded(module.blocks[0].mixer, arrays, MLSTM_NAMES)
    x = arrays.tensor("in.x", requires_grad=True)
    outputs, _ = run(mixer, x)
    arrays.check(outputs, "layer_stepwise" if released else "layer")
    arrays.check(stepped(mixer, x)[0], "layer_stepwise" if released else "layer")
    if not released:
        check_gradients(mixer, arrays, MLSTM_NAMES, outputs.square().sum(), x)


MAMBA_NAMES = {
    "A_log": "log_rate",
    "D": "skip",
    "in_proj.weight": "up.weight",
    "conv1d.weight": "convolution.weight",
    "conv1d.bias": "convolution.bias",
    "x_proj.weight": "select.weight",
    "dt_proj.weight": "step.weight",
    "dt_proj.bias": "step.bias",
    "out_proj.weight": "out.weight",
}


@precisions
def test_released_mamba(dtype: torch.dtype, golden) -> None:
    arrays = Golden("rivals_mamba", golden("rivals_mamba"), dtype)
    settings = arrays.meta["hyper_parameters"]
    module = Mamba(
        settings["d_model"],
        settings["d_model"],
        num_layers=1,
        inner_size=settings["expand"] * settings["d_model"],
        state_size=settings["d_state"],
        rank=settings["dt_rank"],
        kernel_size=settings["d_conv"],
        euler=True,
    )
    mixer = loaded(module.blocks[0].mixer, arrays, MAMBA_NAMES)
    x = arrays.tensor("in.x", requires_grad=True)
    outputs, (inputs, states) = run(mixer, x)
    arrays.check(outputs, "layer")
    arrays.check(states, "ssm_state")
    one_step = arrays["out64.conv_state" if dtype == torch.float64 else "out.conv_state"]
    np.testing.assert_allclose(
        inputs.transpose(1, 2).detach(), one_step[..., 1:], rtol=0, atol=1e-6
    )
    arrays.check(stepped(mixer, x)[0], "stepwise")
    check_gradients(mixer, arrays, MAMBA_NAMES, outputs.square().sum(), x)
